import os
import socket
import threading
import tracemalloc
from typing import ClassVar

import pytest
from tests.filesystem.doubles import Hooked

from sightline.filesystem.disk import DiskWorkspace
from sightline.filesystem.read import EMPTIED_NS, PAUSES_S
from sightline.filesystem.system_calls import Calls
from sightline.model.revision import UNKNOWN, Stamp, revision_of

KINDS = ["missing", "file", "executable", "symlink", "directory", "fifo", "socket"]
TOLD = {
    "missing": "missing",
    "file": "file",
    "executable": "file",
    "symlink": "symlink",
    "directory": "directory",
    "fifo": "special",
    "socket": "special",
}


@pytest.fixture
def root(tmp_path):
    (tmp_path / "root").mkdir()
    return tmp_path / "root"


def opened(root, calls=None):
    return DiskWorkspace(str(root), str(root.parent / "state"), calls=calls)


def put(path, kind):
    if path.is_dir() and not path.is_symlink():
        path.rmdir()
    else:
        path.unlink(missing_ok=True)
    if kind in ("file", "executable"):
        path.write_bytes(b"text")
        path.chmod(0o755 if kind == "executable" else 0o644)
    elif kind == "symlink":
        path.symlink_to("elsewhere")
    elif kind == "directory":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "socket":
        listening = socket.socket(socket.AF_UNIX)
        here = os.getcwd()
        os.chdir(path.parent)  # the name of a socket has to be short
        listening.bind(path.name)
        os.chdir(here)
        listening.close()


@pytest.mark.parametrize("after", KINDS)
@pytest.mark.parametrize("before", KINDS)
def test_every_change_of_kind_is_read_and_scanned(root, before, after):
    workspace = opened(root)
    put(root / "x", before)
    was = workspace.read("x")
    assert was.kind == TOLD[before]
    put(root / "x", after)
    now = workspace.read("x")
    assert now.kind == TOLD[after]
    if was.signature is None or before not in ("file", "executable"):
        return
    (told,) = workspace.scan({"x": Stamp(was.signature, was.revision, was.read_at_ns)})
    assert (told.kind, told.revision) == (now.kind, now.revision)
    assert told.signature == now.signature


def test_a_device_is_never_opened(root):
    if os.geteuid() != 0:
        pytest.skip("needs the right to make a device")
    os.mknod(root / "x", 0o020600, os.makedev(1, 3))
    opens = []
    calls = Hooked(lambda name: opens.append(name) if name == "open" else None)
    assert opened(root, calls).read("x").kind == "special"
    assert len(opens) == 1  # the folder


def changing_after(number, path, data=b"more"):
    """Calls that append to a file after each of the first `number` reads of it."""
    left = [number]

    def hook(name):
        if name == "after read" and left[0]:
            left[0] -= 1
            with open(path, "ab") as file:
                file.write(data)

    return Hooked(hook, Still)


class Still(Calls):
    """Waits are counted, not waited."""

    waits: ClassVar[list[float]] = []

    def sleep(self, seconds):
        self.waits.append(seconds)


@pytest.mark.parametrize("limit", [None, 1])
def test_a_file_that_changes_while_it_is_read_is_read_again(root, limit):
    (root / "x").write_bytes(b"text")
    found = opened(root, changing_after(1, root / "x")).read("x", limit=limit)
    assert found.revision == revision_of((root / "x").read_bytes())


def test_a_file_that_will_not_hold_still_is_unreadable(root):
    (root / "x").write_bytes(b"text")
    Still.waits.clear()
    found = opened(root, changing_after(1000, root / "x")).read("x")
    assert (found.kind, found.why, found.revision) == ("unreadable", "changing", UNKNOWN)
    assert Still.waits == list(PAUSES_S[1:])


class Saving(Calls):
    """A program truncates a file, and writes its text in the reader's pause of that number."""

    def __init__(self, path, text, pause=1, age_ns=1_000_000):
        self.waits = []
        self._path, self._text, self._pause, self._age_ns = path, text, pause, age_ns
        path.write_bytes(b"")

    def time_ns(self):
        return self._path.stat().st_mtime_ns + self._age_ns

    def sleep(self, seconds):
        self.waits.append(seconds)
        if len(self.waits) == self._pause:
            self._path.write_bytes(self._text)


