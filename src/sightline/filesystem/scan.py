"""Compare many files with their stamps: a stat each, and a hash in doubt."""

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
"""The coarsest clock tick of a running kernel (HZ=100): times of files step by it."""

COARSE_NS = 2 * SECOND_NS
"""The step of a file system that keeps whole seconds only (FAT keeps even ones)."""


def tick_of(signature: StatSignature) -> int:
    """Return the step of a file system's times, in ns, judged by the times themselves: both on a
    whole second means that it keeps no finer ones (by chance once in 10^18)."""
    return _step(signature.mtime_ns, signature.ctime_ns)


def settled(modified_ns: int, changed_ns: int, at_ns: int) -> bool:
    """Return whether a file or folder with these times did not change just before a moment, nor
    after it."""
    return max(modified_ns, changed_ns) + 2 * _step(modified_ns, changed_ns) < at_ns


def _step(modified_ns: int, changed_ns: int) -> int:
    whole = modified_ns % SECOND_NS == 0 and changed_ns % SECOND_NS == 0
    return COARSE_NS if whole else TICK_NS


def scan(calls: Calls, root: str, stamps: Iterable[tuple[str, Stamp]]) -> Iterator[FileState]:
    """Yield the states of paths with doubtful stamps, in the order given, without data. A doubtful file is hashed and yielded even when its content is the same: then its revision equals
    the stamp's, and a caller that keeps the fresh signature saves the next hash."""
    lstat, racy, second, under = os.lstat, 2 * TICK_NS, SECOND_NS, f"{root}/"
    for path, stamp in stamps:
        try:
            now = lstat(under + path)
        except OSError as error:
            yield failed(path, error, calls.time_ns())
            continue
        known = stamp.signature
        changed = now.st_ctime_ns
        settled_ns = stamp.read_at_ns - racy
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
            and changed < settled_ns
            and known.mtime_ns < settled_ns
        ):
            continue
        if compare(stamp, signature_of(now), tick_of(known)) != "same":
            # A limit of 0 bytes: the caller wants no data, so "too_large" is not its answer.
            found = read(calls, root, path, limit=0)
            is_file = found.kind == "file"
            yield structs.replace(found, data=None, why=None) if is_file else found


def unanswered(path: str, at_ns: int) -> FileState:
    """Return the state of a path after the disk did not answer in time."""
    return FileState(path, "unreadable", UNKNOWN, read_at_ns=at_ns, why="deadline")
