"""How many examples a property gets."""

from __future__ import annotations

from hypothesis import settings

WIDE = 60
"""Examples of a property that names no number, in the wide run."""


def examples(wide: int) -> int:
    """As many as the wide run gives a property; the default run gives it a quarter of them."""
    return max(1, wide * settings().max_examples // WIDE)
