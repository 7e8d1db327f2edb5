"""Which lines of which file a result shows, as the tools of agents print them."""

import pytest

from sightline.messages.blocks import Excerpt
from sightline.messages.formats.parse_blocks import effect_of, has_failed, result_excerpts
from sightline.messages.tool_calls import make_call

REMINDER = "\n\n<system-reminder>\nWhenever you read a file\n     3→not of it\n</system-reminder>\n"
OPENCODE = """<path>/w/a.py</path>
<type>file</type>
<content>
1: one
2:   two

(End of file - total 2 lines)
</content>"""
ROO = """<files>
<file><path>a.ts</path>
<content lines="9-10">
 9 | nine
10 |   ten
</content>
</file>
<file><path>b.ts</path>
<content lines="1-1">
1 | one
</content>
</file>
</files>"""
VIEW = "Here's the result of running `cat -n` on /w/a.py:\n     1\tone\n     2\t\ttwo\n"
WINDOW = "[File: /w/a.py (9 lines total)]\n(2 more lines above)\n3:three\n4:    four\n(5 more lines below)"
GEMINI = """
IMPORTANT: The file content has been truncated.
Status: Showing lines 5-6 of 90 total lines.
Action: To read more of the file, use offset and limit.

--- FILE CONTENT (truncated) ---
five
six
"""


def of(name, given, text):
    return list(result_excerpts(effect_of(make_call("1", name, given)), text))


@pytest.mark.parametrize(
    ("name", "given", "text", "excerpts"),
    [
        ("Read", {"file_path": "a"}, "     1→one\n     2→\n     3→", [("a", 1, "one\n\n", None, True)]),
        ("Read", {"file_path": "a"}, "1\tone\n2\t\ttwo", [("a", 1, "one\n\ttwo", None, True)]),
        ("Read", {"file_path": "a"}, f"     1→one{REMINDER}", [("a", 1, "one", None, True)]),
        ("Read", {"file_path": "a", "offset": "9", "limit": "2"}, "     9→x\n    10→y", [("a", 9, "x\ny")]),
        ("Read", {"file_path": "a", "limit": 1}, "     1→x", [("a", 1, "x")]),
        ("Read", {"file_path": "a"}, "<system-reminder>This file is empty</system-reminder>", []),
        ("Read", {"file_path": "a"}, "File unchanged since last read.", []),
        ("Read", {"file_path": "a"}, "     1→x\n     5→not next", [("a", 1, "x")]),
        ("read", {"filePath": "/w/a.py"}, OPENCODE, [("/w/a.py", 1, "one\n  two", 2, True)]),
        ("read", {"filePath": "a"}, "<path>a</path>\n<content>1: x\n\n(End of file - total 1 lines)\n</content>", [("a", 1, "x", 1, True)]),
        ("read", {"path": "a", "offset": 8}, "x\ny\n\n... (241 more lines not shown. Use offset=10 to continue reading)", [("a", 8, "x\ny")]),
        ("read", {"path": "a"}, "x\ny\n", [("a", 1, "x\ny", None, True)]),
        ("view", {"path": "a", "view_range": [3, 4]}, "3. three\n4.   four", [("a", 3, "three\n  four")]),
        ("str_replace_based_edit_tool", {"command": "view", "path": "a"}, VIEW, [("a", 1, "one\n\ttwo", None, True)]),
        ("read_file", {"args": "<file><path>a.ts</path></file>"}, ROO,
         [("a.ts", 9, "nine\n  ten"), ("b.ts", 1, "one", None, True)]),
        ("read_file", {"path": "a"}, "1 | one\n2 | two", [("a", 1, "one\ntwo", None, True)]),
        ("read_file", {"file_path": "a"}, "1. a list\n2. in Markdown\n", [("a", 1, "1. a list\n2. in Markdown", None, True)]),
        ("read_file", {"file_path": "a"}, GEMINI, [("a", 5, "five\nsix", 90)]),
        ("read_file", {"file_path": "a", "start_line": 5, "end_line": 6}, "five\nsix\n", [("a", 5, "five\nsix")]),
        ("bash", {"command": "open a.py 3"}, WINDOW, [("/w/a.py", 3, "three\n    four", 9)]),
        ("Grep", {"pattern": "x", "path": "a"}, "     1→x", []),
        ("read_file", {}, "text", []),
        ("Unknown", {"path": "a"}, "     1→x", []),
    ],
)  # fmt: skip
def test_a_result_shows_these_lines(name, given, text, excerpts):
    assert of(name, given, text) == [Excerpt(*each) for each in excerpts]


