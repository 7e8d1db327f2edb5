"""A verb holds the lines of a text a few times, not once for every step of its way.

A list has eight bytes for each line. A file of nothing but newlines shows the lists alone: all its
lines are one object.
"""

from __future__ import annotations

import tracemalloc

import pytest

from sightline.api.opening import start
from sightline.config.settings import Settings
from sightline.store.sqlite import MemoryStore
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


@pytest.mark.parametrize("name", VERBS)
@pytest.mark.parametrize("saved", [False, True], ids=["as shown", "saved meanwhile"])
def test_a_verb_holds_the_lines_of_a_text_a_few_times_at_most(name, saved):
    tree = MemoryWorkspace({"n.txt": "top\n" + "\n" * LINES})
    settings = Settings("/state", checkpoints="off")
    session = start(MemoryStore(), tree, settings, id="s", clock=FixedClock())
    session.read("n.txt", (1, 20))
    VERBS[name](session)  # loads what is loaded late
    tree.put("n.txt", "top\n" + "\n" * LINES)
    session.read("n.txt", (1, 20))
    if saved:
        tree.put("n.txt", "top\n" + "\n" * (LINES + 1))
    tracemalloc.start()
    try:
        VERBS[name](session)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak <= (8 * LISTS[saved] + 6) * LINES  # 6: copies of the text itself
