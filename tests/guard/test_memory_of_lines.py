"""A verb holds the lines of a text a few times, not once for every step of its way; very many lines
are not held at all.

A list has eight bytes for each line. A file of nothing but newlines shows the lists alone: all its
lines are one object.
"""

from __future__ import annotations

import tracemalloc

import pytest
from tests.support.examples import widely

from sightline.api.opening import start
from sightline.config.settings import Settings
from sightline.model import text
from sightline.store.memory import MemoryStore
from sightline.testing import FixedClock, MemoryWorkspace

LINES = 200_000
LISTS = {False: 3, True: 5}
"""Lists at once. The text on disk, which the agent knows, and the text after the edit; where a user
saved the file meanwhile, what the agent knows differs from the disk before the edit and after."""

VERBS = {
    "read": lambda session: session.read("n.txt", (1, 20)),
    "edit_lines": lambda session: session.edit_lines("n.txt", 3, 3, "three\n"),
    "edit": lambda session: session.edit("n.txt", "top\n", "top two\n"),
    "changes": lambda session: session.changes(),
    "notice": lambda session: session.notice(),
    "check": lambda session: session.check("n.txt"),
}


@pytest.mark.wide
@pytest.mark.parametrize(
    "name", ["edit", *widely("changes", "read", "edit_lines", "notice", "check")]
)
@pytest.mark.parametrize(
    "saved",
    [
        pytest.param(False, id="as shown", marks=pytest.mark.wide),
        pytest.param(True, id="saved meanwhile"),
    ],
)
def test_a_verb_holds_the_lines_of_a_text_a_few_times_at_most(name, saved):
    lists = 8 * LISTS[saved] * LINES
    assert peak_of(VERBS[name], saved=saved) <= lists + COPIES * LINES


@pytest.mark.wide
@pytest.mark.parametrize("name", ["edit_lines", *widely("read")])
def test_a_verb_holds_no_list_of_very_many_lines(name, monkeypatch):
    monkeypatch.setattr(text, "MANY", LINES // 2)
    parts = 2_000_000  # those that are split at a time
    assert peak_of(VERBS[name], saved=True) <= COPIES * LINES + parts


COPIES = 6
"""Copies of the text itself: as bytes, decoded, after the edit."""


def peak_of(verb, *, saved):
    """Return the most bytes that a verb holds at once."""
    tree = MemoryWorkspace({"n.txt": "top\n" + "\n" * LINES})
    settings = Settings("/state", checkpoints="off")
    session = start(MemoryStore(), tree, settings, id="s", clock=FixedClock())
    session.read("n.txt", (1, 20))
    verb(session)  # loads what is loaded late
    tree.put("n.txt", "top\n" + "\n" * LINES)
    session.read("n.txt", (1, 20))
    if saved:
        tree.put("n.txt", "top\n" + "\n" * (LINES + 1))
    tracemalloc.start()
    try:
        verb(session)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
