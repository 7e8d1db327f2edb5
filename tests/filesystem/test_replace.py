import errno
import os
import stat
import subprocess
import threading

import pytest
from tests.filesystem.doubles import (
    BySteps,
    Hooked,
    NoLinks,
    as_nobody,
    before,
    dying,
    failing,
    replace_if,
)

from sightline.errors import Unverifiable
from sightline.filesystem.disk import DiskWorkspace
from sightline.filesystem.system_calls import Calls
from sightline.model.revision import MISSING, revision_of

OLD, NEW, SAVE, LATER = b"old bytes", b"new", b"a save in between", b"a later save"
DISKS = [Calls, BySteps, NoLinks]
"""A disk that can exchange names, one that cannot, and one without hard links."""
each_disk = pytest.mark.parametrize(
    "disk", [Calls, *(pytest.param(disk, marks=pytest.mark.wide) for disk in (BySteps, NoLinks))]
)


@pytest.fixture
def root(tmp_path):
    (tmp_path / "root/sub").mkdir(parents=True)
    return tmp_path / "root"


@pytest.fixture
def file(root):
    (root / "sub/file").write_bytes(OLD)
    return root / "sub/file"


def opened(root, calls=None):
    return DiskWorkspace(str(root), str(root.parent / "state"), calls=calls)


def litter(root):
    return [name for _, _, names in os.walk(root) for name in names if name != "file"]


def replace(root, calls=None, new=NEW, expected=OLD):
    revision = MISSING if expected is None else revision_of(expected)
    return replace_if(opened(root, calls), "sub/file", revision, new, token="t1")


def test_mode_owner_and_attributes_are_kept(root, file):
    os.chmod(file, 0o4751)
    os.setxattr(file, "user.note", b"kept")
    if os.geteuid() == 0:
        os.chown(file, 12, 34)
        os.chmod(file, 0o4751)
    kept = file.stat()
    assert replace(root).data == NEW
    found = file.stat()
    assert (found.st_mode, found.st_uid, found.st_gid) == (kept.st_mode, kept.st_uid, kept.st_gid)
    assert os.getxattr(file, "user.note") == b"kept"


ACL = bytes.fromhex("02000000 01000600ffffffff 0200040001000000 04000400ffffffff")
ACL += bytes.fromhex("10000400ffffffff 20000000ffffffff")
"""user::rw- user:1:r-- group::r-- mask::r-- other::---, as the kernel keeps it."""


def test_an_acl_is_kept(root, file):
    os.setxattr(file, "system.posix_acl_access", ACL)
    replace(root)
    assert os.getxattr(file, "system.posix_acl_access") == ACL


def test_an_acl_that_the_folder_would_give_is_not_added(root, file):
    os.setxattr(root / "sub", "system.posix_acl_default", ACL)
    replace(root)
    assert os.listxattr(file) == []
    assert stat.S_IMODE(file.stat().st_mode) == 0o644


def test_a_new_file_gets_what_the_umask_leaves(root):
    before_umask = os.umask(0o027)
    try:
        replace(root, expected=None)
    finally:
        os.umask(before_umask)
    assert stat.S_IMODE((root / "sub/file").stat().st_mode) == 0o640


def test_all_names_of_a_hard_linked_file_get_the_new_bytes(root, file):
    os.link(file, root / "sub/other")
    inode = file.stat().st_ino
    assert replace(root).data == NEW
    assert (root / "sub/other").read_bytes() == NEW
    assert file.stat().st_ino == inode
    os.unlink(root / "sub/other")
    assert litter(root) == []


@pytest.mark.parametrize("new", [b"x", NEW * 10_000])
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO])
def test_a_hard_linked_file_gets_its_old_bytes_back_when_the_disk_fails(root, file, new, code):
    os.link(file, root / "sub/other")
    for number in range(1, 100):
        calls, made = failing(number, code)
        try:
            replace(root, calls, new=new)
        except Unverifiable:
            assert file.read_bytes() == OLD
        if len(made) < number:
            break
        file.write_bytes(OLD)
    assert number > 8


