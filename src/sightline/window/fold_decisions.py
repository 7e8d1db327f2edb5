"""Encode decisions as JSON for the store: blocks are named by message and part, so that a decision
holds wherever the blocks are counted from."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct, convert

from sightline.errors import StoreError
from sightline.messages.blocks import Block, Decision, Fold, Tail
from sightline.window.words import name_of

Place = tuple[str, int]
"""A message's id, and the number of a part of it."""


class Rows(Struct):
    """A decision in JSON. Each row begins with a message and a part; the name of the removed text
    follows in folds and dropped."""

    folds: list[tuple[str, int, str, str, int, str]]
    tails: list[tuple[str, int, int, str]]
    dropped: list[tuple[str, int, str]]

    def places(self) -> set[Place]:
        """Return the places of all rows."""
        rows = {row[:2] for row in self.folds}
        return rows | {row[:2] for row in self.tails} | {row[:2] for row in self.dropped}


def encode_decision(decision: Decision, blocks: Sequence[Block], ids: Sequence[str]) -> bytes:
    """Encode a decision. ids: of the messages to which the blocks belong."""

    def place(number: int) -> Place:
        return ids[blocks[number].message], blocks[number].part

    rows = {
        "folds": [
            [*place(f.block), name_of(blocks[f.block].text), f.tier, f.tokens, f.stub]
            for f in decision.folds
        ],
        "tails": [[*place(tail.after), tail.tokens, tail.text] for tail in decision.tails],
        "dropped": [[*place(n), name_of(blocks[n].text)] for n in decision.dropped],
    }
    text = json.dumps(rows, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass")


def decode_decision(
    data: bytes, places: Mapping[Place, int], known_ids: Callable[[], set[str]]
) -> Decision:
    """Decode a decision. places: of the blocks in the window. known_ids: ids of all messages; rows
    about a message that was summed up since are left out. StoreError for an unknown message."""
    rows = convert(load_json(data), Rows)
    missing = {message for message, part in rows.places() if (message, part) not in places}
    if missing and (strange := missing - known_ids()):
        raise StoreError(
            f"A decision on record is about the message {min(strange)}, which is not in this"
            " conversation.",
            "The store may be damaged, or written by a newer sightline: sightline doctor says"
            " which.",
        )
    return Decision(
        tuple(Fold(places[r[:2]], r[5], r[4], r[3]) for r in rows.folds if r[:2] in places),
        tuple(Tail(places[r[:2]], r[3], r[2]) for r in rows.tails if r[:2] in places),
        tuple(places[r[:2]] for r in rows.dropped if r[:2] in places),
    )


def removed_texts(data: bytes) -> dict[str, Place]:
    """Return the names of the texts that a decision removed from the view, with their places."""
    rows = convert(load_json(data), Rows)
    folds = {row[2]: row[:2] for row in rows.folds}
    return folds | {row[2]: row[:2] for row in rows.dropped}


def load_json(data: bytes) -> Any:
    """Parse JSON from the store, which may hold lone surrogates."""
    return json.loads(data.decode("utf-8", "surrogatepass"))
