"""Between two looks the system tells what happened: what is asked for then, and that it is enough."""

import os
import shutil
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.filesystem.test_tree_index import hidden, put, told

from sightline.filesystem import change_journal, disk
from sightline.filesystem.disk import DiskWorkspace
from sightline.filesystem.tree_index import ALL, CONTENT, NO_TREE, Doubts
from sightline.filesystem.watch.watcher import Eyes, Hints
from sightline.model.revision import revision_of

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells in time")


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """From the second look on, at whatever tree."""
    monkeypatch.setattr(disk, "LOOKS", 0)
    monkeypatch.setattr(disk, "LARGE", 1)


@pytest.fixture
def root(tmp_path):
    for path in ("a.py", "b/c.py", "b/d.py", "e/f/g.py"):
        put(tmp_path / "root", path)
    return tmp_path / "root"


class Looking:
    """One process that looks again and again, and learns what it has to read."""

    def __init__(self, root):
        self.root = root
        self.workspace = DiskWorkspace(str(root), f"{root}-state")
        self.tree = NO_TREE
        for _ in range(2):
            self.look()

    def look(self):
        self.tree = self.workspace.tree(self.tree)
        for path, row in self.tree.files():
            if not row[CONTENT]:
                row[CONTENT] = revision_of(Path(self.root, path).read_bytes())
        return self.tree

    def afresh(self):
        return DiskWorkspace(str(self.root), f"{self.root}-state", listens=False).tree()


@pytest.fixture
def looking(root):
    return Looking(root)


def asked(monkeypatch, looking):
    """The names that a look asks the disk for, by its stats."""
    names = []
    real = os.lstat

    def lstat(name, **folder):
        names.append(os.path.basename(name))
        return real(name, **folder)

    with monkeypatch.context() as patched:
        patched.setattr(os, "lstat", lstat)
        looking.look()
    return sorted(name for name in names if name.endswith((".py", ".log")))


def test_where_nothing_happened_nothing_is_asked_for(looking, monkeypatch):
    before = looking.tree
    assert asked(monkeypatch, looking) == []
    assert looking.tree.listings == before.listings
    assert all(looking.tree.listings[name] is each for name, each in before.listings.items())


def test_what_was_written_is_asked_for_and_nothing_beside_it(looking, monkeypatch):
    put(looking.root, "b/c.py", "other\n")
    assert asked(monkeypatch, looking) == ["c.py"]
    assert dict(looking.tree.files())["b/c.py"][CONTENT] == revision_of(b"other\n")
    assert asked(monkeypatch, looking) == []


def test_a_file_that_went_is_gone_without_a_list(looking, monkeypatch):
    (looking.root / "b/d.py").unlink()
    assert set(asked(monkeypatch, looking)) == {"d.py"}
    assert told(looking.tree) == told(looking.afresh())


def instead(path):
    """A path at which something else is to stand."""
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    return path


@pytest.mark.parametrize(
    "act",
    [
        lambda root: put(root, "b/new.py"),
        lambda root: put(root, "b/new.log"),
        lambda root: put(root, "new/er/still.py"),
        lambda root: (root / "b").rename(root / "moved"),
        lambda root: (root / "b/c.py").rename(root / "e/c.py"),
        lambda root: shutil.rmtree(root / "e"),
        lambda root: put(root, ".gitignore", "*.py\n"),
        lambda root: put(root, "b/.gitignore", "c.py\n"),
        lambda root: put(root, "e/f/.git/HEAD"),
        lambda root: os.mkfifo(root / "b/fifo"),
        lambda root: instead(root / "a.py").mkdir(),
        lambda root: put(root, instead(root / "e").name),
        lambda root: instead(root / "a.py").symlink_to("b/c.py"),
        lambda root: (root / "a.py").chmod(0o755),
        lambda root: os.mkdir(bytes(root) + b"/b/\xff"),
    ],
)
def test_whatever_happens_it_says_what_a_look_at_everything_does(looking, act):
    put(looking.root, ".gitignore", "*.log\n")
    looking.look()
    act(looking.root)
    assert told(looking.look()) == told(looking.afresh())


