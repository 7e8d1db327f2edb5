"""Controls that clear as much as a policy of ours, at the same calls, but something else: what the
policy's choice is worth by itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import structs

from sightline.audit.policies import NOTHING, Ask, Baseline, Policy, Setting, removed
from sightline.messages.blocks import Block, Decision

Order = Callable[[Sequence[int]], Sequence[int]]


class SameReclaim(Baseline):
    """Clears results, and what calls were given, as an order says, until as many tokens are gone as
    the other policy, playing the same conversation, has cleared by then. keep: newest results that
    stay; least: tokens of a block that is worth a stub."""

    def __init__(
        self, name: str, other: Policy, order: Order, setting: Setting, keep: int, least: int
    ) -> None:
        super().__init__(setting)
        self.name = name
        self._other = other
        self._order = order
        self._keep = keep
        self._least = least
        self._owed = 0
        self._cleared = 0
        self._open: list[int] = []

    def add(self, block: Block) -> None:
        """A block came."""
        self._other.add(block)
        foldable = block.kind in ("call", "result") and block.deed != "plan" and not block.fixed
        if foldable and block.tokens >= self._least:
            self._open.append(len(self.blocks))
        super().add(block)

    def decide(self, ask: Ask) -> Decision:
        """A batch when the other has one."""
        made = self._other.decide(structs.replace(ask, tokens=self.tokens - self._owed))
        self._owed += sum(self.blocks[fold.block].tokens - fold.tokens for fold in made.folds)
        self._owed -= sum(tail.tokens for tail in made.tails)
        if not made.folds:
            return NOTHING
        end = self.results[-self._keep] if len(self.results) >= self._keep else 0
        chosen: list[int] = []
        saved = self._cleared
        for place in self._order([place for place in self._open if place < end]):
            if saved >= self._owed:
                break
            chosen.append(place)
            saved += self.blocks[place].tokens - self.setting.count(removed(self.blocks[place]))
        self._cleared = saved
        self._open = [place for place in self._open if place not in chosen]
        return self.fold(sorted(chosen), removed)


def oldest(places: Sequence[int]) -> Sequence[int]:
    """Return the places in the order in which they came."""
    return places
