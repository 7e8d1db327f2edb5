"""Calibration: what a provider says it read corrects what we counted.

Two things come out of the usage of an answer: by how much our counts are off for a model, and where
the window stood. From there on only what came since is estimated.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from sightline.conversation.window.token_usage import input_tokens

LOWEST, HIGHEST = 0.5, 2.0
"""Bounds of a factor. A usage below the lowest says that a part of what was sent was left out."""

NEWEST = 0.2
"""How much the newest pair counts beside all those before."""

SMALLEST = 2_000
"""Tokens, by our count, below which a call says nothing of the factor."""


class Anchor(Struct, frozen=True):
    """Where the window stood when a model last answered. counted: by us; used: by its provider."""

    counted: int
    used: int


class Calibration:
    """The factors and anchors of one conversation, by model."""

    def __init__(self) -> None:
        self._factors: dict[str, float] = {}
        self._anchors: dict[str, Anchor] = {}

    def learn(self, model: str, counted: int, usage: Any) -> bool:
        """The usage of a model's last answer alone, never of several put together. counted: our
        count of what was sent for it, its system text and tools too. False when nothing is
        learned: it does not say, or is too small to be true."""
        used = input_tokens(usage)
        if used is None or counted <= 0 or used < counted * LOWEST:
            return False
        self._anchors[model] = Anchor(counted, used)
        if counted >= SMALLEST:
            now = min(used / counted, HIGHEST)
            before = self._factors.get(model, now)
            self._factors[model] = before + NEWEST * (now - before)
        return True

    def factor(self, model: str) -> float:
        """What our counts are multiplied by for a model."""
        return self._factors.get(model, 1.0)

    def tokens(self, model: str, counted: int) -> int:
        """Of the window as it stands, in the provider's tokens: what it had at the model's last
        answer, and what our count grew by since."""
        anchor = self._anchors.get(model)
        factor = self.factor(model)
        if anchor is None:
            return round(counted * factor)
        return max(round(anchor.used + (counted - anchor.counted) * factor), 0)

    def forget(self, model: str) -> None:
        """The window is another one: the factor stays, the anchor goes."""
        self._anchors.pop(model, None)
