"""What a view is asked for: how long it may be, at which prices, by which rules."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, structs

from sightline.conversation.window.folding import POLICIES, Rules
from sightline.conversation.window.prices import PROFILES, Prices


class Budget(Struct, frozen=True):
    """How many tokens a window may have. soft: above it, what is worth folding is folded; None: as
    the policy has it. hard: above it, whatever must be; None: nobody knows how much fits. prefix:
    of what is sent before the messages: the system's text, the tools."""

    soft: int | None = None
    hard: int | None = None
    prefix: int = 0


class Asking(Struct, frozen=True):
    """The same, understood."""

    rules: Rules
    prices: Prices
    prefix: int = 0
    idle_s: float | None = None

    def is_like(self, other: Asking) -> bool:
        """Whether the same folder decides for both."""
        return (self.rules, self.prices) == (other.rules, other.prices)


def asking(
    budget: int | Budget | None,
    price: str | Prices,
    policy: str | Rules,
    idle_s: float | None,
) -> Asking:
    """What is asked for. ValueError, naming what may be."""
    rules = policy if isinstance(policy, Rules) else _named(policy, POLICIES, "policy")
    prices = price if isinstance(price, Prices) else _named(price, PROFILES, "price")
    told = budget if isinstance(budget, Budget) else Budget(budget)
    soft = rules.soft if told.soft is None else _tokens(told.soft, "budget")
    hard = None if told.hard is None else _tokens(told.hard, "hard budget")
    if hard is not None and soft > hard:
        if told.soft is not None:
            raise ValueError(f"the soft budget, {soft}, is above the hard one, {hard}")
        soft = hard
    _check_number(told.prefix, int, "prefix is a number of tokens")
    if idle_s is not None:
        _check_number(idle_s, (int, float), "idle_s is a number of seconds")
    return Asking(structs.replace(rules, soft=soft, hard=hard), prices, told.prefix, idle_s)


def _check_number(value: Any, kind: Any, what: str) -> None:
    if not isinstance(value, kind) or not value >= 0:
        raise ValueError(f"{what}, 0 or more, not {value!r}")


def _tokens(value: Any, what: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{what} is a number of tokens, 1 or more, not {value!r}")
    return value


def _named(name: Any, known: Any, what: str) -> Any:
    if not isinstance(name, str) or name not in known:
        raise ValueError(f"there is no {what} {name!r}; there are: {', '.join(known)}")
    return known[name]
