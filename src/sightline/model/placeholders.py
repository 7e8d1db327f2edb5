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

_SPREAD = re.compile(r"\.{3}(?:[\w$.?!]+(?:\[.*\]|\(.*\))?|\(\S+\)|\(.*[?&|=\[{].*\))[,;)\]}]*")
"""A line of JavaScript, as formatters write it: `...rest,`."""

_WHAT = (
    r"(?:code|file|function|class|method|implementation|component|module|script|content|text|logic|import"
    r"|definition|field|propert(?:y|ie)|test|handler|route|style|rule|entr(?:y|ie)|line|section|block|body)(?:s|es)?"
)
_SAME = r"(?:(?:exactly |completely )?(?:unchanged|the same|as before|as is|as they (?:were|are)|untouched))"
_GONE = r"(?:omitted|truncated|elided|snipped)"
_LEFT = rf"(?:{_SAME}|{_GONE}|goes? here|here)"
_STAY = r"(?:(?:will |should )?(?:remains?|stays?))"
_IS = rf"(?:is|are|{_STAY}|goes|continues?)"
_KEPT = r"(?:rest|remainder|remaining|existing|other|previous|original|unchanged|same|omitted|truncated|snip)"
_DOTS = r"(?:\.{3,}|…)"
_OTHERS = r"rest[oe] |(?:otr|outr)[oa]s? |autres? |altr[ei] |(?:restlich|übrig)e[rns]? |остальн|其余|其他|剩余|省略|既存|残り"
"""Words for the rest, for what there is and for what is left out, in other languages."""
_LINES = r"lines? \d+ ?(?:-|–|to|through) ?\d+"

_PLACEHOLDERS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"[(\[]?{_DOTS}\s*[(\[]?\s*(?:all |the |keep |your |\d+ )*{_KEPT}\b.*",
        rf"[(\[]?{_DOTS}\s*[(\[]?\s*(?:\d+ )?(?:more )?{_WHAT}\b[^=(]*\b{_LEFT}\b.*",
        rf"[(\[]?{_DOTS}[^=;{{}}]*\b(?:is|are|{_STAY}|rest) {_SAME}\b.*",
        rf"[(\[]?\s*(?:all |the |keep |your )*{_KEPT}\b[^=()]{{0,60}}{_DOTS}\s*[)\]]?",
        (
            rf"[(\[]?(?:etc\.? ?\(?)?(?:the )?(?:rest|remainder) of (?:the |your |this |existing )*{_WHAT}"
            rf"(?: {_IS})?(?: {_LEFT})?[.)\]]*"
        ),
        (
            rf"[(\[]?(?:the |all |keep |your )*(?:existing|remaining|unchanged|previous|original) {_WHAT}"
            rf"(?:(?: {_IS})?(?: {_LEFT})| {_STAY})[.)\]]*"
        ),
        rf"[(\[]?(?:the |all |keep )*other {_WHAT}(?: {_IS})? {_SAME}[.)\]]*",
        r"[(\[]?(?:the |keep |your )*existing (?:code|implementation|logic)[.)\]]*",
        rf"[(\[]?(?:insert|paste|copy|put) (?:the |your )?(?:existing|previous|original|remaining) {_WHAT}(?: here)?[.)\]]*",
        rf"[(\[]?(?:\d+ )?(?:(?:function|method|class) )?{_WHAT} (?:{_STAY} {_SAME}|{_LEFT})(?: for brevity)?[.)\]]*",
        rf"(?:and )?everything else {_IS} {_SAME}\.?",
        rf"[(\[]?(?:{_DOTS} ?)?{_LINES}(?: {_IS})? (?:{_SAME}|{_GONE})[.)\]]*",
        rf"[(\[]?(?:{_DOTS} ?)?(?:the )?code continues(?: here| below| as before)?[.)\]]*(?: ?{_DOTS})?",
        rf"[(\[][^()\[\]]*\b(?:is|are|{_STAY}) {_SAME}[)\]]",
        r"[(\[](?:the )?rest of [\w ,/&'-]{1,60}[)\]]",
        rf"{_DOTS} [(\[][^=!?|&{{}}<>;]*[)\]](?: ?{_DOTS})?",
        rf"(?:the )?rest of (?:the |your )*{_WHAT} {_STAY} {_SAME}\b.*",
        rf"[(\[]unchanged[)\]](?: ?(?:{_DOTS}|[-–—]).*)?",
        rf"{_DOTS} ?[(\[]?(?:{_OTHERS}).*",
        r"(?:其余|其他|剩余)[^。]{0,20}(?:不变|相同|省略)。?",
        (
            r"(?:no changes?|nothing (?:has )?changed|unchanged) (?:(?:here|below|above)(?: this (?:line|point))?"
            r"|(?:to|in) the (?:rest|remainder)\b.*)[.)\]]*"
        ),
        rf"{_DOTS} ?\(?no changes?\)? ?{_DOTS}",
        rf"(?:the )?same {_WHAT} as (?:before|above)\.?|{_WHAT} (?:the )?same as (?:before|above)\.?|unchanged (?:code|imports|methods|functions)",
        r"\[(?:truncated|omitted|unchanged|snip(?:ped)?|elided)\b[^\]]*\]",
        rf"[(\[]?(?:\w+ ){{0,3}}{_LEFT} for brevity[.)\]]*(?: ?{_DOTS})?",
        r"<(?:rest|existing|unchanged|remaining) [\w ]+>|<snip>",
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
    if not opened and _SPREAD.fullmatch(inner):
        return False
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
