"""A program holds a file open for writing while Sightline wants to put other bytes there."""

import errno
import os
import subprocess
import sys
from typing import BinaryIO

import pytest
from tests.filesystem.doubles import Hooked, as_nobody, before, open_way_to, replace_if

from sightline.errors import Unverifiable
from sightline.filesystem.disk import DiskWorkspace
from sightline.filesystem.file_state import Link
from sightline.filesystem.system_calls import Calls
from sightline.model.revision import revision_of

OLD, NEW, MORE = b"old bytes", b"new", b" and the second piece"

HOLDER = """
import sys
with open(sys.argv[1], "ab") as file:
    print("open", flush=True)
    sys.stdin.readline()
    file.write(b" and the second piece")
"""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="leases are the kernel's")


class NoLease(Calls):
    """A system, or somebody else's file, where no lease is granted."""

    def lease(self, fd, kind):
        raise OSError(errno.EACCES, os.strerror(errno.EACCES))


@pytest.fixture
def root(tmp_path):
    (tmp_path / "root").mkdir()
    (tmp_path / "root/file").write_bytes(OLD)
    return tmp_path / "root"


@pytest.fixture
def holder(root):
    """Another program that has the file open and writes its second piece when it is told to."""
    program = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(root / "file")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert program.stdout is not None
    assert program.stdout.readline() == b"open\n"

    def go_on():
        program.communicate(b"\n")
        assert program.returncode == 0

    yield program, go_on
    if program.returncode is None:
        go_on()


def opened(root, calls=None):
    return DiskWorkspace(str(root), str(root.parent / "state"), calls=calls)


def replace(root, new=NEW, calls=None):
    return replace_if(opened(root, calls), "file", revision_of(OLD), new)


@pytest.mark.parametrize("disk", [Calls, NoLease])
@pytest.mark.parametrize("new", [NEW, None, Link("elsewhere")], ids=["write", "delete", "symlink"])
def test_a_file_that_a_program_holds_open_is_left_to_it_and_the_program_is_named(
    root, holder, new, disk
):
    program, go_on = holder
    with pytest.raises(Unverifiable, match=rf"python.* \(process {program.pid}\)") as refused:
        replace(root, new, disk())
    assert "open for writing" in refused.value.message
    go_on()
    assert (root / "file").read_bytes() == OLD + MORE
    assert os.listdir(root) == ["file"]


def test_a_hard_linked_file_that_a_program_holds_open_is_left_to_it(root, holder):
    _, go_on = holder
    os.link(root / "file", root / "other")
    with pytest.raises(Unverifiable, match="open for writing"):
        replace(root)
    go_on()
    assert (root / "other").read_bytes() == OLD + MORE


def test_a_program_that_closes_the_file_in_a_moment_is_waited_for(root, holder):
    program, _ = holder
    calls = Calls()
    tries = []

    class Waiting(Calls):
        def lease(self, fd, kind):
            tries.append(fd)
            if len(tries) == 3:
                program.communicate(b"")  # it ends, and what it wrote is judged anew
            return calls.lease(fd, kind)

    assert replace(root, calls=Waiting()).data == OLD + MORE
    assert len(tries) > 3


def test_a_program_of_another_user_is_another_program(reachable):
    file = reachable / "file"
    file.write_bytes(OLD)
    with file.open("ab") as held:
        if os.geteuid() != 0:
            pytest.skip("needs a second user")
        os.chown(file, 65534, 65534)
        os.chown(reachable, 65534, 65534)

        def act():
            os.close(held.fileno())  # the child's own, which it could see
            with pytest.raises(Unverifiable, match="another program has it open"):
                replace(reachable)

        as_nobody(act)
        held.write(MORE)
    assert file.read_bytes() == OLD + MORE


def test_readers_do_not_hinder_a_write(root):
    with (root / "file").open("rb"):
        assert replace(root).data == NEW


def test_readers_do_not_hinder_a_write_in_place(root):
    os.link(root / "file", root / "other")
    with (root / "file").open("rb"):
        assert replace(root).data == NEW
    assert (root / "other").read_bytes() == NEW


@pytest.mark.parametrize("step", ["after exchange", "fsync", "after fsync"])
def test_without_a_lease_a_save_into_the_displaced_file_comes_back(root, step):
    """An editor opens the file just before the exchange and writes just after it."""
    held: list[BinaryIO] = []

    def hook(name):
        if name == "exchange" and not held:
            held.append((root / "file").open("r+b"))
        if name == step and held and not held[0].closed and (root / "file").read_bytes() == NEW:
            held[0].write(MORE)
            held[0].close()

    found = replace(root, calls=Hooked(hook, NoLease))
    assert found.data == (root / "file").read_bytes() == MORE
    assert os.listdir(root) == ["file"]


def test_without_a_lease_a_program_that_opened_the_file_in_between_keeps_it(root):
    held: list[BinaryIO] = []

    def take():
        held.append((root / "file").open("r+b"))

    with pytest.raises(Unverifiable, match="open for writing"):
        replace(root, calls=before("exchange", take, NoLease))
    held[0].write(MORE)
    held[0].close()
    assert (root / "file").read_bytes() == MORE


def test_without_a_lease_a_quiet_file_is_written(root):
    assert replace(root, calls=NoLease()).data == NEW
    assert replace_if(opened(root, NoLease()), "file", revision_of(NEW), None).kind == "missing"
    assert os.listdir(root) == []


def test_another_owners_file_gets_no_lease_and_is_written_after_a_second_look(reachable):
    if os.geteuid() != 0:
        pytest.skip("needs a second user")
    file = reachable / "file"
    file.write_bytes(OLD)
    file.chmod(0o666)
    os.chown(reachable, 65534, 65534)
    open_way_to(reachable)
    as_nobody(lambda: replace(reachable))
    assert file.read_bytes() == NEW
