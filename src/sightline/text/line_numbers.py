"""Texts with the numbers of their lines, as models are shown them."""

from __future__ import annotations

REVISION = 12
"""Letters of a revision that are said."""


def numbered(text: str, first: int = 1) -> list[str]:
    """The lines of a text, the first of which has this number; none of an empty one."""
    rows = text.removesuffix("\n").split("\n") if text else []
    return [f"{number:>6}\t{row}" for number, row in enumerate(rows, first)]


def short(revision: str) -> str:
    """A revision, as far as it is said."""
    return revision[:REVISION]
