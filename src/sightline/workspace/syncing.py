"""Writes that go on side by side, so that the disk makes all of them power-safe at once.

A write is a generator: it yields what has to be on the platter before it goes on, an open file or
a folder, and answers what it left, where it knows that without another look. Those of many writes
are asked for together, because a file system that is told of them one by one commits its journal
for each.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial

from sightline.errors import Unverifiable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence
    from typing import TypeVar

    from sightline.workspace import Found
    from sightline.workspace.folder import Folder
    from sightline.workspace.syscalls import Calls

    Awaited = int | Folder
    """A file by its descriptor, or a folder."""

    Steps = Generator[Awaited, None, None]
    Write = Generator[Awaited, None, Found | None]
    Ended = Found | OSError | Unverifiable | None

    T = TypeVar("T")
    U = TypeVar("U")

FEW = 12
"""From so many on it takes threads."""

WRITING, SYNCING = 2, 4
"""So many write: to make a file, and to let go of one, the system takes longest. Each has so many
that sync: what waits for the platter at one time, the system takes there in one go."""


def side_by_side(calls: Calls, writes: Sequence[Write]) -> list[Ended]:
    """Carry out writes of different files; in order what each answered, or the error that ended
    it."""
    return _shared(partial(_carried_out, calls), writes, WRITING)


def _carried_out(calls: Calls, writes: Sequence[Write]) -> list[Ended]:
    ended: list[Ended] = [None] * len(writes)
    going: list[tuple[int, OSError | None]] = [(number, None) for number in range(len(writes))]
    try:
        while going:
            awaited: list[tuple[int, Awaited]] = []
            for number, error in going:
                try:
                    awaited.append((number, _advance(writes[number], error)))
                except StopIteration as stop:
                    ended[number] = stop.value
                except (OSError, Unverifiable) as failed:
                    ended[number] = failed
            failures = _sync(calls, [each for _, each in awaited])
            going = [
                (number, failure) for (number, _), failure in zip(awaited, failures, strict=True)
            ]
    finally:
        for write in writes:
            write.close()
    return ended


def _advance(write: Write, error: OSError | None) -> Awaited:
    return next(write) if error is None else write.throw(error)


def _sync(calls: Calls, awaited: Sequence[Awaited]) -> list[OSError | None]:
    """Sync all of it, each folder once; in order what failed."""
    if len(awaited) == 1:
        return [_failure(calls, awaited[0])]
    _start(calls, [each for each in awaited if isinstance(each, int)])
    keys = [each if isinstance(each, int) else each.identity() for each in awaited]
    once = dict(zip(keys, awaited, strict=True))
    failed = _shared(partial(_failures, calls), [*once.values()], SYNCING)
    failures = dict(zip(once, failed, strict=True))
    return [failures[key] for key in keys]


def _shared(work: Callable[[Sequence[T]], list[U]], each: Sequence[T], threads: int) -> list[U]:
    """What work answers of each, in order; where they are many, so many threads share them."""
    if len(each) < FEW:
        return work(each)
    from concurrent.futures import ThreadPoolExecutor

    answers: dict[int, U] = {}
    shares = [range(first, len(each), threads) for first in range(threads)]
    with ThreadPoolExecutor(threads) as pool:
        done = pool.map(lambda share: work([each[number] for number in share]), shares)
        for share, answered in zip(shares, done, strict=True):
            answers.update(zip(share, answered, strict=True))
    return [answers[number] for number in range(len(each))]


def _failures(calls: Calls, awaited: Sequence[Awaited]) -> list[OSError | None]:
    return [_failure(calls, each) for each in awaited]


def _start(calls: Calls, files: Sequence[int]) -> None:
    """Let the disk begin with all of them. What fails here fails again when it is synced."""
    for fd in files:
        with suppress(OSError):
            calls.write_back(fd)


def _failure(calls: Calls, awaited: Awaited) -> OSError | None:
    try:
        if isinstance(awaited, int):
            calls.fsync(awaited)
        else:
            awaited.sync()
    except OSError as error:
        return error
    return None
