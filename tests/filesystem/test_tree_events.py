"""A tree that is kept by the kernel's events is the tree that a fresh look finds."""

import os
import shutil
import sys
import tempfile
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.examples import examples

from sightline.filesystem import tree_events
from sightline.filesystem.deadline import DeadlinePassed
from sightline.filesystem.disk import DiskWorkspace
from sightline.filesystem.tree_events import WHOLE_S, TreeEvents
from sightline.filesystem.watch.inotify import Inotify

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the events are those of Linux")

NAMES = ("a", "b", "c.log", ".gitignore", ".git")
FOLDERS = ("", "x/", "x/y/", "z/")
DEEP = ("x/", "x/y/", "z/", "z/y/", "../out/")
LONG_AGO_NS = 1_700_000_000_000_000_001
PATHS = st.tuples(st.sampled_from(FOLDERS), st.sampled_from(NAMES)).map("".join)
STEPS = st.one_of(
    st.tuples(st.just("write"), PATHS, st.sampled_from(["", "1\n", "2\n", "*.log\n", "y/\n"])),
    st.tuples(st.just("same size"), PATHS),
    st.tuples(st.just("mode"), PATHS, st.sampled_from([0o600, 0o644])),
    st.tuples(st.just("delete"), st.one_of(PATHS, st.sampled_from(DEEP))),
    st.tuples(st.just("folder"), st.one_of(PATHS, st.sampled_from(DEEP))),
    st.tuples(st.just("rename"), PATHS, PATHS),
    st.tuples(st.just("move"), st.sampled_from(DEEP), st.sampled_from(DEEP)),
    st.tuples(st.just("swap"), st.sampled_from(DEEP), st.sampled_from(DEEP)),
    st.tuples(st.just("link"), PATHS, PATHS),
    st.tuples(st.just("symlink"), PATHS, PATHS),
    st.tuples(st.just("look")),
)


@pytest.fixture
def root(tmp_path):
    made = tmp_path / "root"
    made.mkdir()
    return str(made)


def listening(root):
    opened = DiskWorkspace(root, f"{root}-state")
    opened.listen()
    opened.tree()
    return opened


def fresh(root):
    return DiskWorkspace(root, f"{root}-state").tree()


def description(tree):
    """Return what a tree says, without the contents and the moments of the looks; and without the times of
    inodes: those change where a file gets a name that the tree does not show, which nothing tells."""
    return {
        folder: (
            {name: [*row[:2], *row[3:6]] for name, row in listing.files.items()},
            set(listing.folders),
            listing.hidden,
        )
        for folder, listing in tree.listings.items()
    }


def put(root, path, text="x\n"):
    file = f"{root}/{path}"
    os.makedirs(os.path.dirname(file), exist_ok=True)
    with open(file, "w", encoding="utf-8") as out:
        out.write(text)


def carry_out(root, step):
    kind, *given = step
    paths = [f"{root}/{each}".rstrip("/") for each in given if isinstance(each, str)]
    with suppress(OSError, shutil.Error):
        if kind == "write":
            put(root, given[0], given[1])
        elif kind == "same size":
            with open(paths[0], "r+b") as file:
                file.write(b"9")
        elif kind == "mode":
            os.chmod(paths[0], given[1])
        elif kind == "delete":
            shutil.rmtree(paths[0]) if os.path.isdir(paths[0]) else os.unlink(paths[0])
        elif kind == "folder":
            os.makedirs(paths[0])
        elif kind in ("rename", "move"):
            os.rename(*paths)
        elif kind == "swap":
            os.rename(paths[0], f"{root}/../aside")
            with suppress(OSError):
                os.rename(paths[1], paths[0])
            os.rename(f"{root}/../aside", paths[1])
        elif kind == "link":
            os.link(*paths)
        elif kind == "symlink":
            os.symlink(given[0], paths[1])


def check(steps):
    with tempfile.TemporaryDirectory(prefix="sl-") as above:
        root = os.path.join(os.path.realpath(above), "root")
        for path in ("a", "x/a", "x/y/b", "z/c.log"):
            put(root, path)
        os.makedirs(f"{root}/../out/inner")
        opened = listening(root)
        for step in steps:
            if step[0] == "look":
                assert description(opened.tree()) == description(fresh(root))
            else:
                carry_out(root, step)
        assert description(opened.tree()) == description(fresh(root))


@settings(max_examples=examples(40), deadline=None, derandomize=True)
@given(st.lists(STEPS, max_size=12))
def test_events_lead_to_the_tree_that_a_fresh_look_finds(steps):
    check(steps)


