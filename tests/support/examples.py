"""How many examples a property gets."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import settings

WIDE = 60
"""Examples of a property that names no number, in the wide run."""


def examples(wide: int) -> int:
    """As many as the wide run gives a property; the default run gives it a tenth of them."""
    return max(1, wide * settings().max_examples // WIDE)


def few_examples(number: int, wide: int) -> int:
    """As many as the wide run gives a property whose examples start programs; the default run gives it a
    few."""
    return wide if settings().max_examples >= WIDE else number


def widely(*values: Any) -> list[Any]:
    """Return values of a parameter that only the wide run takes, each in a test of its own."""
    return [pytest.param(value, marks=pytest.mark.wide) for value in values]


def fully(*values: Any) -> list[Any]:
    """Return values of a parameter that not even the wide run takes, each in a test of its own."""
    return [pytest.param(value, marks=pytest.mark.full) for value in values]
