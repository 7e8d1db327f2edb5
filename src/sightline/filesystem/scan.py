"""Compare many files with their stamps: a stat each, a hash in doubt."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from msgspec import structs

from sightline.filesystem.file_state import FileState
from sightline.filesystem.read import failed, read, signature_of
from sightline.filesystem.system_calls import Calls
from sightline.model.revision import UNKNOWN, Stamp, StatSignature, compare

SECOND_NS = 1_000_000_000
TICK_NS = 10_000_000
"""The coarsest clock tick of a running kernel (HZ=100), which times of files step by."""

COARSE_NS = 2 * SECOND_NS
"""The step of a file system that keeps whole seconds only (FAT keeps even ones)."""


def tick_of(signature: StatSignature) -> int:
    """The step of the file system's times, told by the times themselves: both on a whole second
    means that it keeps no finer ones (by chance once in 10^18). Nothing is written to measure."""
    return _step(signature.mtime_ns, signature.ctime_ns)


def settled(modified_ns: int, changed_ns: int, at_ns: int) -> bool:
    """Whether what bears these times was not changed just before a moment, or after it."""
    return max(modified_ns, changed_ns) + 2 * _step(modified_ns, changed_ns) < at_ns


def _step(modified_ns: int, changed_ns: int) -> int:
    whole = modified_ns % SECOND_NS == 0 and changed_ns % SECOND_NS == 0
    return COARSE_NS if whole else TICK_NS


def scan(calls: Calls, root: str, stamps: Iterable[tuple[str, Stamp]]) -> Iterator[FileState]:
    """Of these paths, those whose stamp does not vouch for them, in the order given.

    A doubtful file is hashed and answered even when its content is the same: then its revision
    equals the stamp's, and the caller keeps the fresh signature, so that the next scan need not
    hash it again.
    """
    lstat, racy, second, under = os.lstat, 2 * TICK_NS, SECOND_NS, f"{root}/"
    for path, stamp in stamps:
        try:
            now = lstat(under + path)
        except OSError as error:
            yield failed(path, error, calls.time_ns())
            continue
        known = stamp.signature
        changed = now.st_ctime_ns
        settled = stamp.read_at_ns - racy
        # model.revision.compare in place: its common answer is "same", and a call and a
        # StatSignature per file would double the cost of the scan. test_scan holds the two equal.
        if (
            changed == known.ctime_ns
            and now.st_mtime_ns == known.mtime_ns
            and now.st_size == known.size
            and now.st_ino == known.ino
            and now.st_mode == known.mode
            and now.st_dev == known.dev
            and changed % second
            and changed < settled
            and known.mtime_ns < settled
        ):
            continue
        if compare(stamp, signature_of(now), tick_of(known)) != "same":
            yield _looked(read(calls, root, path, limit=0))


def _looked(found: FileState) -> FileState:
    # The limit of 0 bytes was ours: nobody asked for data that would be too large.
    return structs.replace(found, data=None, why=None) if found.kind == "file" else found


def unanswered(path: str, at_ns: int) -> FileState:
    """The answer for a path that the disk did not answer for in time."""
    return FileState(path, "unreadable", UNKNOWN, read_at_ns=at_ns, why="deadline")
