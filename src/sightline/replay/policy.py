"""What a policy is: it is told blocks one by one, and asked once before each of the model's answers.

It sees the past only. What it decides stands for good.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from msgspec import Struct

from sightline.conversation.window.blocks import Block, Decision
from sightline.replay.record import Record

WINDOW = 200_000
"""Tokens of the window that recorded sessions mostly had."""

PREFIX = 20_000
"""Tokens assumed before the first message: the system's text and the tools."""

PRICE = "0.10/1.25"
"""The prices that policies reckon with, where none are named: reading and writing the cache, as
parts of the price of a token without one."""


class Setting(Struct, frozen=True):
    """What is the same for all policies of a run. count: tokens of a text; price: the name of the
    prices that a policy reckons with, if it looks at any; window: tokens; soft_budget: tokens
    above which our own policies begin to fold, None: as each has it; prefix: tokens assumed."""

    count: Callable[[str], int]
    price: str = PRICE
    window: int = WINDOW
    soft_budget: int | None = None
    prefix: int = PREFIX


class Ask(Struct, frozen=True):
    """A call of the model that is about to be made. number: from 1 on in its segment; at: UTC
    microseconds; gap_s: since the call before it; tokens: of the view as it is now, with the
    prefix."""

    number: int
    at: int | None
    gap_s: float | None
    tokens: int


class Policy(Protocol):
    """One conversation's. A fresh one is made for every segment."""

    name: str

    def add(self, block: Block) -> None:
        """A block came; its place is how many came before it."""

    def decide(self, ask: Ask) -> Decision:
        """What is folded, dropped or put at the tail from now on, beside all that already is."""


class Summariser(Protocol):
    """A policy that has a model summarise. It says what that took in all, so far."""

    read_tokens: int
    written_tokens: int


class Seer(Protocol):
    """A policy that is shown the future, as a bound for the others: never a fair one."""

    def foresee(self, record: Record) -> None:
        """All of what will be played."""


Maker = Callable[[Setting], Policy]
"""How a policy is made for a session of a setting."""
