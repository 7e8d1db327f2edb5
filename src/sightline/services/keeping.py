"""Texts on their way into the store, beside the reading of more."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future, ThreadPoolExecutor
    from typing import Self

    from sightline.core.revision import Revision

    Keep = Callable[[dict[Revision, bytes]], None]

FEW = 64
"""Texts that go into the store with the fact that names them."""

AT_ONCE, BYTES_AT_ONCE = 1000, 2 << 20
"""Texts, and their bytes, of one transaction: some milliseconds for which other writers wait."""

THREADS = 2
"""They pack while others read and store; more find no more to do, because storing is one at a
time."""

WAITING = 4
"""Batches that were read and are not stored yet, at most."""


class Keeping:
    """Takes texts one after the other, and gives many to `keep`, in batches and other threads: all
    are kept when it ends, or the error of that is raised. texts: those that are not given, where
    all that came are few."""

    def __init__(self, keep: Keep) -> None:
        self.texts: dict[Revision, bytes] = {}
        self._keep = keep
        self._room = BYTES_AT_ONCE
        self._threads: ThreadPoolExecutor | None = None
        self._waiting: list[Future[None]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None and (self._threads or len(self.texts) > FEW):
            self._give()
        if self._threads:
            self._threads.shutdown()
        if kind is None:
            self._await(0)

    def add(self, revision: Revision, data: bytes) -> None:
        """Take one more; waits where too many are on their way."""
        self.texts[revision] = data
        self._room -= len(data)
        if self._room <= 0 or len(self.texts) == AT_ONCE:
            self._give()
            self._await(WAITING)

    def _give(self) -> None:
        if self._threads is None:
            from concurrent.futures import ThreadPoolExecutor  # takes 10 ms, and most are few

            self._threads = ThreadPoolExecutor(THREADS)
        self._waiting.append(self._threads.submit(self._keep, self.texts))
        self.texts, self._room = {}, BYTES_AT_ONCE

    def _await(self, most: int) -> None:
        while len(self._waiting) > most:
            self._waiting.pop(0).result()
