"""What calls of the tools of coding agents do, and which texts they put into files."""

import json

import pytest

from sightline.messages.blocks import Rewrite
from sightline.messages.formats.parse_blocks import effect_of
from sightline.messages.tool_calls import make_call

PATCH = """*** Begin Patch
*** Update File: a.py
@@ def f():
 def f():
-    return 1
+    return 2
@@
-x
+y

*** Add File: new.py
+one
+two
*** Delete File: old.py
*** End Patch"""

UNIFIED = "--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"
SEARCHED = """<<<<<<< SEARCH
:start_line:3
-------
old line
=======
new line
>>>>>>> REPLACE"""
CLINE = "------- SEARCH\nold\n=======\n+++++++ REPLACE"


def of(name, given):
    return effect_of(make_call("1", name, given))


@pytest.mark.parametrize(
    ("name", "given", "rewrites"),
    [
        ("Edit", {"file_path": "/a", "old_string": "x", "new_string": "y"}, [("/a", "x", "y")]),
        ("edit", {"filePath": "a", "oldString": "x", "newString": "y"}, [("a", "x", "y")]),
        ("edit", {"path": "a", "old_str": "x", "new_str": ""}, [("a", "x", "")]),
        ("edit", {"path": "a", "oldText": "x", "newText": "y"}, [("a", "x", "y")]),
        ("replace", {"file_path": "a", "old_string": "x", "new_string": "y"}, [("a", "x", "y")]),
        ("Write", {"file_path": "/a", "content": "t"}, [("/a", None, "t")]),
        ("create", {"path": "a", "file_text": "t"}, [("a", None, "t")]),
        ("write_to_file", {"path": "a", "content": "t"}, [("a", None, "t")]),
        ("NotebookEdit", {"notebook_path": "n", "new_source": "s"}, [("n", "", "s")]),
        (
            "MultiEdit",
            {"file_path": "a", "edits": [{"old_string": "1", "new_string": "2"}, {"old_string": "3", "new_string": "4"}]},
            [("a", "1", "2"), ("a", "3", "4")],
        ),
        ("str_replace_editor", {"command": "create", "path": "a", "file_text": "t"}, [("a", None, "t")]),
        ("str_replace_based_edit_tool", {"command": "str_replace", "path": "a", "old_str": "x", "new_str": "y"}, [("a", "x", "y")]),
        ("str_replace_based_edit_tool", {"command": "insert", "path": "a", "insert_line": 3, "insert_text": "y"}, [("a", "", "y")]),
        ("str_replace_editor", {"command": "view", "path": "a"}, []),
        ("apply_diff", {"path": "a", "diff": SEARCHED}, [("a", "old line\n", "new line\n")]),
        ("replace_in_file", {"path": "a", "diff": CLINE}, [("a", "old\n", "")]),
        ("insert_content", {"path": "a", "line": "3", "content": "t"}, [("a", "", "t")]),
        ("search_and_replace", {"path": "a", "search": "x", "replace": "y"}, [("a", "x", "y")]),
        ("apply_patch", {"input": UNIFIED}, [("a.py", "one\ntwo\n", "one\n2\n")]),
        ("Read", {"file_path": "a"}, []),
        ("Edit", "{broken", []),
        ("Edit", {"file_path": ["a"], "new_string": 3}, []),
        ("mcp__x__edit_file", {"path": "a", "old_text": "x", "new_text": "y"}, [("a", "x", "y")]),
    ],
)  # fmt: skip
def test_an_edit_says_what_it_puts_into_files(name, given, rewrites):
    assert list(of(name, given).rewrites) == [Rewrite(*each) for each in rewrites]


@pytest.mark.parametrize("given", [PATCH, {"input": PATCH}, {"patchText": PATCH}])
def test_a_patch_is_read_wherever_it_stands(given):
    found = of("apply_patch", given)
    assert found.paths == ("a.py", "new.py", "old.py")
    assert found.rewrites == (
        Rewrite("a.py", "def f():\n    return 1\n", "def f():\n    return 2\n"),
        Rewrite("a.py", "x\n", "y\n"),
        Rewrite("new.py", None, "one\ntwo\n"),
    )


