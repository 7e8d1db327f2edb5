"""Putting new bytes where expected ones stand, and nothing else, ever.

The new file is written aside and then exchanged with the old one in a single step, so the name
always holds a whole file and the aside holds exactly what was displaced. Only then is the
displaced file compared: what was not expected goes back by the same step.
"""

from __future__ import annotations

import errno
import os

from sightline.core.revision import MISSING, revision_of
from sightline.errors import Unverifiable
from sightline.workspace.attributes import copy_attributes
from sightline.workspace.folder import ASIDE, Folder
from sightline.workspace.lease import lease
from sightline.workspace.reading import read, standing
from sightline.workspace.syscalls import READ, WRITE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from sightline.core.revision import Revision
    from sightline.workspace import Found
    from sightline.workspace.syscalls import Calls

ANSWER_LIMIT = 64 << 20
"""Bytes that an answer to a failed comparison carries, so that it can be judged again."""

ROUNDS = 8
"""How often a write gives way to other programs that are saving the same file just then."""

_CREATE = WRITE | os.O_CREAT | os.O_EXCL


def replace_if(
    calls: Calls, root: str, path: str, expected: Revision, new: bytes | None, token: str
) -> Found:
    """See Workspace.replace_if."""
    if not token:
        # These names are always the same: what a killed write left under them is in the way.
        clean(calls, root, path, aside_names(path, token))
    found = read(calls, root, path, ANSWER_LIMIT)
    if found.revision != expected or found.kind not in ("file", "missing"):
        return found
    try:
        with Folder(calls, root, path, make=new is not None and expected == MISSING) as folder:
            if expected == MISSING:
                _create(folder, new, token)
            elif new is None:
                _delete(folder, expected, token)
            else:
                _replace(folder, expected, new, token)
    except OSError as error:
        raise refusal(path, error) from error
    return read(calls, root, path, ANSWER_LIMIT)


def move_if(calls: Calls, root: str, src: str, dst: str, expected: Revision) -> Found:
    """See Workspace.move_if."""
    standing = read(calls, root, dst, ANSWER_LIMIT)
    if standing.kind != "missing" or expected == MISSING:
        return standing
    if read(calls, root, src, 0).revision != expected:
        return standing
    try:
        with Folder(calls, root, src) as old, Folder(calls, root, dst, make=True) as new:
            _move(old, new, expected)
    except OSError as error:
        raise refusal(src, error) from error
    return read(calls, root, dst, ANSWER_LIMIT)


def aside_names(path: str, token: str) -> tuple[str, str, str]:
    """Beside a file: new content being written, then whole (and, once exchanged, what was
    displaced), and a file that is being removed."""
    if "/" in token or len(token) > 100:
        raise ValueError(f"{token!r} cannot be part of a file name")
    name = path[path.rfind("/") + 1 :]
    # A digest of the name, because the name itself may be as long as a name can be.
    stem = f"{ASIDE}{revision_of(name.encode())[:12]}-{token or 'write'}"
    return f"{stem}.part", f"{stem}.new", f"{stem}.old"


def clean(
    calls: Calls,
    root: str,
    path: str,
    asides: Iterable[str],
    before: Revision | None = None,
    after: Revision | None = None,
) -> None:
    """See Workspace.clean."""
    try:
        with Folder(calls, root, path) as folder:
            for aside in asides:
                _clean(folder, aside, before, after)
            folder.sync()
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
            return  # with its folder, all that could be left is gone from there
        raise refusal(path, error) from error


def refusal(path: str, error: OSError) -> Unverifiable:
    """What the disk refused, and what to do about it."""
    why = error.strerror or type(error).__name__
    return Unverifiable(
        path, f"{path} could not be written: {why}. The file is as it was.", _hint(error.errno)
    )


def _hint(code: int | None) -> str:
    if code in (errno.EACCES, errno.EPERM):
        return "Check who may write to the file and its folder."
    if code in (errno.ENOSPC, errno.EDQUOT):
        return "Free some space on that disk and try again."
    if code == errno.EROFS:
        return "The file system is mounted read-only: work on a copy, or mount it writable."
    if code == errno.EBUSY:
        return "Another program keeps saving this file: try again when it is done."
    return "Check the disk, then try again."


