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


def aside_names(path: str, token: str) -> tuple[str, str]:
    """Beside a file: its next content while it is written, its last one while it is removed."""
    if "/" in token or len(token) > 100:
        raise ValueError(f"{token!r} cannot be part of a file name")
    name = path[path.rfind("/") + 1 :]
    # A digest of the name, because the name itself may be as long as a name can be.
    stem = f"{ASIDE}{revision_of(name.encode())[:12]}-{token or 'write'}"
    return f"{stem}.new", f"{stem}.old"


def clean(calls: Calls, root: str, path: str, asides: Iterable[str]) -> None:
    """See Workspace.clean."""
    try:
        with Folder(calls, root, path) as folder:
            for aside in asides:
                _clean(folder, aside)
            folder.sync()
    except (FileNotFoundError, NotADirectoryError):
        return  # with its folder, all that could be left is gone
    except OSError as error:
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
        if not calls.access(name, os.W_OK, dir_fd=folder.fd, effective_ids=_EFFECTIVE):
            # The folder alone would let us, but a file made read-only was made so on purpose.
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), folder.path)
        aside, kept = aside_names(folder.path, token)
        _write_aside(folder, aside, new, old)
    finally:
        os.close(old)
    swap = _Swap(folder, aside, kept)
    try:
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
        if standing(folder, folder.name) != expected:
            return
        # Both leased: whoever comes to write to either file waits until it is settled which
        # of the two keeps the name.
        with lease(folder, folder.name) as quiet, lease(folder, swap.aside):
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
            if standing(folder, swap.aside) != revision:
                # Meanwhile somebody saved over ours, too. Their save came last, so it stays, as
                # it would have without us.
                swap.exchange()
                _remove(folder, swap.aside)
                return
    raise OSError(errno.EBUSY, "other programs keep saving it")


def _write_aside(folder: Folder, aside: str, new: bytes, like: int | None) -> int:
    """Write a whole file beside the path, synced, with the attributes of `like`; its inode."""
    calls, name = folder.calls, folder.at(aside)
    # Private until it has the old file's rights; a new file gets what the umask leaves.
    fd = calls.open(name, _CREATE, 0o666 if like is None else 0o600, dir_fd=folder.fd)
    try:
        try:
            _write_all(calls, fd, new)
            if like is not None:
                copy_attributes(calls, like, fd)
            calls.fsync(fd)
            return calls.fstat(fd).st_ino
        finally:
            os.close(fd)
    except BaseException:
        _remove(folder, aside)
        raise


def _write_all(calls: Calls, fd: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[calls.write(fd, left) :]


def _create(folder: Folder, new: bytes | None, token: str) -> None:
    if new is None:
        return
    calls, name = folder.calls, folder.at(folder.name)
    aside = aside_names(folder.path, token)[0]
    inode = None
    try:
        inode = _write_aside(folder, aside, new, None)
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
    calls, name = folder.calls, folder.at(folder.name)
    _remove(folder, aside)
    try:
        if inode is not None and calls.lstat(name, dir_fd=folder.fd).st_ino == inode:
            calls.unlink(name, dir_fd=folder.fd)
        for made in reversed(folder.made):
            calls.rmdir(made)
    except FileNotFoundError:
        return
    except OSError as error:
        if error.errno != errno.ENOTEMPTY:
            raise


def _delete(folder: Folder, expected: Revision, token: str) -> None:
    calls, name = folder.calls, folder.at(folder.name)
    kept = aside_names(folder.path, token)[1]
    for _ in range(ROUNDS):
        if standing(folder, folder.name) != expected:
            return
        with lease(folder, folder.name) as quiet:
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


def _clean(folder: Folder, aside: str) -> None:
    if not aside.startswith(ASIDE) or "/" in aside:
        raise ValueError(f"{aside!r} is not the name of an aside")
    moved_away = aside.endswith(".old") and standing(folder, aside) != MISSING
    if moved_away and standing(folder, folder.name) == MISSING:
        _put_back(folder, aside)
    else:
        _remove(folder, aside)


def _remove(folder: Folder, name: str) -> None:
    try:
        folder.calls.unlink(folder.at(name), dir_fd=folder.fd)
    except FileNotFoundError:
        return
