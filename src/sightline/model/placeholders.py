"""Find the lines that stand for code which a model left out: "… rest of the code unchanged …"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sightline.model.diff import diff
from sightline.model.spans import Hunk

PROSE = (".md", ".mdx", ".markdown", ".rst", ".txt", ".adoc", ".tex", ".org", ".html", ".htm")
"""Endings of files that tell of code: there such a line may be meant."""

CHARACTERS_MAX = 160
"""Characters of a line that may be a placeholder."""

_OPENS = re.compile(r"(?:#+|//+|/\*+|\*|<!--|--+|;+|%+|\{\s*/\*+|\"\"\"|''')\s*")
_CLOSES = re.compile(r"\s*(?:\*+/\s*\}?|-->|#+|\"\"\"|''')$")

_WHAT = (
    r"(?:code|file|function|class|method|implementation|component|module|script|content|text|logic|import"
    r"|definition|field|propert(?:y|ie)|test|handler|route|style|rule|entr(?:y|ie)|line|section|block|body)(?:s|es)?"
)
_LEFT = r"(?:unchanged|omitted|truncated|elided|snipped|the same|as before|as is|untouched|goes? here|here)"
_KEPT = r"(?:rest|remainder|remaining|existing|other|previous|original|unchanged|same|omitted|truncated|snip)"
_DOTS = r"(?:\.{3,}|…)"

_PLACEHOLDERS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"[(\[]?{_DOTS}\s*[(\[]?\s*(?:all |the |keep |your |\d+ )*{_KEPT}\b.*",
        rf"[(\[]?{_DOTS}\s*[(\[]?\s*(?:\d+ )?(?:more )?{_WHAT}\b[^=(]*\b{_LEFT}\b.*",
        rf"[(\[]?\s*(?:all |the |keep |your )*{_KEPT}\b[^=()]{{0,60}}{_DOTS}\s*[)\]]?",
        (
            rf"[(\[]?(?:the )?(?:rest|remainder) of (?:the |your |this |existing )*{_WHAT}"
            rf"(?: (?:is|are|remains?|stays?|goes))?(?: {_LEFT})?[.)\]]*"
        ),
        (
            rf"[(\[]?(?:the |all |keep |your )*(?:existing|remaining|unchanged|previous|original) {_WHAT}"
            rf"(?: (?:is|are|remains?|stays?|goes|continues?))?(?: {_LEFT})[.)\]]*"
        ),
        r"[(\[]?(?:the |keep |your )*existing (?:code|implementation|logic)[.)\]]*",
        rf"[(\[]?(?:\d+ )?{_WHAT} {_LEFT}(?: for brevity)?[.)\]]*",
        r"\[(?:truncated|omitted|unchanged|snip(?:ped)?|elided)\b[^\]]*\]",
        rf"[(\[]?{_LEFT} for brevity[.)\]]*",
        r"<(?:rest|existing|unchanged|remaining)\b[^>=]*>",
    )
)


def is_placeholder(line: str) -> bool:
    """Return whether a line stands for code that was left out. A bare "..." does not: it is code."""
    text = line.strip()
    if not text or len(text) > CHARACTERS_MAX:
        return False
    opened = _OPENS.match(text)
    inner = text[opened.end() :] if opened else text
    inner = _CLOSES.sub("", inner).strip()
    if not opened and not re.match(r"[.…\[(<]", inner):
        return False  # code, or a sentence
    inner = inner.strip("-=*~ ")
    return any(each.fullmatch(inner) for each in _PLACEHOLDERS)


def left_out(old: Sequence[str], new: Sequence[str]) -> tuple[Hunk, ...]:
    """Return the hunks, old to new, that put a placeholder in the place of lines which go. Lines that the old
    text has already are none."""
    found = []
    for hunk in diff(old, new):
        gone, put = old[hunk[0] : hunk[1]], [*filter(is_placeholder, new[hunk[2] : hunk[3]])]
        if put and any(map(_is_code, gone)) and not any(map(is_placeholder, gone)):
            found.append((hunk, {line.strip() for line in put}))
    had = {line.strip() for line in old} if found else set()
    return tuple(hunk for hunk, put in found if not put <= had)


def _is_code(line: str) -> bool:
    text = line.strip()
    return bool(text) and not _OPENS.match(text)
