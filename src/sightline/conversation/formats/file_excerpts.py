"""Which lines of which file a result shows, as the tools of agents print them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from sightline.conversation.tool_calls import Call, field
from sightline.conversation.window.blocks import Excerpt
from sightline.conversation.written_files import plain

FORMS = {
    "→": re.compile(r"^ *(\d{1,9})→(.*)$", re.MULTILINE),
    "\t": re.compile(r"^ *(\d{1,9})\t(.*)$", re.MULTILINE),
    " |": re.compile(r"^ *(\d{1,9}) \| ?(.*)$", re.MULTILINE),
    "|": re.compile(r"^0*(\d{1,9})\| ?(.*)$", re.MULTILINE),
    ": ": re.compile(r"^(\d{1,9}): (.*)$", re.MULTILINE),
    ":": re.compile(r"^(\d{1,9}):(.*)$", re.MULTILINE),
    ".": re.compile(r"^ *(\d{1,9})\. ?(.*)$", re.MULTILINE),
}
"""A line and its number, by the sign behind the number."""

SIGNS = {
    "read": ("→", "\t", ": ", "|"),  # Claude Code, before and after; opencode, before and after
    "view": (".", "\t", "→", "|"),  # Copilot, and editors that know "view"
    "readfile": (" |", "→"),  # Cline and Roo
    "open": (":",),  # the window of SWE-agent
}
USUAL = ("→", "\t", " |")
"""Which signs a tool may print: a list in a Markdown file has numbers, too."""

BARE = ("readfile", "read", "fsread", "readmanyfiles", "viewfile", "openfile")
"""Tools that may print a file without numbers. Claude Code's is Read."""

FIRST = re.compile(r" *0*(\d{1,9})(→|\t| \||\||: |:|\.)")
TOTAL = re.compile(
    r"(?:End of file - total|File has|of|out of|/) ?(\d{1,9}) (?:total )?lines|of (\d{1,9})\. Use offset"
)
WINDOW = re.compile(r"\[File: (.+?) \((\d{1,9}) lines total\)\]")
XML_FILE = re.compile(r"<file>\s*<path>(.*?)</path>(.*?)</file>", re.DOTALL)
XML_LINES = re.compile(r"<content(?: lines=\"\d+-\d+\")?>\n?(.*?)</content>", re.DOTALL)
CUT = re.compile(
    r"truncated output|tokens truncated|\[\.\.\. *\d+ .*truncated|<elided_chars>|lines truncated"
)
"""What hosts say where they leave out a part of an output."""

TRUNCATED = "--- FILE CONTENT (truncated) ---\n"
SHOWING = re.compile(r"Status: Showing lines (\d{1,9})-(\d{1,9}) of (\d{1,9}) total lines")
LINES_MAX = 2_000
"""Lines and characters of a line from which on Claude Code and opencode leave out the rest."""

MORE = re.compile(
    r"\s*(?:\.\.\. ?)?[\[(](?:\d{1,9} more lines |Showing lines |Truncated)[^\n]*[\])]\s*\Z"
)
"""What pi says behind a piece of a file."""

REMINDER = "<system-reminder>"


def shown(call: Call, path: str | None, text: str) -> tuple[Excerpt, ...]:
    """Of the result of a tool that reads. path: that it was asked for."""
    given = call.arguments or {}
    if "<file>" in text and "<path>" in text and (found := tuple(_tagged(text))):
        return found
    if path is None or text.startswith(REMINDER) or not text.strip():
        return ()
    if text.startswith("<path>"):
        text = text.partition("<content>")[2].lstrip("\n")  # opencode's
    total = TOTAL.search(text, max(len(text) - 400, 0))
    lines = int(total[1] or total[2]) if total else None
    tool = plain(call.name)
    found = tuple(_numbered(path, text, given, lines, SIGNS.get(tool, USUAL)))
    if found or tool not in BARE or call.name == "Read":
        return found
    return tuple(_bare(path, given, text))


def window(text: str) -> tuple[Excerpt, ...]:
    """Of SWE-agent's windowed viewer, whichever of its commands printed it."""
    head = WINDOW.match(text)
    if head is None:
        return ()
    path, body = head[1], text[head.end() + 1 :]
    return tuple(_numbered(path, body, {}, int(head[2]), SIGNS["open"]))


def _tagged(text: str) -> Iterator[Excerpt]:
    """Roo's files, each with its path."""
    for file in XML_FILE.finditer(text):
        for content in XML_LINES.finditer(file[2]):
            yield from _numbered(file[1].strip(), content[1], {}, None, (" |",))


def _numbered(
    path: str, text: str, given: Mapping[str, Any], total: int | None, signs: tuple[str, ...]
) -> Iterator[Excerpt]:
    """The first run of numbered lines, without their numbers."""
    start = _first(text, signs)
    if start is None:
        return
    at, form = start
    end = text.find(f"\n{REMINDER}", at)
    rows = form.findall(text, at) if end < 0 else form.findall(text, at, end)
    if not rows:
        return
    first = int(rows[0][0])
    run = next((n for n, row in enumerate(rows) if int(row[0]) != first + n), len(rows))
    gap, rows = run < len(rows), rows[:run]
    body = "\n".join([row[1] for row in rows])
    asked = field(given, "offset", "limit", "view_range", "start_line", "end_line") is not None
    all_of_it = len(rows) == total if total is not None else not asked and len(rows) < LINES_MAX
    whole = first == 1 and all_of_it and not gap and len(max(rows, key=_length)[1]) < LINES_MAX
    yield Excerpt(path, first, body, total, whole)


def _length(row: tuple[str, str]) -> int:
    return len(row[1])


def _first(text: str, signs: tuple[str, ...]) -> tuple[int, re.Pattern[str]] | None:
    """Where numbered lines begin, near the beginning, and their form."""
    at = 0
    for _ in range(10):
        found = FIRST.match(text, at)
        sign = next((each for each in signs if found and found[2].startswith(each)), None)
        if sign is not None:
            return at, FORMS[sign]
        at = text.find("\n", at) + 1
        if at == 0:
            return None
    return None


def _bare(path: str, given: Mapping[str, Any], text: str) -> Iterator[Excerpt]:
    """Text without numbers: of Gemini CLI, Cline, pi and others."""
    if CUT.search(text) or text.startswith(("<tool_use_error>", "Error", "File unchanged")):
        return
    status = SHOWING.search(text)
    if status:
        body = text.partition(TRUNCATED)[2]
        yield Excerpt(path, int(status[1]), body.removesuffix("\n"), int(status[3]))
        return
    begin = _number(field(given, "start_line"))
    begin = begin or _number(field(given, "offset"))
    asked = field(given, "offset", "limit", "view_range", "start_line", "end_line") is not None
    if asked and begin is None:
        return
    body = MORE.sub("", text).removesuffix("\n")
    yield Excerpt(path, begin or 1, body, None, not asked and len(text) - len(body) < 2)


def _number(value: Any) -> int | None:
    """A line's number, which hosts also write as a text."""
    told = str(value)
    return int(told) if re.fullmatch(r"[0-9]{1,9}", told) else None
