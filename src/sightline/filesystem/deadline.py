"""Asking a disk that may not answer: in a thread that can be left behind.

Nothing tells beforehand that a network share will hang, and a call into a dead one cannot be
interrupted. So it is made by another thread whenever a deadline is given. Threads that answered
are kept for the next question, because starting one takes as long as reading a small file.
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


class DeadlinePassed(Exception):
    """The disk did not answer in time; the thread that asked it is left behind."""


def within(deadline_s: float, work: Callable[[], T]) -> T:
    """What `work` gives, or raises, asked in another thread; DeadlinePassed when time is up.

    Work that is asked with a deadline may ask for parts of it with one: then the first holds.
    """
    return work() if get_ident() in _serving else apart(deadline_s, work)


def apart(deadline_s: float, work: Callable[[], T]) -> T:
    """The same of a part with a deadline of its own, also within work that was asked with one."""
    answers: Answers = SimpleQueue()
    _worker().put((work, answers))
    try:
        answer, error = answers.get(timeout=deadline_s)
    except Empty:
        raise DeadlinePassed from None
    if error is not None:
        raise error
    return answer  # type: ignore[no-any-return]


_idle: list[Inbox] = []
"""The inboxes of threads that wait for a question."""

_serving: set[int] = set()
"""The threads that answer questions."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_idle.clear)  # the threads stayed with the parent
    os.register_at_fork(after_in_child=_serving.clear)


def _worker() -> Inbox:
    try:
        return _idle.pop()
    except IndexError:
        inbox: Inbox = SimpleQueue()
        Thread(target=_serve, args=(inbox,), daemon=True).start()
        return inbox


def _serve(inbox: Inbox) -> None:
    _serving.add(get_ident())
    while True:
        work, answers = inbox.get()
        try:
            told: tuple[Any, BaseException | None] = (work(), None)
        except BaseException as error:  # noqa: BLE001  # carried over to the thread that waits
            told = (None, error)
        _idle.append(inbox)  # before the answer: who has it may ask again at once
        answers.put(told)
        del work, answers, told  # what they hold goes with the question
