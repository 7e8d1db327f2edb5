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

from sightline.core.regions import covers, spans
from sightline.core.value import Value
from sightline.core.window.blocks import Decision, Fold
from sightline.core.window.naming import Named
from sightline.core.window.prices import USUAL, minimum_clear

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Literal

    from sightline.core.regions import Span
    from sightline.core.window.blocks import Block
    from sightline.core.window.prices import Prices

    Tier = Literal["superseded", "again", "untouched", "input", "other", "forced"]
    Stub = Callable[[Block, bool], str]
    """The words in place of a block; whether the agent changed its file since."""
    Count = Callable[[str], int]

FILES = ("read", "edit", "write")
AGAIN = ("search", "list", "run", "web")


class Rules(Value):
    """When what goes. soft, hard: tokens of the whole window; below soft nothing is done, above
    hard (None: nobody knows it) whatever must. keep: newest results that stay. read, edited: the
    lease of a file that was read, or edited, in answers since it was last touched. other: of what
    cannot be had again. named: a file that a person or a plan names stays until it was edited.
    least: tokens below which a block is not worth a stub."""

    name: str = "default"
    soft: int = 50_000
    hard: int | None = None
    keep: int = 4
    read: int = 8
    edited: int = 8
    other: int = 12
    named: bool = True
    least: int = 120