def _replace(folder: Folder, expected: Revision, new: bytes, token: str) -> None:
    calls, name = folder.calls, folder.at(folder.name)
    old = calls.open(name, READ, dir_fd=folder.fd)
    try:
        if calls.fstat(old).st_nlink > 1:
            return _in_place(folder, expected, new)
        writable = calls.access(name, os.W_OK, dir_fd=folder.fd, effective_ids=_EFFECTIVE)
        part, aside, kept = aside_names(folder.path, token)
        _write_aside(folder, part, aside, new, old)
    finally:
        os.close(old)
    swap = _Swap(folder, aside, kept)
    try:
        if not writable:
            # The folder alone would let us, but a file made read-only was made so on purpose.
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), folder.path)
        _swap_in(swap, expected, revision_of(new))
    finally:
        swap.discard()


_EFFECTIVE = os.access in os.supports_effective_ids


class _Swap:
    """A name and its aside, and whether they have changed places."""

    def __init__(self, folder: Folder, aside: str, kept: str) -> None:
        self.folder, self.aside, self.kept = folder, aside, kept
        self.done = False

    def exchange(self) -> None:
        folder = self.folder
        one, other = folder.at(self.aside), folder.at(folder.name)
        try:
            folder.calls.exchange(one, other, dir_fd=folder.fd)
        except OSError as error:
            if error.errno != errno.ENOSYS:
                raise
            self._exchange_by_steps(one, other, folder.at(self.kept))
        self.done = not self.done

    def discard(self) -> None:
        """Remove the aside, unless it holds what could not be put back."""
        if not self.done:
            _remove(self.folder, self.aside)

    def _exchange_by_steps(self, aside: str, name: str, kept: str) -> None:
        calls, fd = self.folder.calls, self.folder.fd
        try:
            calls.link(name, kept, src_dir_fd=fd, dst_dir_fd=fd, follow_symlinks=False)
        except OSError as error:
            if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.EMLINK, errno.ENOSYS):
                raise
            # No links here: for a moment nothing stands at the name, and clean() knows it.
            calls.replace(name, kept, src_dir_fd=fd, dst_dir_fd=fd)
        try:
            calls.replace(aside, name, src_dir_fd=fd, dst_dir_fd=fd)
            calls.replace(kept, aside, src_dir_fd=fd, dst_dir_fd=fd)
        except OSError:
            calls.replace(kept, name, src_dir_fd=fd, dst_dir_fd=fd)
            # Renaming one of two links onto the other does nothing: the second is still there.
            _remove(self.folder, self.kept)
            raise


def _swap_in(swap: _Swap, expected: Revision, revision: Revision) -> None:
    """Put the aside at the name if that displaces `expected`; else leave all as it was."""
    folder = swap.folder
    for _ in range(ROUNDS):
        # Both leased: whoever comes to write to either file waits until it is settled which
        # of the two keeps the name.
        with lease(folder, folder.name) as quiet, lease(folder, swap.aside):
            if standing(folder, folder.name) != expected:
                return
            swap.exchange()
            try:
                displaced = standing(folder, swap.aside)
                folder.sync()
                if displaced == expected and quiet():
                    folder.calls.unlink(folder.at(swap.aside), dir_fd=folder.fd)
                    return
            except OSError:
                swap.exchange()
                raise
            swap.exchange()
        # Who came to write to ours while it had the name is let in first: a lease is not to be
        # had before they have closed it.
        with lease(folder, swap.aside):
            saved_over = standing(folder, swap.aside) != revision
        if saved_over:
            # That save came last, so it stays, as it would have without us.
            swap.exchange()
            _remove(folder, swap.aside)
            return
    raise OSError(errno.EBUSY, "other programs keep saving it")


def _write_aside(folder: Folder, part: str, aside: str, new: bytes, like: int | None) -> int:
    """Write a whole file beside the path, synced, with the attributes of `like`; its inode."""
    calls, name = folder.calls, folder.at(part)
    # Private until it has the old file's rights; a new file gets what the umask leaves.
    fd = calls.open(name, _CREATE, 0o666 if like is None else 0o600, dir_fd=folder.fd)
    try:
        try:
            _write_all(calls, fd, new)
            if like is not None:
                copy_attributes(calls, like, fd)
            calls.fsync(fd)
            inode = calls.fstat(fd).st_ino
        finally:
            os.close(fd)
        calls.replace(name, folder.at(aside), src_dir_fd=folder.fd, dst_dir_fd=folder.fd)
        return inode
    except BaseException:
        _remove(folder, part)
        raise


