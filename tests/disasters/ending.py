"""Rewinds that come to an end before they are done."""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager

from sightline.model.events import Changed, RewindEnded, WriteIntended
from sightline.store.sqlite import SqliteStore


@contextmanager
def rewinds_end(monkeypatch, appends, error, times=1_000):
    """What a rewind says of files, before and after it writes them, is kept so many times; then
    comes the error, for so many times."""
    append = SqliteStore.append
    left, errors = appends, iter(range(times))
    of_files = (WriteIntended, Changed, RewindEnded)

    def ending(store, given):
        nonlocal left
        if any(isinstance(fact, of_files) for fact in given.facts):
            if not left and next(errors, None) is not None:
                raise error
            left = max(left - 1, 0)
        return append(store, given)

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
