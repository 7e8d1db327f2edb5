"""The policies that can be played, by name: our own, and no truncation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial

from msgspec import structs

from sightline.conversation.window.blocks import Block, Decision
from sightline.conversation.window.folding import CAREFUL, DEFAULT, Rules
from sightline.conversation.window.prices import PROFILES
from sightline.conversation.window.rebase import folder
from sightline.conversation.words import stub
from sightline.errors import UnknownName
from sightline.replay.policy import Ask, Maker, Setting

ANSWER_TOKENS = 20_000
"""Tokens of the window that are kept free for an answer."""

SPARE = 0.05
"""Part of the window that is kept free because tokens are estimated."""


class Ours:
    """Our folding, as a policy that can be replayed."""

    def __init__(self, rules: Rules, setting: Setting) -> None:
        hard = int(setting.window * (1 - SPARE)) - ANSWER_TOKENS
        soft = rules.soft if setting.soft_budget is None else setting.soft_budget
        self.name = rules.name
        self.rules = structs.replace(rules, soft=soft, hard=hard)
        self._folding = folder(self.rules, setting.count, stub, PROFILES[setting.price])

    def add(self, block: Block) -> None:
        """A block came."""
        self._folding.add(block)

    def decide(self, ask: Ask) -> Decision:
        """What is folded before this call."""
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


OURS: Mapping[str, Maker] = {rules.name: partial(Ours, rules) for rules in (DEFAULT, CAREFUL)}

POLICIES: Mapping[str, Maker] = {Untouched.name: Untouched, **OURS}
"""Name -> how one is made."""


def chosen(names: Iterable[str], among: Mapping[str, Maker] = POLICIES) -> dict[str, Maker]:
    """Return the named policies, each once, after no truncation. Without names, return all of them.
    UnknownName."""
    wanted = list(names) or list(among)
    for name in wanted:
        if name not in among:
            raise UnknownName(f"There is no policy {name!r}.", f"There are: {', '.join(among)}")
    return {name: among[name] for name in dict.fromkeys([Untouched.name, *wanted])}