def test_an_ignored_file_that_comes_is_told_of_as_left_out(looking):
    put(looking.root, ".gitignore", "*.log\n")
    looking.look()
    put(looking.root, "b/x.log")
    assert hidden(looking.look()) == {"b/x.log": "ignored"}
    (looking.root / "b/x.log").unlink()
    assert hidden(looking.look()) == {}


def test_what_is_written_by_another_name_outside_is_seen(looking, tmp_path):
    os.link(looking.root / "a.py", tmp_path / "outside")
    (looking.root / "a.py").touch()  # told of, so its names are counted
    looking.look()
    (tmp_path / "outside").write_text("by its other name\n")
    looking.look()
    assert dict(looking.tree.files())["a.py"][CONTENT] == revision_of(b"by its other name\n")


def test_what_is_written_by_another_name_in_the_tree_is_seen(looking):
    os.link(looking.root / "a.py", looking.root / "b/z.py")
    looking.look()
    (looking.root / "b/z.py").write_text("by its other name\n")
    files = dict(looking.look().files())
    assert files["a.py"][CONTENT] == files["b/z.py"][CONTENT] == revision_of(b"by its other name\n")


def test_who_comes_to_a_tree_that_has_such_names_sees_it_too(root, tmp_path):
    os.link(root / "a.py", tmp_path / "outside")
    looking = Looking(root)
    (tmp_path / "outside").write_text("by its other name\n")
    assert dict(looking.look().files())["a.py"][CONTENT] == revision_of(b"by its other name\n")


def test_a_tree_of_another_that_listens_is_taken_for_what_it_is(root):
    one, other = Looking(root), Looking(root)
    put(root, "a.py", "later\n")
    other.look()
    one.tree = other.tree
    put(root, "b/c.py", "last\n")
    assert told(one.look()) == told(one.afresh())
    assert dict(one.tree.files())["a.py"][CONTENT] == revision_of(b"later\n")


class Said:
    """A watcher that says what a test wants."""

    def __init__(self):
        self.hints = None
        self.seen = Eyes("events")
        self.closed = False

    def wait(self, timeout_s):
        now, self.hints = self.hints, None
        return now

    def eyes(self):
        return self.seen

    def close(self):
        self.closed = True


@pytest.fixture
def said():
    return Said()


@pytest.fixture
def now_s():
    return [0.0]


@pytest.fixture
def listening(said, now_s):
    return change_journal.Vigil(said, lambda: now_s[0])


def test_what_is_told_is_doubted_until_a_look_was_made_after_it(said, listening):
    first = listening.doubts(0)
    assert first.everything
    said.hints = Hints(frozenset({"a/b.py", "c"}))
    second = listening.doubts(first.moment)
    assert (second.everything, second.names) == (False, {"a/": {"b.py"}, "": {"c"}})
    assert second.below == {"a/b.py/", "c/"}
    assert listening.doubts(first.moment).names == second.names  # that look was broken off
    assert listening.doubts(second.moment).names == {}


@pytest.mark.parametrize("lost", ["everything", "polling", "late", "many"])
def test_where_something_may_be_missed_all_is_doubted(said, listening, now_s, lost, monkeypatch):
    first = listening.doubts(0)
    assert not listening.doubts(first.moment).everything
    if lost == "everything":
        said.hints = Hints(frozenset(), everything=True)
    elif lost == "polling":
        said.seen = Eyes("polling")
    elif lost == "late":
        now_s[0] += change_journal.WHOLE_S + 1
    else:
        monkeypatch.setattr(change_journal, "PATHS_MAX", 1)
        said.hints = Hints(frozenset({"a", "b"}))
    again = listening.doubts(first.moment)
    assert again.everything
    assert listening.doubts(again.moment).everything == (lost == "polling")


def test_a_process_that_was_forked_off_hears_nothing(listening, monkeypatch):
    first = listening.doubts(0)
    monkeypatch.setattr(os, "getpid", lambda: -1)
    assert listening.doubts(first.moment) == ALL == Doubts()


def test_where_something_was_mounted_it_is_over(said):
    points = ["/ws/b"]
    listening = change_journal.Vigil(said, mounts=lambda: [*points])
    first = listening.doubts(0)
    assert not listening.doubts(first.moment).everything
    points.append("/ws/c")
    assert listening.doubts(first.moment) == ALL
    assert said.closed
    points.pop()
    assert listening.doubts(first.moment) == ALL


