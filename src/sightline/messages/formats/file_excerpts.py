"""Parse the lines of files in a result, as the tools of coding agents print them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from sightline.messages.blocks import Excerpt
from sightline.messages.tool_calls import Call, field
from sightline.messages.tool_names import plain_name

FORMS = {
    "→": re.compile(r"^ *(\d{1,9})→(.*)$", re.MULTILINE),
    "\t": re.compile(r"^ *(\d{1,9})\t(.*)$", re.MULTILINE),
    " |": re.compile(r"^ *(\d{1,9}) \| ?(.*)$", re.MULTILINE),
    "|": re.compile(r"^0*(\d{1,9})\| ?(.*)$", re.MULTILINE),
    ": ": re.compile(r"^(\d{1,9}): (.*)$", re.MULTILINE),
    ":": re.compile(r"^(\d{1,9}):(.*)$", re.MULTILINE),
    ".": re.compile(r"^ *(\d{1,9})\. ?(.*)$", re.MULTILINE),
}
"""Sign behind a line number -> pattern of a numbered line."""

SIGNS = {
    "read": ("→", "\t", ": ", "|"),  # Claude Code, before and after; opencode, before and after
    "view": (".", "\t", "→", "|"),  # Copilot, and editors that know "view"
    "readfile": (" |", "→"),  # Cline and Roo
    "open": (":",),  # the window of SWE-agent
}
USUAL = ("→", "\t", " |")
"""The signs that each tool prints. Other signs do not count: a list in a Markdown file has numbers,
too."""

BARE = ("readfile", "read", "fsread", "readmanyfiles", "viewfile", "openfile", "view")
"""Tools that may print a file without numbers, except for Claude Code's Read."""

ANY_PATH = ("view",)
"""Tools of these that list folders, too: names, one on each line."""

NAME_ON_A_LINE = re.compile(r"[^\s/\\:(){}\[\]<>=,;'\"]+[/\\]?")
TOO_LARGE = "File too large to read at once"

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
"""Text of hosts in place of an omitted part of an output."""

TRUNCATED = "--- FILE CONTENT (truncated) ---\n"
SHOWING = re.compile(r"Status: Showing lines (\d{1,9})-(\d{1,9}) of (\d{1,9}) total lines")
LINES_MAX = 2_000
"""Lines, and characters of a line, after which Claude Code and opencode omit the rest."""

TOOL_LINES = 6
"""Lines that a tool puts behind those of a file."""

MORE = re.compile(
    r"\s*(?:\.\.\. ?)?[\[(](?:\d{1,9} more lines |Showing lines |Truncated|Output truncated)"
    r"[^\n]*[\])]\s*\Z"
)
"""Text of pi, and of Copilot, behind a piece of a file."""

STARTS = ("offset", "start_line")
ENDS = ("limit", "view_range", "end_line")
"""Arguments that ask for a part of a file."""

REMINDER = "<system-reminder>"
REMINDERS = re.compile(rf"(?:{REMINDER}.*?</system-reminder>\s*)+", re.DOTALL)


def read_excerpts(call: Call, path: str | None, text: str) -> tuple[Excerpt, ...]:
    """Parse the result of a tool that reads files. path: the one that the call names."""
    arguments = call.arguments or {}
    if "<file>" in text and "<path>" in text:  # Roo's files, each in a tag with its path
        tagged = [(f, lines) for f in XML_FILE.finditer(text) for lines in XML_LINES.finditer(f[2])]
        read = (_numbered(f[1].strip(), lines[1], {}, None, (" |",)) for f, lines in tagged)
        if found := tuple(chain.from_iterable(read)):
            return found
    if path is None:
        return ()
    if reminders := REMINDERS.match(text):  # how old a memory is, or that the file is empty
        text = text[reminders.end() :]
    if text.startswith(REMINDER) or not text.strip():
        return ()
    if text.startswith("<path>"):
        text = text.partition("<content>")[2].lstrip("\n")  # opencode's
    match = TOTAL.search(text, max(len(text) - 400, 0))
    total = int(match[1] or match[2]) if match else None
    tool = plain_name(call.name)
    signs = SIGNS.get(tool, USUAL)
    is_bare = tool in BARE and call.name != "Read"
    start = _find_numbers(text, signs)
    if start is not None and (not is_bare or _is_numbered(text, *start)):
        return tuple(_numbered(path, text, arguments, total, signs))
    if not is_bare or (tool in ANY_PATH and not _is_of_file(path, text)):
        return ()
    if start is not None and start[0] == 0 and start[1] is FORMS["."]:
        return ()  # a list that the file begins with, or a numbered text that was cut
    return tuple(_bare(path, arguments, text))