CODEX = "Chunk ID: a1\nWall time: 0.1 seconds\nProcess exited with code 0\nOriginal token count: 9\nOutput:\n"
MINI = "<returncode>0</returncode>\n<output>\n{}\n</output>"


@pytest.mark.parametrize(
    ("command", "output", "excerpts"),
    [
        ("cat a", "one\n\n\ttwo\n", [("a", 1, "one\n\n\ttwo", 3, True)]),
        ("sed -n '5,6p' a", "five\nsix\n", [("a", 5, "five\nsix")]),
        ("sed -n '5,9p' a", "five\nsix\n", [("a", 5, "five\nsix", 6)]),
        ("sed -n '1,9p' a", "one\ntwo\n", [("a", 1, "one\ntwo", 2, True)]),
        ("head -2 a", "one\ntwo\n", [("a", 1, "one\ntwo")]),
        ("head -n 9 a", "one\n", [("a", 1, "one", 1, True)]),
        ("sed -n '1,2p;5,5p' a", "1\n2\n5\n", [("a", 1, "1\n2"), ("a", 5, "5")]),
        ("nl -ba a | sed -n '5,6p'", "     5\tfive\n     6\t\n", [("a", 5, "five\n")]),
        ("cat -n a", "     1\tone\n     2\ttwo\n", [("a", 1, "one\ntwo", 2, True)]),
        (
            "cat a; echo ---; cat b",
            "one\n---\ntwo\n",
            [("a", 1, "one", 1, True), ("b", 1, "two", 1, True)],
        ),
        ("echo '# a' && cat a", "# a\none\n", [("a", 1, "one", 1, True)]),
        ("cat a; echo ---; cat b", "one\n---\n---\ntwo\n", []),
        ("sed -n '1,2p' a && sed -n '1,1p' b", "1\n2\n1\n", [("a", 1, "1\n2"), ("b", 1, "1")]),
        ("sed -n '1,2p' a && sed -n '1,1p' b", "1\n1\n", []),
        ("cat a b", "one\ntwo\n", []),
        ("cat a || cat b", "one\n", []),
        ("cat a | tail -2", "one\ntwo\n", []),
        ("cat a && pytest", "one\n2 passed\n", []),
        ("cat $FILE", "one\n", []),
        ("grep x a", "x\n", []),
        ("cat a", "", []),
        ("cat a", "Warning: truncated output (original token count: 9)\none", []),
    ],
)
def test_an_output_shows_what_is_certain(command, output, excerpts):
    expected = [Excerpt(*each) for each in excerpts]
    assert of("shell", {"command": command}, output) == expected
    assert of("exec_command", {"cmd": command}, CODEX + output) == expected


def test_what_hosts_put_around_an_output_is_not_shown():
    whole = [Excerpt("a", 1, "one\ntwo", 2, whole=True)]
    assert of("bash", {"command": "cat a"}, MINI.format("one\ntwo")) == whole
    told_so = '{"output":"one\\ntwo\\n","metadata":{"exit_code":0}}'
    assert of("shell", {"command": "cat a"}, told_so) == whole
    copilot = "one\ntwo\n<shellId: 7 completed with exit code 0>"
    assert of("bash", {"command": "cat a"}, copilot) == whole
    reset = "one\ntwo\nShell cwd was reset to /w"
    assert of("Bash", {"command": "cd /tmp && cat /w/a"}, reset)[0].text == "one\ntwo"


def test_where_blank_lines_may_be_gone_a_short_piece_is_not_certain():
    assert of("Bash", {"command": "sed -n '5,9p' a"}, "six\nseven") == []
    assert of("Bash", {"command": "sed -n '5,6p' a"}, "five\nsix") == [Excerpt("a", 5, "five\nsix")]


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("bash", "<returncode>1</returncode>\n<output>\n</output>", True),
        ("bash", MINI.format("fine"), False),
        ("exec_command", CODEX.replace("code 0", "code 2"), True),
        ("shell", '{"output":"","metadata":{"exit_code":1}}', True),
        ("bash", "no\n<shellId: 7 completed with exit code 1>", True),
        ("Bash", "no code is told", False),
        ("Edit", "<tool_use_error>String to replace not found in file.</tool_use_error>", True),
        ("apply_patch", "apply_patch verification failed: Failed to find expected lines", True),
        ("Edit", "The file a.py has been updated.", False),
    ],
)
def test_a_failure_is_seen_where_the_format_has_no_word_for_it(name, text, says):
    assert has_failed(effect_of(make_call("1", name, {"command": "x"})), text) is says


def test_nothing_is_shown_of_a_call_that_failed():
    assert of("shell", {"command": "cat a"}, CODEX.replace("code 0", "code 1") + "one\n") == []