def test_who_listens_no_more_doubts_all(said, listening):
    first = listening.doubts(0)
    listening.close()
    assert said.closed
    assert listening.doubts(first.moment) == ALL


def queues():
    """How many queues of events this process holds."""
    fds = [os.path.join("/proc/self/fd", fd) for fd in os.listdir("/proc/self/fd")]
    return sum(os.path.islink(fd) and "inotify" in os.readlink(fd) for fd in fds)


def test_nobody_listens_to_a_small_tree_or_before_it_was_looked_at_often(root, monkeypatch):
    monkeypatch.setattr(disk, "LARGE", 4)
    monkeypatch.setattr(disk, "LOOKS", 2)
    before, looking = queues(), Looking(root)
    assert queues() == before
    for expected in (1, 1):
        looking.look()
        assert queues() - before == expected
    small = Looking(root / "b")
    small.look(), small.look()
    assert queues() - before == 1
    del looking, small
    assert queues() == before


def test_nobody_listens_where_the_settings_say_so(root):
    before = queues()
    workspace = DiskWorkspace(str(root), f"{root}-state", listens=False)
    workspace.tree(workspace.tree())
    assert queues() == before


@pytest.mark.parametrize("room", ["", "none", "23"])
def test_nobody_listens_where_it_takes_too_many_watches(root, tmp_path, monkeypatch, room):
    """The tree has four folders, and an eighth of all may be taken."""
    (tmp_path / "room").write_text(room)
    monkeypatch.setattr(change_journal, "WATCHES", str(tmp_path / ("room" if room else "nowhere")))
    before, looking = queues(), Looking(root)
    looking.look()
    assert queues() == before


def test_elsewhere_nobody_listens(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    assert change_journal.vigil("/", (), 1) is None


PATHS = st.sampled_from(
    ["a", "b.tmp", ".gitignore", "d/a", "d/c.tmp", "d/e/a", "d/.gitignore", "f/a"]
)
TEXTS = st.sampled_from(["", "*.tmp\n", "e/\n", "a\n", "d\n"])
FOLDERS = st.sampled_from(["d", "d/e", "f", "g"])
STEPS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["put", "save", "append"]), PATHS, TEXTS),
        st.tuples(st.sampled_from(["remove", "nest", "chmod"]), PATHS | FOLDERS, st.just("")),
        st.tuples(st.sampled_from(["move", "link", "symlink"]), PATHS | FOLDERS, PATHS | FOLDERS),
        st.tuples(st.just("look"), st.just(""), st.just("")),
    ),
    max_size=25,
)


def do(root, what, path, other):
    """One step of others; what the disk refuses is not done."""
    at, to = root / path, root / other
    if what in ("put", "append"):
        at.parent.mkdir(parents=True, exist_ok=True)
        with at.open("w" if what == "put" else "a", encoding="utf-8") as file:
            file.write(other)
    elif what == "save":
        aside = at.with_name("aside~")
        aside.write_text(other)
        aside.replace(at)
    elif what == "remove":
        shutil.rmtree(at) if at.is_dir() and not at.is_symlink() else at.unlink()
    elif what == "nest":
        (at / ".git").mkdir()
    elif what == "chmod":
        at.chmod(0o700 if at.stat().st_mode & 0o77 else 0o755)
    elif what == "move":
        at.rename(to)
    elif what == "link":
        os.link(at, to)
    else:
        to.symlink_to(at)


@settings(max_examples=200)
@given(STEPS)
def test_a_look_at_what_was_told_says_what_one_at_everything_does(steps):
    with tempfile.TemporaryDirectory() as home:
        root = Path(os.path.realpath(home), "root")
        root.mkdir()
        put(root, "z")
        looking = Looking(root)
        for what, path, other in [*steps, ("look", "", "")]:
            if what != "look":
                try:
                    do(root, what, path, other)
                except OSError:
                    continue
                continue
            assert told(looking.look()) == told(looking.afresh())
            for name, row in looking.tree.files():
                file = root / name
                stands = os.readlink(file) if file.is_symlink() else revision_of(file.read_bytes())
                assert row[CONTENT] == stands