def _write_all(calls: Calls, fd: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[calls.write(fd, left) :]


def _create(folder: Folder, new: bytes | None, token: str) -> None:
    if new is None:
        return
    calls, name = folder.calls, folder.at(folder.name)
    part, aside, _ = aside_names(folder.path, token)
    inode = None
    try:
        inode = _write_aside(folder, part, aside, new, None)
        try:
            calls.move(folder.at(aside), name, src_fd=folder.fd, dst_fd=folder.fd)
        except FileExistsError:
            _remove(folder, aside)
            return
        folder.sync()
    except OSError:
        _uncreate(folder, aside, inode)
        raise


def _uncreate(folder: Folder, aside: str, inode: int | None) -> None:
    _remove(folder, aside)
    if inode is not None and _inode(folder) == inode:
        _remove(folder, folder.name)
    folder.unmake()


def _inode(folder: Folder) -> int | None:
    try:
        return folder.calls.lstat(folder.at(folder.name), dir_fd=folder.fd).st_ino
    except FileNotFoundError:
        return None


def _delete(folder: Folder, expected: Revision, token: str) -> None:
    calls, name = folder.calls, folder.at(folder.name)
    kept = aside_names(folder.path, token)[2]
    for _ in range(ROUNDS):
        with lease(folder, folder.name) as quiet:
            if standing(folder, folder.name) != expected:
                return
            calls.move(name, folder.at(kept), src_fd=folder.fd, dst_fd=folder.fd)
            try:
                displaced = standing(folder, kept)
                folder.sync()
                if displaced == expected and quiet():
                    calls.unlink(folder.at(kept), dir_fd=folder.fd)
                    return
            except OSError:
                _put_back(folder, kept)
                raise
            _put_back(folder, kept)
    raise OSError(errno.EBUSY, "other programs keep saving it")


def _put_back(folder: Folder, kept: str) -> None:
    """Give a file its name again; what was made there meanwhile is newer and stays."""
    try:
        folder.calls.move(
            folder.at(kept), folder.at(folder.name), src_fd=folder.fd, dst_fd=folder.fd
        )
    except FileExistsError:
        _remove(folder, kept)


def _in_place(folder: Folder, expected: Revision, new: bytes) -> None:
    """Write into a file that has other names, too; they all keep it. Its old bytes are put back
    when the disk refuses in the middle."""
    calls = folder.calls
    fd = calls.open(folder.at(folder.name), WRITE, dir_fd=folder.fd)
    try:
        old = b"".join(iter(lambda: calls.read(fd, 1 << 20), b""))
        if revision_of(old) != expected:
            return
        try:
            _overwrite(calls, fd, new)
        except OSError:
            _overwrite(calls, fd, old)
            raise
    finally:
        os.close(fd)


def _overwrite(calls: Calls, fd: int, data: bytes) -> None:
    calls.lseek(fd, 0, os.SEEK_SET)
    _write_all(calls, fd, data)
    calls.ftruncate(fd, len(data))
    calls.fsync(fd)


def _move(old: Folder, new: Folder, expected: Revision) -> None:
    calls = old.calls
    src, dst = old.at(old.name), new.at(new.name)
    try:
        calls.move(src, dst, src_fd=old.fd, dst_fd=new.fd)
    except FileExistsError:
        return
    try:
        kept = standing(new, new.name) == expected
        new.sync()
        old.sync()
    except OSError:
        calls.move(dst, src, src_fd=new.fd, dst_fd=old.fd)
        raise
    if not kept:
        calls.move(dst, src, src_fd=new.fd, dst_fd=old.fd)


def _clean(folder: Folder, aside: str, before: Revision | None, after: Revision | None) -> None:
    if not aside.startswith(ASIDE) or "/" in aside:
        raise ValueError(f"{aside!r} is not the name of an aside")
    left = standing(folder, aside)
    if left == MISSING:
        return
    stands = standing(folder, folder.name)
    # Killed between an exchange and its comparison, an aside may hold a save that slipped in. A
    # half-written one cannot be taken for it: it has the first name until it is whole.
    whole = before != after and not aside.endswith(".part")
    slipped = whole and left not in (before, after) and stands in (after, MISSING)
    if stands == MISSING and (slipped or aside.endswith(".old")):
        _put_back(folder, aside)
        return
    if slipped:
        _Swap(folder, aside, f"{aside}.old").exchange()
    _remove(folder, aside)


def _remove(folder: Folder, name: str) -> None:
    try:
        folder.calls.unlink(folder.at(name), dir_fd=folder.fd)
    except FileNotFoundError:
        return
