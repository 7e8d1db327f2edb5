"""A segment of a recorded conversation, ready to be played: its calls, and what each will need.

What is needed is found once, in the record, and is the same for every policy.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from msgspec import Struct

from sightline.conversation.window.blocks import Block
from sightline.replay.haystack import Haystack, arguments, strings

ANSWERED = frozenset({"thinking", "text", "call"})
"""Kinds of blocks that the model wrote."""


class Need(Struct, frozen=True):
    """A text that the model went by. held: the places of the blocks before it that hold it."""

    text: str
    held: tuple[int, ...]


class Turn(Struct, frozen=True):
    """A call of the model, and its answer. number: from 1 on; first: the place of the answer's
    first block, so that what was sent are the blocks before it; at: UTC microseconds; gap_s: since
    the call before; written: tokens of the answer.

    edits: the texts that it replaces in files; references: what its arguments name; reads: texts
    of files that it reads although they were in the conversation before.
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
    """A segment: from the beginning or a compaction up to the next one. continued: a segment
    of the same session came before it. unfounded: edits whose text stood nowhere before."""

    blocks: tuple[Block, ...]
    turns: tuple[Turn, ...]
    continued: bool = False
    unfounded: int = 0


def recorded(
    blocks: Sequence[Block], times: Sequence[int | None], last_at: int | None = None
) -> Record:
    """A segment's blocks as a record. times: of its messages; last_at: of the last call in the
    segment before it, None where it is the first."""
    hay = Haystack(blocks)
    turns: list[Turn] = []
    unfounded = 0
    at = last_at
    for number, (first, after) in enumerate(_answers(blocks), 1):
        now = times[blocks[first].message]
        gap = None if now is None or at is None else max(now - at, 0) / 1e6
        at = now if now is not None else at
        edits = list(_edits(blocks[first:after], hay, first))
        unfounded += sum(not each.held for each in edits)
        turns.append(
            Turn(
                number,
                first,
                now,
                gap,
                sum(each.tokens for each in blocks[first:after] if each.kind in ANSWERED),
                tuple(each for each in edits if each.held),
                tuple(_references(blocks[first:after], hay, first)),
                tuple(_reads(blocks[first:after], hay, first)),
            )
        )
    return Record(tuple(blocks), tuple(turns), last_at is not None, unfounded)


def _answers(blocks: Sequence[Block]) -> Iterator[tuple[int, int]]:
    """Where each answer begins, and where the next one does: it ends with what came back."""
    firsts = [
        place
        for place, block in enumerate(blocks)
        if block.step > (blocks[place - 1].step if place else 0)
    ]
    return pairwise([*firsts, len(blocks)])


def _edits(answer: Sequence[Block], hay: Haystack, first: int) -> Iterator[Need]:
    for block in answer:
        for each in block.rewrites if block.kind == "call" else ():
            if each.old and not each.old.isspace():
                yield Need(each.old, hay.holders(each.old, first))


def _references(answer: Sequence[Block], hay: Haystack, first: int) -> Iterator[Need]:
    named = [each for block in answer if block.kind == "call" for each in references(block)]
    for each in dict.fromkeys(named):
        if held := hay.holders(each, first):
            yield Need(each, held)


def _reads(answer: Sequence[Block], hay: Haystack, first: int) -> Iterator[Need]:
    for block in answer:
        if block.kind == "result" and block.deed == "read":
            for each in block.excerpts:
                if each.text.strip() and (held := hay.holders(each.text, first)):
                    yield Need(each.text, held)


LONGEST = 400
"""Characters of a reference; what is longer is no reference but content."""

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
    """What the arguments of a call refer to, each once, in the order in which it is named."""
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
