"""One answer to each event: of several hooks that an agent calls for one event, one answers.

Two installations of Sightline, or one that the user's and the project's settings name, are two hooks of
each event. The agent calls them at once, with the same payload.

    events   a file in the run folder: SLOTS records, each the number of an event and the time of its answer

A hook locks its event's record, answers, writes the time, and ends: the system's lock ends with the process.
A hook that finds the record locked waits, which costs no processor time. Then the event is answered, and the
hook steps aside; or the other hook died, and this one answers. Two events have one record where their
numbers share a slot; then one waits for the other.

Two hooks were called for one event if their payloads are equal and the second one lived before the first one
had answered: an agent waits for all hooks of an event before it calls those of the next one.

A hook of the http kind is a request to a process that answers many. It lives from its arrival on. The system's
record locks belong to a process, so `hooks.http_events` keeps one descriptor and a lock for its threads.
"""

from __future__ import annotations

import os
import time

from sightline.hooks.protocol import is_private

NAME = "events"

SLOTS, FIELD = 4_096, 8
"""The records, and the bytes of each of their two fields: the event's number, and microseconds."""

PRIME = (1 << 61) - 1

OLDEST_S = 5.0
"""Seconds from the start of a process to its first look at the clock; more is not believed."""


def event_of(args: list[str], raw: bytes) -> bytes:
    """Return what tells an event from other events. args: the agent, and the event's name where the hook is
    given it."""
    return b"\0".join([*map(os.fsencode, args), raw.strip()])


def lock_event(folder: str, event: bytes) -> int | None:
    """Lock an event. Return a descriptor for note_answer(), -1 where the system keeps no lock, or None: another
    hook answered the event. folder: the run folder. event: what tells it from other events."""
    since, records = _started_us(), open_records(folder)
    if records < 0:
        return -1
    try:
        if lock_record(records, event, since):
            return records
    except OSError:
        os.close(records)
        return -1
    os.close(records)
    return None


def open_records(folder: str) -> int:
    """Return a descriptor of the records in a run folder; -1 where the system keeps no lock."""
    try:
        if not hasattr(os, "lockf") or not is_private(folder):
            return -1
        return os.open(os.path.join(folder, NAME), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    except OSError:  # no daemon has made the folder, or the disk is full
        return -1


def lock_record(records: int, event: bytes, since_us: int) -> bool:
    """Wait for the record of an event, and lock it. Return False where another hook answered the event since
    then; the record stays locked. OSError."""
    number = _number(event)
    place = _place(number)
    os.lseek(records, place, os.SEEK_SET)
    os.lockf(records, os.F_LOCK, 2 * FIELD)
    record = os.pread(records, 2 * FIELD, place)
    answered_us = int.from_bytes(record[FIELD:], "big")
    return not (record[:FIELD] == number and since_us < answered_us <= now_us())


def note_answer(records: int, event: bytes) -> None:
    """Note that this hook has printed its answer to an event."""
    number = _number(event)
    if records >= 0:
        try:
            os.pwrite(records, number + now_us().to_bytes(FIELD, "big"), _place(number))
        except OSError:  # the disk is full: the other hook answers, too
            return


def unlock_record(records: int, event: bytes) -> None:
    """Unlock the record of an event. OSError."""
    os.lseek(records, _place(_number(event)), os.SEEK_SET)
    os.lockf(records, os.F_ULOCK, 2 * FIELD)


def slot_of(event: bytes) -> int:
    """Return the number of the record of an event."""
    return _place(_number(event)) // (2 * FIELD)


def _number(event: bytes) -> bytes:
    """Return a number for an event. No hash function has to be imported."""
    return (int.from_bytes(event, "big") % PRIME).to_bytes(FIELD, "big")


def _place(number: bytes) -> int:
    return int.from_bytes(number, "big") % SLOTS * 2 * FIELD


def now_us() -> int:
    """Return the time since the system's start, the same for all processes."""
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    return int(1e6 * (time.monotonic() if clock is None else time.clock_gettime(clock)))


def _started_us() -> int:
    """Return when this process started, never too early; the time now where the system does not tell."""
    now = now_us()
    try:
        with open("/proc/self/stat", "rb") as file:
            ticks = int(file.read().rpartition(b")")[2].split()[19])
        started = (ticks + 1) * 1_000_000 // os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return now
    return started if now - OLDEST_S * 1e6 <= started <= now else now
