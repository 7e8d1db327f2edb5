"""Read a session's chain of messages from the timeline, along the session's branch, and append
messages: each behind the newest one, in one transaction with its pictures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import chain
from typing import Any

from msgspec import Struct, structs

from sightline.changes.session_context import SessionContext
from sightline.errors import StoreConflict, StoreError
from sightline.messages.formats.format import FORMATS, ORDER, describe_mismatch
from sightline.messages.formats.parts import Part, parts_of
from sightline.messages.message_codec import NOT_RECORDED, check_structure, decode, encode
from sightline.model.events import (
    Condensed,
    CondenseFailed,
    Fact,
    Folded,
    MessageAppended,
    RequestMeasured,
)
from sightline.model.revision import revision_of
from sightline.model.timeline import TURNING, Recorded, Stretch, branch, turns_at
from sightline.store.port import Append

MESSAGES: list[type[Fact]] = [MessageAppended]
VIEW_FACTS: list[type[Fact]] = [
    *(MessageAppended, Folded, Condensed, CondenseFailed, RequestMeasured)
]
"""The facts from which a view follows."""

BATCH = 64
"""Messages that are read first when looking for the newest of one side: others may stand between."""

BATCH_MAX = 2**62
"""The largest number of rows that a store can be asked for."""


class Tip(Struct, frozen=True):
    """The end of a chain as of a position of the timeline. message: id of the newest message;
    formats: names of the formats that fit all messages of the chain."""

    position: int
    message: str | None = None
    formats: tuple[str, ...] = ()


class BranchFollower:
    """Reads the facts of some kinds along a session's branch as the timeline grows."""

    def __init__(self, context: SessionContext, kinds: list[type[Fact]]) -> None:
        self._context = context
        self._kinds = kinds
        self._position = -1

    def poll(self) -> tuple[bool, list[Recorded]]:
        """Return whether the reader has to start over, and the facts: the new ones, or all of them
        when starting over. That is so at first, and after a rewind or a fork."""
        store, session = self._context.store, self._context.session
        start, end = self._position, store.position()
        self._position = end
        if start == end:
            return False, []
        if start >= 0:
            kinds: list[type[Fact]] = [*self._kinds, *TURNING]
            new = list(store.timeline(session=session, kinds=kinds, after=start, upto=end))
            if not any(turns_at(row.fact) for row in new):
                return False, [row for row in new if not isinstance(row.fact, TURNING)]
        return True, list(branch_facts(self._context, self._kinds, end))


def branch_facts(
    context: SessionContext, kinds: list[type[Fact]], upto: int | None = None, *, after: int = 0
) -> Iterator[Recorded]:
    """Return the facts of some kinds along a session's branch, oldest first. after: only those
    behind this position."""
    end = context.store.position() if upto is None else upto
    stretches = branch_of(context, end, after=after)
    rows = chain.from_iterable(_stretch_facts(context, each, kinds) for each in stretches)
    if MessageAppended not in kinds:
        return rows
    newest = _newest_in(context, stretches)
    return _unbroken(rows, newest.position if newest else 0)


def newest_facts(context: SessionContext, kinds: list[type[Fact]], count: int) -> list[Recorded]:
    """Return the last facts of some kinds along a session's branch, oldest first."""
    newest: list[Recorded] = []
    for stretch in reversed(branch_of(context, context.store.position())):
        newest = [*_stretch_facts(context, stretch, kinds, count - len(newest)), *newest]
    return newest


def _newest_in(context: SessionContext, stretches: Sequence[Stretch]) -> Recorded | None:
    """Return the session's newest message by its own row, not by an index that may have lost it;
    None where the last stretch does not reach it."""
    state = context.store.session(context.session)
    at = state.newest_message if state else 0
    if not any(each.after < at <= each.upto for each in stretches[-1:]):
        return None
    return next(iter(context.store.timeline(after=at - 1, upto=at)), None)


