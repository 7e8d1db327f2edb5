"""Show a conversation to a person: all messages, with folded and summed-up ones marked."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from msgspec import Struct

from sightline.changes.session_context import SessionContext
from sightline.errors import UnknownName
from sightline.messages import message_chain
from sightline.messages.formats.format import FORMATS
from sightline.model.events import Condensed, Folded, MessageAppended
from sightline.model.spans import Span
from sightline.model.timeline import Recorded
from sightline.model.units import moment
from sightline.window.fold_decisions import load_json, removed_texts
from sightline.window.sent_view import Window


class Displayed(Struct, frozen=True):
    """A message as a person sees it. message: in full, as it was given. folded: the numbers of its
    parts that are stubs in the view; dropped: of parts that are not in the view at all. condensed: a
    summary replaces the message in the view. summary: the message is a summary.

    id: of the message in the log.
    """

    id: str
    message: Any
    at: datetime
    folded: tuple[int, ...] = ()
    dropped: tuple[int, ...] = ()
    condensed: bool = False
    summary: bool = False


def display(window: Window) -> list[Displayed]:
    """Return the messages of a chain, oldest first, with summaries where they were made."""
    folded: dict[str, set[int]] = {}
    dropped: dict[str, set[int]] = {}
    for decision in window.decisions:
        places = [(fold.block, folded) for fold in decision.folds]
        for place, parts in [*places, *((place, dropped) for place in decision.dropped)]:
            block = window.blocks[place]
            parts.setdefault(window.ids[block.message], set()).add(block.part)
    shown = []
    for row in window.rows:
        at, fact = moment(row.happened_at), row.fact
        if isinstance(fact, Condensed):
            message = load_json(message_chain.read_blob(window.context, fact.text or ""))["message"]
            is_replaced = fact.summary not in window.ids
            shown.append(Displayed(fact.summary, message, at, (), (), is_replaced, summary=True))
        elif isinstance(fact, MessageAppended):
            name = fact.message
            message = message_chain.read_message(window.context, row)
            stubs, gone = (tuple(sorted(n.get(name, ()))) for n in (folded, dropped))
            shown.append(Displayed(name, message, at, stubs, gone, name not in window.ids))
    return shown


def expand(context: SessionContext, side: str, name: str, lines: Span | None = None) -> str:
    """Return the folded text with a name, or some of its lines. UnknownName."""
    rows = message_chain.chain_facts(context, side, message_chain.VIEW_FACTS)
    for decided in reversed(rows):
        fact = decided.fact
        if isinstance(fact, (Folded, Condensed)) and fact.text:
            place = removed_texts(message_chain.read_blob(context, fact.text)).get(name)
            row = next((r for r in reversed(rows) if place and _is(r, place[0])), None)
            if place and row and isinstance(row.fact, MessageAppended):
                adapter = FORMATS[row.fact.formats[0]].adapter
                text = adapter.parts(message_chain.read_message(context, row))[place[1]].text
                return text if lines is None else _lines(text, lines)
    raise UnknownName(
        f"No text of the name {name!r} was removed from this conversation.",
        "Give the name that stands behind 'expand' in the stub.",
    )


def _lines(text: str, lines: Span) -> str:
    first, last = lines
    if not 1 <= first <= last:
        raise ValueError(f"lines are (first, last), counted from 1, not {lines}")
    return "\n".join(text.split("\n")[first - 1 : last])


def position_of(context: SessionContext, side: str, message: str, *, before: bool) -> int:
    """Return the last position of the timeline with a message as the newest of its chain; before:
    the last position without the message. UnknownName."""
    own = message_chain.chain_facts(context, side, message_chain.VIEW_FACTS)
    if not any(_is(row, message) for row in own):  # a rewind removed it, which can be taken back
        rows = context.store.timeline(session=context.session, kinds=message_chain.VIEW_FACTS)
        own = [row for row in rows if message_chain.side_of(row) == side]
    places = [number for number, row in enumerate(own) if _is(row, message)]
    if not places:
        raise UnknownName(
            f"There is no message {message!r} in this session's conversation.",
            "append() returns the id of each message, and display() lists them.",
        )
    number = places[-1]
    if before:
        return own[number].position - 1
    while number + 1 < len(own) and not isinstance(own[number + 1].fact, MessageAppended):
        number += 1  # decisions that were made then
    return own[number].position


def _is(row: Recorded, message: str) -> bool:
    return isinstance(row.fact, MessageAppended) and row.fact.message == message
