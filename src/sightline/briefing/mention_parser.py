"""Parse @-mentions in a user's text, for faces that add the content themselves.

`agents.claude_code.dialect` has another purpose: the mentions that one agent product expands by itself.
It follows that product's rules, so that no text counts as shown that was not.
"""

from __future__ import annotations

import re
from typing import Literal

from msgspec import Struct

from sightline.model.spans import Span

Kind = Literal["path", "folder", "git-changes", "commit", "url", "problems", "terminal"]

NAME_MAX = 4_200
"""Characters of a name; no system can hold a longer path."""

WORDS: dict[str, Kind] = {
    "git-changes": "git-changes",
    "problems": "problems",
    "terminal": "terminal",
}
"""Names that are no files. A file of such a name is written @./terminal."""

BRACKETS = {")": "(", "]": "[", "}": "{", ">": "<", "）": "（", "】": "【", "』": "『", "」": "「"}
"""Closing bracket -> opening bracket. A bracket that closes nothing is not part of the name."""

CLOSING = ".,;:!?'*…”’»›"
"""Signs that end a sentence rather than a name."""

OPENING = frozenset("([{<\"'*«“‘„‹（【『「《，。；：！？、")
"""Signs that may precede a mention, like a blank."""

CODE = re.compile(
    r"(?=[`~])(?:(`{3,}|~{3,}).*?(?:\1|\Z)|``[^\n]*?``|`[^`\n]*`)",
    re.DOTALL,
)
"""Quoted text: fences, of which the last may be left open, and spans of one line."""

URL = re.compile(rf"[A-Za-z][A-Za-z0-9+.-]{{0,30}}://[^\s\"`，。；！？、]{{1,{NAME_MAX}}}")
ROOT = re.compile(r"([^\s:/\\\"'`@#]{2,100}):(?=[/\"'])")
BARE = re.compile(rf"(?:\\[^\n]|[^\s\\\"`，。；！？、]|\\(?=\n|\Z)){{1,{NAME_MAX}}}")
COMMIT = re.compile(r"[0-9A-Fa-f]{7,40}|[0-9A-Fa-f]{64}")
LINES = re.compile(
    r"(?:#L?([1-9][0-9]{0,8})(?:-L?([1-9][0-9]{0,8}))?"
    r"|:([1-9][0-9]{0,8})(?:-([1-9][0-9]{0,8})|:[0-9]{1,9})?)"
)
ESCAPED = re.compile(r"\\([^\w\\/.~-])")
"""A backslash that escapes a sign. Before a letter it separates folders, as in src\\app.py."""


class Mention(Struct, frozen=True):
    """A name after an @. value: the name without quotes and escapes, for a folder ending in "/"; root:
    the workspace named before it; lines: first and last; start, end: offsets in the text, from the
    @ to the end of the mention."""

    kind: Kind
    value: str
    root: str | None
    lines: Span | None
    start: int
    end: int

    @property
    def same(self) -> tuple[str, str, str | None, Span | None]:
        """The identity of the mentioned thing, without the place of the mention."""
        return self.kind, self.value, self.root, self.lines


def parse_mentions(text: str) -> tuple[Mention, ...]:
    r"""Return the mentions in a text, each thing once, in order.

    @/src/a.py @src/a.py @"a b.py" @a\ b.py @root:/a.py @src/ @a.py#L3-9 @a.py:10-20 @1f2e3d4
    @git-changes @https://… @problems @terminal. Mentions in code, in the middle of a word (a mail
    address), or after a backslash do not count. The disk is not consulted.
    """
    found: dict[tuple[str, str, str | None, Span | None], Mention] = {}
    start = at = 0
    codes = [code.span() for code in CODE.finditer(text)]
    for code, after in [*codes, (len(text), len(text))]:
        at = max(at, start)
        while (mark := text.find("@", at, code)) >= 0:
            at = mark + 1
            if mark == 0 or text[mark - 1].isspace() or text[mark - 1] in OPENING:
                mention, at = _parse_at(text, mark, code)
                if mention is not None:
                    found.setdefault(mention.same, mention)
        start = after
    return tuple(found.values())


def _parse_at(text: str, start: int, stop: int) -> tuple[Mention | None, int]:
    """Return the mention after the @ at `start`, None without a name, and the offset to go on from,
    so that no text is read twice."""
    at = start + 1
    url = URL.match(text, at, stop)
    if url is not None:
        end = _trim(text, at, url.end())
        return Mention("url", text[at:end], None, None, start, end), end
    prefix = ROOT.match(text, at, stop)
    name, root = (prefix.end(), prefix[1]) if prefix is not None else (at, None)
    if name < stop and text[name] in "\"'":
        mention = _parse_quoted(text, start, name, stop, root)
        return mention, name + 1 if mention is None else mention.end
    run = BARE.match(text, name, stop)
    if run is None or run.end() - name >= NAME_MAX:
        return None, at if run is None else run.end()
    mention = _parse_bare(text, start, name, run.end(), root)
    return mention, run.end() if mention is None else mention.end


def _parse_quoted(text: str, start: int, at: int, stop: int, root: str | None) -> Mention | None:
    """Parse a name between quotes. Its lines stand inside the quotes or after them."""
    close = text.find(text[at], at + 1, min(at + NAME_MAX, stop))
    value = text[at + 1 : max(close, at + 1)]
    if not value.strip("/") or "\n" in value:
        return None
    lines = LINES.match(text, close + 1, stop)
    end = close + 1 if lines is None else lines.end()
    if lines is None and "#L" in value:
        value, lines = _split_lines(value)
    return Mention(_kind(value), value, root, _span(lines), start, end)


def _parse_bare(text: str, start: int, at: int, end: int, root: str | None) -> Mention | None:
    """Parse a name without quotes, up to a blank, without the signs that end its sentence."""
    end = _trim(text, at, end)
    raw, lines = _split_lines(text[at:end])
    value = ESCAPED.sub(r"\1", raw)
    if not value.strip("/") or value.startswith("@"):
        return None
    if root is None and lines is None and value in WORDS:
        return Mention(WORDS[value], value, None, None, start, end)
    if root is None and lines is None and COMMIT.fullmatch(value):
        return Mention("commit", value.lower(), None, None, start, end)
    return Mention(_kind(value), value, root, _span(lines), start, end)


def _trim(text: str, at: int, end: int) -> int:
    """Return the end of a name without the signs and brackets that close its sentence."""
    body = text[at:end]
    length = len(body)
    spare = {close: body.count(close) - body.count(opens) for close, opens in BRACKETS.items()}
    while length and not body.endswith("\\", 0, length - 1):
        last = body[length - 1]
        if last in CLOSING:
            length -= 1
        elif length > 1 and BRACKETS.get(last) == body[length - 2]:
            length -= 2  # a call, ()
        elif spare.get(last, 0) > 0:
            spare[last] -= 1
            length -= 1
        else:
            break
    return at + length


def _split_lines(value: str) -> tuple[str, re.Match[str] | None]:
    """Return a name without the lines at its end, and these lines."""
    place = max(value.rfind("#"), value.find(":", max(value.rfind("/"), 0)))
    lines = LINES.fullmatch(value, place) if place > 0 else None
    return (value, None) if lines is None else (value[:place], lines)


def _span(lines: re.Match[str] | None) -> Span | None:
    """Return first and last line, in whichever order they were written."""
    if lines is None:
        return None
    first = int(lines[1] or lines[3])
    last = int(lines[2] or lines[4] or first)
    return min(first, last), max(first, last)


def _kind(value: str) -> Kind:
    return "folder" if value.endswith("/") else "path"