def _unbroken(rows: Iterable[Recorded], newest: int, *, whole: bool = True) -> Iterator[Recorded]:
    """Yield the rows. StoreError where a message is missing between them, or the one at the position
    `newest`. whole: the rows begin with the conversation."""
    tips: dict[str, str | None] = {"": None} if whole else {}
    last = 0
    for row in rows:
        if isinstance(fact := row.fact, MessageAppended):
            before, last = tips.get(fact.side, fact.parent), row.position
            if fact.text is not None and before != fact.parent:
                raise _missing(f"before fact {row.position}")
            tips[fact.side] = fact.message
        yield row
    if last < newest:
        raise _missing(f"at fact {newest}")


def _missing(where: str) -> StoreError:
    return StoreError(
        f"A message of this conversation is missing in the store, {where}.",
        "The store is damaged and was left as it is: copy it to a safe place. 'sightline doctor'"
        " says what else is damaged.",
    )


def chain_facts(context: SessionContext, side: str, kinds: list[type[Fact]]) -> list[Recorded]:
    """Return the facts of some kinds about one chain, oldest first."""
    return [row for row in branch_facts(context, kinds) if side_of(row) == side]


def newest_messages(context: SessionContext, side: str, count: int) -> list[Recorded]:
    """Return the newest messages of a chain, oldest first. count: 1 or more."""
    newest: list[Recorded] = []
    stretches = branch_of(context, context.store.position())
    for stretch in reversed(stretches):
        for limit in (min(max(count, BATCH), BATCH_MAX), None):
            rows = list(_stretch_facts(context, stretch, MESSAGES, limit))
            own = [row for row in rows if side_of(row) == side]
            if limit is None or len(rows) < limit or len(own) + len(newest) >= count:
                break
        newest = [*own, *newest]
        if len(newest) >= count:
            break
    tip = _newest_in(context, stretches)
    at = tip.position if tip and side_of(tip) == side else 0
    return list(_unbroken(newest[-count:], at, whole=len(newest) < count))


def _stretch_facts(
    context: SessionContext, stretch: Stretch, kinds: list[type[Fact]], newest: int | None = None
) -> Iterable[Recorded]:
    session, after, upto = stretch.session, stretch.after, stretch.upto
    return context.store.timeline(
        session=session, kinds=kinds, after=after, upto=upto, newest=newest
    )


def find_tip(context: SessionContext, side: str, known: Tip | None) -> Tip:
    """Return the current end of a chain. known: the end as of an earlier position."""
    position = context.store.position()
    if known is not None:
        if known.position == position:
            return known
        kinds: list[type[Fact]] = [*MESSAGES, *TURNING]
        new = context.store.timeline(session=context.session, kinds=kinds, after=known.position)
        rows = list(new)
        if not any(turns_at(row.fact) for row in rows):
            own = [row for row in rows if side_of(row) == side]
            return _tip(own[-1], position) if own else structs.replace(known, position=position)
    newest = newest_messages(context, side, 1)
    return _tip(newest[-1], position) if newest else Tip(position)


def _tip(row: Recorded, position: int) -> Tip:
    fact = message_fact(row)
    return Tip(max(position, row.position), fact.message, fact.formats)


def message_fact(row: Recorded) -> MessageAppended:
    """Return the fact of a message's row."""
    assert isinstance(row.fact, MessageAppended)
    return row.fact


def side_of(row: Recorded) -> str | None:
    """Return the name of a fact's chain; None for a fact of no chain."""
    return getattr(row.fact, "side", None)


def leading_system(rows: Iterable[Recorded]) -> list[Recorded]:
    """Return the system messages at the beginning of a conversation, which are always sent."""
    system: list[Recorded] = []
    for row in rows:
        if not isinstance(row.fact, MessageAppended):
            continue
        if row.fact.role != "system":
            break
        system.append(row)
    return system


def read_message(context: SessionContext, row: Recorded) -> Any:
    """Return the message of a fact as its host gave it. StoreError for a text that is not
    stored."""
    fact = message_fact(row)
    if fact.text is None:
        raise StoreError(
            f"The message {fact.message} was recorded without its text.",
            "Take the conversation from its host, or from a file that was saved.",
        )
    text = read_blob(context, fact.text)
    return decode(text, fact.media, lambda revision: read_blob(context, revision))