@each_disk
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EACCES, errno.EROFS])
@pytest.mark.parametrize(("was", "new"), [(OLD, NEW), (None, NEW), (OLD, None)])
def test_whatever_call_fails_the_file_is_old_or_new_and_nothing_is_left(root, was, new, disk, code):
    file = root / "sub/file"
    for number in range(1, 100):
        if was is not None:
            file.write_bytes(was)
        elif file.exists():
            file.unlink()
        calls, made = failing(number, code, disk)
        try:
            found = replace(root, calls, new=new, expected=was)
        except Unverifiable:
            assert content(file) == was, made
        else:
            # The last read may fail, too, after the write was done: then it says so.
            assert found.kind == "unreadable" or found.data == content(file)
            assert content(file) in (was, new)
        assert litter(root) == [], made
        if len(made) < number:
            break
    assert content(file) == new
    assert number > 10


def dead_after(name, base=Calls):
    """Calls that all fail once one of that name was made, as on a disk that died."""
    died = threading.Event()

    def hook(called):
        if died.is_set():
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        if called == f"after {name}":
            died.set()

    return Hooked(hook, base)


def test_a_disk_that_dies_after_the_exchange_does_not_claim_that_all_is_as_it_was(root, file):
    with pytest.raises(Unverifiable, match="could not be restored") as refused:
        replace(root, dead_after("exchange"))
    (aside,) = litter(root)
    assert aside in refused.value.hint
    assert (root / "sub" / aside).read_bytes() == OLD


def test_a_disk_that_dies_while_a_linked_file_is_written_says_so(root, file):
    os.link(file, root / "sub/other")
    with pytest.raises(Unverifiable, match="half written"):
        replace(root, dead_after("ftruncate"))


def content(file):
    return file.read_bytes() if file.exists() else None


@pytest.mark.wide
@each_disk
@pytest.mark.parametrize(("was", "new"), [(OLD, NEW), (None, NEW), (OLD, None)])
def test_after_a_kill_at_any_step_cleaning_leaves_old_or_new_and_nothing_else(root, was, new, disk):
    file = root / "sub/file"
    survived = False
    number = 0
    while not survived:
        number += 1
        if was is not None:
            file.write_bytes(was)
        elif file.exists():
            file.unlink()
        child = os.fork()
        if child == 0:
            replace(root, dying(number, disk), new=new, expected=was)
            os._exit(0)
        survived = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        workspace = opened(root)
        asides = workspace.asides("sub/file", "t1")
        assert set(litter(root)) <= set(asides)
        workspace.clean("sub/file", asides)
        assert content(file) in (was, new)
        assert litter(root) == []
    assert number > 20
    assert content(file) == new


held_up: list[threading.Thread] = []
"""Threads of saves that wait for a lease to end."""


def save_in_place(file, data):
    """A save as an editor makes it; one that a lease holds up goes on in a thread."""

    def write(flags):
        with os.fdopen(
            os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | flags), "wb"
        ) as opened:
            opened.write(data)

    def save():
        try:
            write(os.O_NONBLOCK)
        except BlockingIOError:
            held_up.append(threading.Thread(target=write, args=(0,)))
            held_up[-1].start()

    return save


def held_up_saves_end():
    while held_up:
        held_up.pop().join()


def saved_before(step, save, base=Calls):
    """Calls that save before the first of that name. A save that a lease held up goes on before the next
    lease is taken: its program was woken when the first one ended."""
    left = [step]

    def hook(called):
        if called == "lease":
            held_up_saves_end()
        if [called] == left:
            left.clear()
            save()

    return Hooked(hook, base)


def save_by_rename(file, data):
    def save():
        aside = file.with_name("editor~")
        aside.write_bytes(data)
        os.replace(aside, file)

    return save


