"""The interface of a folding policy, and the policies of the product: its own folding, and none.

A policy receives blocks one by one and decides before each call of the model. It sees only the past,
and its decisions are final.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Protocol

from msgspec import Struct, structs

from sightline.conversation.window.blocks import Block, Decision
from sightline.conversation.window.folding import CAREFUL, DEFAULT, Folding, Rules
from sightline.conversation.window.prices import PROFILES
from sightline.conversation.words import stub
from sightline.errors import UnknownName

WINDOW = 200_000
"""Tokens of the window that most recorded sessions had."""

PREFIX = 20_000
"""Tokens assumed before the first message: the system prompt and the tools."""

PRICE = "0.10/1.25"
"""Default prices: reading and writing the cache, as fractions of a token's price without a cache."""

ANSWER_TOKENS = 20_000
"""Tokens of the window reserved for an answer."""

SPARE = 0.05
"""Fraction of the window reserved because token counts are estimates."""


class Setting(Struct, frozen=True):
    """Settings shared by all policies of a run. count: tokens of a text; price: name of the prices
    that a policy computes with; window: tokens; soft_budget: tokens above which our own policies
    begin to fold, None: each policy's own; prefix: tokens assumed."""

    count: Callable[[str], int]
    price: str = PRICE
    window: int = WINDOW
    soft_budget: int | None = None
    prefix: int = PREFIX


class Ask(Struct, frozen=True):
    """The next call of the model. number: from 1 in its segment; at: UTC microseconds; gap_s: seconds
    since the previous call; tokens: of the current view, with the prefix."""

    number: int
    at: int | None
    gap_s: float | None
    tokens: int


class Policy(Protocol):
    """A policy for one segment of one conversation.

    A policy that pays a model for summaries counts their tokens in `read_tokens` and
    `written_tokens`. A policy that defines `foresee(record)` receives the whole segment first: it
    cheats and serves as a bound only.
    """

    name: str

    def add(self, block: Block) -> None:
        """Receive the next block."""

    def decide(self, ask: Ask) -> Decision:
        """Return the blocks to fold, to drop, and the text to append from now on."""


class Ours:
    """Sightline's folding as a policy."""

    def __init__(self, rules: Rules, setting: Setting) -> None:
        soft = setting.soft_budget
        self.name = rules.name
        self.rules = structs.replace(
            rules,
            soft=rules.soft if soft is None else soft,
            hard=int(setting.window * (1 - SPARE)) - ANSWER_TOKENS,
        )
        self._folding = Folding(self.rules, setting.count, stub, PROFILES[setting.price])

    def add(self, block: Block) -> None:
        """Receive the next block."""
        self._folding.add(block)

    def decide(self, ask: Ask) -> Decision:
        """Return what to fold before this call."""
        return self._folding.decide(ask.tokens, ask.gap_s or 0.0)


class Untouched:
    """No truncation."""

    name = "none"

    def __init__(self, setting: Setting) -> None:
        pass

    def add(self, block: Block) -> None:
        """Ignore the block."""

    def decide(self, ask: Ask) -> Decision:
        """Fold nothing."""
        return Decision()


Maker = Callable[[Setting], Policy]
"""Makes a fresh policy for a segment."""

OURS: Mapping[str, Maker] = {rules.name: partial(Ours, rules) for rules in (DEFAULT, CAREFUL)}

POLICIES: Mapping[str, Maker] = {Untouched.name: Untouched, **OURS}


def select(names: Iterable[str], among: Mapping[str, Maker] = POLICIES) -> dict[str, Maker]:
    """Return the named policies, each once, after no truncation. Without names, return all of them.
    UnknownName."""
    wanted = list(names) or list(among)
    for name in wanted:
        if name not in among:
            raise UnknownName(f"There is no policy {name!r}.", f"There are: {', '.join(among)}")
    return {name: among[name] for name in dict.fromkeys([Untouched.name, *wanted])}
