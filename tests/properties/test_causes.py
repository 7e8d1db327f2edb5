"""P5: an agent's own edit is never reported as a foreign one, and a foreign one never swallowed,
however badly a source of events serves; and causes decide no verdict.

The disk, the store and the sessions are real. Events only decide when somebody looks, and where:
they come late, twice, in another order, or not at all.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs
from tests.support.examples import examples
from tests.support.places import Place

from sightline.changes.commands import changes
from sightline.changes.session_context import SessionContext
from sightline.guard.check import check
from sightline.history.session_history import survey
from sightline.model.events import Cause, Changed
from sightline.model.revision import revision_of
from sightline.store.memory import MemoryStore
from sightline.store.port import Append

FILES = ("a.py", "b.py")
LINES = 8
files = st.sampled_from(FILES)
lines = st.integers(0, LINES - 1)
times = st.lists(
    st.sampled_from(["deliver", "newest", "twice", "lose", "overflow", "ask", "other"])
)
deeds = st.lists(
    st.tuples(
        st.sampled_from(
            ["edits", "writes", "formats", "writes and formats", "runs", "saves", "saves", "second"]
        ),
        files,
        lines,
        times,
    ),
    max_size=8,
)

OWN = ("agent", "command", "formatter")


class World:
    """One agent under test, another, a user; and an event for each change, that may go astray."""

    def __init__(self, folder: str) -> None:
        self.place = Place(Path(folder))
        for path in FILES:
            self.place.put(path, "".join(f"first_{n} = {n}\n" for n in range(LINES)))
        self.mine, self.other = self.place.session("mine"), self.place.session("other")
        for session in (self.mine, self.other):
            for path in FILES:
                session.read(path)
        own = self.mine._context
        self.nobody = survey(own.store, own.workspace, own.settings, own.clock)
        self.events: list[str] = []
        self.count = 0
        self.left: dict[tuple[str, str], str] = {}
        self.formattable: set[str] = set()

    def lines(self, path: str) -> list[str]:
        return self.place.text(path).splitlines(keepends=True)

    def put(self, by: str, path: str, text: str) -> None:
        if text != self.place.text(path):
            self.place.put(path, text)
            self.did(by, path)

    def did(self, by: str, path: str) -> None:
        self.left[path, revision_of(self.place.bytes(path))] = by
        self.events.append(path)
        if by in ("edits", "runs"):
            self.formattable.add(path)
        elif by != "formats":
            self.formattable.discard(path)

    def changed(self, path: str, line: int, by: str) -> str:
        text = self.lines(path)
        self.count += 1
        text[line % len(text)] = f"{by}_{self.count}=f( {self.count},'x' )  \n"
        return "".join(text)

    def look(self, how: str) -> None:
        """What a source of events makes a process do."""
        if how == "lose":
            self.events.clear()
        elif how == "overflow":
            changes(self.nobody).record(self.nobody)
        elif how == "ask":
            self.mine.changes()
        elif how == "other":
            self.other.changes()
        elif self.events:
            at = -1 if how == "newest" else 0
            path = self.events[at] if how == "twice" else self.events.pop(at)
            changes(self.nobody, paths=[path]).record(self.nobody)

    def looks(self, times: list[str]) -> None:
        for how in times:
            self.look(how)

    def edits(self, path: str, line: int, times: list[str]) -> None:
        self.mine.read(path)
        old = self.lines(path)[line % len(self.lines(path))]
        new = self.changed(path, line, "agent").splitlines(keepends=True)[line % LINES]
        self.mine.edit(path, old, new)
        self.did("edits", path)
        self.looks(times)

    def writes(self, path: str, line: int, times: list[str], *, formats: bool = False) -> None:
        """By its product's own tool, which tells of it when others have looked already."""
        self.mine.read(path)
        text = self.changed(path, line, "agent")
        with self.mine.writing(path, text):
            self.put("edits", path, text)
            self.looks(times)
            if formats:
                self.formats(path, line, times)

    def formats(self, path: str, line: int, times: list[str]) -> None:
        if path in self.formattable:
            text = self.place.text(path).replace("'", '"').replace("( ", "(").replace(" )", ")")
            self.put("formats", path, text.replace("  \n", "\n"))
            self.looks(times)

    def runs(self, path: str, line: int, times: list[str]) -> None:
        with self.mine.ran("make"):
            self.put("runs", path, self.changed(path, line, "made"))
            self.looks(times)

    def saves(self, path: str, line: int, times: list[str]) -> None:
        self.put("saves", path, self.changed(path, line, "user"))
        self.looks(times)

    def second(self, path: str, line: int, times: list[str]) -> None:
        self.other.read(path)
        self.other.write(path, self.changed(path, line, "second"))
        self.did("second", path)
        self.looks(times)

    def does(self, what: str, path: str, line: int, times: list[str]) -> None:
        if what == "writes and formats":
            self.writes(path, line, times, formats=True)
        else:
            getattr(self, what)(path, line, times)

    def facts(self) -> list[Changed]:
        log = self.mine._context.store.timeline(kinds=[Changed])
        return [r.fact for r in log if isinstance(r.fact, Changed)]

    def close(self) -> None:
        for session in self.place.opened:
            assert session._context.store.verify() == []
            session.close()


