"""What a user's text names with an @, for faces that put its content before the agent themselves.

agents.prompt_mentions answers another question: what one agent product adds to a prompt by itself. It
follows that product's rules, so that nothing counts as shown that was not; these are our own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from msgspec import Struct

from sightline.model.spans import Span

Kind = Literal["path", "folder", "git-changes", "commit", "url", "problems", "terminal"]

NAME_MAX = 4_200
"""Characters that a name has at most: longer ones no system can hold."""

WORDS: dict[str, Kind] = {
    "git-changes": "git-changes",
    "problems": "problems",
    "terminal": "terminal",
}
"""Names that are no files. A file of such a name is reached as @./terminal."""

QUOTES = {'"': '"', "'": "'"}

BRACKETS = {")": "(", "]": "[", "}": "{", ">": "<", "）": "（", "】": "【", "』": "『", "」": "「"}
"""What closes, and what would have opened it: one that closes nothing is not of the name."""

CLOSING = ".,;:!?'*…”’»›"
"""What ends a sentence rather than a name."""

ENDING = frozenset(CLOSING).union(BRACKETS)

OPENING = frozenset("([{<\"'*«“‘„‹（【『「《，。；：！？、")
"""What a name may stand behind, as at the start of a word."""

CODE = re.compile(
    r"(?=[`~])(?:(`{3,}|~{3,}).*?(?:\1|\Z)|``[^\n]*?``|`[^`\n]*`)",
    re.DOTALL,
)
"""What is quoted, not meant: fences, of which the last may be left open, and spans of one line."""

URL = re.compile(rf"[A-Za-z][A-Za-z0-9+.-]{{0,30}}://[^\s\"`，。；！？、]{{1,{NAME_MAX}}}")
ROOT = re.compile(r"([^\s:/\\\"'`@#]{2,100}):(?=[/\"'])")
BARE = re.compile(rf"(?:\\[^\n]|[^\s\\\"`，。；！？、]|\\(?=\n|\Z)){{1,{NAME_MAX}}}")
COMMIT = re.compile(r"[0-9A-Fa-f]{7,40}|[0-9A-Fa-f]{64}")
LINES = re.compile(
    r"(?:#L?([1-9][0-9]{0,8})(?:-L?([1-9][0-9]{0,8}))?"
    r"|:([1-9][0-9]{0,8})(?:-([1-9][0-9]{0,8})|:[0-9]{1,9})?)"
)
ESCAPED = re.compile(r"\\([^\w\\/.~-])")
"""A backslash before what would end a name, or mean something. Before a letter it separates, as
where files are called src\\app.py."""


class Mention(Struct, frozen=True):
    """Something named with an @. value: the name without quotes and escapes, for a folder ending
    in "/"; root: the workspace it is said to be of; lines: first and last; start, end: where it
    stands in the text, from the @ to what is no part of it any more."""

    kind: Kind
    value: str
    root: str | None
    lines: Span | None
    start: int
    end: int

    @property
    def same(self) -> tuple[str, str, str | None, Span | None]:
        """What two mentions of one thing have in common."""
        return self.kind, self.value, self.root, self.lines


def named(text: str) -> tuple[Mention, ...]:
    r"""What a text mentions, each thing once, in order.

    @/src/a.py @src/a.py @"a b.py" @a\ b.py @root:/a.py @src/ @a.py#L3-9 @a.py:10-20 @1f2e3d4
    @git-changes @https://… @problems @terminal. Not in code, in the middle of a word (a mail
    address), or after a backslash. Whether such things are there is not asked.
    """
    found: dict[tuple[str, str, str | None, Span | None], Mention] = {}
    for mention in each(text):
        found.setdefault(mention.same, mention)
    return tuple(found.values())


def each(text: str) -> Iterator[Mention]:
    """The same with all that is mentioned again."""
    at = 0
    for start, end in _prose(text):
        at = max(at, start)
        while (mark := text.find("@", at, end)) >= 0:
            at = mark + 1
            if mark == 0 or text[mark - 1].isspace() or text[mark - 1] in OPENING:
                mention, at = _at(text, mark, end)
                if mention is not None:
                    yield mention


def put(text: str, words: Callable[[Mention], str | None]) -> str:
    """The text with other words in the places of its mentions; None leaves one as it stands."""
    parts: list[str] = []
    at = 0
    for mention in each(text):
        instead = words(mention)
        if instead is not None:
            parts += [text[at : mention.start], instead]
            at = mention.end
    return "".join([*parts, text[at:]])


def part(lines: Sequence[str], asked: Span | None, most: int, few: int, room: int) -> Span:
    """The lines to show of a text: those asked for, or all of it, or only the first few where it
    has more than `most`; as far as there is room, in bytes. (0, 0) for none."""
    total = len(lines)
    first, last = asked if asked is not None else (1, total if total <= most else min(few, most))
    last = min(last, total, first + most - 1)
    for number in range(first, last + 1):
        room -= len(lines[number - 1].encode("utf-8", "surrogatepass"))
        if room < 0:
            last = number - 1
            break
    return (first, last) if first <= last else (0, 0)


def _prose(text: str) -> Iterator[tuple[int, int]]:
    """Where the text is no code, by offsets."""
    at = 0
    if "`" not in text and "~~~" not in text:
        yield at, len(text)
        return
    for code in CODE.finditer(text):
        yield at, code.start()
        at = code.end()
    yield at, len(text)


def _at(text: str, start: int, stop: int) -> tuple[Mention | None, int]:
    """The mention whose @ stands there (None where no name follows it), and where to go on: what
    was read once is not read again."""
    at = start + 1
    url = URL.match(text, at, stop)
    if url is not None:
        end = _trimmed(text, at, url.end())
        return Mention("url", text[at:end], None, None, start, end), end
    root = ROOT.match(text, at, stop)
    name, of = (root.end(), root[1]) if root is not None else (at, None)
    if name < stop and text[name] in QUOTES:
        mention = _quoted(text, start, name, stop, of)
        return mention, name + 1 if mention is None else mention.end
    run = BARE.match(text, name, stop)
    if run is None or run.end() - name >= NAME_MAX:
        return None, at if run is None else run.end()
    mention = _bare(text, start, name, run.end(), of)
    return mention, run.end() if mention is None else mention.end


def _quoted(text: str, start: int, at: int, stop: int, root: str | None) -> Mention | None:
    """A name between quotes, which may hold its lines or have them behind it."""
    close = text.find(QUOTES[text[at]], at + 1, min(at + NAME_MAX, stop))
    value = text[at + 1 : max(close, at + 1)]
    if not value.strip("/") or "\n" in value:
        return None
    behind = LINES.match(text, close + 1, stop)
    end = close + 1 if behind is None else behind.end()
    if behind is None and "#L" in value:
        value, behind = _with_lines(value)
    return Mention(_kind(value), value, root, _span(behind), start, end)


def _bare(text: str, start: int, at: int, end: int, root: str | None) -> Mention | None:
    """A name without quotes: up to a blank, without what ends the sentence around it."""
    end = _trimmed(text, at, end)
    raw, lines = _with_lines(text[at:end])
    value = ESCAPED.sub(r"\1", raw)
    if not value.strip("/") or value.startswith("@"):
        return None
    if root is None and lines is None and value in WORDS:
        return Mention(WORDS[value], value, None, None, start, end)
    if root is None and lines is None and COMMIT.fullmatch(value):
        return Mention("commit", value.lower(), None, None, start, end)
    return Mention(_kind(value), value, root, _span(lines), start, end)


def _trimmed(text: str, at: int, end: int) -> int:
    """Where a name ends that a sentence goes on behind, or a bracket closes."""
    if text[end - 1] not in ENDING:
        return end
    body = text[at:end]
    left = len(body)
    spare = {close: body.count(close) - body.count(opens) for close, opens in BRACKETS.items()}
    while left and not body.endswith("\\", 0, left - 1):
        last = body[left - 1]
        if last in CLOSING:
            left -= 1
        elif left > 1 and BRACKETS.get(last) == body[left - 2]:
            left -= 2  # a call, ()
        elif spare.get(last, 0) > 0:
            spare[last] -= 1
            left -= 1
        else:
            break
    return at + left


def _with_lines(value: str) -> tuple[str, re.Match[str] | None]:
    """A name and the lines at its end."""
    place = max(value.rfind("#"), value.find(":", max(value.rfind("/"), 0)))
    found = LINES.fullmatch(value, place) if place > 0 else None
    return (value, None) if found is None else (value[:place], found)


def _span(found: re.Match[str] | None) -> Span | None:
    """First and last line, in whichever order they were written."""
    if found is None:
        return None
    first = int(found[1] or found[3])
    last = int(found[2] or found[4] or first)
    return min(first, last), max(first, last)


def _kind(value: str) -> Kind:
    return "folder" if value.endswith("/") else "path"
