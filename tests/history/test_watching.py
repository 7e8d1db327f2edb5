"""What happens in a real folder, seen by a real watcher, ends up on the timeline, and only there."""

from __future__ import annotations

import os
import subprocess
from threading import Event

import pytest

import sightline
from sightline import Unverifiable
from sightline.api.folders import ports
from sightline.changes.session_context import now_us
from sightline.config.settings import Settings
from sightline.filesystem.watch.watcher import Eyes, Hints
from sightline.history import watching as watching_module
from sightline.history.session_history import survey
from sightline.history.watching import MANY, TEXT_MAX, WatchedPaths, Watching, merge_hints
from sightline.model.events import Changed, SightLost
from sightline.model.revision import revision_of
from sightline.model.session_ids import NOBODY
from sightline.testing import FixedClock, MemoryWatcher, MemoryWorkspace, make_session

SOON_S = 10.0


class Place:
    """A workspace, its files, a session in it, and what watches it."""

    def __init__(self, tmp_path):
        self.root = tmp_path / "shop"
        self.root.mkdir()
        self.settings = Settings(state_home=str(tmp_path / "state"))
        self.session = sightline.open_session(self.root, id="s1", settings=self.settings)
        self.opened = []

    def put(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def shown(self, path, text="a\nb\n"):
        self.put(path, text)
        self.session.read(path)

    def watching(self, **options):
        store, tree = ports(str(self.root), self.settings, None)
        made = Watching(survey(store, tree, self.settings, now_us), **options)
        self.opened += [made.close, store.close]
        made.wait(0)
        return made

    def changes(self):
        return [
            (r.session, r.fact.path, r.fact.change)
            for r in self.session._context.store.timeline()
            if isinstance(r.fact, Changed)
        ]


@pytest.fixture
def place(tmp_path):
    made = Place(tmp_path)
    yield made
    for close in made.opened:
        close()
    made.session.close()


def told(watching, number=1):
    """So many entries, as (session, kind, path)."""
    found: list[tuple[str, str, str | None]] = []
    while len(found) < number:
        entries = watching.wait(SOON_S)
        assert entries is not None, f"only {found}"
        found += [(e.session, e.kind, e.path) for e in entries]
    return found


def test_a_save_of_a_file_that_was_shown_is_a_fact_of_nobody(place):
    place.shown("a.py")
    watching = place.watching()
    place.put("a.py", "a\nB\n")
    assert told(watching) == [(NOBODY, "changed", "a.py")]
    assert place.changes() == [(NOBODY, "a.py", "content")]
    assert [s.id for s in place.session._context.store.sessions()] == ["s1"]


def test_what_changed_before_is_recorded_by_the_first_wait(place):
    place.shown("a.py")
    place.put("a.py", "a\nB\n")
    place.watching()
    assert place.changes() == [(NOBODY, "a.py", "content")]


def test_what_is_saved_again_with_the_same_bytes_is_no_fact(place):
    place.shown("a.py")
    place.shown("b.py")
    watching = place.watching()
    place.put("a.py", "a\nb\n")
    place.put("b.py", "x\n")
    while (NOBODY, "b.py", "content") not in place.changes():
        watching.wait(SOON_S)
    assert place.changes() == [(NOBODY, "b.py", "content")]


@pytest.mark.parametrize(
    ("happens", "kinds"),
    [
        (lambda root: os.unlink(root / "src/a.py"), [("deleted", "src/a.py")]),
        (lambda root: (root / "src/a.py").chmod(0o755), [("changed", "src/a.py")]),
        (lambda root: os.replace(root / "new", root / "src/a.py"), [("changed", "src/a.py")]),
        (lambda root: os.rename(root / "src", root / "lib"), [("deleted", "src/a.py")]),
    ],
    ids=["deleted", "mode", "atomic save", "folder renamed"],
)
def test_whatever_becomes_of_a_file_is_followed(place, happens, kinds):
    place.shown("src/a.py")
    place.put("new", "new\n")
    watching = place.watching()
    happens(place.root)
    assert [entry[1:] for entry in told(watching)] == kinds


def test_a_symlink_that_is_led_elsewhere_makes_its_file_stale(place):
    place.put("one.py", "a\n")
    place.put("two.py", "b\n")
    (place.root / "now.py").symlink_to("one.py")
    place.session.read("now.py")
    watching = place.watching()
    (place.root / "next.py").symlink_to("two.py")
    os.replace(place.root / "next.py", place.root / "now.py")
    watching.wait(1.0)
    assert place.session.check("now.py").state == "stale"


def test_an_edit_of_a_session_is_told_once_and_not_as_a_strangers(place):
    place.shown("a.py")
    watching = place.watching()
    place.session.edit("a.py", "b", "B")
    assert ("s1", "changed", "a.py") in told(watching)
    place.put("c.py", "x")
    while watching.wait(0.2) is not None:
        pass
    assert [change[0] for change in place.changes()] == ["s1"]


def test_files_that_nobody_was_shown_are_told_and_not_recorded(place):
    place.put("old.py", "x\n")
    watching = place.watching(unshown=True)
    position = place.session._context.store.position()
    place.put("new/deep/er.py", "x\n")
    place.put("old.py", "yy\n")
    assert sorted(told(watching, 2)) == [
        (NOBODY, "changed", "new/deep/er.py"),
        (NOBODY, "changed", "old.py"),
    ]
    os.unlink(place.root / "new/deep/er.py")
    assert told(watching) == [(NOBODY, "deleted", "new/deep/er.py")]
    assert place.session._context.store.position() == position


def test_what_is_ignored_is_not_told_unless_an_agent_was_shown_it(place):
    place.put(".gitignore", "dist/\n.env\n")
    place.put("dist/out.js", "1")
    place.put(".env", "KEY=1\n")
    place.session.read(".env")
    watching = place.watching(unshown=True)
    place.put("dist/out.js", "2")
    place.put(".env", "KEY=2\n")
    assert told(watching) == [(NOBODY, "changed", ".env")]


def test_a_file_that_is_emptied_before_it_is_written_has_one_new_version(place):
    place.shown("a.py")
    watching = place.watching()
    with open(place.root / "a.py", "w") as file:
        assert watching.wait(0.02) is None  # the look is put off: it is empty now
        file.write("new\n")
    assert told(watching) == [(NOBODY, "changed", "a.py")]
    assert len(place.changes()) == 1


def test_a_file_that_stays_empty_is_recorded_all_the_same(place):
    place.shown("a.py")
    watching = place.watching()
    place.put("a.py", "")
    assert told(watching) == [(NOBODY, "changed", "a.py")]


def test_git_is_waited_for_until_its_lock_is_gone(place):
    subprocess.run(["git", "init", "-q", place.root], check=True)
    place.shown("a.py")
    watching = place.watching()
    (place.root / ".git/index.lock").touch()
    place.put("a.py", "x\n")
    assert watching.wait(0.2) is None
    assert place.session.check("a.py").state == "stale"  # who asks does not wait
    (place.root / ".git/index.lock").unlink()
    watching.wait(SOON_S)
    assert len(place.changes()) == 1


def test_a_workspace_that_is_moved_away_is_not_a_workspace_whose_files_were_deleted(place):
    place.shown("a.py")
    watching = place.watching()
    os.rename(place.root, f"{place.root}-elsewhere")
    entries = watching.wait(SOON_S)
    assert entries is not None
    assert [entry.kind for entry in entries] == ["sight_lost"]
    assert place.changes() == []
    os.rename(f"{place.root}-elsewhere", place.root)
    place.put("a.py", "back\n")
    while not place.changes():
        assert watching.wait(SOON_S) is not None
    assert place.changes() == [(NOBODY, "a.py", "content")]


class Memory(MemoryWatcher):
    """The same in memory, with hints of our own making."""

    def __init__(self, paths):
        super().__init__()
        self.disk = MemoryWorkspace(dict.fromkeys(paths, "a\n"))
        self.session = make_session(self.disk, id="s1")
        for path in paths:
            self.session.read(path)
        own = self.session._context
        self.store = own.store
        self.hints: list[Hints] = []
        self.watching = Watching(survey(own.store, self.disk, own.settings, FixedClock()), self)
        self.watching.wait(0)

    def wait(self, timeout_s):
        return self.hints.pop(0) if self.hints else None

    def follow(self, paths):
        self.followed = set(paths)


def test_a_log_that_an_agent_was_shown_does_not_fill_the_store(monkeypatch):
    """Each look is a fact and a text: it is looked at less and less often."""
    now = [100.0]
    monkeypatch.setattr(watching_module, "monotonic", lambda: now[0])
    place = Memory(["dev.log"])
    text = "x" * TEXT_MAX
    for _ in range(1_000):  # ten seconds of it
        text += "line\n"
        place.disk.put("dev.log", text)
        place.hints = [Hints(frozenset(["dev.log"]))]
        place.watching.wait(0)
        now[0] += 0.01
    found = [r.fact for r in place.store.timeline() if isinstance(r.fact, Changed)]
    assert 3 <= len(found) <= 5
    assert [place.store.blob(fact.after) for fact in found] == [None] * len(found)
    assert place.session.check("dev.log").state == "stale"  # who asks does not wait
    now[0] += 60
    place.watching.wait(0)
    last = [r.fact for r in place.store.timeline() if isinstance(r.fact, Changed)][-1]
    assert last.after == revision_of(text.encode())


def test_a_save_a_minute_after_another_is_told_at_once(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(watching_module, "monotonic", lambda: now[0])
    place = Memory(["a.py"])
    for text in ("b\n", "c\n", "d\n"):
        place.disk.put("a.py", text)
        place.hints = [Hints(frozenset(["a.py"]))]
        entries = place.watching.wait(0)
        assert [entry.path for entry in entries or ()] == ["a.py"]
        now[0] += 60


def test_that_changes_are_not_seen_as_they_happen_is_said_once(monkeypatch):
    monkeypatch.setattr(MemoryWatcher, "eyes", lambda _: Eyes("polling", "filesystem:9p"))
    place = Memory(["a.py"])
    for path in ("a.py", "a.py"):
        place.disk.put(path, "again\n")
        place.hints = [Hints(frozenset([path]))]
        place.watching.wait(0)
    again = Watching(place.watching._context, place)
    again.wait(0)
    lost = [r.fact for r in place.store.timeline(kinds=[SightLost])]
    assert lost == [SightLost("filesystem:9p")]


def test_a_gap_is_a_fact_and_everything_is_looked_at():
    place = Memory(["a.py", "b.py"])
    place.disk.put("b.py", "new\n")
    place.hints = [Hints(frozenset(), everything=True, lost="overflow")]
    place.watching.wait(0)
    assert [getattr(r.fact, "reason", "") for r in place.store.timeline(kinds=[SightLost])] == [
        "overflow"
    ]
    assert [getattr(r.fact, "path", "") for r in place.store.timeline(kinds=[Changed])] == ["b.py"]


def test_an_ignore_file_that_cannot_be_read_is_said_once_and_waited_for(monkeypatch):
    place = Memory(["a.py"])
    monkeypatch.setattr(place, "wait", unreadable)
    assert [place.watching.wait(0) for _ in range(3)][1:] == [None, None]
    assert place.watching.fileno() is None
    lost = [r.fact for r in place.store.timeline(kinds=[SightLost])]
    assert lost == [SightLost("unverifiable", (".gitignore",))]
    monkeypatch.undo()
    place.disk.put("a.py", "new\n")
    place.hints = [Hints(frozenset(), everything=True)]
    assert place.watching.wait(0) is not None


def test_a_disk_that_does_not_answer_is_said_and_holds_nobody_up(monkeypatch):
    place = Memory(["a.py"])
    answers = Event()

    def hangs(stamps, **_options):
        answers.wait()
        return iter(())

    place.watching._context.settings = Settings("/state", deadline_s=0.01)
    monkeypatch.setattr(place.disk, "scan", hangs)
    place.hints = [Hints(frozenset(["a.py"]))]
    assert place.watching.wait(0) is not None
    answers.set()
    lost = [r.fact for r in place.store.timeline(kinds=[SightLost])]
    assert lost == [SightLost("unanswered", ("a.py",))]


def unreadable(_timeout_s):
    raise Unverifiable(".gitignore", ".gitignore could not be read.")


@pytest.mark.wide
def test_many_hints_at_once_take_one_look_over_everything():
    paths = [f"{n}.py" for n in range(MANY + 2)]
    place = Memory(paths)
    for path in paths:
        place.disk.put(path, "new\n")
    place.hints = [Hints(frozenset(paths))]
    entries = place.watching.wait(0)
    assert entries is not None
    assert len(entries) == len(paths)


def test_files_that_are_shown_later_are_followed_from_then_on():
    place = Memory(["a.py"])
    place.disk.put("b.py", "b\n")
    place.session.read("b.py")
    assert place.watching.wait(0) is not None
    assert place.followed == {"a.py", "b.py"}


def test_a_hint_of_a_folder_is_about_the_files_below_it():
    ours = WatchedPaths(["src/a.py", "src/deep/b.py", "srcs.py"])
    assert ours.hinted(Hints(frozenset(["src"]))) == {"src/a.py", "src/deep/b.py"}
    assert ours.hinted(Hints(frozenset(["src/deep", "other"]))) == {"src/deep/b.py"}
    assert ours.hinted(Hints(frozenset(), everything=True)) == set(ours)


def test_two_answers_of_a_watcher_are_one():
    one, other = Hints(frozenset("a"), at_ns=1), Hints(frozenset("b"), True, "overflow", 2)
    assert merge_hints(one, other) == Hints(frozenset("ab"), True, "overflow", 1)
    assert merge_hints(one, None) is one
