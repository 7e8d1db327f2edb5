"""Convert facts and rows to their stored form and back: no other module knows the shapes on disk.

A fact is stored as its kind and a JSON object. The keys of the object are the names of the fact's
fields. A field may be left out where it has its default value, so a new field with a default changes
nothing; so it is with the values in a field.
Unknown keys are ignored. Any other change of a shape raises schema.VERSION. Columns have line spans as
text: "1-200,310-320".
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import lru_cache
from typing import Any
from zlib import crc32

from msgspec import ValidationError, convert, structs

from sightline.errors import Hint, NextCall, StoreError
from sightline.model.active_claims import Claim
from sightline.model.events import FACTS, Belief, Cause, Fact
from sightline.model.json_text import compact_json, json_bytes
from sightline.model.projections import DiskFile, Knowledge, SessionState, Stash
from sightline.model.revision import Stamp, StatSignature
from sightline.model.spans import Spans
from sightline.model.timeline import Recorded

Row = Iterable[Any]

UPGRADE = "Upgrade sightline: a newer one has written to this store."
ANOTHER = ("SIGHTLINE_STORE", (" or ", NextCall("open_session", named={"store": "URL"})), ".")
"""The end of a hint to name another store."""

DAMAGED = Hint(
    "The store was left as it is: copy it to a safe place, and name another with ", *ANOTHER
)


def encode(fact: Fact) -> str:
    """Return the JSON body of a fact."""
    return json_bytes(fact).decode()


def decode(kind: str, body: str) -> Fact:
    """Return the fact of a stored body. StoreError where this sightline does not know the kind, or the
    body is damaged."""
    fact_type = FACTS.get(kind)
    if fact_type is None:
        fault = f"The store holds a fact of an unknown kind: {kind}."
        raise StoreError(fault, UPGRADE, "other_version", unchanged=True)
    try:
        return convert(json.loads(body), fact_type)
    except (ValueError, ValidationError) as error:
        raise StoreError(f"A stored {kind} cannot be read: {error}", DAMAGED, "damaged") from error


def sealed(columns: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return columns and their checksum."""
    return *columns, _checksum(columns)


def _checked(row: Row, what: str) -> tuple[Any, ...]:
    """Return the columns of a sealed row. StoreError where one was changed since. what: the row, for
    the error; {0} stands for its first column."""
    *stored, checksum = row
    columns = tuple([untext(column) for column in stored])
    if _checksum(columns) != checksum:
        name = what.format(columns[0])
        raise StoreError(f"{name} is damaged in the store.", DAMAGED, "damaged")
    return columns


def _checksum(columns: tuple[Any, ...]) -> int:
    return crc32(repr(columns).encode("utf-8", "surrogatepass"))


def recorded_of(row: Row) -> Recorded:
    """Return the fact of the columns (position, session, kind, happened_at, recorded_at, body,
    checksum). StoreError."""
    position, session, kind, happened_at, recorded_at, body = _checked(row, "Fact {0}")
    return Recorded(position, session, happened_at, recorded_at, decode(kind, body))


def event_row(recorded: Recorded) -> tuple[Any, ...]:
    """Return the columns that recorded_of() reads."""
    position, session, happened_at, recorded_at, fact = structs.astuple(recorded)
    kind = type(fact).__name__
    return sealed((position, session, kind, happened_at, recorded_at, encode(fact)))


def knowledge_row(session: str, state: Knowledge) -> tuple[Any, ...]:
    """Return the columns of the knowledge table."""
    path, belief, via, position, *times, name = structs.astuple(state)
    shown, held = spans_text(belief.shown), spans_text(belief.held)
    columns = (path, name, position, via, *times, belief.text, shown, held, belief.lines)
    return session, *sealed(columns)


def knowledge_of(row: Row) -> Knowledge:
    """Return Knowledge from the columns after session."""
    what = "What a session knows of {0}"
    path, name, position, via, first, read, edit, start, *belief = _checked(row, what)
    believed, shown, held, lines = belief
    known = Belief(believed, spans_of(shown), spans_of(held), lines)
    return Knowledge(path, known, via, position, first, read, edit, start, name)


