"""Baselines that let the oldest part of the conversation go when the window is nearly full.

A call goes with its results, and all calls of an answer go together. Where a provider wants the
calls of a tool loop to stay, because the model thought in it, stubs stand in their place. Typed
text stays, though the originals hide that too, and so do answers that call nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

from msgspec import structs

from sightline.audit.policies import NOTHING, Ask, Baseline, Setting
from sightline.messages.blocks import Block, Decision

ROO_OUTPUT = 8_192
"""Tokens that Roo keeps free for the answer."""

ANSWERS = frozenset({"text", "thinking", "call", "result"})
"""Kinds of blocks that go with their answer."""


class Truncating(Baseline):
    """The base of the policies that truncate. steps: of which answers calls stand, oldest first; the first
    `spared` answers always stay; full: for each block, whether it is still as it came."""

    spared = 1

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self.full = bytearray()
        self.steps: list[int] = []
        self._of: dict[int, list[int]] = {}
        self._loop = 0
        self._thought = 0

    def add(self, block: Block) -> None:
        """A block came."""
        if block.step > self.spared and block.kind in ANSWERS:
            self._of.setdefault(block.step, []).append(len(self.blocks))
            if block.kind == "call" and self.steps[-1:] != [block.step]:
                self.steps.append(block.step)
        if block.kind == "thinking":
            self._thought = block.step
        elif block.kind not in ANSWERS:
            self._loop = block.step + 1
        self.full.append(1)
        super().add(block)

    def fold(self, places: Iterable[int], stub: Callable[[Block], str]) -> Decision:
        """Fold results to stubs."""
        folded = super().fold(places, stub)
        for fold in folded.folds:
            self.full[fold.block] = 0
        return folded

    def without(self, steps: Collection[int]) -> Decision:
        """Drop these answers, with the results of their calls."""
        held = self._loop if self._thought >= self._loop else len(self.blocks) + 1
        places = [place for step in sorted(steps) for place in self._of[step]]
        dropped = [place for place in places if self.blocks[place].step < held]
        stubs = [
            place
            for place in places
            if self.blocks[place].step >= held
            and self.full[place]
            and _has_stub(self.blocks[place])
        ]
        for place in dropped:
            self.full[place] = 0
        self.steps = [step for step in self.steps if step not in steps]
        gone = set(dropped)
        self.results = [place for place in self.results if place not in gone]
        return structs.replace(self.fold(stubs, _hidden), dropped=tuple(dropped))


def _has_stub(block: Block) -> bool:
    return block.kind in ("call", "result") and not block.fixed


def _hidden(_: Block) -> str:
    return "[hidden]"


class Roo(Truncating):
    """Roo Code's sliding window, without its summary: above 0.9 of the window less the answer's
    room, the older half of the messages is hidden, the first one kept. (core/context-management
    of RooCodeInc/Roo-Code.)"""

    name = "roo"

    def decide(self, ask: Ask) -> Decision:
        """The older half, when it is due."""
        if ask.tokens <= 0.9 * self.setting.window - ROO_OUTPUT:
            return NOTHING
        return self.without(self.steps[: len(self.steps) // 2])


class Cline(Truncating):
    """Cline's classic context manager: near the window's end (40,000 tokens before, or at 0.8),
    older reads of a file that was read again become a note; if that saves less than 30 % of
    all characters, half of the messages go, three quarters where twice the room is used. The
    first exchange stays. (ContextManager.ts of cline/cline.)"""

    name = "cline"
    enough = 0.3

    def decide(self, ask: Ask) -> Decision:
        """Notes in the place of older reads, then truncation."""
        room = max(self.setting.window - 40_000, int(0.8 * self.setting.window))
        if ask.tokens < room:
            return NOTHING
        characters = sum(
            len(block.text) for block, full in zip(self.blocks, self.full, strict=True) if full
        )
        older = self._read_again()
        saved = sum(len(self.blocks[place].text) for place in older)
        noted = self.fold(older, _note)
        if characters and saved / characters >= self.enough:
            return noted
        half = ask.tokens / 2 <= room
        gone = self.without(self.steps[: len(self.steps) * (2 if half else 3) // 4])
        kept = tuple(fold for fold in noted.folds if fold.block not in {*gone.dropped})
        return Decision(folds=(*kept, *gone.folds), dropped=gone.dropped)

    def _read_again(self) -> Sequence[int]:
        newest: set[str] = set()
        older: list[int] = []
        for place in reversed(self.results):
            block = self.blocks[place]
            if block.deed == "read" and block.paths:
                if newest.issuperset(block.paths):
                    older.append(place)
                newest |= {*block.paths}
        return older[::-1]


def _note(_: Block) -> str:
    return (
        "[[NOTE] This file read has been removed to save space in the context window. Refer to "
        "the latest file read for the most up to date version of this file.]"
    )