def read_blob(context: SessionContext, revision: str) -> bytes:
    """Return the bytes of a text of the conversation. StoreError."""
    data = context.store.blob(revision)
    if data is None:
        raise StoreError(
            f"A text of this conversation, {revision[:12]}, is not kept any more.",
            "It was purged, or the store is damaged: sightline doctor says which.",
        )
    return data


def branch_of(context: SessionContext, upto: int, *, after: int = 0) -> tuple[Stretch, ...]:
    """Return the stretches of a session's branch up to a position, oldest first. after: only what
    stands behind this position."""

    def turns_of(session: str) -> list[Recorded]:
        return list(context.store.timeline(session=session, kinds=list(TURNING)))

    return tuple(
        structs.replace(each, after=max(each.after, after))
        for each in branch(context.session, upto, turns_of)
        if each.upto > after
    )


# --- append

TRIES = 50
"""Attempts to append while others write at the same time, before waiting for a lock."""


def append_newest(
    context: SessionContext,
    message: Any,
    known: Tip | None,
    *,
    side: str,
    root: str | None,
    at: int | None,
) -> Tip:
    """Append a message behind the newest one, whoever wrote that; return the new tip. known: the
    tip as of an earlier position. ValueError."""
    tip = known or find_tip(context, side, None)
    for _ in range(TRIES):
        try:
            return append_behind(context, message, tip, side=side, root=root, at=at)
        except StoreConflict:
            tip = find_tip(context, side, tip)
    with context.workspace.lock(f"conversation of {context.session}"):
        tip = find_tip(context, side, tip)
        return append_behind(context, message, tip, side=side, root=root, at=at)


def append_behind(
    context: SessionContext, message: Any, tip: Tip, *, side: str, root: str | None, at: int | None
) -> Tip:
    """Append a message behind a tip; return the new tip. root: parent of the first message of a
    side chain; at: UTC microseconds. ValueError, and nothing recorded, for a message that does not
    fit this conversation; StoreConflict when the session went on after the tip."""
    formats, parts = _formats_of(message, tip.formats)
    role = FORMATS[formats[0]].adapter.role(message)
    if role == "user" and all(part.kind == "result" for part in parts):
        role = "tool"
    parent = tip.message or root
    encoded = encode(message, parent)
    blobs = [encoded.text, *encoded.media]
    text, *media = map(revision_of, blobs)
    fact = MessageAppended(encoded.id, parent, role, text, side, formats, tuple(media))
    [recorded] = context.store.append(
        Append(
            context.session,
            [fact],
            at=context.clock(),
            happened_at=at,
            texts=dict(zip([text, *media], blobs, strict=True)),
            column=tip.position,
        )
    )
    return Tip(recorded.position, encoded.id, formats)


def microseconds(at: datetime) -> int:
    """Convert an aware time to UTC microseconds since 1970. ValueError."""
    if at.tzinfo is None:
        raise ValueError(f"{at} does not say in which time zone; give an aware time")
    return round(at.timestamp() * 1_000_000)


def _formats_of(message: Any, before: tuple[str, ...]) -> tuple[tuple[str, ...], list[Part]]:
    """Return the formats that fit a message and the messages before it, and the message's parts in
    the first of these formats. ValueError."""
    if not isinstance(message, dict):
        kind = type(message).__name__
        raise ValueError(  # noqa: TRY004 - as for any other message of no format
            f"a message is a mapping, as its provider has it in JSON, not {kind}. {NOT_RECORDED}"
        )
    check_structure(message)
    formats: list[str] = []
    first: list[Part] = []
    for name in before or ORDER:
        try:
            parts = parts_of(FORMATS[name].adapter, 0, message)
        except ValueError:
            continue
        first = first if formats else parts
        formats.append(name)
    if not formats:
        raise ValueError(f"the message is {describe_mismatch(message, before)}. {NOT_RECORDED}")
    return tuple(formats), first
