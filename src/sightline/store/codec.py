"""Facts and rows in their stored form: the only room that knows the shapes on disk.

A fact is stored as kind, version and a JSON object. Its keys are the fact's own field names;
fields that have their default are left out, so a new field with a default is no new version,
and a key that is not known here is passed over. Anything else that changes a shape raises the
version of its kind and adds an upcaster below, because old stores are read for ever
(tests/store/fixtures). Line spans are text, "1-200,310-320", in bodies and in columns alike.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from typing import Any

from msgspec import NODEFAULT, structs

from sightline.errors import StoreError
from sightline.model.active_claims import Claim
from sightline.model.events import FACTS, Belief, Cause, Fact, Rewritten, Told
from sightline.model.json_text import compact_json
from sightline.model.projections import DiskFile, Knowledge, SessionState
from sightline.model.revision import Stamp, StatSignature
from sightline.model.spans import Spans
from sightline.model.timeline import Recorded

Row = tuple[Any, ...]
Upcaster = Callable[[dict[str, Any]], dict[str, Any]]
Convert = Callable[[Any], Any]

UPCASTERS: Mapping[tuple[str, int], Upcaster] = {}
"""(kind, n) -> the body of version n as one of version n + 1."""

UPGRADE = "Upgrade sightline: a newer one has written to this store. Nothing was changed."
DAMAGED = "The store was left as it is: copy it to a safe place, and name another with --store."


def encode(fact: Fact) -> str:
    """The JSON body of a fact."""
    body = {}
    for field, default, pack, _ in _plan(type(fact)):
        value = getattr(fact, field)
        if value != default:
            body[field] = value if pack is None or value is None else pack(value)
    return compact_json(body)


def decode(kind: str, version: int, body: str) -> Fact:
    """The fact of a stored body, brought up to the present version of its kind. StoreError."""
    made = FACTS.get(kind)
    if made is None:
        raise StoreError(
            f"The store holds a fact of an unknown kind: {kind}, version {version}.", UPGRADE
        )
    if version > made.version:
        raise StoreError(
            f"The store holds {kind} in version {version}; this sightline knows {made.version}.",
            UPGRADE,
        )
    try:
        raw = json.loads(body)
        for step in range(version, made.version):
            raw = UPCASTERS[kind, step](raw)
        return made(*[_unpacked(raw, *field) for field in _plan(made)])
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise StoreError(
            f"A stored {kind}, version {version}, cannot be read: {error}", DAMAGED
        ) from error


def recorded_of(row: Row) -> Recorded:
    """(position, session, kind, version, happened_at, recorded_at, body) as Recorded."""
    position, session, kind, version, happened_at, recorded_at, body = row
    return Recorded(
        position, untext(session), happened_at, recorded_at, decode(kind, version, body)
    )


def knowledge_row(session: str, state: Knowledge) -> Row:
    """Columns of the knowledge table."""
    belief = state.belief
    return (
        text(session),
        text(state.path),
        state.name if state.name is None else text(state.name),
        state.position,
        text(state.via),
        state.first_seen,
        state.last_read,
        state.last_agent_edit,
        state.first_position,
        belief.text,
        spans_text(belief.shown),
        spans_text(belief.held),
        belief.lines,
    )


def knowledge_of(row: Row) -> Knowledge:
    """Knowledge from the columns after session."""
    path, name, position, via, first, read, edit, start, held_text, shown, held, lines = row
    belief = Belief(held_text, spans_of(shown), spans_of(held), lines)
    return Knowledge(
        untext(path), belief, untext(via), position, first, read, edit, start, untext(name)
    )


def disk_row(state: DiskFile) -> Row:
    """Columns of the disk table."""
    return (
        text(state.path),
        state.revision,
        state.position,
        state.at,
        None if state.cause is None else compact_json(_pack_cause(state.cause)),
        state.mode,
        state.moved_to if state.moved_to is None else text(state.moved_to),
        state.last_external_edit,
    )


def disk_of(row: Row) -> DiskFile:
    """DiskFile from its columns."""
    path, revision, position, at, cause, mode, moved_to, edited = row
    by = None if cause is None else cause_of(cause)
    return DiskFile(untext(path), revision, position, at, by, mode, untext(moved_to), edited)


def session_row(state: SessionState) -> Row:
    """Columns of the sessions table; position is not one, the timeline knows it."""
    who = (text(state.id), text(state.agent), state.started)
    named = (state.parent, state.model, state.owner)
    parent, model, owner = (None if name is None else text(name) for name in named)
    return (*who, parent, state.ended, state.turn, model, owner)


def session_of(row: Row) -> SessionState:
    """SessionState from its columns and its newest position."""
    id_, agent, started, parent, ended, turn, model, owner, position = row
    named = (untext(id_), untext(agent), started, untext(parent))
    return SessionState(*named, ended, turn, untext(model), position, untext(owner))


def claim_row(state: Claim) -> Row:
    """Columns of the claims table."""
    paths = compact_json(list(state.paths))
    times = (state.expires_at, int(state.exclusive), state.taken_at, state.position)
    return (text(state.id), text(state.session), paths, *times)


def claim_of(row: Row) -> Claim:
    """Claim from its columns."""
    id_, session, paths, expires_at, exclusive, taken_at, position = row
    times = (expires_at, bool(exclusive), taken_at, position)
    return Claim(untext(id_), untext(session), tuple(json.loads(paths)), *times)


def stamp_row(path: str, stamp: Stamp) -> Row:
    """Columns of the stamps table. Six numbers are text because a device or an inode may not
    fit a signed 64-bit integer."""
    numbers = " ".join(map(str, structs.astuple(stamp.signature)))
    return text(path), numbers, stamp.revision, stamp.read_at_ns


def stamp_of(row: Row) -> tuple[str, Stamp]:
    """A path and its Stamp, from their columns."""
    path, numbers, revision, read_at_ns = row
    return untext(path), Stamp(StatSignature(*map(int, numbers.split())), revision, read_at_ns)


def text(value: str) -> str | bytes:
    """A string as it can be bound. File names that are no UTF-8 come as lone surrogates, which
    SQLite does not take as text: they are stored as bytes."""
    if value.isascii():
        return value
    try:
        value.encode()
    except UnicodeEncodeError:
        return value.encode("utf-8", "surrogatepass")
    return value


def untext(value: Any) -> Any:
    """The string that text() made storable; None stays None."""
    return value.decode("utf-8", "surrogatepass") if type(value) is bytes else value


@lru_cache(maxsize=4096)
def spans_text(lines: Spans) -> str:
    """((1, 200), (310, 320)) as "1-200,310-320"."""
    return ",".join([f"{first}-{last}" for first, last in lines])


@lru_cache(maxsize=4096)
def spans_of(stored: str) -> Spans:
    """Spans from their text. ValueError."""
    if not stored:
        return ()
    pairs = [part.split("-") for part in stored.split(",")]
    return tuple([(int(first), int(last)) for first, last in pairs])


@lru_cache(maxsize=256)
def cause_of(stored: str) -> Cause:
    """A cause from its column."""
    return Cause(*json.loads(stored))


def _pack_cause(cause: Cause) -> list[Any]:
    """The values of a cause in order; without the evidence where there is none, as older versions
    wrote them."""
    values = list(structs.astuple(cause))
    return values if cause.evidence is not None else values[:-1]


def _pack_belief(belief: Belief) -> list[Any]:
    return [belief.text, spans_text(belief.shown), spans_text(belief.held), belief.lines]


def _unpack_belief(raw: list[Any]) -> Belief:
    believed, shown, held, lines = raw
    return Belief(believed, spans_of(shown), spans_of(held), lines)


def _pack_told(told: tuple[Told, ...]) -> list[Any]:
    return [list(structs.astuple(each)) for each in told]


def _unpack_told(raw: list[Any]) -> tuple[Told, ...]:
    return tuple(map(_told, raw))


def _told(raw: list[Any]) -> Told:
    fields = dict(
        zip(Told.__struct_fields__, raw, strict=False)
    )  # the last came later than the others
    for name in ("hunks", "moved"):
        if fields.get(name) is not None:
            fields[name] = tuple(map(tuple, fields[name]))
    return Told(**fields)


def _pack_changes(changes: tuple[Rewritten, ...]) -> list[Any]:
    return [list(structs.astuple(each)) for each in changes]


CONVERTERS: Mapping[str, tuple[Convert, Convert]] = {
    "Spans": (spans_text, spans_of),
    "Belief": (_pack_belief, _unpack_belief),
    "Cause": (_pack_cause, lambda raw: Cause(*raw)),
    "tuple[Told, ...]": (_pack_told, _unpack_told),
    "tuple[Rewritten, ...]": (_pack_changes, lambda raw: tuple([Rewritten(*each) for each in raw])),
    "tuple[Revision, ...]": (list, tuple),
    "tuple[str, ...]": (list, tuple),
    "tuple[int, ...]": (list, tuple),
}
"""How to pack and unpack a field, by its annotation; JSON keeps the others as they are."""

REQUIRED = object()
"""Stands for the default of a field that has none; equal to no value."""


@cache
def _plan(kind: type[Fact]) -> tuple[tuple[str, Any, Convert | None, Convert | None], ...]:
    """Of each field of a kind: name, default, how to pack it, how to unpack it."""
    fields = []
    for field in structs.fields(kind):
        noted = kind.__annotations__[field.name].removesuffix(" | None")
        pack, unpack = CONVERTERS.get(noted, (None, None))
        default = REQUIRED if field.default is NODEFAULT else field.default
        fields.append((field.name, default, pack, unpack))
    return tuple(fields)


def _unpacked(
    raw: dict[str, Any], field: str, default: Any, _: Convert | None, unpack: Convert | None
) -> Any:
    value = raw.get(field, default)
    if value is REQUIRED:
        raise KeyError(field)
    return unpack(value) if unpack and value is not None and value is not default else value
