"""Convert facts and rows to their stored form and back: no other module knows the shapes on disk.

A fact is stored as its kind, its version and a JSON object. The keys of the object are the names of
the fact's fields. A field with its default value is left out, so a new field with a default needs
no new version. Unknown keys are ignored. Any other change of a shape raises the version of its kind
and adds an upcaster below, because every later version reads old stores (tests/store/fixtures).
Line spans are text, "1-200,310-320", in bodies and in columns alike.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache
from typing import Any
from zlib import crc32

from msgspec import NODEFAULT, structs

from sightline.errors import StoreError
from sightline.model.active_claims import Claim
from sightline.model.events import FACTS, Belief, Cause, Fact, Rewritten, Told
from sightline.model.json_text import compact_json
from sightline.model.projections import DiskFile, Knowledge, SessionState
from sightline.model.revision import Stamp, StatSignature
from sightline.model.spans import Spans
from sightline.model.timeline import Recorded

Row = Iterable[Any]
Convert = Callable[[Any], Any]

UPCASTERS: Mapping[tuple[str, int], Convert] = {}
"""(kind, n) -> a function that turns a body of version n into one of version n + 1."""

UPGRADE = "Upgrade sightline: a newer one has written to this store. Nothing was changed."
DAMAGED = (
    "The store was left as it is: copy it to a safe place, and name another with SIGHTLINE_STORE."
)


def encode(fact: Fact) -> str:
    """Return the JSON body of a fact."""
    body = {}
    for field, default, pack, _ in _fields(type(fact)):
        value = getattr(fact, field)
        if value != default:
            body[field] = value if pack is None or value is None else pack(value)
    return compact_json(body)


def decode(kind: str, version: int, body: str) -> Fact:
    """Return the fact of a stored body, brought up to the present version of its kind. StoreError
    where this sightline does not know the kind or the version, or the body is damaged."""
    fact_type = FACTS.get(kind)
    if fact_type is None:
        raise StoreError(
            f"The store holds a fact of an unknown kind: {kind}, version {version}.", UPGRADE
        )
    if version > fact_type.version:
        raise StoreError(
            f"The store holds {kind} in version {version};"
            f" this Sightline reads {fact_type.version}.",
            UPGRADE,
        )
    try:
        raw = json.loads(body)
        for step in range(version, fact_type.version):
            raw = UPCASTERS[kind, step](raw)
        return fact_type(*[_unpacked(raw, *field) for field in _fields(fact_type)])
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise StoreError(
            f"A stored {kind}, version {version}, cannot be read: {error}", DAMAGED
        ) from error


def sealed(columns: Row) -> tuple[Any, ...]:
    """Return columns as SQLite stores them, and their checksum."""
    bound = tuple([text(value) if type(value) is str else value for value in columns])
    return *bound, _checksum(bound)


def _checked(row: Row, what: str) -> list[Any]:
    """Return the columns of a sealed row. StoreError where one was changed since. what: the row, for
    the error; {0} stands for its first column."""
    *columns, checksum = row
    if checksum is not None and _checksum(tuple(columns)) != checksum:
        name = what.format(untext(columns[0]))
        raise StoreError(f"{name} is damaged in the store.", DAMAGED)
    return [untext(column) for column in columns]


def _checksum(columns: tuple[Any, ...]) -> int:
    return crc32(repr(columns).encode("utf-8", "surrogatepass"))


def recorded_of(row: Row) -> Recorded:
    """Return the fact of the columns (position, session, kind, version, happened_at, recorded_at,
    body, checksum). StoreError."""
    position, session, kind, version, happened_at, recorded_at, body = _checked(row, "Fact {0}")
    fact = decode(kind, version, body)
    return Recorded(position, session, happened_at, recorded_at, fact)


def event_row(recorded: Recorded) -> tuple[Any, ...]:
    """Return the columns that recorded_of() reads."""
    position, session, happened_at, recorded_at, fact = structs.astuple(recorded)
    kind = type(fact).__name__
    columns = (position, session, kind, fact.version, happened_at, recorded_at, encode(fact))
    return sealed(columns)


def knowledge_row(session: str, state: Knowledge) -> tuple[Any, ...]:
    """Return the columns of the knowledge table."""
    path, belief, via, position, *times, name = structs.astuple(state)
    return session, *sealed((path, name, position, via, *times, *_pack_belief(belief)))


def knowledge_of(row: Row) -> Knowledge:
    """Return Knowledge from the columns after session."""
    what = "What a session knows of {0}"
    path, name, position, via, first, read, edit, start, *belief = _checked(row, what)
    return Knowledge(path, _unpack_belief(belief), via, position, first, read, edit, start, name)


def disk_row(state: DiskFile) -> tuple[Any, ...]:
    """Return the columns of the disk table."""
    path, revision, position, at, cause, *others = structs.astuple(state)
    packed = None if cause is None else compact_json(_pack_cause(cause))
    return sealed((path, revision, position, at, packed, *others))


def disk_of(row: Row) -> DiskFile:
    """Return a DiskFile from its columns."""
    path, revision, position, at, packed, *others = _checked(row, "The last state of {0}")
    cause = None if packed is None else cause_of(packed)
    return DiskFile(path, revision, position, at, cause, *others)


def session_row(state: SessionState) -> tuple[Any, ...]:
    """Return the columns of the sessions table. The position is not among them: the events table
    has it."""
    *columns, _, owner, newest_message = structs.astuple(state)
    return sealed((*columns, owner, newest_message))


def session_of(row: Row) -> SessionState:
    """Return a SessionState from its columns and its newest position."""
    *columns, position = row
    id_, agent, started, parent, ended, turn, model, owner, newest = _checked(
        columns, "The row of session {0}"
    )
    return SessionState(id_, agent, started, parent, ended, turn, model, position, owner, newest)


def claim_row(state: Claim) -> tuple[Any, ...]:
    """Return the columns of the claims table."""
    id_, session, paths, expires_at, exclusive, *others = structs.astuple(state)
    return sealed((id_, session, compact_json(paths), expires_at, int(exclusive), *others))


def claim_of(row: Row) -> Claim:
    """Return a Claim from its columns."""
    id_, session, paths, expires_at, exclusive, *others = _checked(row, "Claim {0}")
    return Claim(id_, session, tuple(json.loads(paths)), expires_at, bool(exclusive), *others)


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


def _pack_cause(cause: Cause) -> list[Any]:
    """Return the fields of a cause, without an evidence of None: 0.1.0 wrote none."""
    values = list(structs.astuple(cause))
    return values if cause.evidence is not None else values[:-1]


def _pack_belief(belief: Belief) -> list[Any]:
    return [belief.text, spans_text(belief.shown), spans_text(belief.held), belief.lines]


def _unpack_belief(raw: list[Any]) -> Belief:
    revision, shown, held, lines = raw
    return Belief(revision, spans_of(shown), spans_of(held), lines)


def _unpack_told(raw: list[Any]) -> Told:
    fields = dict(zip(Told.__struct_fields__, raw, strict=False))  # older ones have fewer fields
    for name in ("hunks", "moved"):
        if fields.get(name) is not None:
            fields[name] = tuple(map(tuple, fields[name]))
    return Told(**fields)


def _pack_structs(values: tuple[Any, ...]) -> list[Any]:
    return [list(structs.astuple(value)) for value in values]


CONVERTERS: Mapping[str, tuple[Convert, Convert]] = {
    "Spans": (spans_text, spans_of),
    "Belief": (_pack_belief, _unpack_belief),
    "Cause": (_pack_cause, lambda raw: Cause(*raw)),
    "tuple[Told, ...]": (_pack_structs, lambda raw: tuple(map(_unpack_told, raw))),
    "tuple[Rewritten, ...]": (_pack_structs, lambda raw: tuple([Rewritten(*r) for r in raw])),
    "tuple[Revision, ...]": (list, tuple),
    "tuple[tuple[str, Revision], ...]": (list, lambda raw: tuple(map(tuple, raw))),
    "tuple[str, ...]": (list, tuple),
    "tuple[int, ...]": (list, tuple),
}
"""Annotation of a field -> its functions that pack and unpack a value. JSON keeps any other field as
it is."""

REQUIRED = object()
"""Stands for the default of a field that has none; equal to no value."""


@cache
def _fields(kind: type[Fact]) -> list[tuple[str, Any, Convert | None, Convert | None]]:
    """Return the name, the default and the two converters of each field of a kind."""
    fields = []
    for field in structs.fields(kind):
        annotation = kind.__annotations__[field.name].removesuffix(" | None")
        default = REQUIRED if field.default is NODEFAULT else field.default
        fields.append((field.name, default, *CONVERTERS.get(annotation, (None, None))))
    return fields


def _unpacked(
    raw: dict[str, Any], field: str, default: Any, _: Convert | None, unpack: Convert | None
) -> Any:
    value = raw.get(field, default)
    if value is REQUIRED:
        raise KeyError(field)
    return unpack(value) if unpack and value is not None and value is not default else value
