"""What a command line shows and writes, told by its text alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.model.spans import whole
from sightline.shell_parsing.command_line import BYTES_MAX, pipelines, start_folders
from sightline.shell_parsing.file_effects import (
    Reading,
    Writing,
    contains_text,
    readings,
    searches,
    writings,
)
from sightline.shell_parsing.printed_lines import printed_spans, search_hits


def read(command):
    return list(readings(command, "/w"))


@pytest.mark.parametrize(
    ("command", "paths"),
    [
        ("cat f g", ["/w/f", "/w/g"]),
        ("cat '/a b/f' \"g h\" i\\ j", ["/a b/f", "/w/g h", "/w/i j"]),
        ("cd x && cat f; cd y; cat g", ["/w/x/f", "/w/x/y/g"]),
        ("(cd x; cat f); cat g", ["/w/x/f", "/w/g"]),
        ("cd x | cat f", ["/w/f"]),
        ("cd /a; cat f; cd; cat g; cat /h", ["/a/f", "/h"]),
        ("cd $HOME && cat f", []),
        ("A=1 LANG=C sudo cat f", ["/w/f"]),
        ("if true; then cat f; fi", ["/w/f"]),
        ("/usr/bin/cat f", ["/w/f"]),
        ("cat -- -f", ["/w/-f"]),
        ("cat f # cat g", ["/w/f"]),
        ("cat f#g", ["/w/f#g"]),
        ("cat *.py $f `x` ~/f {a,b}", []),
        ("echo cat f", []),
        ("cat 'f", []),
        ("cat <<'EOF'\ncat f\nEOF\ncat g", ["/w/g"]),
        ("cat <<A <<-B\nx\nA\n\ty\n\tB\ncat g", ["/w/g"]),
        ("cat f \\\n  g", ["/w/f", "/w/g"]),
        ("bash -c 'cd x; cat f'", ["/w/x/f"]),
        ("cat f > g; cat f >&2; cat f 2>&1", ["/w/f", "/w/f"]),
        ("cat f | tee g", ["/w/f"]),
        ("cat f | cut -c1", []),
        ("sed -i 1d f", []),
        ("rev f; od -c f; head -c 9 f", []),
        ("nl f; cat -A f; tac f", ["/w/f"] * 3),
        ("cat f | cat - g", ["/w/f", "/w/g"]),
        ("git blame -L 1,9 f; git log f", ["/w/f"]),
        ("cat -n f g", ["/w/f"]),
        ("bat -p f; less f", ["/w/f", "/w/f"]),
        ("diff <(cat f) g", ["/w/f"]),
        ("cat f > g h", []),
        ("> g cat f; < f head -3", ["/w/f"]),
        ("cat <<E | head && cat f\nE\ncat g", ["/w/f", "/w/g"]),
        ("cd x & cat f", ["/w/f"]),
        ("[[ -f f ]] && cat f", ["/w/f"]),
    ],
)
def test_the_files_that_a_command_shows(command, paths):
    assert [reading.path for reading in read(command)] == paths


@pytest.mark.parametrize(
    ("command", "lines"),
    [
        ("cat f", [1, 2, 3, 4, 5, 6]),
        ("head -n2 f", [1, 2]),
        ("head --lines=2 f", [1, 2]),
        ("head f", [1, 2, 3, 4, 5, 6]),
        ("head -n -5 f", [1]),
        ("tail -1 f", [6]),
        ("tail -n 0 f", []),
        ("tail -n +5 f", [5, 6]),
        ("sed -n 3p f", [3]),
        ("sed -n '2,+1p' f", [2, 3]),
        ("sed -n '5,2p' f", [5]),
        ("sed -n '1p;$p' f", [1, 6]),
        ("sed -n '2,3p;3q' f", [2, 3]),
        ("bat -r 2:3 f", [2, 3]),
        ("bat --line-range=5: f", [5, 6]),
        ("cat f | tail -3 | head -1", [4]),
    ],
)
def test_the_lines_that_it_would_print(command, lines):
    [reading] = read(command)
    assert not reading.some
    assert list(reading.lines(6)) == lines


@pytest.mark.parametrize("command", ["grep x f", "sed s/a/b/ f", "sed -n /x/p f", "cat f | rg x"])
def test_of_what_cannot_be_told_only_some_lines_are_expected(command):
    assert [reading.some for reading in read(command)] == [True]


@pytest.mark.parametrize(
    ("command", "ended_in", "path"),
    [
        ("cat f", "/w", "/w/f"),
        ("cd sub && cat f", "/w/sub", "/w/sub/f"),
        ("cat f; cd sub/deep", "/w/sub/deep", "/w/f"),
        ("cd .. && cat f", "/w", "/w/f"),
        ("cd ../other && cat ../f", "/w/other", "/w/f"),
        ("cd /x && cat f", "/x", "/x/f"),
        ("(cd sub; cat f)", "/w", "/w/sub/f"),
        ("cd sub && cat f", "/w", "/w/sub/f"),  # the host tells where it began
    ],
)
def test_where_a_command_led_to_tells_where_it_began(command, ended_in, path):
    told = {
        each.path for start in start_folders(command, ended_in) for each in readings(command, start)
    }
    assert path in told


def test_the_texts_that_a_command_puts_into_files():
    command = "cat > f <<E\nx\nE\ntee -a g <<< y >> h; echo z > i; printf '%s\\n' a b > j; echo q"
    assert list(writings(command, "/w"))[:4] == [
        Writing("/w/f", "x\n"),
        Writing("/w/h", "y\n", appended=True),
        Writing("/w/g", "y\n", appended=True),
        Writing("/w/i", "z\n"),
    ]
    assert Writing("/w/j", "a\nb\n") in writings(command, "/w")


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("cat > f <<'E'\n\n  x\n\ty\nE\n", "\n  x\n\ty\n"),
        ("cat <<-E > f\n\n\t\tx\n\tE\nls", "\nx\n"),
        ("cd . && cat > f <<< 'x = 1'", "x = 1\n"),
        ("cat <<E >f && ls\n$x\nE", "$x\n"),
    ],
)
def test_the_text_of_a_heredoc_is_exact(command, text):
    assert writings(command, "/w") == (Writing("/w/f", text),)


def test_a_short_text_may_stand_in_a_command_by_chance():
    assert not contains_text("make a", "a\n")
    assert contains_text(
        "python - <<E\nwrite('def function():\n    pass\n')\nE", "def function():\n    pass\n"
    )


def test_folders_in_which_it_searches():
    assert searches("cd x && rg -n y; git grep z", "/w") == ("/w/x",)
    assert searches("cat f", "/w") == ()


def test_lines_that_name_their_place():
    assert list(search_hits("a/b.py:3:x: y\na/b.py-4-z\nplain\n12:x\n")) == [
        ("a/b.py", 3, "x: y"),
        ("a/b.py", 4, "z"),
    ]


@pytest.mark.wide
@pytest.mark.parametrize(
    "unit",
    [
        "cat f;",
        '"',
        "\\",
        "(",
        "$(",
        "cat <<E\n",
        "a=",
        "&",
        "`",
        "#",
        *(pytest.param(unit, marks=pytest.mark.wide) for unit in ("|cat f", "'", "1,9p;", "-n ")),
    ],
)
def test_a_hostile_command_is_bounded(unit):
    command = unit * (50_000 // len(unit))
    assert len(readings(command, "/w")) <= 50
    assert len(readings(f"sed -n '{command}' f", "/w")) <= 50
    writings(command, "/w")
    assert pipelines("x" * (BYTES_MAX + 1), "/w") == []


PROGRAMS = ["cat", "head", "tail", "sed", "grep", "bash", "cd", "x", "f", "'1,3p'"]
SIGNS = ["-", "-n", "-c", "+2", "-3", ";", "|", "&&", "<<E", "\nE\n", ">", "2>&1", "\n", "{"]
QUOTES = ["'", '"', "\\", "$(", ")", "("]
SNIPPETS = st.sampled_from([*PROGRAMS, *SIGNS, *QUOTES])
COMMANDS = st.text() | st.lists(SNIPPETS, max_size=12).map(" ".join)


@given(
    COMMANDS, st.lists(st.text("ab ", max_size=2), max_size=5), st.text("ab \n:1\t", max_size=20)
)
def test_no_command_makes_a_line_seen_that_does_not_stand_in_the_output(command, lines, output):
    for reading in readings(command, "/w"):
        found, at = printed_spans(reading, lines, output)
        assert 0 <= at <= len(output)
        assert all(1 <= first <= last <= len(lines) for first, last in found)
        rows = output.split("\n")
        for first, last in found:
            for number in range(first, last + 1):
                line = lines[number - 1]
                assert line in rows or (reading.numbered and any(r.endswith(line) for r in rows))
    writings(command, "/w")
    searches(command, "/w")
    assert {len(readings(command, start)) for start in start_folders(command, "/w")} == {
        len(readings(command, "/w"))
    }


@given(st.lists(st.text("ab}", max_size=2), min_size=1, max_size=9), st.data())
def test_a_whole_text_in_an_output_is_seen_whole(lines, data):
    before = data.draw(st.sampled_from(["", "x\n", "\n\n"]))
    after = data.draw(st.sampled_from(["", "x", "\nx\n"]))
    output = before + "".join(f"{line}\n" for line in lines) + after
    found, _ = printed_spans(Reading("/f"), lines, output)
    assert found == whole(len(lines))


def test_empty_lines_that_the_host_cut_off_both_ends_are_not_seen():
    found, _ = printed_spans(Reading("/f"), ["", "a", "", "b", ""], "a\n\nb")
    assert found == ((2, 4),)


def test_the_lines_of_one_file_are_looked_for_behind_those_of_the_other():
    output = "a\nb\na\n"
    first, at = printed_spans(Reading("/f"), ["a", "b"], output)
    second, end = printed_spans(Reading("/g"), ["a"], output, at)
    assert (first, second, end) == (((1, 2),), ((1, 1),), len(output))
    assert printed_spans(Reading("/g"), ["b"], output, at)[0] == ()


def test_a_line_like_others_counts_only_beside_one_that_is_not():
    lines = ["}", "a", "}", "b", "}"]
    some = Reading("/f", some=True)
    assert printed_spans(some, lines, "}")[0] == ()
    assert printed_spans(some, lines, "a\n}\nelse")[0] == ((2, 3),)
