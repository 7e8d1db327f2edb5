"""Encode decisions as JSON for the store: blocks are named by message and part, so that a decision
holds wherever the blocks are counted from."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sightline.conversation.window.blocks import Block, Decision, Fold, Tail
from sightline.conversation.words import name_of
from sightline.errors import StoreError

Place = tuple[str, int]
"""A message's id, and the number of a part of it."""

SHAPES: dict[str, tuple[type, ...]] = {
    "folds": (str, int, str, str, int, str),
    "tails": (str, int, int, str),
    "dropped": (str, int, str),
}
"""Types of the columns in a decision's JSON. Each row begins with a message and a part; the third
column of folds and dropped is the name of the text."""

RECORD_LISTS = ("typed", "files", "commands")
UNKNOWN_DECISION = "it is no decision that this version knows"


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
    rows = load_json(data)
    missing = {row[0] for name in SHAPES for row in rows[name] if (row[0], row[1]) not in places}
    if missing and (strange := missing - known_ids()):
        raise StoreError(
            f"A decision on record is about the message {min(strange)}, which is not in this"
            " conversation.",
            "The store may be damaged, or written by a newer sightline: sightline doctor says"
            " which.",
        )
    folds, tails, dropped = (
        [(places[row[0], row[1]], row) for row in rows[name] if (row[0], row[1]) in places]
        for name in ("folds", "tails", "dropped")
    )
    return Decision(
        tuple(Fold(number, row[5], row[4], row[3]) for number, row in folds),
        tuple(Tail(number, row[3], row[2]) for number, row in tails),
        tuple(number for number, _ in dropped),
    )


def removed_texts(data: bytes) -> dict[str, Place]:
    """Return the names of the texts that a decision removed from the view, with their places."""
    rows = load_json(data)
    return {row[2]: (row[0], row[1]) for row in (*rows["folds"], *rows["dropped"])}


def message_ids(text: str, *, summary: bool) -> set[str]:
    """Return the ids of the messages in a decision's JSON. summary: the JSON also holds a summary.
    ValueError for JSON of another shape."""
    try:
        decision = json.loads(text)
    except RecursionError:
        decision = None
    if not isinstance(decision, dict) or (summary and not _is_summary(decision)):
        raise ValueError(UNKNOWN_DECISION)
    ids: set[str] = set()
    for name, types in SHAPES.items():
        rows = decision.get(name)
        if not isinstance(rows, list) or not all(_has_types(row, types) for row in rows):
            raise ValueError(UNKNOWN_DECISION)
        ids |= {row[0] for row in rows}
    return ids


def _has_types(row: Any, types: tuple[type, ...]) -> bool:
    return isinstance(row, list) and len(row) == len(types) and all(map(isinstance, row, types))


def _is_summary(decision: dict[str, Any]) -> bool:
    record = decision.get("ledger")
    return (
        bool(decision.get("message"))
        and isinstance(record, dict)
        and all(isinstance(record.get(name), list) for name in RECORD_LISTS)
    )


def load_json(data: bytes) -> Any:
    """Parse JSON from the store, which may hold lone surrogates."""
    return json.loads(data.decode("utf-8", "surrogatepass"))
