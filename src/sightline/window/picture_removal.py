"""Choose the pictures and documents that leave a request which has too many bytes."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from sightline.messages.blocks import Decision, Fold
from sightline.messages.formats.parts import value_at
from sightline.window import words
from sightline.window.sent_view import Window

TIER = "pictures"
"""The rule that chose a picture, in a recorded decision."""


class Removal(NamedTuple):
    """The pictures that go. before, after: bytes of the messages as JSON; target: bytes that were
    aimed at."""

    decision: Decision
    before: int
    after: int
    target: int


def choose_pictures(
    window: Window, limit: int | None, keep: float, spared: Collection[int]
) -> Removal:
    """Choose the pictures that go, the oldest first. An empty decision where there is none.

    limit: bytes that the provider named, of the request or of one picture; keep: the part of them
    that may be used; spared: indexes of the messages whose pictures go last. Where our count of the
    request is below the limit, the limit may be that of one picture: then the pictures above it go;
    else, as without a limit, all that are not spared, else all.
    """
    assert window.format is not None
    sizes = _picture_bytes(window)
    order = sorted(sizes, key=lambda place: (window.blocks[place].message in spared, place))
    before = _bytes(window.sent())
    target = int(keep * (before if limit is None else limit))
    chosen = [place for place, size in sizes.items() if limit is not None and size > limit]
    if limit is not None and before > limit:
        left = before - sum(sizes[place] for place in chosen)
        for place in order:
            if left <= target:
                break
            if place not in chosen:
                chosen.append(place)
                left -= sizes[place]
    elif not chosen:
        chosen = [n for n in order if window.blocks[n].message not in spared] or order
    folds = []
    for place in sorted(chosen):  # the text beside a picture in an answer of a tool stays
        block = window.blocks[place]
        why = words.picture_left_out(block, "the request had too many bytes")
        stub = f"{block.text}\n{why}".strip() if block.kind == "result" else why
        folds.append(Fold(place, stub, window.count(stub), TIER))
    decision = Decision(tuple(folds))
    view = window.format.project(window.messages, window.blocks, [*window.decisions, decision])
    return Removal(decision, before, _bytes(view), target)


def _picture_bytes(window: Window) -> dict[int, int]:
    """Return the places of blocks with pictures that may go, with the bytes of each."""
    assert window.format is not None
    adapter, removed = window.format.adapter, window.removed
    sizes = {}
    for place, block in enumerate(window.blocks):
        if block.kind not in ("image", "document", "result") or block.fixed or place in removed:
            continue
        message = window.messages[block.message]
        part = adapter.parts(message)[block.part]
        if part.pictures:
            sizes[place] = _bytes(value_at(message, part.place)) - _bytes(block.text)
    return sizes


def tried(window: Window, decisions: int) -> int:
    """Return how many of the newest decisions removed pictures for their bytes."""
    newest: Sequence[Decision] = window.decisions[len(window.decisions) - decisions :]
    return sum(any(fold.tier == TIER for fold in decision.folds) for decision in newest)


def _bytes(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False, default=str).encode("utf-8", "surrogatepass"))
