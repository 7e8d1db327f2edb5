"""Decisions as they are kept: by message and part, so that they hold wherever the blocks are counted
from."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sightline.conversation import words
from sightline.conversation.window.blocks import Block, Decision, Fold, Tail
from sightline.conversation.words import named
from sightline.errors import StoreError

Where = tuple[str, int]
"""A message's id, and the number of a part of it."""


SHAPES: dict[str, tuple[type, ...]] = {
    "folds": (str, int, str, str, int, str),
    "tails": (str, int, int, str),
    "dropped": (str, int, str),
}
"""What the rows of a decision's JSON hold."""

LEDGER = ("typed", "files", "commands")
NO_DECISION = "it is no decision that this version knows"


def packed(decision: Decision, blocks: Sequence[Block], ids: Sequence[str]) -> bytes:
    """A decision as JSON. ids: of the messages that the blocks are of."""

    def where(place: int) -> Where:
        return ids[blocks[place].message], blocks[place].part

    told = {
        "folds": [
            [*where(each.block), named(blocks[each.block].text), each.tier, each.tokens, each.stub]
            for each in decision.folds
        ],
        "tails": [[*where(each.after), each.tokens, each.text] for each in decision.tails],
        "dropped": [[*where(each), named(blocks[each].text)] for each in decision.dropped],
    }
    text = json.dumps(told, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass")


def unpacked(data: bytes, places: Mapping[Where, int], known: Callable[[], set[str]]) -> Decision:
    """The decision of its JSON. places: of the blocks. known: the ids of all messages: what is about
    one that was summed up meanwhile by another process is left out. StoreError for any other that
    is not there."""
    told = loaded(data)
    named = [(each[0], each[1]) for each in (*told["folds"], *told["tails"], *told["dropped"])]
    lost = [where for where in named if where not in places]
    if lost and (strange := {message for message, _ in lost} - known()):
        raise StoreError(*words.no_such_block(min(strange)))
    return Decision(
        tuple(
            Fold(places[message, part], stub, tokens, tier)
            for message, part, _, tier, tokens, stub in told["folds"]
            if (message, part) in places
        ),
        tuple(
            Tail(places[message, part], text, tokens)
            for message, part, tokens, text in told["tails"]
            if (message, part) in places
        ),
        tuple(
            places[message, part]
            for message, part, _ in told["dropped"]
            if (message, part) in places
        ),
    )


def gone(data: bytes) -> dict[str, Where]:
    """What a decision took away: the name of each text, and where it stands."""
    told = loaded(data)
    found = [(each[2], (each[0], each[1])) for each in (*told["folds"], *told["dropped"])]
    return dict(found)


def about(text: str, *, summary: bool) -> set[str]:
    """The ids of the messages that a decision is about, by its JSON. summary: it is that of a
    summary. ValueError where it is none."""
    try:
        told = json.loads(text)
    except RecursionError:
        told = None
    if not isinstance(told, dict) or (summary and not _is_summary(told)):
        raise ValueError(NO_DECISION)
    found: set[str] = set()
    for name, kinds in SHAPES.items():
        rows = told.get(name)
        if not isinstance(rows, list) or not all(_is_like(row, kinds) for row in rows):
            raise ValueError(NO_DECISION)
        found |= {row[0] for row in rows}
    return found


def _is_like(row: Any, kinds: tuple[type, ...]) -> bool:
    return (
        isinstance(row, list)
        and len(row) == len(kinds)
        and all(isinstance(each, kind) for each, kind in zip(row, kinds, strict=True))
    )


def _is_summary(told: dict[str, Any]) -> bool:
    ledger, message = told.get("ledger"), told.get("message")
    lists = isinstance(ledger, dict) and [ledger.get(name) for name in LEDGER]
    return bool(message) and bool(lists) and all(isinstance(each, list) for each in lists or ())


def loaded(data: bytes) -> Any:
    """What JSON in the store says."""
    return json.loads(data.decode("utf-8", "surrogatepass"))
