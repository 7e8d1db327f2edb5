"""Files that a shell prints in another form: a real shell and real git run, and their output decides."""

import subprocess

import pytest
from tests.hooks.handlers.shell import run, seen

LINES = [f"line {number}" for number in range(1, 13)]
LINES[2], LINES[5], LINES[6] = "\tindented = 'ä'", "", "back\\slash " + "long " * 20
TEXT = "".join(f"{line}\n" for line in LINES)
OPEN = "alpha one\nbeta two\ngamma three"
"""A text whose last line has no newline."""

ALL = ((1, 12),)


@pytest.fixture
def a(place):
    place.put("a.txt", TEXT)
    place.put("x.txt", OPEN)
    place.put("y.txt", "delta four\nepsilon five\n")
    return place


@pytest.mark.parametrize(
    ("command", "lines"),
    [
        ("cat -A a.txt", ALL),
        ("cat -vET a.txt", ALL),
        ("cat -e a.txt", ALL),
        ("cat -t a.txt", ALL),
        ("cat -An a.txt", ALL),
        ("cat -A a.txt | head -4", ((1, 4),)),
        ("sed -n '2,4p' a.txt | cat -A", ((2, 4),)),
        ("cat -b a.txt", ALL),
        ("nl a.txt", ALL),
        ("nl -ba a.txt | sed -n '3,5p'", ((3, 5),)),
        ("sed -n l a.txt", ALL),
        ("tac a.txt", ALL),
        ("tac a.txt | head -3", ((10, 12),)),
        ("awk '{print NR\": \"$0}' a.txt", ALL),
        ("awk '{print FNR \" \" $0}' a.txt", ALL),
        ("awk '{printf \"%d|%s\\n\", NR, $0}' a.txt", ALL),
        ("awk 'NR>=9 && NR<=11 {print NR\": \"$0}' a.txt", ((9, 11),)),
        ('awk \'{print FILENAME":"NR":"$0}\' a.txt', ALL),
        ('awk \'{print FILENAME ":" FNR ":" $0}\' x.txt a.txt | tail -n 3', ((10, 12),)),
        ("paste a.txt", ALL),
        ("grep -n 'line 1' a.txt", ((1, 1), (10, 12))),
        ("grep -n -A1 -B1 'line 9' a.txt", ((8, 10),)),
        ("grep -nH -C1 'line 9' a.txt", ((8, 10),)),
        ("rev a.txt", ()),
        ("od -c a.txt", ()),
        ("wc a.txt", ()),
        ("sort a.txt | cut -c1-3", ()),
        ("less -N a.txt", ALL),
        ("head -2 a.txt y.txt", ((1, 2),)),
        ("tail -n 2 y.txt a.txt", ((11, 12),)),
    ],
)
def test_a_file_in_another_form_is_read(a, command, lines):
    session = a.session()
    run(a, session, command)
    assert seen(session, "a.txt") == lines


@pytest.mark.parametrize(
    "command",
    [
        "cat x.txt y.txt",
        "cat x.txt; cat y.txt",
        "cat x.txt && cat y.txt; echo done",
        "cat x.txt x.txt y.txt",
        "for f in x.txt y.txt; do cat $f; done",
        "cat *.txt",
        "find . -name '?.txt' | sort | xargs cat",
        "cat x.txt; echo ---; cat y.txt",
        "head -n 100 x.txt y.txt",
        "tail -n 5 x.txt; cat y.txt",
        "cat -A x.txt y.txt",
        "cat -n x.txt; cat -n y.txt",
        "tac x.txt; cat y.txt",
        "cat x.txt | cat - y.txt",
        "paste x.txt y.txt",
    ],
)
def test_a_text_without_a_newline_at_its_end_hides_no_line(a, command):
    session = a.session()
    run(a, session, command)
    assert (seen(session, "x.txt"), seen(session, "y.txt")) == (((1, 3),), ((1, 2),))


def test_a_row_that_only_begins_like_a_last_line_does_not_show_it(a):
    session = a.session()
    run(
        a, session, "cat x.txt > /dev/null; printf 'alpha one\\nbeta two\\ngamma three and more\\n'"
    )
    assert (3, 3) not in seen(session, "x.txt")


@pytest.fixture
def committed(a):
    def git(*words):
        subprocess.run(["git", *words], cwd=a.root, check=True, capture_output=True)

    git("init", "--quiet")
    git("add", ".")
    git("commit", "--quiet", "-m", "one")
    a.put("a.txt", TEXT.replace("line 9", "line nine"))
    return a


NEAR_NINE = ((6, 12),)


@pytest.mark.parametrize(
    ("command", "lines"),
    [
        ("git diff", NEAR_NINE),
        ("git diff HEAD -- a.txt", NEAR_NINE),
        ("git --no-pager diff -U1", ((8, 10),)),
        ("git commit -qam two && git show", NEAR_NINE),
        ("git commit -qam two && git log -p -1", NEAR_NINE),
        ("git stash -q && git stash pop -q && git diff", NEAR_NINE),
        ("git show HEAD:a.txt > old.txt; git diff --no-index old.txt a.txt", NEAR_NINE),
        ("git show HEAD:a.txt > old.txt; diff -u old.txt a.txt", NEAR_NINE),
        ("git blame a.txt", ALL),
        ("git blame -s a.txt", ALL),
        ("git blame -L 2,4 a.txt", ((2, 4),)),
        ("git log --oneline", ()),
    ],
)
def test_lines_that_git_and_diff_show_of_the_file_as_it_is_are_read(committed, command, lines):
    session = committed.session()
    run(committed, session, command)
    assert seen(session, "a.txt") == lines


def test_a_diff_in_a_folder_below_names_its_files_from_the_top(committed):
    session = committed.session()
    committed.put("sub/z.txt", "z\n")
    run(committed, session, "cd sub && git diff", ends_in="sub")
    assert seen(session, "a.txt") == NEAR_NINE


def test_both_sides_of_two_columns_are_read(a):
    a.put("b.txt", TEXT.replace("line 9", "line nine").replace("line 1\n", ""))
    session = a.session()
    run(a, session, "diff -y a.txt b.txt")
    assert seen(session, "a.txt") == ((1, 5), (8, 12))  # line 7 is too long
    assert (8, 8) in [
        (n, n) for first, last in seen(session, "b.txt") for n in range(first, last + 1)
    ]
