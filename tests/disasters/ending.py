"""Rewinds that come to an end before they are done."""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager

from sightline.core.events import RewindStarted
from sightline.store.sqlite import SqliteStore


@contextmanager
def rewinds_end(monkeypatch, appends, error, times=1_000):
    """Once a rewind has begun, so many facts more of it are kept; then comes the error, for so
    many times."""
    append = SqliteStore.append
    left: list[int] = []
    errors = iter(range(times))

    def ending(store, session, facts, **more):
        if left and not left[0] and next(errors, None) is not None:
            raise error
        left[:] = [max(each - 1, 0) for each in left]
        if any(isinstance(fact, RewindStarted) for fact in facts):
            left.append(appends)
        return append(store, session, facts, **more)

    with monkeypatch.context() as patched:
        patched.setattr(SqliteStore, "append", ending)
        yield


def ended(act):
    """Run in a process of its own, which is killed behind it and leaves to others what it began."""
    child = os.fork()
    if child == 0:
        try:
            act()
        finally:
            os.kill(os.getpid(), signal.SIGKILL)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
