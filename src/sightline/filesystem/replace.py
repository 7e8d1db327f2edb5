"""Put new bytes where expected ones stand, and nothing else, ever.

Many writes go side by side in threads, because most of their time is waiting for the disk.

A new file is swapped in: the two names are exchanged in one step, so the name always holds a whole file,
and the temporary file holds exactly the displaced content. Then the displaced content is compared, and
unexpected content goes back by the same step.

A file that a program holds open for writing is left to it (see lease). A write that took effect is
answered as such, even where somebody saved over it before the file was read again.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Sequence
from functools import partial
from stat import S_IMODE, S_ISREG
from time import sleep
from typing import Literal

from msgspec import Struct, structs

from sightline.errors import Unverifiable
from sightline.filesystem.file_state import FileCopy, FileState, Link, Replacement
from sightline.filesystem.folder import ASIDE, Folder
from sightline.filesystem.open_writers import QUIET_S, Lease, TimedStat
from sightline.filesystem.read import ANSWER_LIMIT, content_of, read, refusal, signature_of
from sightline.filesystem.system_calls import READ, Calls
from sightline.filesystem.temp_file import (
    put_back,
    remove,
    temp_names,
    write_all,
    write_temp_file,
)
from sightline.model.path import quoted
from sightline.model.revision import MISSING, UNKNOWN, Revision, as_link, is_link, revision_of
from sightline.model.written import still_holds

GONE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)
"""The errors of opening a folder that is no longer there."""

ROUNDS = 8
"""How often a write gives way to other programs that are saving the same file."""

NOT_MENDABLE = (
    "{path} has several names (hard links), and its text may not be stored to mend a cut-off write.",
    "Give the file one name only, or change it with another tool.",
)
"""The message and the hint of a refused write in place."""

MANY, THREADS = 12, 8
"""So many writes take so many threads."""


class Placed(Struct, frozen=True):
    """The write took effect. What stands there now has to be read."""


End = FileState | Placed | None
"""What stands there; that it has to be read, after a write that took effect, or one that did not."""


def replace_each(
    calls: Calls, root: str, wanted: Sequence[Replacement]
) -> list[FileState | Unverifiable]:
    """See Workspace.replace_each."""
    carry_out = partial(_carry_out, calls, root)
    if len(wanted) < MANY:
        return list(map(carry_out, wanted))
    from concurrent.futures import (
        ThreadPoolExecutor,  # it loads the logging of the standard library
    )

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(carry_out, wanted))


def _carry_out(calls: Calls, root: str, wanted: Replacement) -> FileState | Unverifiable:
    """Carry out one write; return the file as it is now, or the error that left everything as it was."""
    try:
        end = _write(calls, root, wanted)
    except Unverifiable as error:
        return error
    except OSError as error:
        refused = refusal(wanted.path, error)
        refused.__cause__ = error
        return refused
    if isinstance(end, FileState):
        return end
    limit = 0 if isinstance(wanted.new, FileCopy) else ANSWER_LIMIT
    found = read(calls, root, wanted.path, limit)
    is_new = found.content == _content(wanted)
    return structs.replace(found, saved_over=end is not None and not is_new)


def _content(wanted: Replacement) -> Revision:
    new = wanted.new
    if wanted.content is not None:
        return wanted.content
    if new is None:
        return MISSING
    if isinstance(new, FileCopy):
        return new.content
    return as_link(new.target) if isinstance(new, Link) else revision_of(new)


def way_to_write(
    folder: Folder, found: os.stat_result, new: bytes | Link | FileCopy
) -> Literal["swap", "in_place", "read_only"]:
    """Decide how a file that stands may be replaced.

    "swap": exchange it with a new file. "in_place": it has several names (hard links), so write into
    it, and all names keep it. "read_only": not at all; the folder alone would let us, but the file
    was made read-only on purpose.
    """
    if found.st_nlink > 1 and not isinstance(new, Link):
        return "in_place"
    name, effective = folder.prefix + folder.name, os.access in os.supports_effective_ids
    writable = folder.calls.access(name, os.W_OK, dir_fd=folder.fd, effective_ids=effective)
    return "swap" if writable else "read_only"


def _write(calls: Calls, root: str, wanted: Replacement) -> End:
    expected, new, token = wanted.expected, wanted.new, wanted.token
    if expected == UNKNOWN:
        return None
    try:
        folder = Folder(calls, root, wanted.path, make=new is not None and expected == MISSING)
    except OSError as error:
        if error.errno == errno.ELOOP or (expected != MISSING and error.errno in GONE):
            return None  # reading the path answers
        raise
    with folder:
        if expected != MISSING and new is not None:
            return _replace(folder, wanted, new)
        if expected != MISSING:
            return _delete(folder, expected, token)
        if new is not None:
            return _create(folder, root, wanted, new)
    return None


def _replace(folder: Folder, wanted: Replacement, new: bytes | Link | FileCopy) -> End:
    calls, expected, token = folder.calls, wanted.expected, wanted.token
    part, temp, spare = temp_names(folder.path, token)
    swap = Swap(folder, temp, spare)
    if is_link(expected):
        written = write_temp_file(folder, part, temp, new, None)
        return _swap_in(swap, wanted, new, written)
    for _ in range(ROUNDS):
        old = _open_file(folder)
        if old is None:
            return None
        try:
            found = calls.fstat(old)
            way = way_to_write(folder, found, new)
            if way != "in_place":
                written = write_temp_file(folder, part, temp, new, old)
        finally:
            os.close(old)
        if way == "in_place" and not isinstance(new, Link):
            if not wanted.mendable or isinstance(new, FileCopy):
                message, hint = NOT_MENDABLE
                raise Unverifiable(folder.path, message.format(path=quoted(folder.path)), hint)
            return _write_in_place(folder, expected, new)
        if way == "read_only":  # said here, so that an error of the disk itself comes first
            remove(folder, temp)
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), folder.path)
        if _is_untouched(folder, found):
            return _swap_in(swap, wanted, new, written)
        remove(folder, temp)  # the file may have other rights by now, or another name
    raise OSError(errno.EBUSY, "other programs keep saving it")


def _open_file(folder: Folder) -> int | None:
    """Open the file for reading; None where no file stands. lstat decides, because opening a
    device can have effects of its own."""
    calls, name = folder.calls, folder.prefix + folder.name
    try:
        if not S_ISREG(calls.lstat(name, dir_fd=folder.fd).st_mode):
            return None
        return calls.open(name, READ, dir_fd=folder.fd)
    except OSError as error:
        if error.errno not in GONE:
            raise
        return None


def _is_untouched(folder: Folder, found: os.stat_result) -> bool:
    """Return whether a file did not change in any way since a stat; also for one that is gone, which
    the comparison notices."""
    try:
        now = folder.calls.lstat(folder.prefix + folder.name, dir_fd=folder.fd)
    except FileNotFoundError:
        return True
    return (now.st_ino, now.st_ctime_ns) == (found.st_ino, found.st_ctime_ns)


def _swap_in(
    swap: Swap, wanted: Replacement, new: bytes | Link | FileCopy, written: os.stat_result
) -> End:
    content = _content(wanted)
    try:
        timed = _swap_if(swap, wanted.expected, content)
    finally:
        swap.discard()
    if timed is None or isinstance(timed, Placed) or not isinstance(new, bytes):
        return None if timed is None else Placed()
    at_ns, now = timed
    is_ours = (now.st_ino, now.st_size, now.st_mtime_ns) == (
        written.st_ino,
        written.st_size,
        written.st_mtime_ns,
    )
    if not is_ours:
        return Placed()
    return FileState(swap.folder.path, "file", content, new, signature_of(now), at_ns)


def _swap_if(swap: Swap, expected: Revision, new: Revision) -> TimedStat | Placed | None:
    """Put the temporary file at the name if that displaces the `expected` content; otherwise leave
    everything as it was, and return None. Return the stat of the file at the name where it is known
    that nobody wrote to it meanwhile, else Placed. new: the content of the temporary file. Unverifiable
    where a program holds the displaced file open for writing."""
    folder = swap.folder
    for _ in range(ROUNDS):
        # Both are leased: a program that comes to write to either file waits until it is decided
        # which of the two keeps the name.
        with Lease(folder, folder.name) as old, Lease(folder, swap.temp) as ours:
            old.refuse_writers()
            if content_of(folder, folder.name) != expected:
                return None
            swap.exchange()
            failure: OSError | None = None
            is_displaced = False
            try:
                folder.sync()
                if old.state == "none":
                    sleep(QUIET_S)
                is_displaced = content_of(folder, swap.temp) == expected and old.is_quiet()
                if is_displaced:
                    folder.calls.unlink(folder.prefix + swap.temp, dir_fd=folder.fd)
            except OSError as error:
                failure = error
            if is_displaced and failure is None:
                return ours.stat_if_unwritten() or Placed()
            swap.undo()
        # A program that came to write to our file while it had the name goes first: a lease is not
        # granted before that program has closed the file.
        if not swap.holds_ours(new):
            # That save came last, so it stays, as it would have without us.
            swap.exchange()
            remove(folder, swap.temp)
            return Placed()
        if failure is not None:
            raise failure
    raise OSError(errno.EBUSY, "other programs keep saving it")


class Swap:
    """A name and its temporary file. is_ours: the temporary file holds our content, and nobody can
    have saved into it; spare: a name for the steps where the system cannot exchange two names."""

    def __init__(self, folder: Folder, temp: str, spare: str) -> None:
        self.folder, self.temp, self.spare = folder, temp, spare
        self.is_ours = True

    def exchange(self) -> None:
        """Let the two names change places, in one step where the system has such a step."""
        folder = self.folder
        temp, name = folder.prefix + self.temp, folder.prefix + folder.name
        try:
            folder.calls.exchange(temp, name, dir_fd=folder.fd)
        except OSError as error:
            if error.errno != errno.ENOSYS:
                raise
            self._exchange_by_steps(temp, name, folder.prefix + self.spare)
        self.is_ours = False

    def undo(self) -> None:
        """Exchange the names again. Unverifiable, naming the file with the old content, when that
        fails."""
        try:
            self.exchange()
        except OSError as error:
            path = self.folder.path
            raise Unverifiable(
                path,
                f"{quoted(path)} holds the new content, and could not be restored: {error.strerror}.",
                f"Its earlier content is beside it, in {self.temp}.",
            ) from error

    def holds_ours(self, new: Revision) -> bool:
        """Return whether the temporary file, which had the name, holds only our `new` content.
        Unverifiable, naming that file, when this cannot be told."""
        try:
            with Lease(self.folder, self.temp) as lease:
                self.is_ours = lease.is_quiet() and content_of(self.folder, self.temp) == new
        except OSError as error:
            path = self.folder.path
            raise Unverifiable(
                path,
                f"{quoted(path)} is as it was before, but the disk failed: {error.strerror}.",
                f"If others saved the file meanwhile, their text is beside it, in {self.temp}.",
            ) from error
        return self.is_ours

    def discard(self) -> None:
        """Remove the temporary file, unless an undo failed and it holds what others saved."""
        if self.is_ours:
            remove(self.folder, self.temp)

    def _exchange_by_steps(self, temp: str, name: str, spare: str) -> None:
        calls, fd = self.folder.calls, self.folder.fd
        try:
            calls.link(name, spare, src_dir_fd=fd, dst_dir_fd=fd, follow_symlinks=False)
        except OSError as error:
            if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.EMLINK, errno.ENOSYS):
                raise
            # No links here: for a moment nothing stands at the name, and clean() knows that.
            calls.replace(name, spare, src_dir_fd=fd, dst_dir_fd=fd)
        try:
            calls.replace(temp, name, src_dir_fd=fd, dst_dir_fd=fd)
            calls.replace(spare, temp, src_dir_fd=fd, dst_dir_fd=fd)
        except OSError:
            calls.replace(spare, name, src_dir_fd=fd, dst_dir_fd=fd)
            # Renaming one of two links onto the other does nothing: the second is still there.
            remove(self.folder, self.spare)
            raise


def _create(folder: Folder, root: str, wanted: Replacement, new: bytes | Link | FileCopy) -> End:
    calls, name = folder.calls, folder.prefix + folder.name
    part, temp, _ = temp_names(folder.path, wanted.token)
    try:
        written = _second_name(folder, root, wanted, temp)
        if written is None:
            written = write_temp_file(folder, part, temp, new, None)
    except BaseException:
        folder.unmake()
        raise
    try:
        try:
            calls.move(folder.prefix + temp, name, src_fd=folder.fd, dst_fd=folder.fd)
        except FileExistsError:
            remove(folder, temp)
            return None
        folder.sync()
    except OSError:
        remove(folder, temp)
        try:
            is_placed = calls.lstat(name, dir_fd=folder.fd).st_ino == written.st_ino
        except FileNotFoundError:
            is_placed = False
        if is_placed:
            content = _content(wanted)
            taken_back = _delete(folder, content, wanted.token, is_synced=False)
            if taken_back is None:
                return Placed()  # somebody saved over it
        folder.unmake()
        raise
    return Placed()


def _second_name(
    folder: Folder, root: str, wanted: Replacement, temp: str
) -> os.stat_result | None:
    """Give the file at wanted.same_as the name `temp`, too, and return its stat. None where that file
    has another content, or the disk makes no such link."""
    if wanted.same_as is None:
        return None
    calls, name = folder.calls, folder.prefix + temp
    try:
        with Folder(calls, root, wanted.same_as) as other:
            calls.link(
                other.prefix + other.name,
                name,
                src_dir_fd=other.fd,
                dst_dir_fd=folder.fd,
                follow_symlinks=False,
            )
    except OSError:
        return None
    if content_of(folder, temp) == _content(wanted):
        return calls.lstat(name, dir_fd=folder.fd)
    remove(folder, temp)
    return None


def _delete(folder: Folder, expected: Revision, token: str, *, is_synced: bool = True) -> End:
    """Remove a file with the expected content. is_synced: make that power-safe."""
    calls, name = folder.calls, folder.prefix + folder.name
    temp = temp_names(folder.path, token)[2]
    for _ in range(ROUNDS):
        with Lease(folder, folder.name) as old:
            old.refuse_writers()
            if content_of(folder, folder.name) != expected:
                return None
            # The temporary name is ours alone, so this needs no move that replaces nothing, which some
            # disks take two steps for.
            calls.replace(name, folder.prefix + temp, src_dir_fd=folder.fd, dst_dir_fd=folder.fd)
            try:
                if is_synced:
                    folder.sync()
                if old.state == "none":
                    sleep(QUIET_S)
                if content_of(folder, temp) == expected and old.is_quiet():
                    calls.unlink(folder.prefix + temp, dir_fd=folder.fd)
                    return Placed()
            except OSError:
                _undelete(folder, temp)
                raise
            _undelete(folder, temp)
    raise OSError(errno.EBUSY, "other programs keep saving it")


def _undelete(folder: Folder, temp: str) -> None:
    """Rename a file that was to be deleted to its path again. Unverifiable, naming the file, when that
    fails."""
    try:
        put_back(folder, temp)
    except OSError as error:
        raise Unverifiable(
            folder.path,
            f"{quoted(folder.path)} was moved away, and could not be restored: {error.strerror}.",
            f"Its content is beside it, in {temp}.",
        ) from error


def _write_in_place(folder: Folder, expected: Revision, new: bytes) -> Placed | None:
    """Write into a file that has several names, while nobody else has it open. Its old bytes are put
    back when the disk refuses in the middle; a write that is killed in the middle is undone by its
    journal (guard.unfinished)."""
    calls = folder.calls
    for _ in range(ROUNDS):
        with Lease(folder, folder.name, exclusive=True) as lease:
            lease.refuse_writers()
            if lease.state == "gone":
                return None
            old = b"".join(iter(lambda: calls.read(lease.fd, 1 << 20), b""))
            if revision_of(old) != expected:
                return None
            if not lease.is_quiet():
                continue  # a program waits to write: it goes first
            try:
                _overwrite(calls, lease.fd, new)
                if _has_taken_name(folder, lease, old, new):
                    return Placed()
                _set_back(folder, lease, old)
            except OSError:
                _set_back(folder, lease, old)
                raise
            return None
    raise OSError(errno.EBUSY, "other programs keep saving it")


def _set_back(folder: Folder, lease: Lease, old: bytes) -> None:
    try:
        _overwrite(folder.calls, lease.fd, old)
    except OSError as error:
        raise Unverifiable(
            folder.path,
            f"{quoted(folder.path)} is half written, and could not be restored: {error.strerror}.",
            "Repair the disk. The content from before the write is in the store.",
        ) from error


def _has_taken_name(folder: Folder, lease: Lease, old: bytes, new: bytes) -> bool:
    """Return whether a file that was written in place still has its name, or has lost it to a save that
    holds the write. Otherwise that save came first, and the write is judged against it."""
    calls, mine = folder.calls, folder.calls.fstat(lease.fd)
    try:
        now = calls.lstat(folder.prefix + folder.name, dir_fd=folder.fd)
        if (now.st_dev, now.st_ino) == (mine.st_dev, mine.st_ino):
            return True
        if not S_ISREG(now.st_mode):
            return False
        fd = calls.open(folder.prefix + folder.name, READ, dir_fd=folder.fd)
    except FileNotFoundError:
        return False
    try:
        return still_holds(old, new, b"".join(iter(lambda: calls.read(fd, 1 << 20), b"")))
    finally:
        os.close(fd)


def _overwrite(calls: Calls, fd: int, data: bytes) -> None:
    calls.lseek(fd, 0, os.SEEK_SET)
    write_all(calls, fd, data)
    calls.ftruncate(fd, len(data))
    calls.fsync(fd)


def move_if(calls: Calls, root: str, src: str, dst: str, expected: Revision) -> FileState:
    """See Workspace.move_if."""
    is_moved = False
    found = read(calls, root, dst, ANSWER_LIMIT)
    if found.kind != "missing" or expected == MISSING:
        return found
    if read(calls, root, src, 0).revision != expected:
        return found
    try:
        with Folder(calls, root, src) as old, Folder(calls, root, dst, make=True) as new:
            is_moved = _move(old, new, expected)
    except OSError as error:
        raise refusal(src, error) from error
    found = read(calls, root, dst, ANSWER_LIMIT)
    return structs.replace(found, saved_over=is_moved and found.revision != expected)


def _move(old: Folder, new: Folder, expected: Revision) -> bool:
    calls = old.calls
    src, dst = old.prefix + old.name, new.prefix + new.name
    try:
        calls.move(src, dst, src_fd=old.fd, dst_fd=new.fd)
    except FileExistsError:
        return False
    try:
        is_expected = content_of(new, new.name) == expected
        new.sync()
        old.sync()
    except OSError:
        calls.move(dst, src, src_fd=new.fd, dst_fd=old.fd)
        raise
    if not is_expected:
        calls.move(dst, src, src_fd=new.fd, dst_fd=old.fd)
    return is_expected


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
            for temp in asides:
                _clean(folder, temp, before, after)
            folder.sync()
    except OSError as error:
        if error.errno not in GONE:  # with its folder, everything that could be left is gone
            raise refusal(path, error) from error


def _clean(folder: Folder, temp: str, before: Revision | None, after: Revision | None) -> None:
    if not temp.startswith(ASIDE) or "/" in temp:
        raise ValueError(f"{temp!r} is not the name of an aside")
    found = content_of(folder, temp)
    if found == MISSING:
        return
    now = content_of(folder, folder.name)
    # A write that was killed between a swap and its comparison may have left a save by another
    # program. A half-written file cannot be taken for one: it has the first name until it is whole.
    whole = before != after and not temp.endswith(".part")
    is_save = whole and found not in (before, after) and now in (before, after, MISSING)
    if now == MISSING and (is_save or temp.endswith(".old")):
        put_back(folder, temp)
        return
    if is_save:
        Swap(folder, temp, f"{temp}.old").exchange()
    remove(folder, temp)


def set_mode(calls: Calls, root: str, path: str, expected: int, mode: int) -> FileState:
    """See Workspace.set_mode."""
    try:
        with Folder(calls, root, path) as folder:
            fd = calls.open(folder.prefix + folder.name, READ, dir_fd=folder.fd)
            try:
                now = calls.fstat(fd).st_mode
                if S_ISREG(now) and S_IMODE(now) == expected and hasattr(os, "fchmod"):
                    calls.fchmod(fd, mode)
                    calls.fsync(fd)
            finally:
                os.close(fd)
    except OSError as error:
        raise refusal(path, error) from error
    return read(calls, root, path, ANSWER_LIMIT)
