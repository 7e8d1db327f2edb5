"""The locks of events (hooks.event_lock) for a process that answers many events at once.

A record lock of the system belongs to a process: two threads would both have it, and closing any descriptor
of the file would give all locks up. So one descriptor stays open, and the threads have locks of their own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from threading import Lock

from sightline.hooks.event_lock import (
    lock_record,
    note_answer,
    now_us,
    open_records,
    slot_of,
    unlock_record,
)


class HttpEvents:
    """The events of hooks of the http kind. folder: the run folder."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._records = -1
        self._choosing = Lock()
        self._slots: defaultdict[int, Lock] = defaultdict(Lock)

    def answer_once(self, event: bytes, answer: Callable[[], bytes]) -> bytes:
        """Return the answer to an event; b"" where another hook answered it since this call began."""
        since = now_us()
        with self._choosing:
            if self._records < 0:
                self._records = open_records(self._folder)
            records, slot = self._records, self._slots[slot_of(event)]
        if records < 0:
            return answer()
        with slot:
            try:
                is_ours = lock_record(records, event, since)
            except OSError:
                return answer()
            try:
                if not is_ours:
                    return b""
                answered = answer()
                note_answer(records, event)
                return answered
            finally:
                with suppress(OSError):
                    unlock_record(records, event)