@pytest.mark.parametrize("limit", [None, 0])
@pytest.mark.parametrize("pause", [1, len(PAUSES_S) - 1])
def test_a_file_that_was_just_emptied_is_read_when_its_text_is_there(root, limit, pause):
    (root / "x").write_bytes(b"old")
    found = opened(root, Saving(root / "x", b"new", pause)).read("x", limit=limit)
    assert found.revision == revision_of(b"new")


def test_a_file_that_was_just_emptied_and_stays_so_is_empty(root):
    calls = Saving(root / "x", b"")
    found = opened(root, calls).read("x")
    assert (found.kind, found.data) == ("file", b"")
    assert calls.waits == list(PAUSES_S[1:])


@pytest.mark.parametrize("age_ns", [EMPTIED_NS, -EMPTIED_NS])
def test_a_file_that_is_empty_for_longer_is_not_waited_for(root, age_ns):
    calls = Saving(root / "x", b"new", age_ns=age_ns)
    assert opened(root, calls).read("x").data == b""
    assert calls.waits == []


def test_a_file_that_grows_between_chunks_is_not_half_hashed(root):
    (root / "x").write_bytes(b"t" * (3 << 20))
    calls = changing_after(2, root / "x", b"grown")
    found = opened(root, calls).read("x", limit=0)
    assert found.revision == revision_of((root / "x").read_bytes())


def test_bytes_rewritten_behind_the_reader_are_noticed(root):
    """The same size, and the old mtime put back: the ctime tells."""
    path = root / "x"
    path.write_bytes(b"one")
    kept = path.stat()
    left = [1]

    def hook(name):
        if name == "after read" and left[0]:
            left[0] -= 1
            path.write_bytes(b"two")
            os.utime(path, ns=(kept.st_atime_ns, kept.st_mtime_ns))

    found = opened(root, Hooked(hook)).read("x")
    assert (found.data, found.revision) == (b"two", revision_of(b"two"))


@pytest.mark.wide
def test_a_large_file_is_hashed_without_being_loaded(root):
    with open(root / "x", "wb") as file:
        file.truncate(256 << 20)
    tracemalloc.start()
    found = opened(root).read("x", limit=1 << 20)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.revision == "a6d72ac7690f53be6ae46ba88506bd97302a093f7108472bd9efc3cefda06484"
    assert (found.data, found.why) == (None, "too_large")
    assert peak < 8 << 20


class Share(Calls):
    """A network share whose server is gone: opening a file never returns, until it is back."""

    def __init__(self):
        self.back = threading.Event()

    def open(self, path, flags, mode=0o777, *, dir_fd=None):
        if path == "x":
            self.back.wait()
        return super().open(path, flags, mode, dir_fd=dir_fd)


@pytest.fixture
def share():
    calls = Share()
    yield calls
    calls.back.set()


def test_a_share_that_does_not_answer_is_unreadable_at_the_deadline(root, share):
    (root / "x").write_bytes(b"text")
    found = opened(root, share).read("x", deadline_s=0.01)
    assert (found.kind, found.why, found.revision) == ("unreadable", "deadline", UNKNOWN)


def test_a_scan_says_what_it_could_not_ask_before_the_deadline(root, share):
    workspace = opened(root, share)
    stamps = {}
    for name in ("a", "x", "z"):
        (root / name).write_bytes(b"text")
        found = opened(root).read(name)
        stamps[name] = Stamp(found.signature, found.revision, found.read_at_ns)
        (root / name).write_bytes(b"changed")
    told = {found.path: found for found in workspace.scan(stamps, deadline_s=0.2)}
    assert told["a"].revision == revision_of(b"changed")
    assert [(told[name].kind, told[name].why) for name in ("x", "z")] == [
        ("unreadable", "deadline")
    ] * 2


def test_a_read_that_ends_before_its_deadline_is_a_read(root):
    (root / "x").write_bytes(b"text")
    assert opened(root).read("x", deadline_s=60).data == b"text"
