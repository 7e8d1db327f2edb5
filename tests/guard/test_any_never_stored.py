"""A verdict that rests on marks of lines, beside the verdict that rests on the text itself."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st
from msgspec import structs

from sightline.guard.edit_case import EditCase, Evidence, Rules
from sightline.guard.verdict import judge
from sightline.model import line_marks
from sightline.model.attempts import Patch, Replace, ReplaceLines, WriteWhole, lines_of_attempt
from sightline.model.events import Belief
from sightline.model.line_marks import unmarked_lines
from sightline.model.patches import PatchHunk
from sightline.model.text import decode as decoded

KEY = b"k" * 32
LINES = [
    "[dev]",
    "[prod]",
    "port = 80",
    "port = 8080",
    "host = a",
    "  host = a",
    "",
    "# note",
    "}",
    "x",
]
line = st.sampled_from(LINES)
bases = st.lists(line, min_size=1, max_size=9)
saves = st.lists(
    st.tuples(st.sampled_from(["put", "take", "add"]), st.integers(0, 9), line), max_size=3
)


def decode(data):
    return decoded(data)


def marked(text, key):
    return line_marks.marked(text, key)


def saved(lines, steps):
    out = list(lines)
    for what, at, new in steps:
        at = min(at, max(len(out) - 1, 0))
        if what == "add":
            out.insert(at, new)
        elif out:
            out[at : at + 1] = [new] if what == "put" else []
    return out


def text(lines):
    return "".join(f"{each}\n" for each in lines)


@st.composite
def cases(draw):
    base = draw(bases)
    disk = saved(base, draw(saves))
    shown = draw(st.sampled_from([((1, len(base)),), ((1, (len(base) + 1) // 2),)]))
    first = draw(st.integers(0, len(base) - 1))
    last = draw(st.integers(first, min(first + 2, len(base) - 1)))
    block, new = base[first : last + 1], draw(st.lists(line, max_size=2))
    kind = draw(st.sampled_from(["text", "part", "lines", "patch", "write"]))
    part = text(block).strip() or text(block)
    part = part[draw(st.integers(0, len(part) // 2)) :]
    ends = tuple(f"{each}\n" for each in block), tuple(f"{each}\n" for each in new)
    attempts = {
        "text": Replace(text(block), text(new)),
        "part": Replace(part, "new"),
        "lines": ReplaceLines(first + 1, last + 1, text(new)),
        "patch": Patch((PatchHunk(first + 1, *ends),)),
        "write": WriteWhole(text([*base[:first], *new, *base[last + 1 :]])),
    }
    return kind, text(base), text(disk), shown, attempts[kind]


def rulings(base, disk, shown, attempt):
    """Return the verdict by the text and the verdict by its marks."""
    data, now = base.encode(), disk.encode()
    total = base.count("\n")
    sight = Evidence("file", now, Belief("", shown, shown, total), data)
    words = [decode(now).lines, *lines_of_attempt(attempt)]
    marks = unmarked_lines(marked(decode(data), KEY), KEY, words)
    by_marks = structs.replace(sight, believed=marks, has_marks=True)
    if data == now:  # a text that stands on disk is taken from there
        by_marks = sight
    return [judge(EditCase(each, Rules()), attempt) for each in (sight, by_marks)]


def is_whole(attempt, disk):
    """Return whether a replacement is of whole lines of the disk."""
    wanted = attempt.old.removesuffix("\n").split("\n")
    lines = [each.strip() for each in disk.split("\n")]
    return any(
        lines[n : n + len(wanted)] == [each.strip() for each in wanted] for n in range(len(lines))
    )


@given(cases())
@example(("part", "port = 80\n", "port = 8080\n", ((1, 1),), Replace("port = 80", "port = 443")))
def test_marks_let_through_what_the_text_does_and_nothing_else(case):
    kind, base, disk, shown, attempt = case
    by_text, by_marks = rulings(base, disk, shown, attempt)
    if by_marks.decision != "refuse":
        if by_text.decision != "refuse":
            assert by_marks.new == by_text.new
            assert by_marks.decision == by_text.decision
        else:  # a part of a changed line had the same text, and whole shown lines have it now
            assert isinstance(attempt, Replace)
            assert is_whole(attempt, disk)
    elif by_text.decision != "refuse":
        # A part of a line cannot be looked for in a mark, nor be likened to another line.
        assert kind in ("text", "part", "lines", "patch"), "a whole write is judged as by the text"
        assert has_lost_lines(base, disk)


def has_lost_lines(base, disk):
    """Return whether a line of the base stands nowhere on disk."""
    return not {each.strip() for each in base.split("\n")} <= {
        each.strip() for each in disk.split("\n")
    }