@pytest.mark.wide
@settings(max_examples=examples(500), deadline=None, derandomize=True)
@given(st.lists(STEPS, max_size=30))
def test_many_events_lead_to_the_tree_that_a_fresh_look_finds(steps):
    check(steps)


def test_a_look_asks_for_the_folders_with_events_alone(root, monkeypatch):
    for n in range(20):
        put(root, f"d{n}/a")
    opened = listening(root)
    put(root, "d7/a", "new\n")
    asked, lstat = [], os.lstat

    def noted(path, *args, **kwargs):
        asked.append(os.path.relpath(path, root))
        return lstat(path, *args, **kwargs)

    monkeypatch.setattr(os, "lstat", noted)
    tree = opened.tree()
    files = [path for path in asked if path.startswith("d") and path.endswith("/a")]
    assert files == ["d7/a"]
    assert tree.listings["d7/"].files["a"][0] == 4


def test_a_folder_without_events_keeps_its_listing(root):
    put(root, "x/a")
    for each in (f"{root}/x/a", f"{root}/x", root):
        os.utime(each, ns=(LONG_AGO_NS, LONG_AGO_NS))
    with open(f"{root}/x/a", encoding="utf-8"):  # to look at a file is no event
        opened = listening(root)
    at_first = opened.tree()
    assert description(at_first) == description(fresh(root))
    assert [opened.tree().listings["x/"] is at_first.listings["x/"] for _ in range(3)] == [True] * 3


def test_a_lost_event_costs_a_look_at_everything(root):
    class Lossy(Inotify):
        def read(self):
            data = super().read()
            return (b"\xff\xff\xff\xff\x00\x40\x00\x00" + bytes(8)) if data else data

    put(root, "x/a")
    opened = DiskWorkspace(root, f"{root}-state")
    opened._events = TreeEvents(root, Lossy(), most=100)
    opened.tree()
    put(root, "x/a", "other\n")
    assert description(opened.tree()) == description(fresh(root))


@pytest.mark.parametrize("most", [1, 2])
def test_too_few_watches_cost_looks_at_everything(root, most):
    put(root, "x/y/a")
    opened = DiskWorkspace(root, f"{root}-state")
    opened._events = TreeEvents(root, Inotify(), most=most)
    opened.tree()
    put(root, "x/y/a", "other\n")
    assert description(opened.tree()) == description(fresh(root))


def test_a_mount_in_the_tree_ends_the_events(root):
    put(root, "x/a")
    table = ["/dev/x / ext4\n"]
    opened = DiskWorkspace(root, f"{root}-state")
    opened._events = events = TreeEvents(root, Inotify(), most=100, table=lambda: table[0])
    tree = opened.tree()
    assert events.folders(tree) == set()
    table[0] += f"/dev/y {root}/x ext4\n"
    assert events.folders(tree) is None
    put(root, "x/a", "other\n")
    assert description(opened.tree()) == description(fresh(root))


@pytest.mark.parametrize("names", [("x/a", "z/b"), ("z/b", "x/a")])
def test_a_write_by_another_name_in_the_tree_is_found_at_each(root, names):
    first, second = names
    put(root, first)
    os.makedirs(os.path.dirname(f"{root}/{second}"))
    opened = listening(root)
    os.link(f"{root}/{first}", f"{root}/{second}")
    opened.tree()
    for name, text in ((second, "longer\n"), (first, "longer again\n")):
        put(root, name, text)
        assert description(opened.tree()) == description(fresh(root))


def test_a_name_outside_the_tree_is_found_in_the_end(root):
    """Of a write by another name nobody tells: a file of several names is asked for each time, and
    the whole tree after WHOLE_S."""
    put(root, "x/a")
    now_s = [0.0]
    opened = DiskWorkspace(root, f"{root}-state")
    opened._events = TreeEvents(root, Inotify(), most=100, clock=lambda: now_s[0])
    opened.tree()
    os.link(f"{root}/x/a", f"{root}-outside")
    now_s[0] = WHOLE_S + 1
    opened.tree()
    with open(f"{root}-outside", "a", encoding="utf-8") as file:
        file.write("more\n")
    assert description(opened.tree()) == description(fresh(root))


def test_a_look_that_ended_early_forgets_no_event(root, monkeypatch):
    put(root, "x/a")
    opened = listening(root)
    put(root, "x/a", "other\n")
    with pytest.raises(DeadlinePassed):
        opened.tree(until=0.0)
    assert description(opened.tree()) == description(fresh(root))


def test_a_file_system_that_sends_no_events_is_not_listened_to(root, monkeypatch):
    monkeypatch.setattr(tree_events, "mounts", lambda: f"server:/x {root} nfs4\n")
    assert tree_events.tree_events(root) is None
