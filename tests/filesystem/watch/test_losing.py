"""What a watcher cannot see it says: overflow, the limit, a root that goes, folders without events."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
import threading

import pytest
from tests.filesystem.doubles import as_nobody, open_way_to
from tests.filesystem.watch.seeing import (
    LOCAL,
    LONG_S,
    all_of,
    hinted,
    lay,
    rules_of,
    told,
    watching,
)

from sightline.errors import Unverifiable
from sightline.filesystem.disk import DiskWorkspace
from sightline.filesystem.watch.choose import for_linux
from sightline.filesystem.watch.inotify import Inotify
from sightline.filesystem.watch.polling import SHARE, Rota
from sightline.filesystem.watch.watcher import POLLING_S

with open("/proc/sys/fs/inotify/max_queued_events", encoding="ascii") as _file:
    QUEUE = int(_file.read())


class Few(Inotify):
    """A system that has few watches left."""

    left = 3

    def add(self, folder):
        if self.left == 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), folder)
        self.left -= 1
        return super().add(folder)


class NoQueue(Inotify):
    def __init__(self):
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))


class Deaf(Inotify):
    """A file system that takes watches and sends nothing."""

    def read(self):
        super().read()
        return b""


def overflow(root):
    """More events than the queue holds: it merges equal neighbours, so two files in turn."""
    with (root / "a").open("wb", buffering=0) as one, (root / "b").open("wb", buffering=0) as two:
        for _ in range(QUEUE // 2 + 10):
            one.write(b"x")
            two.write(b"x")


def test_an_overflow_is_said_and_everything_may_have_changed(root):
    with watching(root) as watcher:
        overflow(root)
        hints = told(watcher)
        assert (hints.everything, hints.lost) == (True, "overflow")
        assert watcher.wait(0) is None


def test_folders_made_and_renamed_in_an_overflow_are_watched_under_their_names(root):
    lay(root, "old/x", "gone/y")
    with watching(root) as watcher:
        overflow(root)
        (root / "old").rename(root / "renamed")
        lay(root, "made/in/z")
        shutil.rmtree(root / "gone")
        assert told(watcher).lost == "overflow"
        assert hinted(watcher, lambda: lay(root, "renamed/x")) == {"renamed/x"}
        assert hinted(watcher, lambda: lay(root, "made/in/z")) == {"made/in/z"}
        assert watcher.eyes().folders == 4


@pytest.mark.wide
def test_a_stopped_reader_loses_nothing(root):
    files = [f"d{number % 50}/f{number % 2000}" for number in range(20_000)]
    lay(root, *files[:2000])
    code = (
        "import sys\n"
        "from tests.filesystem.watch.seeing import *\n"
        "with watching(Path(sys.argv[1])) as watcher:\n"
        "    print('ready', flush=True)\n"
        "    sys.stdin.readline()\n"
        "    said = all_of(watcher)\n"
        "    print(said.everything, said.lost, watcher.wait(0), flush=True)\n"
    )
    command = [sys.executable, "-c", code, str(root)]
    here = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=here
    ) as child:
        assert child.stdout is not None
        assert child.stdin is not None
        assert child.stdout.readline() == "ready\n"
        child.send_signal(signal.SIGSTOP)
        for file in files:
            with (root / file).open("ab") as opened:
                opened.write(b"more")
        child.send_signal(signal.SIGCONT)
        print(file=child.stdin, flush=True)
        assert child.stdout.readline() == "True overflow None\n"


def test_at_the_limit_followed_paths_are_looked_at_instead(root):
    lay(root, *(f"d{number}/f" for number in range(5)))
    with watching(root, inotify=Few) as watcher:
        hints = told(watcher)
        assert (hints.everything, hints.lost) == (True, "limit")
        eyes = watcher.eyes()
        assert (eyes.mode, eyes.why, eyes.folders) == ("polling", "limit", 0)
        watcher.follow(["d4/f", "new"])
        lay(root, "d4/f")
        assert told(watcher).paths == {"d4/f"}
        lay(root, "new")
        assert told(watcher).paths == {"new"}


def test_the_limit_may_be_reached_later(root):
    class Later(Few):
        left = 6

    lay(root, "a/f", "b/f")
    with watching(root, inotify=Later) as watcher:
        watcher.follow(["a/f"])
        assert watcher.eyes().mode == "events"
        lay(root, *(f"new{number}/f" for number in range(5)))
        hints = told(watcher)
        assert (hints.everything, hints.lost) == (True, "limit")
        assert watcher.eyes().why == "limit"
        lay(root, "a/f")
        assert told(watcher).paths == {"a/f"}


def test_without_a_queue_followed_paths_are_looked_at(root):
    lay(root, "a")
    with watching(root, inotify=NoQueue) as watcher:
        assert (watcher.eyes().mode, watcher.eyes().why) == ("polling", "limit")
        watcher.follow(["a"])
        (root / "a").unlink()
        assert told(watcher).paths == {"a"}
        assert watcher.fileno() is None


def in_a_namespace(root, limit):
    """Return what a watcher says where the system itself allows no more than so many watches."""
    code = (
        "import sys\n"
        "from tests.filesystem.watch.seeing import *\n"
        "with open('/proc/sys/user/max_inotify_watches', 'w') as file: file.write(sys.argv[2])\n"
        "with watching(Path(sys.argv[1])) as watcher:\n"
        "    print(told(watcher).lost, watcher.eyes().why)\n"
    )
    command = ["unshare", "-Ur", sys.executable, "-c", code, str(root), str(limit)]
    here = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=here)


def test_the_limit_of_the_system_itself(root):
    if subprocess.run(["unshare", "-Ur", "true"], capture_output=True, check=False).returncode:
        pytest.skip("no user namespaces here")
    lay(root, *(f"d{number}/f" for number in range(50)))
    done = in_a_namespace(root, 20)
    if "max_inotify_watches" in done.stderr:
        pytest.skip("the limit of a user namespace cannot be set here")
    assert (done.stdout, done.stderr) == ("limit limit\n", "")


def test_a_removed_root_is_said_and_watched_again_when_it_is_back(root):
    lay(root, "src/a")
    with watching(root) as watcher:
        shutil.rmtree(root)
        hints = told(watcher)
        while not hints.everything:
            hints = told(watcher)
        assert hints.lost == "gone"
        assert (watcher.eyes().mode, watcher.eyes().why) == ("away", "gone")
        assert watcher.wait(0) is None
        lay(root, "src/a")
        hints = told(watcher)
        assert (hints.everything, hints.lost, watcher.eyes().mode) == (True, None, "events")
        assert hinted(watcher, lambda: lay(root, "src/a")) == {"src/a"}


def test_a_moved_root_is_said(root):
    lay(root, "src/a")
    with watching(root) as watcher:
        root.rename(root.parent / "elsewhere")
        hints = told(watcher)
        assert (hints.everything, hints.lost) == (True, "moved")
        (root.parent / "elsewhere/src/a").write_text("not ours any more")
        assert watcher.wait(0) is None
        (root.parent / "elsewhere").rename(root)
        assert told(watcher).everything
        assert hinted(watcher, lambda: lay(root, "src/a")) == {"src/a"}


def test_a_root_whose_parent_was_renamed_is_said(root):
    lay(root, "up/here/a")
    with watching(root / "up/here") as watcher:
        (root / "up").rename(root / "down")  # no event tells of this
        hints = told(watcher)
        assert (hints.everything, hints.lost) == (True, "gone")


def test_another_folder_at_the_place_of_the_root_is_watched_at_once(root):
    lay(root, "old/a")
    lay(root.parent, "other/new/b")
    with watching(root) as watcher:
        root.rename(root.parent / "aside")
        (root.parent / "other").rename(root)
        hints = told(watcher)
        assert (hints.everything, hints.lost, watcher.eyes().mode) == (True, "moved", "events")
        assert hinted(watcher, lambda: lay(root, "new/b")) == {"new/b"}


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts are root's")
def test_an_unmounted_root_is_said(root):
    mount = ["mount", "-t", "tmpfs", "none", str(root)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("nothing may be mounted here")
    mounted = True
    try:
        lay(root, "src/a")
        with watching(root) as watcher:
            subprocess.run(["umount", str(root)], check=True)
            mounted = False
            hints = told(watcher)
            assert (hints.everything, hints.lost) == (True, "unmounted")
            assert hinted(watcher, lambda: lay(root, "below")) == {"below"}
    finally:
        if mounted:
            subprocess.run(["umount", str(root)], check=True)


@pytest.mark.parametrize("kind", ["9p", "nfs4", "cifs", "fuse.sshfs", "fuse.mine", "virtiofs"])
def test_a_file_system_that_sends_no_events_is_known_by_its_name(root, kind):
    lay(root, "a", "b")
    with watching(root, table=f"{LOCAL}x {root} {kind} rw 0 0\n") as watcher:
        assert (watcher.eyes().mode, watcher.eyes().why) == ("polling", f"filesystem:{kind}")
        watcher.follow(["a"])
        lay(root, "a", "b")
        assert told(watcher).paths == {"a"}


def test_a_mount_without_events_inside_the_tree_is_looked_at(root):
    lay(root, "share/a", "b")
    with watching(root, table=f"{LOCAL}x {root}/share nfs rw 0 0\n") as watcher:
        watcher.follow(["share/a", "b"])
        assert (watcher.eyes().mode, watcher.eyes().polled) == ("events", 1)


def test_an_unknown_file_system_is_tried(root):
    lay(root, ".git/HEAD", "a")
    table = f"{LOCAL}x {root} mysteryfs rw 0 0\n"
    with watching(root, table=table) as watcher:
        assert watcher.eyes().mode == "events"
    with watching(root, table=table, inotify=Deaf) as watcher:
        assert (watcher.eyes().mode, watcher.eyes().why) == ("polling", "no_events")
    assert sorted(os.listdir(root) + os.listdir(root / ".git")) == [".git", "HEAD", "a"]


def test_git_is_looked_at_where_nothing_sends_events(root):
    lay(root, ".git/HEAD", "a")
    with watching(root, table=f"{LOCAL}x {root} 9p rw 0 0\n") as watcher:
        (root / ".git/HEAD").write_text("ref: refs/heads/other\n")
        assert told(watcher).paths == {".git/HEAD"}


def test_a_polled_root_that_goes_and_comes_back_is_said(root):
    with watching(root, table=f"{LOCAL}x {root} 9p rw 0 0\n") as watcher:
        root.rmdir()
        assert (told(watcher).lost, watcher.eyes().mode) == ("gone", "away")
        root.mkdir()
        assert (told(watcher).everything, watcher.eyes().mode) == (True, "polling")


def test_looking_leaves_the_machine_in_peace(root):
    """However many paths, looking takes no more than its share of one core."""
    lay(root, *(f"f{number}" for number in range(30)))
    rota = Rota(0.001)
    rota.set({str(number): f"{root}/f{number % 30}" for number in range(3000)})
    assert rota.poll() == frozenset()
    assert rota.every_s > 3000 * 1e-7 / SHARE  # a stat takes no less
    assert Rota(POLLING_S).every_s == POLLING_S


def test_a_folder_that_may_not_be_read_is_counted_and_watched_when_it_may(reachable):
    secret = reachable / "secret"
    lay(reachable, "secret/in/file")
    open_way_to(secret)

    def act():
        secret.chmod(0)
        with watching(reachable) as watcher:
            assert watcher.eyes().unseen == 1
            secret.chmod(0o777)
            assert all_of(watcher).paths == {"secret"}
            assert watcher.eyes().unseen == 0
            os.utime(secret / "in")
            assert all_of(watcher).paths == {"secret/in"}

    if os.geteuid() == 0:
        os.chown(reachable, 65534, 65534)
        os.chown(secret, 65534, 65534)
        os.chown(secret / "in", 65534, 65534)
    as_nobody(act)


def test_an_unreadable_ignore_file_is_said_and_nothing_is_lost(reachable):
    lay(reachable, ".sightlineignore", "sub/file")
    if os.geteuid() == 0:
        for each in (reachable, reachable / ".sightlineignore", reachable / "sub"):
            os.chown(each, 65534, 65534)

    def act():
        with watching(reachable) as watcher:
            (reachable / ".sightlineignore").chmod(0)
            (reachable / "sub/other").write_text("changed meanwhile")
            for _ in range(2):
                with pytest.raises(Unverifiable, match="could not be read"):
                    watcher.wait(0)
            (reachable / ".sightlineignore").chmod(0o666)
            assert all_of(watcher).everything
            (reachable / "sub/other").write_text("again")
            assert all_of(watcher).paths == {"sub/other"}

    as_nobody(act)


def test_what_a_gitignore_hid_is_seen_while_the_file_cannot_be_read(reachable):
    lay(reachable, ".gitignore", "sub/file")
    (reachable / ".gitignore").write_text("*.log")
    if os.geteuid() == 0:
        for each in (reachable, reachable / ".gitignore", reachable / "sub"):
            os.chown(each, 65534, 65534)

    def act():
        with watching(reachable) as watcher:
            (reachable / "sub/a.log").write_text("hidden")
            (reachable / ".gitignore").chmod(0)
            assert all_of(watcher).everything
            (reachable / "sub/a.log").write_text("shown")
            assert all_of(watcher).paths == {"sub/a.log"}
            (reachable / ".gitignore").chmod(0o666)
            assert all_of(watcher).everything

    as_nobody(act)


def test_a_disk_that_fails_is_said_and_nothing_is_lost(root):
    class Failing(Inotify):
        broken = False

        def add(self, folder):
            if self.broken:
                raise OSError(errno.EIO, os.strerror(errno.EIO), folder)
            return super().add(folder)

    with watching(root, inotify=Failing) as watcher:
        Failing.broken = True
        lay(root, "new/file")
        for _ in range(2):
            with pytest.raises(Unverifiable, match="could not be watched"):
                watcher.wait(0)
        Failing.broken = False
        assert all_of(watcher).everything
        assert hinted(watcher, lambda: lay(root, "new/file")) == {"new/file"}


def test_wait_is_ended_from_another_thread(root):
    for table in (LOCAL, f"{LOCAL}x {root} 9p rw 0 0\n"):
        with watching(root, table=table) as watcher:
            thread = threading.Thread(target=watcher.wake)
            thread.start()
            assert watcher.wait(LONG_S) is None
            thread.join()
            watcher.wake()
            assert watcher.wait(None) is None


def test_the_number_to_select_on_is_readable_when_there_is_something(root):
    import select

    with watching(root) as watcher:
        fd = watcher.fileno()
        assert fd is not None
        assert select.select([fd], [], [], 0)[0] == []
        lay(root, "a")
        assert select.select([fd], [], [], 0)[0] == [fd]
        assert told(watcher).paths == {"a"}
        assert select.select([fd], [], [], 0)[0] == []


def test_a_workspace_makes_a_watcher_of_itself(root, tmp_path):
    (root / ".sightlineignore").write_text("secret\n")
    lay(root, "a", "secret")
    watcher = DiskWorkspace(str(root), str(tmp_path / "state")).watch()
    try:
        assert hinted(watcher, lambda: lay(root, "a", "secret")) == {"a"}
    finally:
        watcher.close()
        watcher.close()


def test_a_watcher_of_a_folder_that_is_not_there_waits_for_it(tmp_path):
    root = tmp_path / "later"
    watcher = for_linux(str(root), rules_of(root), polling_s=0.02, table=LOCAL)
    try:
        assert watcher.eyes().mode == "away"
        lay(root, "a")
        assert told(watcher).everything
        assert hinted(watcher, lambda: lay(root, "a")) == {"a"}
    finally:
        watcher.close()
