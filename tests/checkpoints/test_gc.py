"""Forgetting texts: what goes, what never does, and that nobody is told anything false after."""

from __future__ import annotations

import multiprocessing
import os
from functools import partial

import pytest
from tests.support.examples import fully

import sightline
from sightline.api.opening import start
from sightline.checkpoints.gc import DAY_US, gc
from sightline.config.settings import Settings
from sightline.history.session_history import readable_entries
from sightline.model.events import (
    BlobPurged,
    CheckpointTaken,
    CommandStarted,
    SessionEnded,
    WriteIntended,
)
from sightline.model.manifest import EMPTY, Manifest, encode, file_row, step, stored
from sightline.model.revision import revision_of
from sightline.store.memory import MemoryStore
from sightline.store.port import Append
from sightline.store.retention import AGE, SIZE
from sightline.testing import FixedClock, MemoryWorkspace

BIG = 1 << 40
spawn = multiprocessing.get_context("spawn")


class World:
    """A store and files in memory, a clock, and sessions that no living process holds."""

    def __init__(self) -> None:
        self.store = MemoryStore()
        self.tree = MemoryWorkspace({"a.py": "a = 1\n", "b.py": "b = 1\n"})
        self.clock = FixedClock()
        self.settings = Settings("/state")

    def session(self, id):
        return start(
            self.store,
            self.tree,
            self.settings,
            id=id,
            agent="tester",
            clock=self.clock,
            owner="elsewhere:1:1",
        )

    def later(self, days):
        self.clock.advance(seconds=days * 24 * 3600)

    def gc(self, **options):
        return gc(self.session("keeper")._context, self.settings, **options)

    def kept(self, text):
        return self.store.blob(revision_of(text.encode())) is not None


@pytest.fixture
def world():
    return World()


def test_what_a_session_long_gone_was_shown_goes_by_age(world):
    world.session("s1").read("a.py")
    world.later(31)
    swept = world.gc()
    assert [(each.path, each.reason) for each in swept.texts] == [("a.py", AGE)]
    assert not world.kept("a = 1\n")
    assert world.store.verify() == []


def test_what_was_heard_of_since_stays_and_so_does_what_it_believes(world):
    session = world.session("s1")
    session.read("a.py")
    world.later(29)
    session.read("b.py")
    world.later(29)
    assert world.gc().texts == ()
    assert world.kept("a = 1\n")


def test_an_ended_session_needs_nothing_but_its_texts_have_their_days(world):
    session = world.session("s1")
    session.read("a.py")
    world.store.append(Append("s1", [SessionEnded()], at=world.clock()))
    assert world.gc().texts == ()
    assert [each.reason for each in world.gc(room=0).texts] == [SIZE]


def test_room_is_made_by_the_oldest_that_nobody_needs(world):
    session = world.session("s1")
    session.write("c.py", "first\n")
    for text in ("second\n", "third\n", "fourth\n"):
        world.later(1)
        session.write("c.py", text)
    world.later(1)
    swept = world.gc(room=sum(text.size for text in world.store.texts()) - 1)
    assert [each.reason for each in swept.texts] == [SIZE]
    assert [world.kept(t) for t in ("first\n", "second\n", "third\n", "fourth\n")] == [0, 1, 1, 1]
    least = world.gc(room=0)
    assert not world.kept("second\n")
    assert world.kept("third\n"), "the newest write of an agent replaced it"
    assert world.kept("fourth\n"), "the session believes it"
    assert least.over == least.kept.bytes > 0


def test_what_the_newest_write_replaced_has_its_days_only(world):
    session = world.session("s1")
    session.read("a.py")
    session.edit("a.py", "1", "2")
    world.store.append(Append("s1", [SessionEnded()], at=world.clock()))
    world.later(29)
    assert {each.path for each in world.gc(room=0).texts} == {"a.py"}
    assert world.kept("a = 1\n")
    world.later(2)
    world.gc()
    assert not world.kept("a = 1\n")