DEFAULT = Rules()
CAREFUL = Rules("careful", read=16, edited=12, other=40)
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
        self._answered: set[str] = set()
        self._files = Files()

    def add(self, block: Block) -> None:
        """The next block of the conversation."""
        place = len(self._blocks)
        self._blocks.append(block)
        self._files.add(place, block)
        if block.kind == "result":
            self._results.append(place)
            if block.call is not None:
                self._answered.add(block.call)
        foldable = block.kind in ("result", "call") and not block.fixed and block.deed != "plan"
        if foldable and block.tokens >= self.rules.least:
            self._open.append(place)

    def taken(self, decision: Decision) -> None:
        """A decision that was made before, as it is on record."""
        gone = {fold.block for fold in decision.folds} | {*decision.dropped}
        self._open = [place for place in self._open if place not in gone]
        self._files.fold(gone)

    def decide(self, tokens: int, idle_s: float = 0.0) -> Decision:
        """What is folded now. tokens: of the window as it stands; idle_s: since the last answer."""
        rules = self.rules
        if rules.hard is not None and tokens > rules.hard:
            return self._settled(self._forced(tokens - rules.hard))
        cold = self._prices.cached and idle_s > self._prices.ttl_s
        if tokens <= (rules.soft // 2 if cold else rules.soft):
            return Decision()
        folds = list(self._eligible())
        back = sum(self._blocks[fold.block].tokens - fold.tokens for fold in folds)
        if not folds or back < (COLD if cold else self._least(folds[0].block, tokens, back)):
            return Decision()
        return self._settled(folds)

    def _least(self, first: int, tokens: int, back: int) -> int:
        """What a clear from a block on has to get back."""
        kept = sum(block.tokens for block in self._blocks[:first])
        grown = sum(block.tokens for block in self._blocks) / max(self._blocks[-1].step, 1)
        return minimum_clear(self._prices, max(tokens - kept - back, 0), grown)

    def _settled(self, folds: Sequence[Fold]) -> Decision:
        decision = Decision(tuple(folds))
        self.taken(decision)
        return decision

    def _eligible(self) -> Iterator[Fold]:
        before = self._cut(self.rules.keep)
        for place in self._open:
            if place >= before:
                return
            tier = self._tier(place)
            if tier is not None:
                yield from self._folded(place, tier)

    def _cut(self, keep: int) -> int:
        """The place from which on all stays."""
        return self._results[-keep] if len(self._results) >= keep else 0

    def _tier(self, place: int) -> Tier | None:
        """Why a block may go; None while it may not."""
        block, files = self._blocks[place], self._files
        if block.kind == "call":
            return self._tier_of_input(place, block)
        if block.deed in FILES and files.of(block):
            if files.superseded(place, block):
                return "superseded"
            return "untouched" if self._expired(block) else None
        if block.deed in AGAIN:
            return "again"
        return "other" if self._age(block.step) > self.rules.other else None

    def _tier_of_input(self, place: int, block: Block) -> Tier | None:
        """What a call was given: never while it waits for its result, nor the newest text that the
        agent gave a file."""
        if block.call not in self._answered:
            return None
        if block.rewrites:
            if self._files.newest_write(place, block) or not self._expired(block):
                return None
            return "input"
        return "input" if block.deed in AGAIN else None

    def _expired(self, block: Block) -> bool:
        """Whether the leases of all files that it is about have run out."""
        files, rules = self._files, self.rules
        for path in files.of(block):
            edited = path in files.edited
            if rules.named and not edited and path in files.named:
                return False
            if self._age(files.touched.get(path, 0)) <= (rules.edited if edited else rules.read):
                return False
        return True

    def _age(self, step: int) -> int:
        return self._blocks[-1].step - step

    def _folded(self, place: int, tier: Tier) -> Iterator[Fold]:
        """A block's fold, where its stub is shorter."""
        block = self._blocks[place]
        words = self._stub(block, self._files.changed_since(place, block))
        tokens = self._count(words)
        if tokens < block.tokens:
            yield Fold(place, words, tokens, tier)

    def _forced(self, over: int) -> list[Fold]:
        """What goes because the window is too small: first what may go anyway, then the oldest,
        then ever newer results, until it fits."""
        folds = list(self._eligible())
        gone = {fold.block for fold in folds}
        over -= sum(self._blocks[fold.block].tokens - fold.tokens for fold in folds)
        for keep in (self.rules.keep, 1):
            before = self._cut(keep)
            for place in self._open:
                if over <= 0 or place >= before:
                    break
                block = self._blocks[place]
                waiting = block.kind == "call" and block.call not in self._answered
                if place in gone or waiting:
                    continue
                for fold in self._folded(place, "forced"):
                    gone.add(place)
                    folds.append(fold)
                    over -= block.tokens - fold.tokens
        return sorted(folds, key=lambda fold: fold.block)


class Files:
    """What the blocks say of files: when each was touched, edited, named, and which lines of it
    stand where."""

    def __init__(self) -> None:
        self.touched: dict[str, int] = {}
        self.edited: dict[str, int] = {}
        self._named = Named()
        self._shown: dict[str, dict[int, list[Span]]] = {}
        self._whole: dict[str, int] = {}
        self._wrote: dict[str, int] = {}

    @property
    def named(self) -> set[str]:
        """Files that a person or a plan names."""
        return self._named.paths

    def add(self, place: int, block: Block) -> None:
        """The next block."""
        if block.kind == "user" or block.deed == "plan":
            self._named.text(block.text)
        for path in self.of(block):
            self.touched[path] = block.step
            self._named.path(path)
        for excerpt in block.excerpts:
            last = excerpt.first + max(excerpt.text.count("\n"), 0)
            shown = self._shown.setdefault(excerpt.path, {})
            shown.setdefault(place, []).append((excerpt.first, last))
        for rewrite in block.rewrites if block.kind == "call" else ():
            self.edited[rewrite.path] = place
            self._wrote[rewrite.path] = place
            if rewrite.old is None:
                self._whole[rewrite.path] = place

    def of(self, block: Block) -> tuple[str, ...]:
        """The files whose text a block shows or changes."""
        if block.excerpts or block.rewrites:
            return tuple(e.path for e in block.excerpts) + tuple(r.path for r in block.rewrites)
        return block.paths if block.deed in FILES else ()

    def fold(self, gone: set[int]) -> None:
        """These blocks show nothing any more."""
        for shown in self._shown.values():
            for place in gone & shown.keys():
                del shown[place]

    def superseded(self, place: int, block: Block) -> bool:
        """Whether later blocks show, or wrote, all the lines that this one shows."""
        return bool(block.excerpts) and all(
            self._whole.get(excerpt.path, -1) > place or self._covered(place, excerpt.path)
            for excerpt in block.excerpts
        )

    def _covered(self, place: int, path: str) -> bool:
        shown = self._shown.get(path, {})
        later = [span for at, lines in shown.items() if at > place for span in lines]
        return bool(later) and covers(spans(later), spans(shown.get(place, [])))

    def newest_write(self, place: int, block: Block) -> bool:
        """Whether nothing that the agent put into one of its files since is newer."""
        return any(self._wrote.get(rewrite.path) == place for rewrite in block.rewrites)

    def changed_since(self, place: int, block: Block) -> bool:
        """Whether the agent changed one of its files after it."""
        return any(self.edited.get(path, -1) > place for path in self.of(block))