@pytest.mark.wide
@each_disk
def test_a_save_that_slipped_in_survives_a_kill_at_any_step(root, file, disk):
    number, survived = 0, False
    while not survived:
        number += 1
        file.write_bytes(OLD)
        child = os.fork()
        if child == 0:
            calls = before(
                "exchange" if disk is Calls else "link", save_by_rename(file, SAVE), disk
            )
            replace(root, dying(number, lambda calls=calls: calls))
            os._exit(0)
        survived = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        workspace = opened(root)
        asides = workspace.asides("sub/file", "t1")
        saved = SAVE in [path.read_bytes() for path in (root / "sub").iterdir()]
        (root / "sub/editor~").unlink(missing_ok=True)
        workspace.clean("sub/file", asides, before=revision_of(OLD), after=revision_of(NEW))
        assert file.read_bytes() == (SAVE if saved else OLD)
        assert litter(root) == []
    assert number > 20


def test_a_half_written_aside_never_comes_to_stand(root, file):
    workspace = opened(root)
    part, _, _ = asides = workspace.asides("sub/file", "t1")
    (root / "sub" / part).write_bytes(NEW[:1])
    file.write_bytes(NEW)
    workspace.clean("sub/file", asides, before=revision_of(OLD), after=revision_of(NEW))
    assert file.read_bytes() == NEW
    assert litter(root) == []


STEPS = ["open", "write", "fsync", "exchange"]


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("save", [save_in_place, save_by_rename])
def test_a_save_before_the_exchange_stays(root, file, step, save):
    found = replace(root, saved_before(step, save(file, SAVE)))
    assert found.data != NEW
    held_up_saves_end()
    assert file.read_bytes() == SAVE
    assert litter(root) == []


@pytest.mark.parametrize("save", [save_in_place, save_by_rename])
def test_a_save_before_the_rename_stays_where_names_cannot_be_exchanged(root, file, save):
    found = replace(root, saved_before("link", save(file, SAVE), BySteps))
    assert found.kind == "file"
    assert found.data != NEW
    held_up_saves_end()
    assert file.read_bytes() == SAVE
    assert litter(root) == []


@pytest.mark.parametrize("save", [save_in_place, save_by_rename])
def test_a_save_before_a_delete_stays(root, file, save):
    found = replace(root, saved_before("replace", save(file, SAVE)), new=None)
    assert found.kind == "file"
    assert found.data != NEW
    held_up_saves_end()
    assert file.read_bytes() == SAVE
    assert litter(root) == []


def test_a_save_in_the_middle_of_a_delete_stays_where_names_cannot_be_moved_in_one_step(root, file):
    saves = [save_by_rename(file, SAVE)]

    class Between(BySteps):
        def link(self, *arguments, **options):
            super().link(*arguments, **options)
            saves.pop()()

        def replace(self, *arguments, **options):
            super().replace(*arguments, **options)
            saves.pop()()

    assert replace(root, Between(), new=None).data == SAVE
    assert file.read_bytes() == SAVE
    assert litter(root) == []


def test_a_file_made_while_a_delete_is_put_back_is_newer_and_stays(root, file):
    calls = before("replace", save_by_rename(file, SAVE))
    inner = calls._hook

    def hook(name):
        inner(name)
        if name == "after replace" and not file.exists():
            file.write_bytes(LATER)

    calls._hook = hook
    assert replace(root, calls, new=None).data == LATER
    assert litter(root) == []


def test_two_saves_within_one_write_leave_the_later(root, file):
    calls = before("exchange", save_by_rename(file, SAVE))
    inner = calls._hook

    def hook(name):
        inner(name)
        if name == "after exchange" and file.read_bytes() == NEW:
            save_by_rename(file, LATER)()

    calls._hook = hook
    assert replace(root, calls).data == LATER
    assert litter(root) == []


def test_a_delete_before_the_exchange_is_not_undone(root, file):
    found = replace(root, before("fsync", file.unlink))
    assert found.kind == "missing"
    assert litter(root) == []


def test_a_symlink_put_there_meanwhile_is_not_followed(root, file, tmp_path):
    target = tmp_path / "target"
    target.write_bytes(OLD)

    def swap():
        file.unlink()
        file.symlink_to(target)

    found = replace(root, before("exchange", swap))
    assert found.kind == "symlink"
    assert (target.read_bytes(), os.readlink(file)) == (OLD, str(target))
    assert litter(root) == []


