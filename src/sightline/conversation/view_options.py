"""Check the options of a view: budgets, prices, policy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from msgspec import Struct, structs

from sightline.conversation.window.folding import POLICIES, Rules
from sightline.conversation.window.prices import PROFILES, Prices

T = TypeVar("T")


class Budget(Struct, frozen=True):
    """Tokens of a context window. soft: above this number, parts that are worth folding are folded;
    None: the policy's own. hard: above this number, whatever must be folded is; None: unknown.
    prefix: tokens sent before the messages, such as the system text and the tools."""

    soft: int | None = None
    hard: int | None = None
    prefix: int = 0


class ViewOptions(Struct, frozen=True):
    """The checked options of a view. rules: with the budgets; idle_s: seconds since the cache was
    last used, None: from the times of the messages."""

    rules: Rules
    prices: Prices
    prefix: int = 0
    idle_s: float | None = None


def check_options(
    budget: int | Budget | None, price: str | Prices, policy: str | Rules, idle_s: float | None
) -> ViewOptions:
    """Check the options of a view. ValueError, which names the values that are accepted."""
    rules = policy if isinstance(policy, Rules) else _named(policy, POLICIES, "policy")
    prices = price if isinstance(price, Prices) else _named(price, PROFILES, "price")
    limits = budget if isinstance(budget, Budget) else Budget(budget)
    soft = rules.soft if limits.soft is None else _check_tokens(limits.soft, "budget")
    hard = None if limits.hard is None else _check_tokens(limits.hard, "hard budget")
    if hard is not None and soft > hard:
        if limits.soft is not None:
            raise ValueError(f"the soft budget, {soft}, is above the hard one, {hard}")
        soft = hard
    _check_number(limits.prefix, int, "prefix is a number of tokens")
    if idle_s is not None:
        _check_number(idle_s, (int, float), "idle_s is a number of seconds")
    rules = structs.replace(rules, soft=soft, hard=hard)
    return ViewOptions(rules, prices, limits.prefix, idle_s)


def _check_number(value: Any, kind: Any, what: str) -> None:
    if not isinstance(value, kind) or not value >= 0:
        raise ValueError(f"{what}, 0 or more, not {value!r}")


def _check_tokens(value: Any, what: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{what} is a number of tokens, 1 or more, not {value!r}")
    return value


def _named(name: Any, values: Mapping[str, T], what: str) -> T:
    if not isinstance(name, str) or name not in values:
        raise ValueError(f"there is no {what} {name!r}; there are: {', '.join(values)}")
    return values[name]
