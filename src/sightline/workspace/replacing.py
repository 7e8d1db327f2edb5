"""Putting new bytes where expected ones stand, and nothing else, ever."""

from __future__ import annotations

import errno
import os
from itertools import compress

from sightline.core.revision import MISSING, as_link, is_link, revision_of
from sightline.errors import Unverifiable
from sightline.workspace import Link, Replacement
from sightline.workspace.aside import aside_names, put_back, remove, write_all, write_aside
from sightline.workspace.exchange import ROUNDS, Swap, swap_in
from sightline.workspace.folder import Folder
from sightline.workspace.lease import lease
from sightline.workspace.moving import clean
from sightline.workspace.reading import ANSWER_LIMIT, read, standing
from sightline.workspace.refusing import refusal
from sightline.workspace.syncing import side_by_side
from sightline.workspace.syscalls import READ, WRITE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sightline.core.revision import Revision
    from sightline.workspace import Found
    from sightline.workspace.syncing import Write
    from sightline.workspace.syscalls import Calls

_EFFECTIVE = os.access in os.supports_effective_ids


def replace_if(
    calls: Calls, root: str, path: str, expected: Revision, new: bytes | None, token: str
) -> Found:
    """See Workspace.replace_if."""
    if not token:
        # These names are always the same: what a killed write left under them is in the way.
        clean(calls, root, path, aside_names(path, token))
    wanted = Replacement(path, expected, new, token)
    found = read(calls, root, path, ANSWER_LIMIT)
    if not _stands(found, wanted):
        return found
    [error] = side_by_side(calls, [_write(calls, root, wanted)])
    answer = _answer(calls, root, path, error)
    if isinstance(answer, Unverifiable):
        raise answer
    return answer


def replace_each(
    calls: Calls, root: str, wanted: Sequence[Replacement]
) -> list[Found | Unverifiable]:
    """See Workspace.replace_each."""
    found = [read(calls, root, each.path, ANSWER_LIMIT) for each in wanted]
    may = [_stands(there, each) for there, each in zip(found, wanted, strict=True)]
    doing = list(compress(wanted, may))
    ended = side_by_side(calls, [_write(calls, root, each) for each in doing])
    for number, error in enumerate(ended):
        if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
            # Together they hold many files open; by itself each needs as few as any write.
            [ended[number]] = side_by_side(calls, [_write(calls, root, doing[number])])
    told = iter(
        [_answer(calls, root, each.path, error) for each, error in zip(doing, ended, strict=True)]
    )
    return [next(told) if done else there for done, there in zip(may, found, strict=True)]


def _stands(found: Found, wanted: Replacement) -> bool:
    return found.standing == wanted.expected and found.kind in ("file", "missing", "symlink")


def _answer(
    calls: Calls, root: str, path: str, error: OSError | Unverifiable | None
) -> Found | Unverifiable:
    if error is None:
        return read(calls, root, path, ANSWER_LIMIT)
    if isinstance(error, Unverifiable):
        return error
    refused = refusal(path, error)
    refused.__cause__ = error
    return refused


def _write(calls: Calls, root: str, wanted: Replacement) -> Write:
    expected, new, token = wanted.expected, wanted.new, wanted.token
    with Folder(calls, root, wanted.path, make=new is not None and expected == MISSING) as folder:
        if expected == MISSING:
            yield from _create(folder, new, token)
        elif new is None:
            yield from _delete(folder, expected, token)
        else:
            yield from _replace(folder, expected, new, token)


def _replace(folder: Folder, expected: Revision, new: bytes | Link, token: str) -> Write:
    calls, name = folder.calls, folder.at(folder.name)
    part, aside, kept = aside_names(folder.path, token)
    if is_link(expected):
        yield from write_aside(folder, part, aside, new, None)
        yield from _swapped(Swap(folder, aside, kept), expected, new)
        return None
    old = calls.open(name, READ, dir_fd=folder.fd)
    try:
        if calls.fstat(old).st_nlink > 1 and isinstance(new, bytes):
            return _in_place(folder, expected, new)
        writable = calls.access(name, os.W_OK, dir_fd=folder.fd, effective_ids=_EFFECTIVE)
        yield from write_aside(folder, part, aside, new, old)
    finally:
        os.close(old)
    yield from _swapped(Swap(folder, aside, kept), expected, new, writable=writable)
    return None


def _swapped(swap: Swap, expected: Revision, new: bytes | Link, *, writable: bool = True) -> Write:
    try:
        if not writable:
            # The folder alone would let us, but a file made read-only was made so on purpose.
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), swap.folder.path)
        revision = as_link(new.target) if isinstance(new, Link) else revision_of(new)
        yield from swap_in(swap, expected, revision)
    finally:
        swap.discard()


def _create(folder: Folder, new: bytes | Link | None, token: str) -> Write:
    if new is None:
        return
    calls, name = folder.calls, folder.at(folder.name)
    part, aside, _ = aside_names(folder.path, token)
    inode = None
    try:
        inode = yield from write_aside(folder, part, aside, new, None)
        try:
            calls.move(folder.at(aside), name, src_fd=folder.fd, dst_fd=folder.fd)
        except FileExistsError:
            remove(folder, aside)
            return
        yield folder
    except OSError:
        _uncreate(folder, aside, inode)
        raise


def _delete(folder: Folder, expected: Revision, token: str) -> Write:
    calls, name = folder.calls, folder.at(folder.name)
    kept = aside_names(folder.path, token)[2]
    for _ in range(ROUNDS):
        with lease(folder, folder.name) as quiet:
            if standing(folder, folder.name) != expected:
                return
            calls.move(name, folder.at(kept), src_fd=folder.fd, dst_fd=folder.fd)
            try:
                yield folder
                displaced = standing(folder, kept)
                if displaced == expected and quiet():
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


def _uncreate(folder: Folder, aside: str, inode: int | None) -> None:
    remove(folder, aside)
    if inode is not None and _inode(folder) == inode:
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
