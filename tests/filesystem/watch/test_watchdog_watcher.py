"""macOS and Windows: what watchdog tells becomes the same hints. Its observer is a double here; the
folders are real."""

from __future__ import annotations

import os
import shutil
import sys
import time
from types import SimpleNamespace

import pytest
from tests.filesystem.watch.seeing import LONG_S, all_of, lay, rules_of, told

from sightline.errors import WorkspaceError
from sightline.filesystem.watch import macos, watchdog_watcher, windows
from sightline.filesystem.watch.watchdog_watcher import MANY, SLEPT_S, ElsewhereWatcher, observer


class Observer:
    """Runs until it is stopped; a test tells it what happened."""

    def __init__(self, root, handler):
        self.root, self.handler = root, handler
        self.running = True
        self.emitters = [SimpleNamespace(is_alive=lambda: self.running)]

    def stop(self):
        self.running = False

    def join(self):
        assert not self.running

    def tell(self, path, to="", *, folder=False):
        ends = [os.path.join(self.root, each) if each else "" for each in (path, to)]
        event = SimpleNamespace(src_path=ends[0], dest_path=ends[1], is_directory=folder)
        self.handler.dispatch(event)


@pytest.fixture
def tree(tmp_path):
    root = tmp_path / "root"
    lay(root, "a", "src/b", "dist/c", "sub/.git/HEAD", "sub/in")
    (root / ".gitignore").write_text("dist\n*.log\n")
    return root


@pytest.fixture
def started():
    return []


@pytest.fixture
def watcher(tree, started):
    def start(root, handler):
        started.append(Observer(root, handler))
        return started[-1]

    made = ElsewhereWatcher(str(tree), rules_of(tree), macos, start, polling_s=0.02)
    yield made
    made.close()


def test_events_become_paths(watcher, started):
    started[0].tell("a")
    started[0].tell("a")
    started[0].tell("src/b", "src/z")
    assert all_of(watcher).paths == {"a", "src/b", "src/z"}


def test_ignored_paths_nested_repositories_and_asides_are_left_out(watcher, started):
    for path in ("dist/c", "x.log", "src/.sightline-1", "sub/in", ".git/objects/aa", ".hg/x"):
        started[0].tell(path)
    assert watcher.wait(0) is None


def test_followed_paths_and_gits_files_are_told(watcher, started):
    watcher.follow(["dist/c", "x.log"])
    for path in ("dist/c", "dist/d", "x.log", ".git/HEAD", ".git/index.lock"):
        started[0].tell(path)
    assert all_of(watcher).paths == {"dist/c", "x.log", ".git/HEAD"}


def test_changed_rules_stand_for_their_folder(watcher, started):
    started[0].tell("src/.gitignore")
    assert all_of(watcher).paths == {"src"}
    started[0].tell("sub/.git", folder=True)
    assert all_of(watcher).paths == {"sub"}
    started[0].tell(".git/info/exclude")
    assert all_of(watcher).everything


def test_so_many_events_that_some_may_be_missing_are_a_gap(watcher, started):
    for number in range(MANY):
        started[0].tell(f"f{number}")
    assert all_of(watcher).lost == "overflow"


def test_an_observer_that_died_is_started_again(watcher, started):
    started[0].stop()
    assert (all_of(watcher).lost, len(started)) == ("overflow", 2)
    started[1].tell("a")
    assert told(watcher).paths == {"a"}


def test_a_machine_that_slept_may_have_missed_everything(watcher, monkeypatch):
    monkeypatch.setattr(watchdog_watcher, "time", lambda: time.time() + SLEPT_S + 1)
    hints = all_of(watcher)
    assert (hints.everything, hints.lost) == (True, "suspended")
    assert watcher.wait(0) is None


def test_a_root_that_goes_is_said_and_watched_again_when_it_is_back(tree, watcher, started):
    shutil.rmtree(tree)
    assert (all_of(watcher).lost, watcher.eyes().mode) == ("gone", "away")
    assert not started[0].running
    lay(tree, "a")
    assert (all_of(watcher).everything, watcher.eyes().mode) == (True, "events")
    started[1].tell("a")
    assert told(watcher).paths == {"a"}


def test_files_with_several_names_are_looked_at(tree, watcher):
    os.link(tree / "a", tree.parent / "other")
    watcher.follow(["a", "src/b"])
    assert watcher.eyes().polled == 1
    (tree.parent / "other").write_text("by the other name")
    assert told(watcher).paths == {"a"}


def test_wait_is_ended_by_wake(watcher):
    watcher.wake()
    assert watcher.wait(LONG_S) is None


@pytest.mark.skipif(sys.platform != "linux", reason="there it is installed")
def test_without_the_library_it_is_said_what_to_install(tree):
    with pytest.raises(WorkspaceError, match="watchdog is not installed") as caught:
        observer(str(tree), None)
    assert "pip install" in caught.value.hint


def test_macos_knows_file_systems_of_others():
    def answer(kind):
        return bytes(72) + kind.ljust(16, b"\0") + bytes(2000)

    assert macos.eventless_kind(answer(b"smbfs")) == "filesystem:smbfs"
    assert macos.eventless_kind(answer(b"apfs")) is None


def test_windows_knows_shares_and_separators(tmp_path):
    assert windows.eventless(r"\\server\share\work") == "filesystem:share"
    assert windows.spelled(r"C:\shop\a\b") == "C:/shop/a/b"
