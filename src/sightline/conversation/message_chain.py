"""The chain of messages that a session's conversation is, read off the timeline along its branch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct, structs

from sightline.changes.session_context import SessionContext
from sightline.conversation import words
from sightline.conversation.message_codec import message_of
from sightline.errors import StoreError
from sightline.model.events import Condensed, CondenseFailed, Fact, Folded, MessageAppended
from sightline.model.timeline import TURNING, Recorded, branch, turns_at

SAID: list[type[Fact]] = [MessageAppended]
MEANT: list[type[Fact]] = [MessageAppended, Folded, Condensed, CondenseFailed]
"""What a view is made of."""

AT_ONCE = 64
"""Messages that are looked at first for the newest of one side: others may stand between them."""

MOST = 2**62
"""More than a store can count, and may be asked for."""


class Tip(Struct, frozen=True):
    """Where a chain ends. position: of the timeline, as of which this holds; message: the id of
    its newest; formats: those that all its messages may be of."""

    position: int
    message: str | None = None
    formats: tuple[str, ...] = ()


class Followed:
    """The facts of some kinds along a session's branch, as the timeline grows."""

    def __init__(self, ground: SessionContext, kinds: list[type[Fact]]) -> None:
        self._ground = ground
        self._kinds = kinds
        self._position = -1

    def news(self) -> tuple[bool, list[Recorded]]:
        """What came since this was last asked; and whether that is all there is, because the branch
        turned elsewhere, or this was not asked before."""
        store, upto = self._ground.store, self._ground.store.position()
        if self._position >= 0:
            if upto == self._position:
                return False, []
            kinds: list[type[Fact]] = [*self._kinds, *TURNING]
            found = store.timeline(
                session=self._ground.session, kinds=kinds, after=self._position, upto=upto
            )
            new = list(found)
            if not any(turns_at(each.fact) for each in new):
                self._position = upto
                return False, [each for each in new if not isinstance(each.fact, TURNING)]
        self._position = upto
        return True, list(along(self._ground, self._kinds, upto))


def along(
    ground: SessionContext, kinds: list[type[Fact]], upto: int | None = None
) -> Iterator[Recorded]:
    """The facts of a session's branch, in order."""
    last = ground.store.position() if upto is None else upto
    for each in _stretches(ground, last):
        yield from ground.store.timeline(
            session=each.session, kinds=kinds, after=each.after, upto=each.upto
        )


def newest(ground: SessionContext, side: str, count: int) -> list[Recorded]:
    """The newest messages of a chain, oldest first."""
    found: list[Recorded] = []
    for each in reversed(_stretches(ground, ground.store.position())):
        asked = min(max(count, AT_ONCE), MOST)
        while len(found) < count:
            rows = list(
                ground.store.timeline(
                    session=each.session,
                    kinds=SAID,
                    after=each.after,
                    upto=each.upto,
                    newest=asked,
                )
            )
            own = [row for row in rows if side_of(row) == side]
            if len(own) >= count - len(found) or len(rows) < asked:
                found = [*own, *found]
                break
            asked = min(4 * asked, MOST)
        if len(found) >= count:
            break
    return found[max(len(found) - count, 0) :]


def tip(ground: SessionContext, side: str, known: Tip | None) -> Tip:
    """Where a chain ends now. known: as of an earlier position."""
    position = ground.store.position()
    if known is not None:
        if known.position == position:
            return known
        kinds: list[type[Fact]] = [*SAID, *TURNING]
        rows = list(
            ground.store.timeline(session=ground.session, kinds=kinds, after=known.position)
        )
        if not any(turns_at(row.fact) for row in rows):
            own = [row for row in rows if side_of(row) == side]
            return _tip(own[-1], position) if own else structs.replace(known, position=position)
    last = newest(ground, side, 1)
    return _tip(last[-1], position) if last else Tip(position)


def _tip(recorded: Recorded, position: int) -> Tip:
    fact = said(recorded)
    return Tip(max(position, recorded.position), fact.message, fact.formats)


def said(recorded: Recorded) -> MessageAppended:
    """A fact that is known to be of a message."""
    assert isinstance(recorded.fact, MessageAppended)
    return recorded.fact


def side_of(recorded: Recorded) -> str | None:
    """Which chain a fact is of; None where it is of none."""
    return getattr(recorded.fact, "side", None)


def heads(rows: Iterable[Recorded]) -> list[Recorded]:
    """The messages that a conversation begins with before anybody speaks: they always stand."""
    found: list[Recorded] = []
    for row in rows:
        if not isinstance(row.fact, MessageAppended):
            continue
        if row.fact.role != "system":
            break
        found.append(row)
    return found


def read(ground: SessionContext, recorded: Recorded) -> Any:
    """The message of a fact, as its host gave it. StoreError where it is not kept any more."""
    fact = said(recorded)
    if fact.text is None:
        raise StoreError(*words.never_kept(fact.message))
    return message_of(kept(ground, fact.text), fact.media, lambda each: kept(ground, each))


def kept(ground: SessionContext, revision: str) -> bytes:
    """The bytes of a text of the conversation. StoreError."""
    data = ground.store.blob(revision)
    if data is None:
        raise StoreError(*words.not_kept(revision))
    return data


def _stretches(ground: SessionContext, upto: int) -> tuple[Any, ...]:
    def turns_of(session: str) -> list[Recorded]:
        return list(ground.store.timeline(session=session, kinds=list(TURNING)))

    return branch(ground.session, upto, turns_of)