def played(does, folder: str) -> World:
    world = World(folder)
    for step in does:
        world.does(*step)
    world.look("overflow")
    return world


@pytest.mark.wide
@settings(max_examples=examples(20))
@given(deeds)
def test_whose_change_it_was_is_never_turned_round(does):
    with tempfile.TemporaryDirectory() as folder:
        world = played(does, folder)
        for fact in world.facts():
            by = world.left[fact.path, fact.after]
            own = fact.cause.kind in OWN and "other" not in (fact.cause.who, fact.cause.detail)
            assert own == (by not in ("saves", "second")), (by, fact)
        world.close()


@pytest.mark.wide
@settings(max_examples=examples(20))
@given(deeds)
def test_nothing_of_others_is_swallowed(does):
    """What others left there, and was not read, is told; nothing is told of what is as believed."""
    with tempfile.TemporaryDirectory() as folder:
        world = played(does, folder)
        changed = {change.path for change in world.mine.changes()}
        for path in FILES:
            believed, stands = world.mine.believed(path), world.place.text(path)
            assert (world.mine.check(path).state == "stale") == (believed != stands)
            assert (path in changed) == (believed != stands)
            row = world.mine._context.store.disk(path)
            assert row.revision == revision_of(world.place.bytes(path))
        world.close()


kinds = st.sampled_from(["agent", "command", "formatter", "git", "session", "external"])
whos = st.sampled_from([None, "mine", "other"])


@pytest.mark.wide
@settings(max_examples=examples(20))
@given(deeds, st.lists(st.tuples(kinds, whos), min_size=1))
def test_a_cause_decides_no_verdict(does, causes):
    with tempfile.TemporaryDirectory() as folder:
        world = played(does, folder)
        own, told = world.mine._context, MemoryStore()
        for recorded in own.store.timeline():
            fact, (kind, who) = recorded.fact, causes[recorded.position % len(causes)]
            if isinstance(fact, Changed):
                fact = structs.replace(fact, cause=Cause(kind, who, "shuffled", "unknown"))
                told.keep(filter(None, [own.store.blob(fact.after)]))
            belief = getattr(fact, "belief", None)
            if belief is not None:
                told.keep(filter(None, [own.store.blob(belief.text)]))
            told.append(Append(recorded.session, [fact], at=recorded.happened_at))
        again = SessionContext("mine", told, own.workspace, own.settings, own.clock, own.owner)
        for path in FILES:
            text = world.mine.believed(path) or ""
            for old in (None, *text.splitlines(keepends=True)):
                said = world.mine.check(path, old=old)
                other = check(again, path, old=old)
                assert structs.replace(said, changed_by=None) == structs.replace(
                    other, changed_by=None
                )
        world.close()
