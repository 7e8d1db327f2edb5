"""Write the log of faults in hook calls: one line each, for `doctor` and for people.

The log is <state home>/hooks.log, with one older file beside it. No line holds the text of a file.
"""

from __future__ import annotations

import os
from time import gmtime, strftime, time

from msgspec import MsgspecError, Struct, json, structs

from sightline.filesystem.private_files import Locked, check_private, make_folder, open_own
from sightline.model.json_text import compact_json

NAME = "hooks.log"
BYTES_MAX = 1 << 20
"""A file larger than this becomes the older one."""

MESSAGE_MAX = 1_000


class Fault(Struct, frozen=True):
    """One hook call that was not judged, or not in full. at: UTC, ISO 8601."""

    at: str
    agent: str
    event: str
    session: str
    message: str


def note(state_home: str, agent: str, event: str, session: str, message: str) -> None:
    """Append a line, in one write: other processes write at the same time. OSError, StoreError."""
    at = strftime("%Y-%m-%dT%H:%M:%SZ", gmtime(time()))
    words = " ".join(message.split())[:MESSAGE_MAX]
    fault = Fault(at, agent[:60], event[:60], session[:200], words)
    check_private(state_home)
    make_folder(state_home)
    file = os.path.join(state_home, NAME)
    if _is_full(file):
        with Locked(f"{file}.lock"):
            if _is_full(file):  # else another process was first
                os.replace(file, f"{file}.1")
    descriptor = open_own(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    try:
        os.write(descriptor, f"{compact_json(structs.asdict(fault))}\n".encode())
    finally:
        os.close(descriptor)


def faults(state_home: str, newest: int = 20) -> list[Fault]:
    """Return the newest lines, oldest first; none where no fault ever happened. OSError."""
    file = os.path.join(state_home, NAME)
    found = [fault for name in (f"{file}.1", file) for fault in _read(name)]
    return found[-newest:]


def _read(file: str) -> list[Fault]:
    try:
        with open(open_own(file, os.O_RDONLY), encoding="utf-8", errors="replace") as lines:
            return [fault for line in lines if (fault := _parsed(line)) is not None]
    except FileNotFoundError:
        return []


def _parsed(line: str) -> Fault | None:
    """Parse a line; None for a line that a full disk cut short."""
    try:
        return json.decode(line, type=Fault)
    except MsgspecError:
        return None


def _is_full(file: str) -> bool:
    try:
        return os.stat(file).st_size >= BYTES_MAX
    except FileNotFoundError:
        return False
