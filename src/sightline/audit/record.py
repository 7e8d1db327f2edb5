"""A segment of a recorded conversation, ready to be played: its calls and the texts that each uses.

The needs of a call are computed once from the record and are the same for every policy.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from json import loads
from typing import Any

from msgspec import Struct

from sightline.messages.blocks import Block


class Need(Struct, frozen=True):
    """A text that the model used. holders: places of the earlier blocks that contain it."""

    text: str
    holders: tuple[int, ...]


class Turn(Struct, frozen=True):
    """A call of the model, and its answer. number: from 1; first: the place of the answer's first
    block, so the blocks before it were sent; at: UTC microseconds; gap_s: seconds since the previous
    call; written: tokens of the answer.

    edits: the texts that the answer replaces in files; references: the names in its arguments;
    reads: texts of files that it reads although the conversation contained them.
    """

    number: int
    first: int
    at: int | None
    gap_s: float | None
    written: int
    edits: tuple[Need, ...] = ()
    references: tuple[Need, ...] = ()
    reads: tuple[Need, ...] = ()


class Record(Struct, frozen=True):
    """A segment: from the beginning or a compaction up to the next compaction. continued: another
    segment of the session precedes it. unfounded: edits whose text stood nowhere before."""

    blocks: tuple[Block, ...]
    turns: tuple[Turn, ...]
    continued: bool = False
    unfounded: int = 0


def build_record(
    blocks: Sequence[Block], times: Sequence[int | None], last_at: int | None = None
) -> Record:
    """Return the record of a segment's blocks. times: of its messages; last_at: time of the last call
    in the previous segment, None for the first segment. Times are UTC microseconds."""
    hay = Haystack(blocks)
    turns: list[Turn] = []
    unfounded = 0
    at = last_at
    firsts = [
        place
        for place, block in enumerate(blocks)
        if block.step > (blocks[place - 1].step if place else 0)
    ]
    for number, (first, after) in enumerate(pairwise([*firsts, len(blocks)]), 1):
        answer = blocks[first:after]
        calls = [block for block in answer if block.kind == "call"]
        now = times[blocks[first].message]
        gap = None if now is None or at is None else max(now - at, 0) / 1e6
        at = now if now is not None else at
        replaced = [
            rewrite.old
            for block in calls
            for rewrite in block.rewrites
            if rewrite.old and not rewrite.old.isspace()
        ]
        edits = hay.needs(replaced, first)
        unfounded += len(replaced) - len(edits)
        read = [
            part.text
            for block in answer
            if block.kind == "result" and block.deed == "read"
            for part in block.excerpts
            if part.text.strip()
        ]
        names = dict.fromkeys(name for block in calls for name in references(block))
        turns.append(
            Turn(
                number,
                first,
                now,
                gap,
                sum(b.tokens for b in answer if b.kind in ("thinking", "text", "call")),
                edits,
                hay.needs(names, first),
                hay.needs(read, first),
            )
        )
    return Record(tuple(blocks), tuple(turns), last_at is not None, unfounded)


LONGEST = 400
"""Characters of a reference; a longer text is content."""

_PATTERN = re.compile(
    r"""(?P<url>https?://[^\s"'<>)\]}`\\]+)
      | (?P<path>(?:[A-Za-z]:)?(?:[\w.@~+-]*[/\\])+[\w.@+-]*\w)
      | (?P<hash>\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,64}\b)
      | (?P<word>\b[A-Za-z_]\w{13,}\b)""",
    re.VERBOSE | re.ASCII,
)
_ERROR = re.compile(r"^.*(?:Error|Exception|error|FAILED|panic):.*$", re.MULTILINE)

SHORTEST = {"url": 10, "path": 6, "hash": 7, "word": 14}


def references(call: Block) -> list[str]:
    """Return the paths, URLs, hashes, long names and error lines in a call's arguments, each once."""
    found: dict[str, None] = {}
    for text in strings(arguments(call)):
        for match in _PATTERN.finditer(text):
            if SHORTEST[match.lastgroup or "url"] <= len(match[0]) <= LONGEST:
                found[match[0]] = None
        for match in _ERROR.finditer(text):
            line = match[0].strip()
            if SHORTEST["word"] <= len(line) <= LONGEST:
                found[line] = None
    return list(found)


BETWEEN = "\0"
"""Separates texts, so that no match spans two of them."""


class Haystack:
    """The texts of a segment's blocks, joined into one string for searching."""

    def __init__(self, blocks: Sequence[Block]) -> None:
        texts = [searchable(block) for block in blocks]
        self._text = BETWEEN.join(texts)
        self._starts = [0, *accumulate(len(text) + len(BETWEEN) for text in texts)][:-1]
        self._holders: dict[str, tuple[int, ...]] = {}

    def needs(self, texts: Iterable[str], before: int) -> tuple[Need, ...]:
        """Return those of the texts that a block before this place contains, with its holders."""
        needs = (Need(text, self.holders(text, before)) for text in texts)
        return tuple(need for need in needs if need.holders)

    def holders(self, needle: str, before: int) -> tuple[int, ...]:
        """Return the places of the blocks that contain a text, ascending, below a place."""
        if needle not in self._holders:
            self._holders[needle] = tuple(self._search(needle))
        places = self._holders[needle]
        return places[: bisect_left(places, before)]

    def _search(self, needle: str) -> Iterator[int]:
        at = self._text.find(needle)
        while at >= 0:
            place = bisect_right(self._starts, at) - 1
            yield place
            if place + 1 == len(self._starts):
                return
            at = self._text.find(needle, self._starts[place + 1])


def searchable(block: Block) -> str:
    """Return all text of a block that the model can read: its text, the arguments of a call without
    JSON, and excerpts of files without line numbers."""
    texts = [block.text]
    if block.kind == "call":
        texts += strings(arguments(block))
    texts += [part.text for part in block.excerpts]
    for rewrite in block.rewrites:
        texts += [rewrite.old or "", rewrite.new]
    return BETWEEN.join(dict.fromkeys(texts))


def arguments(block: Block) -> Any:
    """Return a call's arguments; its text where that is not JSON."""
    try:
        return loads(block.text)
    except (ValueError, RecursionError):
        return block.text


def strings(value: Any) -> Iterator[str]:
    """Yield all strings in a JSON value, at any depth; not the names of fields."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from strings(inner)
