"""The interface of a folding policy, and the policies to compare: our own folding, none, and two
rules of others.

A policy receives blocks one by one and decides before each call of the model. It sees only the past,
and its decisions are final.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Protocol

from msgspec import Struct, structs

from sightline.errors import UnknownName
from sightline.messages.blocks import Block, Decision, Fold
from sightline.window.folding import CAREFUL, DEFAULT, Folding, Rules
from sightline.window.prices import PROFILES
from sightline.window.words import stub

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
    begin to fold, None: each policy's own; prefix: tokens assumed; folder: of a conversation, absolute,
    in which relative paths begin, "" where that is unknown."""

    count: Callable[[str], int]
    price: str = PRICE
    window: int = WINDOW
    soft_budget: int | None = None
    prefix: int = PREFIX
    folder: str = ""


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
    `written_tokens`.
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
        self._folding = Folding(
            self.rules, setting.count, stub, PROFILES[setting.price], setting.folder
        )

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


NOTHING = Decision()


class Baseline:
    """Another product's rule. It leaves typed text and fixed blocks alone, even where its original
    takes them.

    blocks: all so far; tokens: of all blocks as they came, with the prefix; results: the places of
    results that are not folded and may be.
    """

    name = ""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.blocks: list[Block] = []
        self.tokens = setting.prefix
        self.results: list[int] = []

    def add(self, block: Block) -> None:
        """Receive the next block."""
        if block.kind == "result" and not block.fixed:
            self.results.append(len(self.blocks))
        self.blocks.append(block)
        self.tokens += block.tokens

    def decide(self, ask: Ask) -> Decision:
        """Fold nothing."""
        return NOTHING

    def fold(self, places: Iterable[int], stub: Callable[[Block], str]) -> Decision:
        """Fold results to stubs, where a stub is shorter than the result."""
        folds: list[Fold] = []
        for place in places:
            text = stub(self.blocks[place])
            tokens = self.setting.count(text)
            if tokens < self.blocks[place].tokens:
                folds.append(Fold(place, text, tokens, self.name))
        gone = {fold.block for fold in folds}
        self.results = [place for place in self.results if place not in gone]
        return Decision(folds=tuple(folds))


def removed(_: Block) -> str:
    """Return the stub of a cleared result."""
    return "[Old tool result content cleared]"


class NewestResults(Baseline):
    """Folds all but the last `keep` results, once the whole history has more than `trigger` tokens. The
    client keeps the history, so every later call is above the trigger, too.

    came: the places of all results, folded or not.
    """

    def __init__(
        self,
        setting: Setting,
        name: str,
        keep: int,
        stub: Callable[[Block], str],
        trigger: int = 0,
    ) -> None:
        super().__init__(setting)
        self.name = name
        self.keep = keep
        self.stub = stub
        self.trigger = trigger
        self.came: list[int] = []

    def add(self, block: Block) -> None:
        """Receive the next block."""
        if block.kind == "result":
            self.came.append(len(self.blocks))
        super().add(block)

    def decide(self, ask: Ask) -> Decision:
        """Fold all but the last, above the trigger."""
        if self.tokens <= self.trigger or len(self.came) <= self.keep:
            return NOTHING
        first_kept = self.came[-self.keep]
        return self.fold([place for place in self.results if place < first_kept], self.stub)


def omitted(block: Block) -> str:
    """Return the stub of a masked result."""
    lines = block.text.count("\n") + 1
    return f"Old environment output: ({lines} lines omitted)"


ANTHROPIC = partial(NewestResults, name="anthropic", keep=3, stub=removed, trigger=100_000)
"""Anthropic's clear_tool_uses_20250919 by its defaults, and LangChain's ClearToolUsesEdit, which copies
it (Anthropic's documentation of context editing; langchain.agents.middleware.context_editing)."""

MASKING = partial(NewestResults, name="mask", keep=10, stub=omitted)
"""SWE-agent's last_n_observations (sweagent.agent.history_processors) with n = 10: the masking of "The
Complexity Trap" (arXiv 2508.21433)."""


Maker = Callable[[Setting], Policy]
"""Makes a fresh policy for a segment."""

OURS: Mapping[str, Maker] = {rules.name: partial(Ours, rules) for rules in (DEFAULT, CAREFUL)}

POLICIES: Mapping[str, Maker] = {
    Untouched.name: Untouched,
    **OURS,
    "anthropic": ANTHROPIC,
    "mask-10": MASKING,
}


def select(names: Iterable[str], among: Mapping[str, Maker] = POLICIES) -> dict[str, Maker]:
    """Return the named policies, each once, after no truncation. Without names, return all of them.
    UnknownName."""
    wanted = list(names) or list(among)
    for name in wanted:
        if name not in among:
            raise UnknownName(f"There is no policy {name!r}.", f"There are: {', '.join(among)}")
    return {name: among[name] for name in dict.fromkeys([Untouched.name, *wanted])}
