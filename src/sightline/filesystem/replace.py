"""Putting new bytes where expected ones stand, and nothing else, ever."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Sequence
from stat import S_ISREG

from sightline.errors import Unverifiable
from sightline.filesystem.atomic_swap import ROUNDS, Swap, swap_in
from sightline.filesystem.batch_write import Ended, Steps, Write, side_by_side
from sightline.filesystem.file_state import FileState, Link, Replacement
from sightline.filesystem.folder import Folder
from sightline.filesystem.lease import Lease
from sightline.filesystem.os_errors import refusal
from sightline.filesystem.read import ANSWER_LIMIT, read, signature_of, standing
from sightline.filesystem.rename import clean
from sightline.filesystem.system_calls import READ, WRITE, Calls
from sightline.filesystem.temp_file import aside_names, put_back, remove, write_all, write_aside
from sightline.model.revision import MISSING, UNKNOWN, Revision, as_link, is_link, revision_of

GONE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)
"""What opening a folder says that is not there any more."""

_EFFECTIVE = os.access in os.supports_effective_ids


def replace_if(
    calls: Calls, root: str, path: str, expected: Revision, new: bytes | None, token: str
) -> FileState:
    """See Workspace.replace_if."""
    if not token:
        # These names are always the same: what a killed write left under them is in the way.
        clean(calls, root, path, aside_names(path, token))
    [ended] = side_by_side([_write(calls, root, Replacement(path, expected, new, token))])
    answer = _answer(calls, root, path, ended)
    if isinstance(answer, Unverifiable):
        raise answer
    return answer


def replace_each(
    calls: Calls, root: str, wanted: Sequence[Replacement], meanwhile: Callable[[], None]
) -> list[FileState | Unverifiable]:
    """See Workspace.replace_each."""
    ended = side_by_side([_write(calls, root, each) for each in wanted], meanwhile)
    for number, error in enumerate(ended):
        if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
            # Together they hold many files open; by itself each needs as few as any write.
            [ended[number]] = side_by_side([_write(calls, root, wanted[number])])
    return [_answer(calls, root, each.path, how) for each, how in zip(wanted, ended, strict=True)]


def _answer(calls: Calls, root: str, path: str, ended: Ended) -> FileState | Unverifiable:
    if ended is None:
        return read(calls, root, path, ANSWER_LIMIT)
    if isinstance(ended, OSError):
        refused = refusal(path, ended)
        refused.__cause__ = ended
        return refused
    return ended


def _write(calls: Calls, root: str, wanted: Replacement) -> Write:
    expected, new, token = wanted.expected, wanted.new, wanted.token
    if expected == UNKNOWN:
        return None
    try:
        folder = Folder(calls, root, wanted.path, make=new is not None and expected == MISSING)
    except OSError as error:
        if error.errno == errno.ELOOP or (expected != MISSING and error.errno in GONE):
            return None  # the look at it tells
        raise
    with folder:
        if expected == MISSING:
            yield from _create(folder, new, token)
        elif new is None:
            yield from _delete(folder, expected, token)
        else:
            return (yield from _replace(folder, expected, new, token))
    return None


def _replace(folder: Folder, expected: Revision, new: bytes | Link, token: str) -> Write:
    calls, name = folder.calls, folder.at(folder.name)
    part, aside, kept = aside_names(folder.path, token)
    swap = Swap(folder, aside, kept)
    if is_link(expected):
        made = yield from write_aside(folder, part, aside, new, None)
        return (yield from _swapped(swap, expected, new, made))
    for _ in range(ROUNDS):
        old = _opened(folder)
        if old is None:
            return None
        try:
            stood = calls.fstat(old)
            if stood.st_nlink > 1 and isinstance(new, bytes):
                yield None
                _in_place(folder, expected, new)
                return None
            writable = calls.access(name, os.W_OK, dir_fd=folder.fd, effective_ids=_EFFECTIVE)
            made = yield from write_aside(folder, part, aside, new, old)
        finally:
            os.close(old)
        if not _touched(folder, stood):
            return (yield from _swapped(swap, expected, new, made, writable=writable))
        remove(folder, aside)  # it may have other rights by now, or another name
    raise OSError(errno.EBUSY, "other programs keep saving it")


def _touched(folder: Folder, stood: os.stat_result) -> bool:
    """Whether anything about a file was changed since a stat of it. Of one that is gone, the
    comparison tells."""
    try:
        now = folder.calls.lstat(folder.at(folder.name), dir_fd=folder.fd)
    except FileNotFoundError:
        return False
    return (now.st_ino, now.st_ctime_ns) != (stood.st_ino, stood.st_ctime_ns)


def _opened(folder: Folder) -> int | None:
    """The file, open for reading; None where none stands. Told by lstat, because opening a device
    can have effects of its own."""
    calls, name = folder.calls, folder.at(folder.name)
    try:
        if not S_ISREG(calls.lstat(name, dir_fd=folder.fd).st_mode):
            return None
        return calls.open(name, READ, dir_fd=folder.fd)
    except OSError as error:
        if error.errno not in GONE:
            raise
        return None


def _swapped(
    swap: Swap,
    expected: Revision,
    new: bytes | Link,
    made: os.stat_result,
    *,
    writable: bool = True,
) -> Write:
    try:
        if not writable:
            # The folder alone would let us, but a file made read-only was made so on purpose.
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), swap.folder.path)
        revision = as_link(new.target) if isinstance(new, Link) else revision_of(new)
        stood = yield from swap_in(swap, expected, revision)
    finally:
        swap.discard()
    if stood is None or isinstance(new, Link) or not _same(stood[1], made):
        return None
    at_ns, stands = stood
    return FileState(swap.folder.path, "file", revision, new, signature_of(stands), at_ns)


def _same(one: os.stat_result, other: os.stat_result) -> bool:
    """Whether a file was not written to between two stats of it. Renaming it changes a time."""
    return (one.st_ino, one.st_size, one.st_mtime_ns) == (
        other.st_ino,
        other.st_size,
        other.st_mtime_ns,
    )


def _create(folder: Folder, new: bytes | Link | None, token: str) -> Steps:
    if new is None:
        return
    calls, name = folder.calls, folder.at(folder.name)
    part, aside, _ = aside_names(folder.path, token)
    try:
        made = yield from write_aside(folder, part, aside, new, None)
    except BaseException:
        folder.unmake()
        raise
    try:
        try:
            calls.move(folder.at(aside), name, src_fd=folder.fd, dst_fd=folder.fd)
        except FileExistsError:
            remove(folder, aside)
            return
        yield folder
    except OSError:
        _uncreate(folder, aside, made)
        raise


def _delete(folder: Folder, expected: Revision, token: str) -> Steps:
    calls, name = folder.calls, folder.at(folder.name)
    kept = aside_names(folder.path, token)[2]
    yield None
    for _ in range(ROUNDS):
        with Lease(folder, folder.name) as old:
            if standing(folder, folder.name) != expected:
                return
            calls.move(name, folder.at(kept), src_fd=folder.fd, dst_fd=folder.fd)
            try:
                yield folder
                displaced = standing(folder, kept)
                if displaced == expected and old.quiet():
                    calls.unlink(folder.at(kept), dir_fd=folder.fd)
                    return
            except OSError:
                put_back(folder, kept)
                raise
            put_back(folder, kept)
    raise OSError(errno.EBUSY, "other programs keep saving it")


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
            _restore(folder, fd, old)
            raise
    finally:
        os.close(fd)


def _restore(folder: Folder, fd: int, old: bytes) -> None:
    try:
        _overwrite(folder.calls, fd, old)
    except OSError as error:
        raise Unverifiable(
            folder.path,
            f"{folder.path} is half written, and could not be set back: {error.strerror}.",
            "Mend the disk; the content before the write is kept in the timeline.",
        ) from error


def _uncreate(folder: Folder, aside: str, made: os.stat_result) -> None:
    remove(folder, aside)
    if _inode(folder) == made.st_ino:
        remove(folder, folder.name)
    folder.unmake()


def _inode(folder: Folder) -> int | None:
    try:
        return folder.calls.lstat(folder.at(folder.name), dir_fd=folder.fd).st_ino
    except FileNotFoundError:
        return None


def _overwrite(calls: Calls, fd: int, data: bytes) -> None:
    calls.lseek(fd, 0, os.SEEK_SET)
    write_all(calls, fd, data)
    calls.ftruncate(fd, len(data))
    calls.fsync(fd)
