"""Ask a disk that may not answer in a thread that can be left behind.

Nothing tells beforehand that a network share will hang, and a call into a dead share cannot be
interrupted. So another thread makes the call whenever a deadline is given. Threads that answered
are kept for the next question, because starting a thread takes as long as reading a small file.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from queue import Empty, SimpleQueue
from threading import Thread, get_ident
from typing import Any, TypeVar

T = TypeVar("T")
Inbox = SimpleQueue[tuple[Callable[[], Any], "Answers"]]
Answers = SimpleQueue[tuple[Any, BaseException | None]]

_idle: list[Inbox] = []
"""The inboxes of threads that wait for a question."""

_serving: set[int] = set()
"""The threads that answer questions."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_idle.clear)  # the threads stayed with the parent
    os.register_at_fork(after_in_child=_serving.clear)


class DeadlinePassed(Exception):
    """The disk did not answer in time; the thread that asked it is left behind."""


def within(deadline_s: float, work: Callable[[], T]) -> T:
    """Do `work` in another thread and return its result, or raise its error; DeadlinePassed when
    time is up. Called by work that has a deadline already, `within` keeps that first deadline."""
    return work() if get_ident() in _serving else within_own(deadline_s, work)


def within_own(
    deadline_s: float, work: Callable[[], T], steps: Callable[[], int] | None = None
) -> T:
    """Do `work` as `within` does, and always with this deadline of its own. steps: the number of steps
    of the work so far; each of them has the whole time."""
    try:
        inbox = _idle.pop()
    except IndexError:
        inbox = SimpleQueue()
        Thread(target=_serve, args=(inbox,), daemon=True).start()
    answers: Answers = SimpleQueue()
    inbox.put((work, answers))
    done = 0
    while True:
        try:
            answer, error = answers.get(timeout=deadline_s)
            break
        except Empty:
            now = 0 if steps is None else steps()
            if now == done:
                raise DeadlinePassed from None
            done = now
    if error is not None:
        raise error
    return answer  # type: ignore[no-any-return]


def _serve(inbox: Inbox) -> None:
    _serving.add(get_ident())
    while True:
        work, answers = inbox.get()
        try:
            answer: tuple[Any, BaseException | None] = (work(), None)
        except BaseException as error:  # noqa: BLE001  # carried over to the thread that waits
            answer = (None, error)
        _idle.append(inbox)  # before the answer: its receiver may ask again at once
        answers.put(answer)
        del work, answers, answer  # what they hold goes with the question
