"""What baselines share: the blocks so far, and what of them became of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from sightline.conversation.window.blocks import Block, Decision, Fold
from sightline.replay.policies import Ask, Setting

NOTHING = Decision()


class Baseline:
    """A policy that remembers what it did. Typed text and blocks that may never be changed are
    left alone by all of them, which is kind to those whose original does take them.

    blocks: all that came; full: which still stand as they came; tokens: of all blocks as they
    came, with the prefix; results: places of the results that still stand and may be changed.
    """

    name = ""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.blocks: list[Block] = []
        self.full = bytearray()
        self.tokens = setting.prefix
        self.results: list[int] = []

    def add(self, block: Block) -> None:
        """A block came."""
        if block.kind == "result" and not block.fixed:
            self.results.append(len(self.blocks))
        self.blocks.append(block)
        self.full.append(1)
        self.tokens += block.tokens

    def decide(self, ask: Ask) -> Decision:
        """Nothing."""
        return NOTHING

    def fold(self, places: Iterable[int], stub: Callable[[Block], str]) -> Decision:
        """Stubs for these results, where that is not longer than what they say."""
        folds: list[Fold] = []
        for place in places:
            text = stub(self.blocks[place])
            tokens = self.setting.count(text)
            if tokens < self.blocks[place].tokens:
                folds.append(Fold(place, text, tokens, self.name))
                self.full[place] = 0
        gone = {fold.block for fold in folds}
        self.results = [place for place in self.results if place not in gone]
        return Decision(folds=tuple(folds))

    def standing(self) -> Sequence[int]:
        """Places of the results that came and stand, oldest first."""
        return self.results


def removed(_: Block) -> str:
    """The words that stand where a result was."""
    return "[Old tool result content cleared]"


def shuffled(places: Sequence[int]) -> Sequence[int]:
    """In an order that says nothing, the same in every run (Knuth's multiplicative hash)."""
    return sorted(places, key=lambda place: place * 2_654_435_761 % (1 << 32))