@pytest.mark.parametrize(
    ("command", "deed", "paths"),
    [
        ("cat a.py", "read", ["a.py"]),
        ("cd src && sed -n '1,5p' a.py", "read", ["src/a.py"]),
        ("cd /r && nl -ba a.py | sed -n '1,5p'", "read", ["/r/a.py"]),
        ("tail -5 a.py", "read", ["a.py"]),
        ("cat a.py | cat -v", "read", ["a.py"]),
        ("grep -n x a.py", "search", []),
        ("rg x src | head -5", "search", []),
        ("cat a.py | grep x", "search", []),
        ("ls -la && find . -name x", "list", []),
        ("pytest -q", "run", []),
        ("cat a.py && pytest", "run", []),
        ("pytest > out.txt", "run", []),
        ("cat > a.py <<'E'\nx = 1\nE", "write", ["a.py"]),
        ("cat >> a.py <<'E'\nx = 1\nE", "edit", ["a.py"]),
        ("sed -i s/a/b/ a.py", "edit", ["a.py"]),
        (f"apply_patch <<'E'\n{PATCH}\nE", "edit", ["a.py", "new.py", "old.py"]),
        ("cat ../a.py", "read", []),
        ("cat 'a", "run", []),
        ("", "run", []),
    ],
)
def test_a_command_is_known_by_its_text(command, deed, paths):
    found = of("Bash", {"command": command})
    assert (found.deed, list(found.paths)) == (deed, paths)


@pytest.mark.parametrize(
    "given",
    [
        {"command": ["bash", "-lc", "cat a.py"], "workdir": "/w"},
        {"cmd": "cat a.py", "workdir": "/w"},
        json.dumps({"command": "cat a.py", "cwd": "/w"}),
    ],
)
def test_a_command_is_found_wherever_a_host_puts_it(given):
    found = of("shell", given)
    assert (found.deed, found.paths) == ("read", ("/w/a.py",))


@pytest.mark.parametrize(
    ("name", "deed"),
    [
        ("Grep", "search"),
        ("Glob", "list"),
        ("WebFetch", "web"),
        ("google_web_search", "web"),
        ("TodoWrite", "plan"),
        ("update_plan", "plan"),
        ("ask_followup_question", "plan"),
        ("Task", "other"),
        ("mcp__files__read_file", "read"),
        ("mcp__jira__get_issue", "other"),
        ("", "other"),
    ],
)
def test_tools_do_what_their_names_say(name, deed):
    assert of(name, {"path": "a"}).deed == deed


@pytest.mark.parametrize(
    ("command", "restored"),
    [
        ("git checkout ui/a.ts", ("ui/a.ts",)),
        ("cd ui && git checkout HEAD -- a.ts b.ts", ("ui/a.ts", "ui/b.ts")),
        ("git checkout -- cmd/cli/ && go test ./...", ("cmd/cli",)),
        ("git restore a.ts", ("a.ts",)),
        ("git restore --staged --worktree a.ts", ("a.ts",)),
        ("git restore --staged a.ts", ()),
        ("git restore --source=v1 a.ts", ()),
        ("git checkout -b fix main", ()),
        ("git checkout --ours a.ts", ()),
        ("git checkout v1 -- a.ts", ()),
        ("git checkout", ()),
        ("git stash push -- a.ts", ()),
    ],
)
def test_files_that_git_takes_back_to_their_committed_text(command, restored):
    shell = of("bash", {"command": command}).shell
    assert shell is not None
    assert shell.restored == restored


def test_files_of_one_call_are_all_named():
    args = "<file><path>a.ts</path></file><file>\n<path> b.ts </path></file>"
    assert of("read_file", {"args": args}).paths == ("a.ts", "b.ts")
    assert of("read_many_files", {"paths": ["a", "b"]}).paths == ("a", "b")
    assert of("read_file", {"files": [{"path": "a"}, {"path": "b"}]}).paths == ("a", "b")


def test_a_diff_for_several_files_names_each():
    args = f"<file><path>a</path><diff>\n{SEARCHED}\n</diff></file><file><path>b</path>\n{SEARCHED}</file>"
    assert [each.path for each in of("apply_diff", {"args": args}).rewrites] == ["a", "b"]
