"""Which files a prompt names with an @, for hosts that add their text to it."""

from __future__ import annotations

from collections.abc import Iterator

from sightline.model.spans import Span

Mention = tuple[str, Span | None]

CLOSING = ".,;:!?)]}>'*…"
"""What ends a sentence or a bracket after a path rather than the path itself."""


def mentions(prompt: str) -> tuple[Mention, ...]:
    """The paths after an @ at the start of a word, each once: @a.py whole (None), @a.py#L3-9 or
    @a.py#L3 some lines, @"a b.py" with blanks. None in code, and none whose lines cannot be.
    Whether such files are there is not asked."""
    if "@" not in prompt:
        return ()
    found = [_mention(name) for name in _names(_without_code(prompt))]
    return tuple(dict.fromkeys([each for each in found if each is not None]))


def _without_code(prompt: str) -> str:
    """What stands in fences or between backticks is quoted, not meant. Only a fence may be left
    open, and reaches over lines."""
    lines = "`".join(prompt.split("```")[::2]).split("\n")
    return "\n".join([_without_spans(line) for line in lines])


def _without_spans(line: str) -> str:
    parts = line.split("`")
    left = parts[-1:] if len(parts) % 2 == 0 else []  # a backtick that closes nothing
    return "`".join([*parts[::2], *left])


def _names(text: str) -> Iterator[str]:
    at = text.find("@")
    while at >= 0:
        if at == 0 or text[at - 1].isspace():
            yield _name(text[at + 1 :].partition("\n")[0])
        at = text.find("@", at + 1)


def _name(line: str) -> str:
    """The name at the start of a line; "" where there is none."""
    if line.startswith('"'):
        quoted, closed, _ = line[1:].partition('"')
        return quoted if closed else ""
    bare = line.replace("`", " ").replace('"', " ")
    return "" if bare[:1].isspace() or not bare else bare.split(maxsplit=1)[0].rstrip(CLOSING)


def _mention(name: str) -> Mention | None:
    path, _, place = name.partition("#")
    lines = place.partition("#")[0]
    if not path:
        return None
    if not lines.startswith("L") or not lines[1:2].isdecimal():
        return path, None  # a heading
    first, dash, last = lines[1:].partition("-")
    if not first.isdecimal() or (dash and not last.isdecimal()):
        return None
    span = int(first), int(last or first)
    return (path, span) if 1 <= span[0] <= span[1] else None
