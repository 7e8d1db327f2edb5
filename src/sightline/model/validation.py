"""Check the arguments of verbs: TypeError for another type, ValueError for a number that is too small.
A number above the maximum is cut to the maximum, and the answer of the verb says so.
"""

from __future__ import annotations

from typing import Any

NUMBER_MAX = 2**53
"""The largest number that a verb takes: JSON carries no larger one exactly, and a store keeps it."""

SHOWN_MAX = 80
"""Characters of an argument in an error message."""


def number(name: str, given: Any, least: int = 1, most: int | None = None) -> int:
    """Return a whole number of at least `least`, cut to `most`."""
    if type(given) is not int:
        raise TypeError(f"{name} is a whole number, not {shown(given)}.")
    if given < least:
        raise ValueError(f"{name} is {least} or more, not {given}.")
    return given if most is None else min(given, most)


def number_or_all(name: str, given: Any) -> int | None:
    """Return a whole number of 1 or more, or None for all."""
    if given is None:
        return None
    if type(given) is not int:
        raise TypeError(f"{name} is a whole number, or None for all, not {shown(given)}.")
    if given < 1:
        raise ValueError(f"{name} is 1 or more, or None for all, not {given}.")
    return given


def path(given: Any, example: str = "src/app.py") -> str:
    """Return a path as text; it may be given as a Path."""
    text = given
    if hasattr(type(given), "__fspath__"):
        text = given.__fspath__()
    if not isinstance(text, str):
        raise TypeError(
            f"path is the path of a file or folder, such as {example}, not {shown(given)}."
        )
    return text


def text_or_none(name: str, given: Any, what: str) -> str | None:
    """Return a text or None. what: the meaning of the argument, "the user's message"."""
    if not isinstance(given, str | None):
        raise TypeError(f"{name} is {what}, or None, not {shown(given)}.")
    return given


def shown(given: Any) -> str:
    """Return an argument as an error message shows it."""
    return repr(given)[:SHOWN_MAX]
