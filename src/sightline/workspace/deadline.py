"""Asking a disk that may not answer: in a thread that can be left behind.

Nothing tells beforehand that a network share will hang, and a call into a dead one cannot be
interrupted. A thread costs 0.1 ms here, so it is used whenever a deadline is given.
"""

from __future__ import annotations

from _queue import Empty, SimpleQueue
from _thread import start_new_thread
from time import monotonic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import TypeVar

    T = TypeVar("T")


class DeadlinePassed(Exception):
    """The disk did not answer in time; the thread that asked it is left behind."""


def within(deadline_s: float, work: Callable[[], Iterable[T]]) -> Iterator[T]:
    """What `work` yields, asked for in another thread; DeadlinePassed when time is up."""
    answers: SimpleQueue[tuple[str, T | BaseException | None]] = SimpleQueue()

    def ask() -> None:
        try:
            for answer in work():
                answers.put(("answer", answer))
            answers.put(("end", None))
        except BaseException as error:  # noqa: BLE001  # carried over to the thread that waits
            answers.put(("error", error))

    start_new_thread(ask, ())
    until = monotonic() + deadline_s
    while True:
        try:
            kind, answer = answers.get(timeout=max(0.0, until - monotonic()))
        except Empty:
            raise DeadlinePassed from None
        if kind == "end":
            return
        if kind == "error":
            raise answer  # type: ignore[misc]
        yield answer  # type: ignore[misc]
