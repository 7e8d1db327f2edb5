"""The conversation as a person sees it: all of it, with what is folded or summed up marked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from msgspec import Struct

from sightline.changes.authors import moment
from sightline.changes.session_context import SessionContext
from sightline.conversation import fold_decisions, message_chain, words
from sightline.conversation.formats.format import FORMATS
from sightline.conversation.sent_view import Window
from sightline.errors import UnknownName
from sightline.model.events import Condensed, Folded, MessageAppended
from sightline.model.timeline import Recorded


class Displayed(Struct, frozen=True):
    """A message as a person sees it. message: in full, as it was given. folded: the numbers of its
    parts that are stubs in the view; dropped: of those that are not in it at all. condensed: a
    summary stands for it in the view. summary: it is one."""

    id: str
    message: Any
    at: datetime
    folded: tuple[int, ...] = ()
    dropped: tuple[int, ...] = ()
    condensed: bool = False
    summary: bool = False


def display(ground: SessionContext, window: Window) -> list[Displayed]:
    """A chain, oldest message first; summaries where they were made."""
    folded: dict[str, set[int]] = {}
    dropped: dict[str, set[int]] = {}
    for decision in window.decisions:
        for places, found in (
            ([fold.block for fold in decision.folds], folded),
            (decision.dropped, dropped),
        ):
            for place in places:
                block = window.blocks[place]
                found.setdefault(window.ids[block.message], set()).add(block.part)
    return [
        _displayed(ground, row, window.ids, folded, dropped)
        for row in window.rows
        if isinstance(row.fact, (MessageAppended, Condensed))
    ]


def _displayed(
    ground: SessionContext,
    row: Recorded,
    standing: Sequence[str],
    folded: dict[str, set[int]],
    dropped: dict[str, set[int]],
) -> Displayed:
    at = moment(row.happened_at)
    if isinstance(row.fact, Condensed):
        told = fold_decisions.loaded(message_chain.kept(ground, row.fact.text or ""))
        stands = row.fact.summary in standing
        return Displayed(row.fact.summary, told["message"], at, (), (), not stands, summary=True)
    name = message_chain.said(row).message
    stubs, left_out = (tuple(sorted(found.get(name, ()))) for found in (folded, dropped))
    condensed = name not in standing
    return Displayed(name, message_chain.read(ground, row), at, stubs, left_out, condensed)


def expand(ground: SessionContext, side: str, name: str) -> str:
    """The text of a name that stands in a stub. UnknownName."""
    rows = list(message_chain.along(ground, message_chain.MEANT))
    where = next(
        (
            found[name]
            for data in _decided(ground, rows, side)
            if name in (found := fold_decisions.gone(data))
        ),
        None,
    )
    if where is None:
        raise UnknownName(*words.nothing_to_expand(name))
    message, part = where
    for row in reversed(rows):
        if isinstance(row.fact, MessageAppended) and row.fact.message == message:
            adapter = FORMATS[row.fact.formats[0]].adapter
            return adapter.parts(message_chain.read(ground, row))[part].text
    raise UnknownName(*words.nothing_to_expand(name))


def _decided(ground: SessionContext, rows: Sequence[Recorded], side: str) -> Iterator[bytes]:
    """The decisions of a chain, newest first."""
    for row in reversed(rows):
        if isinstance(row.fact, (Folded, Condensed)) and row.fact.side == side and row.fact.text:
            yield message_chain.kept(ground, row.fact.text)


def position_of(ground: SessionContext, side: str, message: str, *, before: bool) -> int:
    """Where the timeline stood when a message was the newest of its chain, with what was decided
    then; before: when it was not there yet. UnknownName."""
    rows = list(message_chain.along(ground, message_chain.MEANT))
    own = [row for row in rows if message_chain.side_of(row) == side]
    if not any(_is(row, message) for row in own):  # a rewind went behind it: that can be taken back
        every = ground.store.timeline(session=ground.session, kinds=message_chain.MEANT)
        own = [row for row in every if message_chain.side_of(row) == side]
    places = [n for n, row in enumerate(own) if _is(row, message)]
    if not places:
        raise UnknownName(*words.no_message(message))
    at = places[-1]
    if before:
        return own[at].position - 1
    while at + 1 < len(own) and not isinstance(own[at + 1].fact, MessageAppended):
        at += 1
    return own[at].position


def _is(row: Recorded, message: str) -> bool:
    return isinstance(row.fact, MessageAppended) and row.fact.message == message
