"""All policies that can be played, by name: ours, those of the field, and the controls."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import structs

from sightline.conversation.window.blocks import Block, Decision
from sightline.conversation.window.folding import CAREFUL, DEFAULT, Rules
from sightline.conversation.window.prices import PROFILES
from sightline.conversation.window.rebase import folder
from sightline.conversation.words import stub
from sightline.errors import UnknownName
from sightline.replay.ablations import Order, SameReclaim, oldest
from sightline.replay.baselines.baseline import shuffled
from sightline.replay.baselines.catalog import BASELINES, CONTROLS, Maker
from sightline.replay.policy import Ask, Setting
from sightline.replay.protecting import Ages, Protecting

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


def _ours(rules: Rules) -> Maker:
    return lambda setting: Ours(rules, setting)


OURS: dict[str, Maker] = {rules.name: _ours(rules) for rules in (DEFAULT, CAREFUL)}


class Protected:
    """The earlier rule, as a policy that can be replayed."""

    name = Protecting.name

    def __init__(self, setting: Setting) -> None:
        soft = Ages().soft if setting.soft_budget is None else setting.soft_budget
        self._folder = Protecting(setting.count, Ages(soft=soft))

    def add(self, block: Block) -> None:
        """A block came."""
        self._folder.add(block)

    def decide(self, ask: Ask) -> Decision:
        """What is folded before this call."""
        return self._folder.decide(ask.tokens)


def _instead(name: str, rules: Rules, order: Order) -> Maker:
    return lambda setting: SameReclaim(
        name, Ours(rules, setting), order, setting, rules.keep, rules.least
    )


_OTHER = {True: "without-views", False: "with-views"}

ABLATIONS: dict[str, Maker] = {
    "default-by-age": _instead("default-by-age", DEFAULT, oldest),
    "default-by-chance": _instead("default-by-chance", DEFAULT, shuffled),
    "careful-by-age": _instead("careful-by-age", CAREFUL, oldest),
    **{
        rules.name: _ours(rules)
        for rules in (
            structs.replace(
                DEFAULT, name=f"default-{_OTHER[DEFAULT.views]}", views=not DEFAULT.views
            ),
            structs.replace(
                CAREFUL, name=f"careful-{_OTHER[CAREFUL.views]}", views=not CAREFUL.views
            ),
        )
    },
}
"""As much cleared as by ours at the same calls, but the oldest or any results; and ours with a part
more, or less."""

POLICIES: dict[str, Maker] = {
    "none": BASELINES["none"],
    **OURS,
    Protected.name: Protected,
    **ABLATIONS,
    **CONTROLS,
    **{name: maker for name, maker in BASELINES.items() if name != "none"},
}
"""Name -> how one is made. Processes look a policy up here: what is to be played has to be in it
before the first process is started."""


def known(names: Iterable[str]) -> list[str]:
    """These policies, each once, and no truncation, which all is told beside; all where none is
    named. UnknownName."""
    wanted = list(dict.fromkeys(names)) or list(POLICIES)
    for name in wanted:
        if name not in POLICIES:
            raise UnknownName(f"There is no policy {name!r}.", f"There are: {', '.join(POLICIES)}")
    return list(dict.fromkeys(["none", *wanted]))
