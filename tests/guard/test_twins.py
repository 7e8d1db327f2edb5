"""The text that an agent means is the text at the place where it was shown; never a twin of it."""

from __future__ import annotations

import pytest
from tests.model.twin_histories import histories

from sightline.guard.edit_case import EditCase, Evidence, Rules
from sightline.guard.verdict import judge
from sightline.model.attempts import Patch, Replace, ReplaceLines, WriteWhole
from sightline.model.events import Belief
from sightline.model.patches import PatchHunk

SUM = "def add(a, b):\n    return a - b\n\n\ndef sub(a, b):\n    return a - b  # sub\n"
SUM_REWRITTEN = "def add(a, b):\n    return a + b\n\n\ndef sub(a, b):\n    return a - b\n"
PORTS = "[dev]\nport = 80\n\n[prod]\nport = 80  # prod\n"
PORTS_REWRITTEN = "[dev]\nport = 8080\n\n[prod]\nport = 80\n"
ADDED = "[dev]\nport = 8080\n\n[test]\nport = 80\n\n[prod]\nport = 80  # prod\n"
RENAMED = "def plus(x, y):\n    return x + y\n\n\ndef minus(a, b):\n    return a - b\n"
GONE = "def add(a, b):\n    return total(a, b)\n\n\ndef sub(a, b):\n    return a - b  # sub\n"
LIST = "first\nhost = a\nport = 80\nhost = b\nport = 80  # b\nlast\n"
LIST_REWRITTEN = "first\nhost = a\nport = 8080\nhost = c\nport = 80\nlast\n"


def attempts(base, old, new):
    """Return a replacement of whole lines, one of a part, one by numbers, two patches, and a whole
    file."""
    number = base[: base.index(old)].count("\n") + 1
    lines = base.splitlines(keepends=True)
    below = tuple(lines[number : number + 1])
    hunk = (old, *below), (new, *below)
    return {
        "replace": Replace(old, new),
        "part": Replace(old.strip(), new.strip()),
        "lines": ReplaceLines(number, number, new),
        "patch": Patch((PatchHunk(number, *hunk),)),
        "patch without numbers": Patch((PatchHunk(1000, *hunk),)),
        "write": WriteWhole(base.replace(old, new, 1)),
    }


def verdict(base, disk, attempt, policy="block"):
    lines = base.count("\n")
    belief = Belief("", ((1, lines),), ((1, lines),), lines)
    return judge(
        EditCase(Evidence("file", disk.encode(), belief, base.encode()), Rules(policy)), attempt
    )


KINDS = ["replace", "part", "lines", "patch", "patch without numbers", "write"]
BODY = "    return a - b\n", "    return a * b\n"
PORT = "port = 80\n", "port = 443\n"


@pytest.mark.parametrize("policy", ["block", "merge"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("base", "disk", "change"),
    [
        (SUM, SUM_REWRITTEN, BODY),
        (SUM, RENAMED, BODY),
        (PORTS, PORTS_REWRITTEN, PORT),
        (PORTS, ADDED, PORT),
        (LIST, LIST_REWRITTEN, PORT),
    ],
    ids=["functions", "renamed functions", "sections", "a section put in", "a list"],
)
def test_an_edit_of_lines_that_were_rewritten_does_not_land_in_their_twin(
    base, disk, change, kind, policy
):
    ruling = verdict(base, disk, attempts(base, *change)[kind], policy)
    assert (ruling.decision, ruling.new) == ("refuse", None)
    assert ruling.reason in ("stale", "ambiguous", "conflict")


def test_of_two_shown_places_the_one_that_is_left_is_not_taken_for_the_one_meant():
    ruling = verdict(SUM, GONE, Replace("return a - b", "return a * b"))
    assert ruling.reason == "stale"
    assert ruling.changes


@pytest.mark.parametrize("kind", KINDS[:-1])
@pytest.mark.parametrize(
    "disk",
    [
        SUM.replace("def sub", "def more():\n    pass\n\n\ndef sub"),
        SUM.replace("def add(a, b)", "def add(a: int, b: int)"),
        "def sub(a, b):\n    return a - b  # sub\n\n\ndef add(a, b):\n    return a - b\n",
        "import os\n\n\n" + SUM.replace("  # sub", "  # other"),
    ],
    ids=["a function put in", "a signature changed", "moved", "the twin changed"],
)
def test_an_edit_of_lines_that_nobody_changed_goes_through_where_they_stand(disk, kind):
    attempt = attempts(SUM, *BODY)[kind]
    ruling = verdict(SUM, disk, attempt)
    if kind == "part":  # twice in the text that was shown
        assert ruling.reason == "ambiguous"
    else:
        assert ruling.new == disk.replace(*BODY, 1).encode()


def test_a_function_that_others_moved_and_changed_is_still_that_function():
    base = "def one():\n    a = 1\n    b = 2\n    c = 3\n\n\ndef two():\n    d = 4\n\n\ndef end():\n    pass\n"
    disk = "def two():\n    d = 4\n\n\ndef end():\n    pass\n\n\ndef one():\n    a = 1\n    b = 2\n    c = 5\n"
    ruling = verdict(base, disk, Replace("    a = 1\n", "    a = 9\n"))
    assert ruling.new == disk.replace("a = 1", "a = 9").encode()


def check(history, policy):
    """Judge every kind of edit of the line meant; no edit may land at another line."""
    base, disk = ("".join(line.text for line in lines) for lines in (history.base, history.disk))
    old = history.line.text
    new = old.replace("a - b", "a * b").replace("80", "443")
    at = history.meant
    lines, there = base.splitlines(keepends=True), disk.splitlines(keepends=True)
    hunk = (old, *lines[at + 1 : at + 2]), (new, *lines[at + 1 : at + 2])
    tries = [ReplaceLines(at + 1, at + 1, new), Replace(old.strip(), new.strip())]
    tries += [Patch((PatchHunk(start, *hunk),)) for start in (at + 1, 1000)]
    tries.append(WriteWhole("".join([*lines[:at], new, *lines[at + 1 :]])))
    tries += [Replace(old, new)] if lines.count(old) == 1 else []
    for attempt in tries if lines.count(old) == 1 else tries[:3:2]:
        ruling = verdict(base, disk, attempt, policy)
        if ruling.new is None:
            continue
        after = ruling.new.decode().splitlines(keepends=True)
        changed = [n for n, line in enumerate(after) if there[n : n + 1] != [line]]
        assert len(after) == len(there)
        assert len(changed) == 1, (base, disk, attempt)
        assert history.may_land(changed[0]), (base, disk, attempt)


@pytest.mark.parametrize(("number", "policy"), [(200, "block"), (20, "merge")])
def test_an_edit_never_lands_at_another_place(number, policy):
    for history in histories(number, 50_000):
        check(history, policy)


@pytest.mark.wide
@pytest.mark.parametrize(("number", "policy"), [(3_000, "block"), (200, "merge")])
def test_an_edit_never_lands_at_another_place_in_many_files(number, policy):
    for history in histories(number, 70_000):
        check(history, policy)
