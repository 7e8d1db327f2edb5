"""The store fills up at any moment of a verb: what the answer says of the files is what stands."""

from __future__ import annotations

import os

import pytest
from tests.guard.test_changed_places import tree
from tests.support.examples import widely
from tests.support.full import with_text

from sightline.errors import SightlineError, StoreError

NAMES = ["a.txt", "b.txt", "c.txt"]
BEFORE = {name: f"{name}\nold\n" for name in NAMES}
EDITS = [{"path": name, "edits": [("old", "new", 1)]} for name in NAMES]
VERBS = {
    "edit": lambda session, _: session.edit("a.txt", "old", "new"),
    "batch": lambda session, _: session.apply(EDITS),
    "rewind": lambda session, start: session.rewind(start),
    "checkpoint": lambda session, _: session.checkpoint("more"),
}


class Filling:
    """A store that has room for so many appends more; then SQLite itself is full, until room is made."""

    def __init__(self, session, appends):
        self.store, self.left = session._context.store, appends
        self.append = self.store.append
        self.store.append = self

    def __call__(self, given):
        self.left -= 1
        if self.left >= 0:
            return self.append(given)
        pages = self.store._base.run("PRAGMA page_count")[0][0]
        self.store._base.run(f"PRAGMA max_page_count = {pages}")
        return self.append(with_text(given, os.urandom(1 << 20)))

    def empty(self):
        self.store.append = self.append
        self.store._base.run("PRAGMA max_page_count = 1073741823")


@pytest.fixture
def agent(place):
    for name, text in BEFORE.items():
        place.put(name, text)
    session = place.session()
    for name in NAMES:
        session.read(name)
    return session


@pytest.mark.parametrize("appends", [0, 1, *widely(2, 3, 4, 5)])
@pytest.mark.parametrize("verb", VERBS)
def test_no_answer_says_that_nothing_was_changed_where_something_was(place, agent, verb, appends):
    start = agent.checkpoint()
    if verb == "rewind":
        agent.apply(EDITS)
    then = tree(place)
    full = Filling(agent, appends)
    try:
        answer = VERBS[verb](agent, start)
        results = [answer, *getattr(answer, "results", ())]
        said = " ".join(str(getattr(each, "notice", None) or "") for each in results)
    except SightlineError as error:
        said = str(error)
    if tree(place) != then:
        assert "Nothing was changed" not in said
        assert full.left >= 0 or "Do not repeat" in said or "finish it" in said, said
    full.empty()
    if verb != "rewind":
        assert agent.changes() == []  # the agent's own, as it knows
        assert agent._context.store.pending() == []


def test_an_answer_whose_record_has_no_room_names_the_files_that_are_written(place, agent):
    edits = [{"path": name, "edits": [{"old": "old", "new": "new"}]} for name in NAMES]
    Filling(agent, 3)  # the checkpoint, the intents and the ends
    with pytest.raises(StoreError) as error:
        agent.answer({"summary": "new for old", "fileChanges": edits})
    assert [place.text(name) for name in NAMES] == [f"{name}\nnew\n" for name in NAMES]
    assert "a.txt, b.txt, c.txt were written" in str(error.value)
    assert "Nothing was changed" not in str(error.value)
