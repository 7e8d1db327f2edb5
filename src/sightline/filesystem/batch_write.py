"""Writes that go on side by side, so that the disk makes all of them power-safe at once.

A write is a generator: it yields what has to be on the platter before it goes on, a file aside or
a folder, and answers what it left, where it knows that without another look. Those of many writes
are asked for together, because a file system that is told of them one by one commits its journal
for each. With its first yield it only prepares, and touches nothing that stands.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor

from sightline.errors import Unverifiable
from sightline.filesystem.file_state import FileState
from sightline.filesystem.folder import Folder
from sightline.filesystem.lease import Gone
from sightline.filesystem.temp_file import Aside

Awaited = Aside | Folder | Gone | None
"""A file that is to be written and synced, or a folder, or what is let go of; None where there
is nothing to wait for: it only prepared."""

Steps = Generator[Awaited, None, None]
Write = Generator[Awaited, None, FileState | None]
Ended = FileState | OSError | Unverifiable | None

Key = int | tuple[int, int] | None
Some = Sequence[tuple[Key, Awaited]]
Failures = Callable[[], list[OSError | None]]

FEW = 12
"""From so many on it takes threads."""

WRITING, SYNCING = 2, 8
"""So many threads write files aside, for to make one the system takes longest; all else that a write
does is one thread's, because its calls are so short that several would hand the interpreter's lock
to and fro for each. And so many sync folders: what waits for the platter at one time, the system
takes there in one go."""


def side_by_side(
    writes: Sequence[Write], meanwhile: Callable[[], None] = lambda: None
) -> list[Ended]:
    """Carry out writes of different files; in order what each answered, or the error that ended
    it. meanwhile: called while they are prepared; what it raises ends all of them."""
    pool = _threads() if len(writes) >= FEW else None
    work = _Work(writes, pool)
    try:
        work.advance()
        meanwhile()
        while work.going:
            work.advance()
    finally:
        if pool:
            pool.shutdown(wait=bool(work.going))  # nobody waits for what only has to be closed
        for write in writes:
            write.close()  # what is not finished takes back what it prepared
    return work.ended


def _threads() -> Executor:
    return ThreadPoolExecutor(SYNCING)


class _Work:
    """Writes that are carried out. going: those that have not ended, by their numbers."""

    def __init__(self, writes: Sequence[Write], pool: Executor | None) -> None:
        self.ended: list[Ended] = [None] * len(writes)
        self.going = [*range(len(writes))]
        self._writes = writes
        self._pool = pool
        self._failures: Failures = lambda: [None] * len(writes)

    def advance(self) -> None:
        """Take each a step further, when what it waited for is done, and begin with the next."""
        awaited: list[Awaited] = []
        still: list[int] = []
        for number, error in zip(self.going, self._failures(), strict=True):
            write = self._writes[number]
            try:
                awaited.append(next(write) if error is None else write.throw(error))
                still.append(number)
            except StopIteration as stop:
                self.ended[number] = stop.value
            except (OSError, Unverifiable) as failed:
                self.ended[number] = failed
        self.going = still
        self._failures = self._begun(awaited)

    def _begun(self, awaited: Sequence[Awaited]) -> Failures:
        """Begin with all of it, each folder once, and let go of what is gone; what answers, in
        order, what failed."""
        for each in awaited:
            if isinstance(each, Gone) and each.fd is not None:
                self._close(each.fd)
        keys = [_key(each) for each in awaited]
        once = [*dict(zip(keys, awaited, strict=True)).items()]
        if self._pool:
            threads = WRITING if any(isinstance(each, Aside) for each in awaited) else SYNCING
            failed = self._pool.map(_synced, [once[first::threads] for first in range(threads)])
        else:
            failed = iter([_synced(once)])

        def failures() -> list[OSError | None]:
            found = {key: failure for some in failed for key, failure in some.items()}
            return [found[key] for key in keys]

        return failures

    def _close(self, fd: int) -> None:
        if self._pool:
            self._pool.submit(os.close, fd)
        else:
            os.close(fd)


def _key(awaited: Awaited) -> Key:
    """What tells it from others; None where nothing is to be synced."""
    if isinstance(awaited, Folder):
        return awaited.identity()
    return id(awaited) if isinstance(awaited, Aside) else None


def _synced(some: Some) -> dict[Key, OSError | None]:
    """Write and sync what one thread has to; what failed, by its key."""
    failed: dict[Key, OSError | None] = {}
    for key, each in some:
        failed[key] = _failure(each.write) if isinstance(each, Aside) else None
        if isinstance(each, Aside) and failed[key] is None and len(some) > 1:
            each.begin_to_sync()
    for key, each in some:
        if isinstance(each, (Aside, Folder)) and failed[key] is None:
            failed[key] = _failure(each.sync)
    return failed


def _failure(step: Callable[[], None]) -> OSError | None:
    try:
        step()
    except OSError as error:
        return error
    return None
