"""A call's arguments with a stub in place of what is long: same keys, same types, still JSON."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from sightline.core.formats.parts import Place

SHORT = 200
"""Characters up to which a text in arguments stays: paths, patterns, names."""

GONE = "[removed]"
DEPTH = 6


def long_texts(given: Any, place: Place = ()) -> Iterator[tuple[Place, int]]:
    """Where the long texts stand in arguments, and how long they are."""
    if isinstance(given, str):
        if len(given) > SHORT:
            yield place, len(given)
    elif len(place) < DEPTH and isinstance(given, dict | list):
        for key, value in given.items() if isinstance(given, dict) else enumerate(given):
            yield from long_texts(value, (*place, key))


def foldable(given: Any) -> bool:
    """Whether there is something in arguments that a stub may stand for."""
    return any(True for _ in long_texts(given))


def stubbed(given: Any, stub: str) -> Any:
    """A copy with the stub in place of the longest text, and a mark in place of other long ones.
    Of arguments without a long text: they themselves."""
    from sightline.core.formats.parts import changed

    found = sorted(long_texts(given), key=lambda each: -each[1])
    for number, (place, _) in enumerate(found):
        given = changed(given, place, GONE if number else stub)
    return given
