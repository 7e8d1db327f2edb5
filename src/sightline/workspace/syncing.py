"""Writes that go on side by side, so that the disk makes all of them power-safe at once.

A write is a generator: it yields what has to be on the platter before it goes on, an open file or
a folder. Those of many writes are asked for together, because a file system that is told of them
one by one commits its journal for each.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial

from sightline.errors import Unverifiable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from sightline.workspace.folder import Folder
    from sightline.workspace.syscalls import Calls

    Awaited = int | Folder
    """A file by its descriptor, or a folder."""

    Write = Generator[Awaited, None, None]

FEW, THREADS = 12, 8
"""From so many on they are synced in so many threads: what waits for the platter at one time, the
system takes there in one go."""


def side_by_side(calls: Calls, writes: Sequence[Write]) -> list[OSError | Unverifiable | None]:
    """Carry out writes of different files; in order what ended each: None, or an error."""
    ended: list[OSError | Unverifiable | None] = [None] * len(writes)
    going: list[tuple[int, OSError | None]] = [(number, None) for number in range(len(writes))]
    try:
        while going:
            awaited: list[tuple[int, Awaited]] = []
            for number, error in going:
                try:
                    awaited.append((number, _advance(writes[number], error)))
                except StopIteration:
                    continue
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
    failures = dict(zip(once, _each(calls, [*once.values()]), strict=True))
    return [failures[key] for key in keys]


def _each(calls: Calls, awaited: Sequence[Awaited]) -> list[OSError | None]:
    if len(awaited) < FEW:
        return [_failure(calls, each) for each in awaited]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(THREADS) as threads:
        return [*threads.map(partial(_failure, calls), awaited)]


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
