"""An answer whose process is killed at any step: its changes are there as a whole, or not at all."""

from __future__ import annotations

import pytest
from tests.filesystem.doubles import dying
from tests.guard.test_unfinished import MINE, NAMES, OLD, dies, disk
from tests.support.examples import fully, widely

FIRST, SECOND, THIRD, FOURTH, FIFTH, SIXTH = NAMES
EDITS = [{"old": "line 3\n", "new": "mine\n"}]
ANSWER = {
    "todos": ["all of it"],
    "fileChanges": [
        {"path": FIRST, "edits": EDITS, "todoIndex": 0},
        {"path": SECOND, "content": MINE},
        {"path": "new.txt", "content": "new\n", "create": True},
        {"path": THIRD, "delete": True},
        {"path": FOURTH, "moveTo": "moved.txt"},
        {"path": FIFTH, "moveTo": "both.txt", "edits": EDITS},
    ],
}
AFTER = {
    FIRST: MINE, SECOND: MINE, "new.txt": "new\n", "moved.txt": OLD, "both.txt": MINE, SIXTH: OLD,
}  # fmt: skip
LAST_STEP = 800


def killed(place, number, apply="all"):
    """Apply the answer in a process that dies at a step; return whether it died."""

    def act():
        session = place.session()
        for name in NAMES:
            session.read(name)
        session._context.workspace._calls = dying(number)
        session.answer(ANSWER, apply=apply)

    return dies(act)


@pytest.mark.parametrize("stride", [61, *widely(9), *fully(3)])
def test_an_answer_killed_at_any_step_is_there_as_a_whole_or_not_at_all(place, stride):
    before = dict.fromkeys(NAMES, OLD)
    ended = []
    for number in range(1, LAST_STEP, stride):
        for name in place.names():
            (place.root / name).unlink()
        for name in NAMES:
            place.put(name, OLD)
        was_killed = killed(place, number)
        session = place.session()
        found = disk(place)
        assert found in (before, AFTER), number
        assert session._context.store.pending() == []
        session.close()
        ended.append("all" if found == AFTER else "none")
        if not was_killed:
            break
    assert ended[-1] == "all"
    assert not was_killed
    assert "none" in ended


def after_each():
    """The files after none of the changes, after the first, after the first two, and so on."""
    now = dict.fromkeys(NAMES, OLD)
    yield dict(now)
    for gone, come, text in (
        (None, FIRST, MINE),
        (None, SECOND, MINE),
        (None, "new.txt", "new\n"),
        (THIRD, None, ""),
        (FOURTH, "moved.txt", OLD),
        (FIFTH, "both.txt", MINE),
    ):
        if gone is not None:
            now.pop(gone)
        if come is not None:
            now[come] = text
        yield dict(now)


@pytest.mark.wide
@pytest.mark.parametrize("stride", [41, *fully(5)])
def test_item_by_item_a_killed_answer_ends_between_two_items(place, stride):
    states, seen = list(after_each()), set()
    for number in range(1, 3 * LAST_STEP, stride):
        for name in place.names():
            (place.root / name).unlink()
        for name in NAMES:
            place.put(name, OLD)
        was_killed = killed(place, number, "each")
        session = place.session()
        found = disk(place)
        assert found in states, number
        assert session._context.store.pending() == []
        session.close()
        seen.add(states.index(found))
        if not was_killed:
            break
    assert not was_killed
    assert {0, 6} <= seen
    assert len(seen) > 3