def disk_row(state: DiskFile) -> tuple[Any, ...]:
    """Return the columns of the disk table."""
    path, revision, position, at, cause, *others = structs.astuple(state)
    packed = None if cause is None else compact_json(structs.astuple(cause))
    return sealed((path, revision, position, at, packed, *others))


def disk_of(row: Row) -> DiskFile:
    """Return a DiskFile from its columns."""
    path, revision, position, at, packed, *others = _checked(row, "The last state of {0}")
    cause = None if packed is None else cause_of(packed)
    return DiskFile(path, revision, position, at, cause, *others)


def session_row(state: SessionState) -> tuple[Any, ...]:
    """Return the columns of the sessions table. The position is not among them: the events table
    has it."""
    *columns, _, owner, newest_message, active = structs.astuple(state)
    return sealed((*columns, owner, newest_message, active))


def session_of(row: Row) -> SessionState:
    """Return a SessionState from its columns and its newest position."""
    *columns, position = row
    what = "The row of session {0}"
    id_, agent, started, parent, ended, turn, model, *others = _checked(columns, what)
    return SessionState(id_, agent, started, parent, ended, turn, model, position, *others)


def claim_row(state: Claim) -> tuple[Any, ...]:
    """Return the columns of the claims table."""
    id_, session, paths, expires_at, exclusive, *others = structs.astuple(state)
    return sealed((id_, session, compact_json(paths), expires_at, int(exclusive), *others))


def claim_of(row: Row) -> Claim:
    """Return a Claim from its columns."""
    id_, session, paths, expires_at, exclusive, *others = _checked(row, "Claim {0}")
    return Claim(id_, session, tuple(json.loads(paths)), expires_at, bool(exclusive), *others)


def stash_row(state: Stash) -> tuple[Any, ...]:
    """Return the columns of the stashes table."""
    return sealed(structs.astuple(state))


def stash_of(row: Row) -> Stash:
    """Return a Stash from its columns."""
    return Stash(*_checked(row, "Stash entry {0}"))


def stamp_row(path: str, stamp: Stamp) -> tuple[Any, ...]:
    """Return the columns of the stamps table. The six numbers of the signature are one text,
    because a device or an inode number may not fit a signed 64-bit integer."""
    numbers = " ".join(map(str, structs.astuple(stamp.signature)))
    return sealed((path, numbers, stamp.revision, stamp.read_at_ns))


def stamp_of(row: Row) -> tuple[str, Stamp]:
    """Return a path and its Stamp from their columns."""
    path, numbers, revision, read_at_ns = _checked(row, "The stamp of {0}")
    return path, Stamp(StatSignature(*map(int, numbers.split())), revision, read_at_ns)


def text(value: str) -> str | bytes:
    """Return a string as SQLite can store it. A file name that is not UTF-8 has lone surrogates,
    which SQLite does not accept as text: such a name is stored as bytes."""
    if value.isascii():
        return value
    try:
        value.encode()
    except UnicodeEncodeError:
        return value.encode("utf-8", "surrogatepass")
    return value


def untext(value: Any) -> Any:
    """Return the string that text() turned into bytes; any other value as it is."""
    return value.decode("utf-8", "surrogatepass") if type(value) is bytes else value


@lru_cache(maxsize=4096)
def spans_text(lines: Spans) -> str:
    """Return ((1, 200), (310, 320)) as "1-200,310-320"."""
    return ",".join([f"{first}-{last}" for first, last in lines])


@lru_cache(maxsize=4096)
def spans_of(stored: str) -> Spans:
    """Return spans from their text. ValueError."""
    pairs = [part.split("-") for part in stored.split(",")] if stored else []
    return tuple([(int(first), int(last)) for first, last in pairs])


@lru_cache(maxsize=256)
def cause_of(stored: str) -> Cause:
    """Return a cause from its column."""
    return Cause(*json.loads(stored))
