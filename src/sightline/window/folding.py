"""Folding: decide which blocks become stubs, before each of the model's answers.

The rule is "rent or buy". A block costs rent: its tokens at the price of a cached token, with each
answer. A change costs a price: the provider reads the rest of the window uncached. A lost text costs
a price: an edit fails, the agent reads the text again and edits again.

1. Nothing is folded below the soft budget, and the results of the newest answers stay.
2. A text of a file, and a result that no tool can produce again, has a lease. The lease ends when the
   rent since the last use reaches `share` of the price of a loss. So large texts go first.
3. The agent reads before it edits. So the lease of a file's text ends at the whole price before the
   first edit of the session, and begins anew with this edit.
4. After it, a file that a user or a plan names stays until the agent edits the file. The newest text that the
   agent wrote into a file stays.
5. What newer blocks show as well needs no lease, nor do searches, listings and outputs of commands.
6. While the cache is warm, blocks are folded when the rent that they paid without a lease reaches
   twice the price of the change. The change begins where it pays most. A cold cache is written anew
   anyway, so everything without a lease is folded then.
7. A clear may also rebase an edited file: it adds the current text once at the end, and folds the old
   reads, the edits' arguments and their results behind the change.
8. Above the hard budget a change must be made. It begins where, and takes with it what, makes a token
   of room cheapest. There a lease counts as the price of a loss, which falls with the answers since
   the last use: a text unused for as long as the session is old is needed as likely as not.

Decisions are final and depend on the past alone.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate
from math import inf
from operator import attrgetter, itemgetter
from typing import Literal

from msgspec import Struct, structs

from sightline.messages.blocks import Block, Decision, Fold, Tail
from sightline.model.path import quoted
from sightline.window.file_index import FILES, Files
from sightline.window.prices import USUAL, Prices, recovery, rewriting

Tier = Literal["superseded", "again", "untouched", "input", "other", "forced"]
Stub = Callable[[Block, bool], str]
"""Return the text in place of a block. The flag: the agent changed the file after the block."""
Count = Callable[[str], int]

Eligible = Mapping[int, tuple[Tier, float]]
"""Place of a block that may be folded now -> the rule that allows it, and the answers for which the
block has paid rent without a lease."""

AGAIN = ("search", "list", "run", "web")
"""What tools do that can be run again."""


class Rules(Struct, frozen=True):
    """The rules of a policy.

    soft, hard: tokens of the whole window; below soft nothing is folded, above hard (None: unknown)
    whatever must be folded is. share: a lease ends when the rent reaches this part of the price of a
    loss; 0: nothing has a lease. keep: number of newest answers whose results stay. least: tokens
    below which a block is not worth a stub. views: a clear also rebases edited files.
    """

    name: str = "default"
    soft: int = 45_000
    hard: int | None = None
    share: float = 1 / 3
    keep: int = 3
    least: int = 120
    views: bool = True


DEFAULT = Rules()
CAREFUL = Rules("careful", share=1)
POLICIES = {rules.name: rules for rules in (DEFAULT, CAREFUL)}

STUB_TOKENS = 50
"""Approximate tokens of a stub, before the stub exists and is counted."""

SURE = 2
"""Prices of a change that the blocks must have paid as rent before it. The change pays for itself if they
would pay its price once more. At 1 that is as likely as not (a session goes on as long as it went on so
far), at 2 it is twice as likely as not."""

GAIN = 1.25
"""Tokens freed for each token of a current text, for which the text is worth adding."""


class Candidate(Struct, frozen=True):
    """A block that may be folded. paths: the files whose text it shows or changes; text_worth,
    call_worth: the answers after which the rent reaches the price of the text in a loss, and of the
    calls for each token of the window."""

    place: int
    block: Block
    paths: tuple[str, ...]
    text_worth: float
    call_worth: float


class Part(Struct, frozen=True):
    """A block that can go in a change. freed: tokens; loss: the price of its loss; again: the price of
    writing it to the cache again, if it stays; change: the price of a change from here on, if all
    blocks stay."""

    place: int
    freed: int
    loss: float
    again: float
    change: float

    def gain(self, rate: float) -> float:
        """Return the gain of folding the block. rate: the price of a token of room."""
        return self.again + rate * self.freed - self.loss


class Folding:
    """The folding of one conversation. count: tokens of a text; folder: absolute, in which relative
    paths begin, "" where that is unknown."""

    def __init__(
        self, rules: Rules, count: Count, stub: Stub, prices: Prices = USUAL, folder: str = ""
    ) -> None:
        self.rules = rules
        self._prices = prices
        self._count = count
        self._stub = stub
        self._blocks: list[Block] = []
        self._sizes: list[int] = []  # tokens of each block in the view
        self._paths: list[tuple[str, ...]] = []  # of the files that each block shows or changes
        self._window = 0  # tokens of the view at the last decision
        self._candidates: list[Candidate] = []
        self._results: list[tuple[int, int]] = []  # of each answer: step, place of first result
        self._thoughts: list[int] = []  # loose thinking since the user's last message
        self._old_thoughts: dict[int, int] = {}  # the rest -> step of the message that made it old
        self._answered: set[str] = set()
        self._files = Files(folder)

    def add(self, block: Block) -> None:
        """Add the next block of the conversation."""
        place = len(self._blocks)
        self._blocks.append(block)
        self._sizes.append(block.tokens)
        named = self._files.named(block)
        self._files.add(place, named)
        self._paths.append(self._files.paths_of(named))
        if block.kind == "user":
            self._old_thoughts |= dict.fromkeys(self._thoughts, block.step)
            self._thoughts.clear()
        if block.loose:
            self._thoughts.append(place)
        if block.kind == "result":
            if not self._results or self._results[-1][0] != block.step:
                self._results.append((block.step, place))
            if block.call is not None:
                self._answered.add(block.call)
        foldable = block.kind in ("result", "call") and not block.fixed and block.deed != "plan"
        if foldable and block.tokens >= self.rules.least:
            self._candidates.append(self._candidate(place, named))

    def _candidate(self, place: int, block: Block) -> Candidate:
        paths = self._paths[place] if block.deed in FILES else ()
        rent = self._prices.read * block.tokens
        if not rent:
            return Candidate(place, block, paths, inf, 0.0)
        text, one_more = (recovery(self._prices, block.tokens, window) / rent for window in (0, 1))
        return Candidate(place, block, paths, text, one_more - text)

    def apply(self, decision: Decision) -> None:
        """Take over a recorded decision."""
        sizes = {fold.block: fold.tokens for fold in decision.folds}
        sizes |= dict.fromkeys(decision.dropped, 0)
        for place, tokens in sizes.items():
            self._sizes[place] = tokens
        self._candidates = [each for each in self._candidates if each.place not in sizes]
        self._thoughts = [place for place in self._thoughts if place not in sizes]
        for place in sizes.keys() & self._old_thoughts.keys():
            del self._old_thoughts[place]
        self._files.hide(sizes)

    def decide(self, tokens: int, idle_s: float = 0.0) -> Decision:
        """Decide what is folded now. tokens: of the current view; idle_s: seconds since the last
        answer."""
        rules = self.rules
        self._window = tokens
        is_warm = self._prices.cached and idle_s <= self._prices.ttl_s
        if rules.hard is not None and tokens > rules.hard:
            return self._force(tokens - rules.hard, is_warm=is_warm)
        if tokens <= rules.soft:
            return Decision()
        eligible = self._eligible()
        if not is_warm:
            return self._clear(eligible, 0)
        gains = [
            (rent - SURE * price, place)
            for place, freed, rent, price in self._starts(eligible)
            if freed > 0
        ]
        gain, start = max(gains, key=itemgetter(0), default=(-1.0, 0))
        return self._clear(eligible, start) if gain >= 0 else Decision()

    def _starts(self, eligible: Eligible) -> Iterator[tuple[int, int, float, float]]:
        """Yield each place where folding may start, the last place first: the place, the tokens that
        folding from there frees, the rent that these tokens have paid without a lease, and the price
        of the change while the cache is warm."""
        sent = bisect_left(self._blocks, self._step, key=attrgetter("step"))
        stays = freed = 0
        rent = 0.0
        end = len(self._blocks)
        for place in sorted({*eligible, *self._old_thoughts}, reverse=True):
            stays += sum(self._sizes[place : min(end, sent)])
            end = place
            saved = self._sizes[place]
            if place in eligible:
                saved, idle = saved - STUB_TOKENS, eligible[place][1]
            else:
                idle = float(self._step - self._old_thoughts[place])
            freed += saved
            stays -= saved if place < sent else 0
            rent += self._prices.read * saved * idle
            yield place, freed, rent, rewriting(self._prices, stays)

    def _clear(self, eligible: Eligible, start: int) -> Decision:
        """Fold from a place on."""
        thoughts = tuple(place for place in self._old_thoughts if place >= start)
        folds = (self._fold(place, why) for place, (why, _) in eligible.items() if place >= start)
        return self._rebase(Decision(tuple(filter(None, folds)), dropped=thoughts), start)

    def _rebase(self, decision: Decision, start: int) -> Decision:
        """Apply a decision, with the current text of edited files where that pays. start: place of
        the first block that may be folded for that."""
        self.apply(decision)
        if not self.rules.views or not decision.folds:
            return decision
        folds = list(decision.folds)
        tails: list[Tail] = []
        for path, replaced in self._replaceable(start).items():
            text = "".join(
                f"[{quoted(path)} from line {first}, with your edits until step {self._step}]\n"
                + "".join(f"{line}\n" for line in lines)
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

    def _replaceable(self, start: int) -> dict[str, list[Fold]]:
        """Return, by edited file, folds of the blocks whose text the file's current text contains. start:
        the place of the first block; blocks about several files are left out."""
        replaceable: dict[str, list[Fold]] = {}
        end = self._first_kept(self.rules.keep)
        for candidate in self._candidates:
            place, paths = candidate.place, {*candidate.paths}
            if not start <= place < end or len(paths) != 1:
                continue
            (path,) = paths
            if path not in self._files.edited or place < self._files.current.complete_from(path):
                continue
            fold = None if self._is_waiting(candidate) else self._fold(place, "superseded")
            if fold is not None:
                replaceable.setdefault(path, []).append(fold)
        return replaceable

    @property
    def _step(self) -> int:
        return self._blocks[-1].step if self._blocks else 0

    def _eligible(self) -> Eligible:
        """Return the blocks that may be folded now, in their order."""
        end = self._first_kept(self.rules.keep)
        eligible: dict[int, tuple[Tier, float]] = {}
        for candidate in self._candidates:
            if candidate.place >= end:
                break
            judged = self._judge(candidate)
            if judged is not None:
                eligible[candidate.place] = judged
        return eligible

    def _first_kept(self, keep: int) -> int:
        """Return the place of the first result of the newest answers whose results stay."""
        if not keep:
            return len(self._blocks)
        return self._results[-keep][1] if len(self._results) >= keep else 0

    def _judge(self, candidate: Candidate) -> tuple[Tier, float] | None:
        """Return the rule that allows folding a block now, and the number of answers that the block has
        stayed without a lease. None while the block must stay: a call whose result is missing, the
        newest text that the agent wrote into a file, and a block with a lease."""
        block, files = candidate.block, self._files
        tier: Tier = "untouched" if candidate.paths else "other"
        if block.kind == "call":
            if block.call not in self._answered:
                return None
            if not block.rewrites:
                return ("input", self._age(candidate)) if block.deed in AGAIN else None
            if files.is_newest_write(candidate.place, block):
                return None
            tier = "input"
        elif candidate.paths and files.is_superseded(candidate.place, block):
            return "superseded", self._age(candidate)
        elif not candidate.paths and block.deed in AGAIN:
            return "again", self._age(candidate)
        if not self.rules.share:
            return tier, self._age(candidate)
        share = self.rules.share
        if self._is_early(candidate):
            share = max(share, 1)
        elif self._is_named(candidate):
            return None
        idle = self._age(candidate) - share * self._worth(candidate)
        return (tier, idle) if idle > 0 else None

    def _is_early(self, candidate: Candidate) -> bool:
        """Return whether a block is about files, and the session has not begun to edit."""
        return bool(candidate.paths) and self._files.began is None

    def _is_named(self, candidate: Candidate) -> bool:
        """Return whether a user or a plan names a file of the block that the agent has not edited."""
        mentioned, edited = self._files.mentioned, self._files.edited
        for path in candidate.paths:  # noqa: SIM110 - faster, and it runs for each block
            if path in mentioned and path not in edited:
                return True
        return False

    def _worth(self, candidate: Candidate) -> float:
        """Return the answers after which the rent of a block reaches the price of its loss."""
        return candidate.text_worth + candidate.call_worth * self._window

    def _age(self, candidate: Candidate) -> int:
        """Return the answers since the last use of a block. A file's text ages from the first edit
        of the session on."""
        if not candidate.paths:
            return self._step - candidate.block.step
        used = self._files.began or 0
        for path in candidate.paths:
            used = max(used, self._files.touched[path])
        return self._step - used

    def _is_waiting(self, candidate: Candidate) -> bool:
        """Return whether the block is a call without a result."""
        return candidate.block.kind == "call" and candidate.block.call not in self._answered

    def _fold(self, place: int, tier: Tier) -> Fold | None:
        """Fold a block; None where the stub is no shorter."""
        block = self._blocks[place]
        stub = self._stub(block, self._files.has_changed_since(place, self._paths[place]))
        tokens = self._count(stub)
        return Fold(place, stub, tokens, tier) if tokens < block.tokens else None

    def _force(self, excess: int, *, is_warm: bool) -> Decision:
        """Fold until the window fits. excess: tokens above the hard budget."""
        eligible = self._eligible()
        chosen: set[int] = set()
        for keep in (self.rules.keep, 1):
            prices = self._loss_prices(self._first_kept(keep)) | dict.fromkeys(eligible, 0.0)
            chosen = chosen or self._choose_room(prices, excess, is_warm=is_warm)
        thoughts = tuple(place for place in self._old_thoughts if not chosen or place in chosen)
        places = chosen.difference(thoughts) or self._loss_prices(len(self._blocks))
        tiers = {place: eligible[place][0] if place in eligible else "forced" for place in places}
        folds = [fold for place in sorted(places) if (fold := self._fold(place, tiers[place]))]
        if not chosen:  # the model has not seen the last results yet, but the call would fail
            end = self._first_kept(1)
            freed = self._freed(folds) + sum(self._sizes[place] for place in thoughts)
            folds = [fold for fold in folds if fold.block < end or freed >= excess]
        before = sum(self._sizes)
        decision = self._rebase(Decision(tuple(folds), dropped=thoughts), min(chosen, default=0))
        excess -= before - sum(self._sizes) - sum(tail.tokens for tail in decision.tails)
        if excess <= 0 or not decision.folds:
            return decision
        more = self._force(excess, is_warm=is_warm)  # the stubs are longer than was reckoned
        return Decision(
            tuple(sorted(decision.folds + more.folds, key=lambda fold: fold.block)),
            decision.tails + more.tails,
            decision.dropped + more.dropped,
        )

    def _loss_prices(self, end: int) -> dict[int, float]:
        """Return the places before `end` of all blocks that can be folded, with the price of their
        loss: the less, the longer nobody used the text, and the more rent it has paid."""
        prices = {}
        for candidate in self._candidates:
            if candidate.place >= end:
                break
            if self._is_waiting(candidate):
                continue
            tokens, age = candidate.block.tokens, self._age(candidate)
            price = recovery(self._prices, tokens, self._window)
            if not (self._is_early(candidate) or self._is_named(candidate)):
                price *= (self._step + 1) / (self._step + 1 + age)
                price = max(price - self._prices.read * tokens * age, 0.0)
            prices[candidate.place] = price
        return prices

    def _choose_room(self, losses: Mapping[int, float], excess: int, *, is_warm: bool) -> set[int]:
        """Choose the blocks of a change after which a token of room costs least: the price of the
        change and of the losses, divided by the tokens freed above the excess. Empty where all blocks
        together do not free the excess. losses: prices of a loss, by place."""
        parts = self._parts(losses, is_warm=is_warm)
        chosen: set[int] = set()
        start, rate = 0, inf
        while True:  # with a better rate each time: Dinkelbach's way to minimise a fraction
            taken = [part for part in parts if part.place >= start and part.gain(rate) > 0]
            room = sum(part.freed for part in taken) - excess
            if room <= 0:
                return chosen
            cost = taken[-1].change + sum(part.loss - part.again for part in taken)
            if cost / room >= rate:
                return chosen
            chosen, rate = {part.place for part in taken}, cost / room
            gains = accumulate(max(part.gain(rate), 0.0) for part in parts)
            prices = (part.change - gain for part, gain in zip(parts, gains, strict=True))
            start = parts[min(enumerate(prices), key=itemgetter(1))[0]].place

    def _parts(self, losses: Mapping[int, float], *, is_warm: bool) -> list[Part]:
        """Return the blocks that can go, the last one first. losses: prices of a loss, by place."""
        sent = bisect_left(self._blocks, self._step, key=attrgetter("step"))
        parts: list[Part] = []
        stays, end = 0, len(self._blocks)
        for place in sorted({*losses, *self._old_thoughts}, reverse=True):
            stays += sum(self._sizes[place : min(end, sent)])
            end = place
            freed = self._sizes[place] - (STUB_TOKENS if place in losses else 0)
            again = rewriting(self._prices, freed) if is_warm and place < sent else 0.0
            change = rewriting(self._prices, stays) if is_warm else 0.0
            parts.append(Part(place, freed, losses.get(place, 0.0), again, change))
        return parts

    def _freed(self, folds: Sequence[Fold]) -> int:
        return sum(self._blocks[fold.block].tokens - fold.tokens for fold in folds)