def test_a_write_under_way_and_a_checkpoint_need_their_texts(world):
    listed = Manifest({"a.py": file_row(revision_of(b"in it"), 0o100644)})
    before, manifest = b"before\n", encode(stored(listed, step(EMPTY, listed), None, 0))
    world.store.keep([before, b"in it", manifest, b"nobody's"])
    intent = WriteIntended("a.py", revision_of(before), revision_of(b"after\n"), owner="x:1:1")
    taken = CheckpointTaken("c1", "", revision_of(manifest))
    world.store.append(Append("s1", [intent, taken], at=world.clock()))
    world.later(99)
    context = world.session("keeper")._context.__class__(
        "keeper", world.store, world.tree, world.settings, world.clock, "x:1:1"
    )
    world.store.append(Append("s1", [intent], at=world.clock()))
    gc(context, world.settings, room=0)
    assert world.store.blob(revision_of(b"in it")) == b"in it"
    assert world.store.blob(revision_of(manifest)) == manifest
    assert world.store.blob(revision_of(before)) == before
    assert world.store.blob(revision_of(b"nobody's")) is None


def test_a_dry_run_says_exactly_what_would_go_and_changes_nothing(world):
    for number in range(5):
        world.session(f"s{number}").write(f"f{number}.py", f"text {number}\n")
        world.later(10)
    position = world.store.position()
    said = world.gc(dry_run=True)
    assert said.dry_run
    assert said.texts
    assert all(world.store.blob(each.revision) is not None for each in said.texts)
    assert world.store.position() == position + 1  # the session that asked began
    done = world.gc()
    assert (done.texts, done.kept, done.kept.bytes) == (said.texts, said.kept, said.kept.bytes)


def test_facts_stay_and_one_of_them_says_what_went(world):
    for number in range(3):
        world.session(f"s{number}").write(f"f{number}.py", f"text {number}\n")
    before = [r.fact for r in world.store.timeline()]
    world.later(40)
    gone = world.gc().texts
    facts = [r.fact for r in world.store.timeline()]
    assert facts[: len(before)] == before
    said = [fact for fact in facts if isinstance(fact, BlobPurged)]
    assert [r for fact in said for r in (fact.revision, *fact.others)] == [
        each.revision for each in gone
    ]


def test_a_verdict_stays_right_when_its_text_is_gone(world):
    session = world.session("s1")
    session.read("a.py")
    session.read("b.py")
    world.later(31)
    world.gc()
    again = world.session("s1")
    assert again.check("a.py").state == "fresh"
    world.tree.put("a.py", "a = 1\nmore = 2\n")
    assert again.check("a.py").state == "stale"
    world.tree.remove("b.py")
    assert again.check("b.py").state == "deleted"
    with pytest.raises(sightline.EditRefused) as refused:
        again.write("a.py", "mine\n")
    assert refused.value.reason in ("stale", "unseen", "conflict")
    with pytest.raises(sightline.EditRefused) as refused:
        again.edit("a.py", "more = 2", "more = 3")
    assert refused.value.reason == "stale"
    again.read("a.py")
    again.edit("a.py", "more = 2", "more = 3")


def test_a_session_that_comes_back_in_the_middle_keeps_what_it_believes(world):
    """Between the plan and its deed others go on."""
    world.session("s1").read("a.py")
    world.later(40)
    context = world.session("keeper")._context
    real = world.store.purge

    def come_back_first(choose, *rest, **more):
        world.store.purge = real
        world.session("s1").turn()
        return real(choose, *rest, **more)

    world.store.purge = come_back_first
    assert gc(context, world.settings).texts == ()
    assert world.kept("a = 1\n")


# --- real files, real processes -------------------------------------------------------------------


def _write(root, home, who, rounds, go):
    """A session of a process of its own that writes and reads."""
    session = sightline.open_session(root, id=f"w{who}", settings=Settings(home))
    go.wait()
    with session:
        for number in range(rounds):
            session.write(f"f{who}.py", f"{who} {number}\n" * 200)
            session.read(f"f{who}.py")


