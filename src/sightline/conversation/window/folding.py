"""Folding: decide which blocks become stubs, before each of the model's answers.

Blocks are added one by one and decisions are final, so a view changes only by a new decision. Each
change makes the provider read the rest of the window uncached. So nothing is folded below the soft
budget; above it, everything that may be folded is folded at once, if that frees enough tokens.

Leases decide what may be folded. The text of a file stays while the agent works on the file: for
some answers after the last read or edit, and as long as the user or a plan mentions the file and
the agent has not edited it yet. The result of a command, a search or a listing may be folded once
newer results follow it, because the agent can run the tool again.

A clear rewrites the rest of the window anyway. So it may also rebase a file: a read becomes stale when
the agent edits the file, but the current text follows from the read and the edits. The clear adds the
current text once at the end, and folds the old reads, the edits' arguments and their results.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from typing import Literal

from msgspec import Struct, structs

from sightline.conversation.window.blocks import Block, Decision, Fold, Tail
from sightline.conversation.window.file_index import FILES, Files
from sightline.conversation.window.prices import USUAL, Prices, minimum_clear
from sightline.model.path import quoted

Tier = Literal["superseded", "again", "untouched", "input", "other", "forced"]
Stub = Callable[[Block, bool], str]
"""Return the text in place of a block. The flag: the agent changed the file after the block."""
Count = Callable[[str], int]

AGAIN = ("search", "list", "run", "web")
"""What tools do that can be run again."""


class Rules(Struct, frozen=True):
    """The rules of a policy.

    soft, hard: tokens of the whole window; below soft nothing is folded, above hard (None: unknown)
    whatever must be folded is. keep: number of newest results that stay. read, edited: lease of a
    file that was read or edited, in answers since the last use. other: lease of a result that no tool
    can produce again, in answers. named: a file that a user or a plan mentions stays until it is
    edited. least: tokens below which a block is not worth a stub. views: a clear also rebases edited
    files.
    """

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
POLICIES = {rules.name: rules for rules in (DEFAULT, CAREFUL)}

STUB_TOKENS = 50
"""Approximate tokens of a stub, before the stub exists and is counted."""

SLACK = 0.1
"""Part of the hard budget by which a forced clear frees more than it must."""

COLD = 4_000
"""Tokens that are worth clearing when the cache has expired: the provider reads all again anyway."""

GAIN = 1.25
"""Tokens freed for each token of a current text, for which the text is worth adding."""


class Folding:
    """The folding of one conversation. count: tokens of a text."""

    def __init__(self, rules: Rules, count: Count, stub: Stub, prices: Prices = USUAL) -> None:
        self.rules = rules
        self._prices = prices
        self._count = count
        self._stub = stub
        self._blocks: list[Block] = []
        self._sizes: list[int] = []  # tokens of each block in the view
        self._paths: list[tuple[str, ...]] = []  # of the files that each block shows or changes
        self._total = 0  # tokens of all blocks before folding
        self._candidates: list[int] = []
        self._results: list[int] = []
        self._thoughts: list[int] = []
        self._last_user = 0
        self._answered: set[str] = set()
        self._files = Files()

    def add(self, block: Block) -> None:
        """Add the next block of the conversation."""
        place = len(self._blocks)
        self._blocks.append(block)
        self._sizes.append(block.tokens)
        self._total += block.tokens
        self._files.add(place, block)
        self._paths.append(self._files.paths_of(block))
        if block.kind == "user":
            self._last_user = place
        if block.loose:
            self._thoughts.append(place)
        if block.kind == "result":
            self._results.append(place)
            if block.call is not None:
                self._answered.add(block.call)
        foldable = block.kind in ("result", "call") and not block.fixed and block.deed != "plan"
        if foldable and block.tokens >= self.rules.least:
            self._candidates.append(place)

    def apply(self, decision: Decision) -> None:
        """Take over a recorded decision."""
        sizes = {fold.block: fold.tokens for fold in decision.folds}
        sizes |= dict.fromkeys(decision.dropped, 0)
        for place, tokens in sizes.items():
            self._sizes[place] = tokens
        self._candidates = [place for place in self._candidates if place not in sizes]
        self._thoughts = [place for place in self._thoughts if place not in sizes]
        self._files.hide(sizes)

    def decide(self, tokens: int, idle_s: float = 0.0) -> Decision:
        """Decide what is folded now. tokens: of the current view; idle_s: seconds since the last
        answer."""
        rules = self.rules
        if rules.hard is not None and tokens > rules.hard:
            return self._rebase(self._force(tokens - rules.hard, int(rules.hard * SLACK)))
        if tokens <= rules.soft:
            return Decision()
        tiers = dict(self._eligible())
        thoughts = self._old_thoughts()
        places = (*tiers, *thoughts)
        freed = sum(self._blocks[place].tokens for place in places) - STUB_TOKENS * len(tiers)
        if freed <= 0:
            return Decision()
        minimum = COLD
        if not self._prices.cached or idle_s <= self._prices.ttl_s:
            stays = max(sum(self._sizes[min(places) :]) - freed, 0)
            minimum = minimum_clear(self._prices, stays, self._total / max(self._step, 1))
        if freed < minimum:
            return Decision()
        folds = (self._fold(place, tier) for place, tier in tiers.items())
        return self._rebase(Decision(tuple(filter(None, folds)), dropped=thoughts))

    def _rebase(self, decision: Decision) -> Decision:
        """Apply a decision, with the current text of edited files where that pays."""
        self.apply(decision)
        if not self.rules.views or not decision.folds:
            return decision
        folds = list(decision.folds)
        tails: list[Tail] = []
        for path, replaced in self._replaceable().items():
            text = "\n".join(
                f"[{quoted(path)} from line {first}, with your edits until step {self._step}]\n"
                + "\n".join(lines)
                for first, lines in self._files.current.runs(path)
            )
            tokens = self._count(text)
            if text and self._freed(replaced) >= GAIN * tokens:
                folds += replaced
                tails.append(Tail(len(self._blocks) - 1, text, tokens))
        folds.sort(key=lambda fold: fold.block)
        decision = structs.replace(decision, folds=tuple(folds), tails=tuple(tails))
        self.apply(decision)
        return decision

    def _replaceable(self) -> dict[str, list[Fold]]:
        """Return, by edited file, folds of the blocks that are about this file alone and whose
        text the current text contains."""
        replaceable: dict[str, list[Fold]] = {}
        end = self._first_kept(self.rules.keep)
        for place in self._candidates:
            block = self._blocks[place]
            paths = {*self._paths[place]} if block.deed in FILES else set()
            if place >= end or len(paths) != 1:
                continue
            (path,) = paths
            if path not in self._files.edited or place < self._files.current.complete_from(path):
                continue
            fold = None if self._is_waiting(place) else self._fold(place, "superseded")
            if fold is not None:
                replaceable.setdefault(path, []).append(fold)
        return replaceable

    def _old_thoughts(self) -> tuple[int, ...]:
        """Return the loose thinking before the user's last message."""
        return tuple(self._thoughts[: bisect_left(self._thoughts, self._last_user)])

    @property
    def _step(self) -> int:
        return self._blocks[-1].step if self._blocks else 0

    def _eligible(self) -> Iterator[tuple[int, Tier]]:
        end = self._first_kept(self.rules.keep)
        for place in self._candidates:
            if place >= end:
                return
            tier = self._tier(place)
            if tier is not None:
                yield place, tier

    def _first_kept(self, keep: int) -> int:
        """Return the place of the first of the newest results that stay."""
        if not keep:
            return len(self._blocks)
        return self._results[-keep] if len(self._results) >= keep else 0

    def _tier(self, place: int) -> Tier | None:
        """Return the rule that allows folding a block now, None while the block must stay."""
        block = self._blocks[place]
        if block.kind == "call":
            return self._tier_of_call(place, block)
        if block.deed in FILES and self._paths[place]:
            if self._files.is_superseded(place, block):
                return "superseded"
            return None if self._is_leased(place) else "untouched"
        if block.deed in AGAIN:
            return "again"
        return "other" if self._step > block.step + self.rules.other else None

    def _tier_of_call(self, place: int, block: Block) -> Tier | None:
        """Return the same for a call, which stays while its result is missing. The newest text that
        the agent wrote into a file stays, too."""
        if self._is_waiting(place):
            return None
        if block.rewrites:
            stays = self._files.is_newest_write(place, block) or self._is_leased(place)
            return None if stays else "input"
        return "input" if block.deed in AGAIN else None

    def _is_leased(self, place: int) -> bool:
        files, rules, step = self._files, self.rules, self._step
        for path in self._paths[place]:
            edited = path in files.edited
            if rules.named and not edited and path in files.mentioned:
                return True
            if step <= files.touched[path] + (rules.edited if edited else rules.read):
                return True
        return False

    def _is_waiting(self, place: int) -> bool:
        """Return whether the block is a call without a result."""
        block = self._blocks[place]
        return block.kind == "call" and block.call not in self._answered

    def _fold(self, place: int, tier: Tier) -> Fold | None:
        """Fold a block; None where the stub is no shorter."""
        block = self._blocks[place]
        stub = self._stub(block, self._files.has_changed_since(place, block))
        tokens = self._count(stub)
        return Fold(place, stub, tokens, tier) if tokens < block.tokens else None

    def _force(self, excess: int, slack: int) -> Decision:
        """Fold until the window fits: first what may be folded, then the oldest blocks, then ever
        newer results. excess: tokens above the hard budget; slack: tokens freed beyond that, so that
        the next answers do not force another clear."""
        folds: dict[int, Fold] = {}
        thoughts = self._old_thoughts()
        excess -= sum(self._blocks[place].tokens for place in thoughts)
        for place, tier in self._by_need():
            if excess + slack <= 0 and tier == "forced":
                break
            fold = None if place in folds else self._fold(place, tier)
            if fold is not None:
                folds[place] = fold
                excess -= self._freed([fold])
        if excess > 0:  # the model has not seen the last results yet, but the call would fail
            end = self._first_kept(1)
            newest = [p for p in self._candidates if p >= end and not self._is_waiting(p)]
            last = [fold for fold in (self._fold(place, "forced") for place in newest) if fold]
            if self._freed(last) >= excess:
                folds |= {fold.block: fold for fold in last}
        return Decision(tuple(folds[place] for place in sorted(folds)), dropped=thoughts)

    def _by_need(self) -> Iterator[tuple[int, Tier]]:
        """Return the blocks that may be forced out, the least needed first."""
        yield from self._eligible()
        for keep in (self.rules.keep, 1):
            end = self._first_kept(keep)
            for place in self._candidates:
                if place < end and not self._is_waiting(place):
                    yield place, "forced"

    def _freed(self, folds: list[Fold]) -> int:
        return sum(self._blocks[fold.block].tokens - fold.tokens for fold in folds)