def window_excerpts(text: str) -> tuple[Excerpt, ...]:
    """Parse the output of SWE-agent's file window, which several commands print."""
    head = WINDOW.match(text)
    if head is None:
        return ()
    return tuple(_numbered(head[1], text[head.end() + 1 :], {}, int(head[2]), SIGNS["open"]))


def _numbered(
    path: str, text: str, arguments: Mapping[str, Any], total: int | None, signs: tuple[str, ...]
) -> Iterator[Excerpt]:
    """Parse the first run of numbered lines. total: lines of the file, where the tool names it."""
    start = _find_numbers(text, signs)
    if start is None:
        return
    position, form = start
    end = text.find(f"\n{REMINDER}", position)
    rows = form.findall(text, position) if end < 0 else form.findall(text, position, end)
    if not rows:
        return
    first = int(rows[0][0])
    length = next((n for n, row in enumerate(rows) if int(row[0]) != first + n), len(rows))
    first = first or 1  # asked for offset 0, Claude Code counts from 0
    is_cut = length < len(rows)
    lines = [row[1] for row in rows[:length]]
    is_range = _is_range(arguments)
    is_all = length == total if total is not None else not is_range and length < LINES_MAX
    is_cut = is_cut or MORE.search(text) is not None
    whole = first == 1 and is_all and not is_cut and max(map(len, lines)) < LINES_MAX
    yield Excerpt(path, first, "\n".join(lines), total, whole)


def _is_numbered(text: str, position: int, form: re.Pattern[str]) -> bool:
    """Return whether numbers before lines are the tool's, and not the file's own (a list, ports): they
    begin with the first line and go on to the end, a few lines of the tool's aside."""
    lines = MORE.sub("", text.partition(f"\n{REMINDER}")[0]).removesuffix("\n").split("\n")
    numbers = [int(match[1]) if (match := form.match(line)) else -1 for line in lines]
    run = next((n for n, number in enumerate(numbers) if number != numbers[0] + n), len(lines))
    rest = len(lines) - run
    return position == 0 and rest <= (0 if form is FORMS["."] else max(TOOL_LINES, run))


def _find_numbers(text: str, signs: tuple[str, ...]) -> tuple[int, re.Pattern[str]] | None:
    """Return the position of the first numbered line, among the first ten lines, and the pattern of
    its form."""
    position = 0
    for line in text.split("\n", 10)[:10]:
        match = FIRST.match(line)
        sign = next((sign for sign in signs if match and match[2].startswith(sign)), None)
        if sign is not None:
            return position, FORMS[sign]
        position += len(line) + 1
    return None


def _bare(path: str, arguments: Mapping[str, Any], text: str) -> Iterator[Excerpt]:
    """Parse text without numbers, as Gemini CLI, Cline, pi and others print it."""
    if CUT.search(text) or text.startswith(("Error", "File unchanged")):
        return
    status = SHOWING.search(text)
    if status:
        body = text.partition(TRUNCATED)[2]
        yield Excerpt(path, int(status[1]), body.removesuffix("\n"), int(status[3]))
        return
    lines = field(arguments, "view_range")
    starts = [field(arguments, *STARTS), lines[0] if isinstance(lines, list) and lines else None]
    first = next((number for start in starts if (number := _line_number(start))), None)
    is_range = _is_range(arguments)
    if is_range and first is None:
        return
    body = MORE.sub("", text).removesuffix("\n")
    yield Excerpt(path, first or 1, body, None, not is_range and len(text) - len(body) < 2)


def _is_range(arguments: Mapping[str, Any]) -> bool:
    """Return whether arguments ask for a part of a file and not for the whole file."""
    start = field(arguments, *STARTS)
    return field(arguments, *ENDS) is not None or str(start) not in ("None", "0", "1")


def _is_of_file(path: str, text: str) -> bool:
    """Return whether a text without numbers is certainly a file's, and no list of a folder's names
    or a refusal."""
    suffix = re.search(r"[^/\\.][^/\\]*\.\w+\Z", path)
    if suffix is None or text.startswith((TOO_LARGE, "<file>")):
        return False
    lines = text.removesuffix("\n").split("\n")
    return lines != sorted(lines) or not all(map(NAME_ON_A_LINE.fullmatch, lines))


def _line_number(value: Any) -> int | None:
    """Return a line number, which some hosts write as text."""
    return int(value) if re.fullmatch(r"[0-9]{1,9}", str(value)) else None
