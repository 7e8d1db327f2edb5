"""Parse the @-mentions in a prompt, for hosts that add the files' text to the prompt."""

from __future__ import annotations

import re

from sightline.model.spans import Span

Mention = tuple[str, Span | None]

CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
"""Quoted text. Only a fence may stay open, and spans lines."""

NAME = re.compile(r'(?<!\S)@(?:"([^"\n]*)"|([^\s`"]+))')

CLOSING = ".,;:!?)]}>'*…"
"""Signs after a path that end a sentence or a bracket."""


def mentions(prompt: str) -> tuple[Mention, ...]:
    """Return the paths after an @ at the start of a word, each once: @a.py whole (None), @a.py#L3-9
    or @a.py#L3 some lines, @"a b.py" with blanks. Leave out mentions in code, and those with
    impossible lines. The disk is not consulted."""
    found: dict[Mention, None] = {}
    for match in NAME.finditer(CODE.sub("`", prompt)):
        name = match[2].rstrip(CLOSING) if match[1] is None else match[1]
        path, _, fragment = name.partition("#")
        place = fragment.partition("#")[0]
        lines = re.fullmatch(r"L(\d{1,9})(?:-(\d{1,9}))?", place)
        span = (int(lines[1]), int(lines[2] or lines[1])) if lines else None
        is_heading = not re.match(r"L\d", place)
        if path and (is_heading or (span and 1 <= span[0] <= span[1])):
            found[path, span] = None
    return tuple(found)
