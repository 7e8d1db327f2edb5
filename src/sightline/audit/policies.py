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

    blocks: all so far; full: whether each is still as it came; tokens: of all blocks as they came,
    with the prefix; results: the places of results that are not folded and may be.
    """

    name = ""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.blocks: list[Block] = []
        self.full = bytearray()
        self.tokens = setting.prefix
        self.results: list[int] = []

    def add(self, block: Block) -> None:
        """Receive the next block."""
        if block.kind == "result" and not block.fixed:
            self.results.append(len(self.blocks))
        self.blocks.append(block)
        self.full.append(1)
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
                self.full[place] = 0
        gone = {fold.block for fold in folds}
        self.results = [place for place in self.results if place not in gone]
        return Decision(folds=tuple(folds))


def removed(_: Block) -> str:
    """Return the stub of a cleared result."""
    return "[Old tool result content cleared]"


class Recent(Baseline):
    """A rule that counts results. came: the places of all results, folded or not."""

    def __init__(self, setting: Setting, keep: int) -> None:
        super().__init__(setting)
        self.keep = keep
        self.came: list[int] = []

    def add(self, block: Block) -> None:
        """Receive the next block."""
        if block.kind == "result":
            self.came.append(len(self.blocks))
        super().add(block)

    def older(self, keep: int) -> list[int]:
        """Return the places of results that are not folded, without the last `keep` of all."""
        if not keep:
            return list(self.results)
        first_kept = self.came[-keep] if keep <= len(self.came) else 0
        return [place for place in self.results if place < first_kept]


class Anthropic(Recent):
    """Anthropic's clear_tool_uses_20250919 by its defaults, and LangChain's ClearToolUsesEdit, which
    copies it: above 100,000 tokens, clear all but the last 3 results. The client keeps the whole
    history, so every later call is above that, too. (Anthropic's documentation of context editing;
    langchain.agents.middleware.context_editing.)"""

    name = "anthropic"

    def __init__(self, setting: Setting, keep: int = 3, trigger: int = 100_000) -> None:
        super().__init__(setting, keep)
        self.trigger = trigger

    def decide(self, ask: Ask) -> Decision:
        """Clear all but the last, above the trigger."""
        if self.tokens <= self.trigger:
            return NOTHING
        return self.fold(self.older(self.keep), removed)


class Masking(Recent):
    """SWE-agent's last_n_observations: replace all but the last n observations by their numbers of
    lines; with polling, only after every so many results. (sweagent.agent.history_processors.) n = 10
    without polling is the masking of "The Complexity Trap" (arXiv 2508.21433)."""

    name = "mask"

    def __init__(self, setting: Setting, keep: int, polling: int = 1) -> None:
        super().__init__(setting, keep)
        self.polling = polling

    def decide(self, ask: Ask) -> Decision:
        """Mask all but the last n to n + polling - 1."""
        keep = self.keep + (len(self.came) - self.keep) % self.polling
        return self.fold(self.older(keep), _omitted)


def _omitted(block: Block) -> str:
    lines = block.text.count("\n") + 1
    return f"Old environment output: ({lines} lines omitted)"


Maker = Callable[[Setting], Policy]
"""Makes a fresh policy for a segment."""

OURS: Mapping[str, Maker] = {rules.name: partial(Ours, rules) for rules in (DEFAULT, CAREFUL)}

POLICIES: Mapping[str, Maker] = {
    Untouched.name: Untouched,
    **OURS,
    Anthropic.name: Anthropic,
    "mask-10": partial(Masking, keep=10),
}


def select(names: Iterable[str], among: Mapping[str, Maker] = POLICIES) -> dict[str, Maker]:
    """Return the named policies, each once, after no truncation. Without names, return all of them.
    UnknownName."""
    wanted = list(names) or list(among)
    for name in wanted:
        if name not in among:
            raise UnknownName(f"There is no policy {name!r}.", f"There are: {', '.join(among)}")
    return {name: among[name] for name in dict.fromkeys([Untouched.name, *wanted])}
