"""Folding: which blocks become stubs, decided before each of the model's answers.

Blocks come one by one and decisions are final, so a view never changes but by a new decision. A
clear makes the provider read the rest of the window anew; so nothing is folded below the soft
budget, and above it all that may go goes at once, when it is enough to be worth that.

What may go is a matter of leases. A file's text stays while the agent is at work on it: for some
answers after it last read or edited it, and as long as the user or a plan names it and it was not
edited yet. The text of a command, a search or a listing goes once newer results stand after it:
these can be had again.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from math import inf
from typing import Literal

from msgspec import Struct

from sightline.conversation.window.blocks import Block, Decision, Fold
from sightline.conversation.window.file_index import FILES, Files
from sightline.conversation.window.prices import USUAL, Prices, least_clear

Tier = Literal["superseded", "again", "untouched", "input", "other", "forced"]
Stub = Callable[[Block, bool], str]
"""The words in place of a block; whether the agent changed its file since."""
Count = Callable[[str], int]

AGAIN = ("search", "list", "run", "web")


class Rules(Struct, frozen=True):
    """When what goes. soft, hard: tokens of the whole window; below soft nothing is done, above
    hard (None: nobody knows it) whatever must. keep: newest results that stay. read, edited: the
    lease of a file that was read, or edited, in answers since it was last touched. other: of what
    cannot be had again. named: a file that a person or a plan names stays until it was edited.
    least: tokens below which a block is not worth a stub. views: a clear shows files that were
    edited once as they are now, in place of all that showed them (conversation.window.rebase)."""

    name: str = "default"
    soft: int = 40_000
    hard: int | None = None
    keep: int = 4
    read: int = 8
    edited: int = 8
    other: int = 12
    named: bool = True
    least: int = 120
    views: bool = True


DEFAULT = Rules()
CAREFUL = Rules("careful", read=24, edited=16, other=40)
STUB = 50
"""Tokens of a stub, about: what it really takes is counted when it is made."""

SLACK = 0.1
"""Part of the hard budget by which a forced clear goes below it."""

COLD = 4_000
"""Tokens that are worth clearing while the cache is cold: then all is read anew anyway."""


class Folding:
    """The folder of one conversation. count: tokens of a text; stub: the words for a block."""

    def __init__(self, rules: Rules, count: Count, stub: Stub, prices: Prices = USUAL) -> None:
        self.rules = rules
        self._prices = prices
        self._count = count
        self._stub = stub
        self._blocks: list[Block] = []
        self._open: list[int] = []
        self._results: list[int] = []
        self._thoughts: list[int] = []
        self._spoken = 0
        self._sizes: list[int] = []
        self._due: list[float] = []
        self._total = 0
        self._answered: set[str] = set()
        self._waiting: dict[str, list[int]] = {}
        self._files = Files()

    def add(self, block: Block) -> None:
        """The next block of the conversation."""
        place = len(self._blocks)
        self._blocks.append(block)
        self._sizes.append(block.tokens)
        self._due.append(0)
        self._total += block.tokens
        for earlier in self._files.add(place, block):
            self._due[earlier] = 0
        if block.kind == "user":
            self._spoken = place
        if block.loose:
            self._thoughts.append(place)
        if block.kind == "result":
            self._results.append(place)
            if block.call is not None:
                self._answer(block.call)
        elif block.kind == "call" and block.call is not None:
            self._waiting.setdefault(block.call, []).append(place)
        foldable = block.kind in ("result", "call") and not block.fixed and block.deed != "plan"
        if foldable and block.tokens >= self.rules.least:
            self._open.append(place)

    def _answer(self, call: str) -> None:
        self._answered.add(call)
        for place in self._waiting.pop(call, ()):
            self._due[place] = 0

    def taken(self, decision: Decision) -> None:
        """A decision that was made before, as it is on record."""
        sizes = {fold.block: fold.tokens for fold in decision.folds}
        sizes |= dict.fromkeys(decision.dropped, 0)
        for place, tokens in sizes.items():
            self._sizes[place] = tokens
        gone = sizes.keys()
        self._open = [place for place in self._open if place not in gone]
        self._thoughts = [place for place in self._thoughts if place not in gone]
        self._files.fold(gone)

    def decide(self, tokens: int, idle_s: float = 0.0) -> Decision:
        """What is folded now. tokens: of the window as it stands; idle_s: since the last answer."""
        rules = self.rules
        if rules.hard is not None and tokens > rules.hard:
            made = self._forced(tokens - rules.hard, int(rules.hard * SLACK))
            self.taken(made)
            return made
        if tokens <= rules.soft:
            return Decision()
        cold = self._prices.cached and idle_s > self._prices.ttl_s
        going = dict(self._eligible())
        thoughts = self._thought()
        back = sum(self._blocks[place].tokens for place in (*going, *thoughts)) - STUB * len(going)
        first = min((*going, *thoughts), default=0)
        if back <= 0 or back < (COLD if cold else self._least(first, back)):
            return Decision()
        folds = (self._folded(place, tier) for place, tier in going.items())
        made = Decision(tuple(fold for fold in folds if fold is not None), dropped=thoughts)
        self.taken(made)
        return made

    def _thought(self) -> tuple[int, ...]:
        """Thinking about what the user said before the last time."""
        return tuple(self._thoughts[: bisect_left(self._thoughts, self._spoken)])

    def _least(self, first: int, back: int) -> int:
        """What a clear from a block on has to get back, when it gets back so much."""
        return least_clear(self._prices, self._sizes, first, back, self._total, self._step)

    def _eligible(self) -> Iterator[tuple[int, Tier]]:
        before, step, due = self._cut(self.rules.keep), self._step, self._due
        for place in self._open:
            if place >= before:
                return
            if due[place] <= step:
                why = self._why(place)
                if isinstance(why, str):
                    yield place, why
                else:
                    due[place] = why

    @property
    def _step(self) -> int:
        return self._blocks[-1].step if self._blocks else 0

    def _cut(self, keep: int) -> int:
        """The place from which on all stays."""
        if not keep:
            return len(self._blocks)
        return self._results[-keep] if len(self._results) >= keep else 0

    def _why(self, place: int) -> Tier | float:
        """Why a block may go. While it may not, the first answer before which it might, unless more
        comes to be known of it."""
        block, files = self._blocks[place], self._files
        if block.kind == "call":
            return self._why_input(place, block)
        if block.deed in FILES and files.of(block):
            superseded = files.superseded(place, block)
            return "superseded" if superseded else self._from(self._leased(block), "untouched")
        if block.deed in AGAIN:
            return "again"
        return self._from(block.step + self.rules.other, "other")

    def _why_input(self, place: int, block: Block) -> Tier | float:
        """What a call was given: never while it waits for its result, nor the newest text that the
        agent gave a file."""
        if self._waits(place) or not (block.rewrites or block.deed in AGAIN):
            return inf
        if block.rewrites:
            newest = self._files.newest_write(place, block)
            return inf if newest else self._from(self._leased(block), "input")
        return "input"

    def _from(self, leased: float, tier: Tier) -> Tier | float:
        return tier if self._step > leased else leased + 1

    def _leased(self, block: Block) -> float:
        """The last answer of the leases of all files that it is about."""
        files, rules = self._files, self.rules
        last = 0
        for path in files.of(block):
            edited = path in files.edited
            if rules.named and not edited and path in files.named:
                return inf
            last = max(last, files.touched.get(path, 0) + (rules.edited if edited else rules.read))
        return last

    def _folded(self, place: int, tier: Tier) -> Fold | None:
        """A block's fold; None where its stub is no shorter."""
        block = self._blocks[place]
        words = self._stub(block, self._files.changed_since(place, block))
        tokens = self._count(words)
        return Fold(place, words, tokens, tier) if tokens < block.tokens else None

    def _forced(self, over: int, slack: int) -> Decision:
        """What goes because the window is too small: first what may go anyway, then the oldest,
        then ever newer results, until it fits. over: tokens that are too many; slack: how many
        more go, so that the next answers do not force it again."""
        folds: dict[int, Fold] = {}
        thoughts = self._thought()
        over -= sum(self._blocks[place].tokens for place in thoughts)
        for place, tier in self._in_need():
            if over + slack <= 0 and tier == "forced":
                break
            fold = None if place in folds else self._folded(place, tier)
            if fold is not None:
                folds[place] = fold
                over -= self._freed(fold)
        if over > 0:
            folds |= self._last(over)
        return Decision(tuple(folds[place] for place in sorted(folds)), dropped=thoughts)

    def _last(self, over: int) -> dict[int, Fold]:
        """The folds of the last result and what stands after it, where that makes the window fit:
        nobody saw it yet, but the call would fail."""
        last = [place for place in self._open if place >= self._cut(1) and not self._waits(place)]
        folds = [fold for fold in (self._folded(place, "forced") for place in last) if fold]
        fits = sum(map(self._freed, folds)) >= over
        return {fold.block: fold for fold in folds} if fits else {}

    def _freed(self, fold: Fold) -> int:
        return self._blocks[fold.block].tokens - fold.tokens

    def _in_need(self) -> Iterator[tuple[int, Tier]]:
        """What may go in order of how little it is missed."""
        yield from self._eligible()
        for keep in (self.rules.keep, 1):
            for place in self._open:
                if place < self._cut(keep) and not self._waits(place):
                    yield place, "forced"

    def _waits(self, place: int) -> bool:
        """Whether a call has no result yet."""
        block = self._blocks[place]
        return block.kind == "call" and block.call not in self._answered
