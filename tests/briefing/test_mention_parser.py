"""What a user's text names with an @, by our own rules."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.briefing.mention_parser import (
    NAME_MAX,
    parse_mentions,
)
from sightline.briefing.mentions import choose_lines


def told(text: str) -> list[tuple[object, ...]]:
    return [(m.kind, m.value, m.root, m.lines) for m in parse_mentions(text)]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("look at @/src/a.py please", "/src/a.py"),
        ("@a.py first", "a.py"),
        ("@./rel/a.py", "./rel/a.py"),
        ("@../a.py", "../a.py"),
        ('@"my notes.txt", please', "my notes.txt"),
        ("@'my notes.txt'!", "my notes.txt"),
        (r"@my\ notes.txt", "my notes.txt"),
        (r"@a\(1\).py", "a(1).py"),
        (r"@src\app.py", r"src\app.py"),
        ("(see @a.py)", "a.py"),
        ("'@a.py'", "a.py"),
        ("“@a.py”", "a.py"),
        ("**@a.py**", "a.py"),
        ("[@a.py]", "a.py"),
        ("is it @a.py?!", "a.py"),
        ("call @run() now", "run"),
        ("@app/(group)/[id]/page.tsx", "app/(group)/[id]/page.tsx"),
        ("@app/(group)", "app/(group)"),
        ("@it's.py", "it's.py"),
        ("@ä/ö 😀", "ä/ö"),
        ("@😀.py", "😀.py"),
        ("line\n@a.py\nline", "a.py"),
        ("看（@a.py）", "a.py"),
        ("看，@a.py，然后", "a.py"),
        ("`code` then @a.py", "a.py"),
        ("```\ncode\n```\n@a.py", "a.py"),
        ("a lone ` before @a.py", "a.py"),
        ("@./terminal", "./terminal"),
        ("@terminal.py", "terminal.py"),
        ("@problemsolver", "problemsolver"),
        ("@doc.md#usage", "doc.md#usage"),
        ("@abcdef", "abcdef"),
        ("@a1b2c3d.py", "a1b2c3d.py"),
    ],
)
def test_a_path_is_named(text, value):
    assert told(text) == [("path", value, None, None)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("@src/", ("folder", "src/", None, None)),
        ('@"my docs/".', ("folder", "my docs/", None, None)),
        ("@./", ("folder", "./", None, None)),
        ("@web:/src/a.py", ("path", "/src/a.py", "web", None)),
        ('@web:"/my notes.txt"', ("path", "/my notes.txt", "web", None)),
        ("@web:/src/", ("folder", "/src/", "web", None)),
        ("@a1b2c3d", ("commit", "a1b2c3d", None, None)),
        ("@A1B2C3D4, please", ("commit", "a1b2c3d4", None, None)),
        (f"@{'0a' * 20}", ("commit", "0a" * 20, None, None)),
        ("@git-changes.", ("git-changes", "git-changes", None, None)),
        ("@problems", ("problems", "problems", None, None)),
        ("(@terminal)", ("terminal", "terminal", None, None)),
        ("@c:/src/a.py", ("path", "c:/src/a.py", None, None)),
        ("@https://a.org/b?c=d#e.", ("url", "https://a.org/b?c=d#e", None, None)),
        ("(@https://a.org/b_(c))", ("url", "https://a.org/b_(c)", None, None)),
    ],
)
def test_other_things_are_named(text, found):
    assert told(text) == [found]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("@a.py#L3-9.", (3, 9)),
        ("@a.py#L3-L9", (3, 9)),
        ("@a.py#L3", (3, 3)),
        ("@a.py:10-20,", (10, 20)),
        ("@a.py:10", (10, 10)),
        ("@a.py:10:4", (10, 10)),
        ("@a.py:9-3", (3, 9)),
        ('@"a.py#L3-9"', (3, 9)),
        ('@"a.py"#L3-9', (3, 9)),
        ("@'a.py':10-20", (10, 20)),
    ],
)
def test_lines_are_named(text, lines):
    assert told(text) == [("path", "a.py", None, lines)]


@pytest.mark.parametrize("text", ["@a.py#L0", "@a.py:0", "@a.py:3-", "@a.py#L3-x", "@a.py#L"])
def test_what_is_no_line_stays_with_the_name(text):
    assert told(text) == [("path", text[1:], None, None)]


@pytest.mark.parametrize(
    "text",
    [
        "mail me@example.org",
        r"an escaped \@a.py",
        "the decorator `@cache` and ``@lru`` and ` @a `",
        "```python\n@dataclass\n```",
        "````\n```\n@a\n````",
        "~~~\n@a\n~~~",
        "```\n@never/closed.py",
        "@",
        "@ a",
        "@,",
        "@/",
        "see @/, and",
        "@//",
        '@""',
        '@"/"',
        '@"never closed',
        '@"over\nlines"',
        "a@b @@",
        "@@ -1,3 +1,4 @@",
        "@" + "a" * NAME_MAX,
    ],
)
def test_what_is_no_mention_is_none(text):
    assert parse_mentions(text) == ()


def test_each_thing_is_named_once_in_order():
    assert [m.value for m in parse_mentions("@b.py @a.py @b.py @a.py#L1 @a.py:1")] == [
        "b.py",
        "a.py",
        "a.py",
    ]


def test_the_place_is_that_of_the_whole_mention():
    text = r'see (@a\ b.py#L3), @web:"/c d".'
    assert [text[m.start : m.end] for m in parse_mentions(text)] == [r"@a\ b.py#L3", '@web:"/c d"']


@given(st.text(alphabet="""@ab/. #L12:-`"'\\()[]<~\n😀""", max_size=60))
def test_any_text_has_an_answer(text):
    end = 0
    for mention in parse_mentions(text):
        assert end <= mention.start < mention.end <= len(text)
        assert text[mention.start] == "@"
        assert mention.value.strip("/")
        assert mention.lines is None or 1 <= mention.lines[0] <= mention.lines[1]
        end = mention.end