def test_a_folder_that_becomes_a_symlink_is_not_followed(root, file, tmp_path):
    (tmp_path / "away").mkdir()
    (tmp_path / "away/file").write_bytes(OLD)
    file.unlink()
    (root / "sub").rmdir()
    (root / "sub").symlink_to(tmp_path / "away")
    assert replace(root).kind == "symlink"
    assert (tmp_path / "away/file").read_bytes() == OLD


def test_a_file_created_meanwhile_is_not_clobbered(root):
    file = root / "sub/file"
    for disk in DISKS:
        calls = before("move", save_in_place(file, SAVE), disk)
        assert replace(root, calls, expected=None).data == SAVE
        file.unlink()
    assert litter(root) == []


def test_a_failed_create_takes_its_folders_back(root):
    for number in range(1, 100):
        calls, made = failing(number, errno.ENOSPC)
        try:
            found = replace_if(opened(root, calls), "made/too/file", MISSING, NEW)
        except Unverifiable:
            assert os.listdir(root) == ["sub"], made
            continue
        if found.data == NEW:
            break
    assert number > 15


@pytest.mark.parametrize("name", ["x" * 255, "é" * 127, ".hidden"])
def test_long_and_odd_names_have_room_for_asides(root, name):
    workspace = opened(root)
    assert replace_if(workspace, name, MISSING, OLD).data == OLD
    assert replace_if(workspace, name, revision_of(OLD), NEW, token="0" * 36).data == NEW
    assert sorted(os.listdir(root)) == sorted([name, "sub"])


def owned(path):
    if os.geteuid() == 0:
        os.chown(path, 65534, 65534)


@pytest.mark.parametrize(("folder", "mode"), [(0o555, 0o644), (0o755, 0o444)])
def test_without_permission_nothing_changes_and_the_error_says_so(reachable, folder, mode):
    file = reachable / "sub/file"
    file.write_bytes(OLD)
    owned(file)
    owned(reachable / "sub")
    file.chmod(mode)
    (reachable / "sub").chmod(folder)

    def act():
        with pytest.raises(Unverifiable, match="Permission denied"):
            replace(reachable)

    as_nobody(act)
    assert file.read_bytes() == OLD
    (reachable / "sub").chmod(0o755)
    assert litter(reachable) == []


def test_an_unreadable_file_is_unreadable(reachable):
    file = reachable / "sub/file"
    file.write_bytes(OLD)
    owned(file)
    file.chmod(0)

    def act():
        found = opened(reachable).read("sub/file")
        assert (found.kind, found.why) == ("unreadable", "Permission denied")

    as_nobody(act)


def test_a_group_that_cannot_be_kept_gets_no_more_than_everybody(reachable):
    if os.geteuid() != 0:
        pytest.skip("needs a file of a foreign group")
    file = reachable / "sub/file"
    file.write_bytes(OLD)
    os.chown(file, 65534, 34)
    file.chmod(0o2664)
    owned(reachable / "sub")
    as_nobody(lambda: replace(reachable))
    assert file.read_bytes() == NEW
    assert (stat.S_IMODE(file.stat().st_mode), file.stat().st_gid) == (0o644, 65534)


@pytest.fixture
def small_disk(tmp_path):
    place = tmp_path / "small"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", place], check=False)
    if mounted.returncode != 0:
        pytest.skip("needs the right to mount; the injected faults above stand in for it")
    (place / "sub").mkdir()
    yield place
    subprocess.run(["umount", place], check=True)


def test_a_full_disk_leaves_the_file_as_it_was(small_disk):
    (small_disk / "sub/file").write_bytes(OLD)
    with pytest.raises(Unverifiable, match="No space left") as refused:
        replace(small_disk, new=b"x" * 200_000)
    assert "space" in refused.value.hint
    assert (small_disk / "sub/file").read_bytes() == OLD
    assert litter(small_disk) == []


def test_a_read_only_disk_leaves_the_file_as_it_was(small_disk):
    (small_disk / "sub/file").write_bytes(OLD)
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    with pytest.raises(Unverifiable, match="Read-only file system"):
        replace(small_disk)
    assert (small_disk / "sub/file").read_bytes() == OLD
