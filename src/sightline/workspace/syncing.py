"""Writes that go on side by side, so that the disk makes all of them power-safe at once.

A write is a generator: it yields what has to be on the platter before it goes on, an open file or
a folder, and answers what it left, where it knows that without another look. Those of many writes
are asked for together, because a file system that is told of them one by one commits its journal
for each. Before its first yield it only prepares, and touches nothing that stands.
"""

from __future__ import annotations

from contextlib import ExitStack, closing, suppress
from functools import partial

from sightline.errors import Unverifiable
from sightline.workspace.folder import Folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence
    from typing import TypeVar

    from sightline.workspace import Found
    from sightline.workspace.syscalls import Calls

    Awaited = int | Folder | None
    """A file by its descriptor, a folder, or nothing: then it is only prepared."""

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


def side_by_side(
    calls: Calls, writes: Sequence[Write], meanwhile: Callable[[], None] = lambda: None
) -> list[Ended]:
    """Carry out writes of different files; in order what each answered, or the error that ended
    it. meanwhile: called while they are prepared; what it raises ends all of them there."""
    if len(writes) < FEW:
        share = _Share(calls, writes)
        with closing(share):
            share.prepare()
            meanwhile()
            return share.finished()
    shares = [_Share(calls, writes[first::WRITING]) for first in range(WRITING)]
    with ExitStack() as stack:
        for share in shares:
            stack.enter_context(closing(share))
        ended = _finished(shares, meanwhile)
    return [ended[number % WRITING][number // WRITING] for number in range(len(writes))]


def _finished(shares: Sequence[_Share], meanwhile: Callable[[], None]) -> list[list[Ended]]:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(WRITING) as pool:
        prepared = [pool.submit(share.prepare) for share in shares]
        meanwhile()
        for each in prepared:
            each.result()
        return [*pool.map(_Share.finished, shares)]


class _Share:
    """Writes that one thread carries out."""

    def __init__(self, calls: Calls, writes: Sequence[Write]) -> None:
        self._calls = calls
        self._writes = writes
        self._ended: list[Ended] = [None] * len(writes)
        self._going: list[tuple[int, OSError | None]] = [(n, None) for n in range(len(writes))]

    def prepare(self) -> None:
        """As far as nothing that stands is touched."""
        self._round()

    def finished(self) -> list[Ended]:
        """Carry out the rest; what each came to."""
        while self._going:
            self._round()
        return self._ended

    def close(self) -> None:
        """End those that are not finished; what they prepared goes."""
        for write in self._writes:
            write.close()

    def _round(self) -> None:
        awaited: list[tuple[int, Awaited]] = []
        for number, error in self._going:
            try:
                awaited.append((number, _advance(self._writes[number], error)))
            except StopIteration as stop:
                self._ended[number] = stop.value
            except (OSError, Unverifiable) as failed:
                self._ended[number] = failed
        failures = _sync(self._calls, [each for _, each in awaited])
        self._going = [
            (number, failure) for (number, _), failure in zip(awaited, failures, strict=True)
        ]


def _advance(write: Write, error: OSError | None) -> Awaited:
    return next(write) if error is None else write.throw(error)


def _sync(calls: Calls, awaited: Sequence[Awaited]) -> list[OSError | None]:
    """Sync all of it, each folder once; in order what failed."""
    if len(awaited) == 1:
        return [_failure(calls, awaited[0])]
    _start(calls, [each for each in awaited if isinstance(each, int)])
    keys = [each.identity() if isinstance(each, Folder) else each for each in awaited]
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
        elif awaited is not None:
            awaited.sync()
    except OSError as error:
        return error
    return None