@given(st.text(alphabet="""ab/. #L12:-(),'é😀""", min_size=1, max_size=20))
def test_any_name_between_quotes_is_found_as_it_is(name):
    if name.strip("/") and "#L" not in name:
        assert [m.value for m in parse_mentions(f'x @"{name}" y')] == [name]


@pytest.mark.wide
@pytest.mark.parametrize(
    "piece",
    [
        *(
            " @",
            "@",
            "`",
            "``a\n",
            ' @"',
            """ @"x' """,
            " @a:",
            "\\",
            " @a.py",
            "~~~",
            "(@",
            "(@@",
            "(@/",
        ),
        *("@" + "(" * 2_000 + ")" * 2_000 + " ", "@a" + ")" * 4_000 + " ", "@" + "a\\" * 2_000),
    ],
)
def test_a_very_long_text_is_no_trouble(piece):
    """Nothing is looked at again and again: what takes a part of a second so takes minutes else."""
    text = piece * (100_000 // len(piece))
    assert len(parse_mentions(text)) <= 1


@pytest.mark.parametrize(
    ("total", "asked", "shown"),
    [
        (0, None, (0, 0)),
        (5, None, (1, 5)),
        (6, None, (1, 2)),
        (100, (7, 8), (7, 8)),
        (100, (7, 50), (7, 11)),
        (8, (7, 50), (7, 8)),
        (8, (9, 9), (0, 0)),
    ],
)
def test_lines_are_shown_up_to_the_limits(total, asked, shown):
    assert choose_lines(["x\n"] * total, asked, 5, 2, 1_000) == shown


@given(st.lists(st.text(alphabet="aé😀", max_size=9)), st.integers(0, 60))
def test_the_room_is_counted_in_bytes_and_lines_are_never_cut(rows, room):
    first, last = choose_lines(rows, None, 100, 100, room)
    size = sum(len(row.encode()) for row in rows[:last])
    assert size <= room
    assert last == len(rows) or size + len(rows[last].encode()) > room
    assert first == (1 if last else 0)