def _sweep(root, home, go):
    """Forgets all that it may, again and again."""
    settings = Settings(home)
    session = sightline.open_session(root, id=f"gc{os.getpid()}", settings=settings)
    go.wait()
    with session:
        for _ in range(4):
            gc(session._context, settings, age_us=0, room=0)


@pytest.mark.wide
@pytest.mark.parametrize("writers", [2, *fully(8)])
def test_two_sweeps_beside_many_writers_break_nothing(place, writers):
    """What each wrote last, and what that replaced, is there; every row is what the facts say."""
    root, home = str(place.root), str(place.home / "state")
    go = spawn.Barrier(writers + 2)
    work = [spawn.Process(target=_write, args=(root, home, who, 12, go)) for who in range(writers)]
    work += [spawn.Process(target=_sweep, args=(root, home, go)) for _ in range(2)]
    for process in work:
        process.start()
    for process in work:
        process.join()
    assert [process.exitcode for process in work] == [0] * (writers + 2)
    store = place.session()._context.store
    assert store.verify() == []
    for who in range(writers):
        known = store.knowledge(f"w{who}", f"f{who}.py")
        assert known.belief.text == revision_of(place.bytes(f"f{who}.py"))


def _sweep_until_killed(file, told):
    from sightline.store.sqlite_file import open_file

    store = open_file(file)
    listed = [each.revision for each in store.texts()]
    while listed:
        store.purge(partial(listed.__getitem__, slice(5)), AGE, session="s", at=1)
        del listed[:5]
        told.send(len(listed))


@pytest.mark.wide
def test_a_sweep_killed_in_the_middle_leaves_a_whole_store(tmp_path):
    from sightline.store.sqlite_file import open_file

    file = str(tmp_path / "store.db")
    store = open_file(file)
    store.keep([os.urandom(2000) for _ in range(300)] + [os.urandom(2 << 20) for _ in range(12)])
    store.close()
    for blow in range(4):
        here, there = spawn.Pipe()
        process = spawn.Process(target=_sweep_until_killed, args=(file, there))
        process.start()
        for _ in range(blow * 3 + 1):
            here.recv()
        process.kill()
        process.join()
        store = open_file(file)
        assert store.verify() == []
        store.tidy()
        store.close()


def test_days_are_days():
    assert DAY_US == 86_400_000_000


def store_bytes(place):
    """Return all bytes of the store, its log included."""
    files = (place.home / "state").rglob("*")
    return b"".join(file.read_bytes() for file in files if file.is_file())


def test_commands_that_have_a_text_are_forgotten_wherever_a_fact_names_them(place):
    place.put("a.txt", "a\n")
    with place.session("s", checkpoints="turn") as session:
        session.read("a.txt")
        session.turn()
        for command in ("deploy --to prod-7 a.txt", "make"):
            with session.ran(command):
                place.put("a.txt", f"{command[:3]}\n")
    assert b"prod-7" in store_bytes(place)
    with sightline.open_workspace(place.root, settings=place.settings()) as workspace:
        facts = list(workspace._context.store.timeline())
        assert workspace.gc(forget_commands=["prod-7"], dry_run=True).commands == 1
        assert workspace.gc(forget_commands=["prod-7"]).commands == 1
        assert workspace.gc(forget_commands=["prod-7"]).commands == 0
        told = [each.cause.detail for each in workspace.timeline(kinds=["command", "changed"])]
        assert told == ["[forgotten]", "[forgotten]", "make", "make"]
        assert list(workspace._context.store.timeline(upto=facts[-1].position)) == facts
        with pytest.raises(ValueError, match="every command has it"):
            workspace.gc(forget_commands=[""])
    assert b"prod-7" not in store_bytes(place)


def test_commands_are_kept_however_old_they_are():
    world = World()
    with world.session("s").ran("make"):
        pass
    world.later(1_000)
    world.gc()
    context = world.session("t")._context
    [begun] = readable_entries(context.store, context.store.timeline(kinds=[CommandStarted]))
    assert begun.cause.detail == "make"
