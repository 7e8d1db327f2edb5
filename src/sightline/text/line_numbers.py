"""Texts with line numbers, in the form that models are shown."""

from __future__ import annotations

REVISION = 12
"""The number of letters of a revision in a message."""


def numbered(text: str, first: int = 1) -> list[str]:
    """Return the lines of a text with their numbers, counting from `first`; [] for an empty text."""
    rows = text.removesuffix("\n").split("\n") if text else []
    return [f"{number:>6}\t{row}" for number, row in enumerate(rows, first)]


def short(revision: str) -> str:
    """Return the first letters of a revision, for a message."""
    return revision[:REVISION]
