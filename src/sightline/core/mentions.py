"""Which files a prompt names with an @, for hosts that add their text to it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sightline.core.regions import Span

    Mention = tuple[str, Span | None]

CODE = r"```.*?(?:```|\Z)|`[^`\n]*`"
"""Fenced and inline code: what stands there is quoted, not meant."""

MENTION = r'(?:^|\s)@(?:"([^"\n]+)"|([^\s"`]+))'
PLACE = r"([^#]+)(?:#L(\d+)(?:-(\d+))?)?(?:#[^#]*)?"
CLOSING = ".,;:!?)]}>'*…"
"""What ends a sentence or a bracket after a path rather than the path itself."""


def mentions(prompt: str) -> tuple[Mention, ...]:
    """The paths after an @ at the start of a word, each once: @a.py whole (None), @a.py#L3-9 or
    @a.py#L3 some lines, @"a b.py" with blanks. Whether such files are there is not asked."""
    from re import DOTALL, fullmatch, sub
    from re import findall as words

    found: dict[Mention, None] = {}
    for quoted, bare in words(MENTION, sub(CODE, "`", prompt, flags=DOTALL)):
        place = fullmatch(PLACE, quoted or bare.rstrip(CLOSING))
        if place and (mention := _mention(*place.groups())):
            found[mention] = None
    return tuple(found)


def _mention(path: str, first: str | None, last: str | None) -> Mention | None:
    """None for lines that cannot be."""
    if first is None:
        return path, None
    lines = int(first), int(last or first)
    return (path, lines) if 1 <= lines[0] <= lines[1] else None
