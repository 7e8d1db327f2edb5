"""Read Claude Code's transcripts: their rows within bounds, and the events that no hook reports.

A hook is called for each tool, but files also reach the model as attachments: mentioned by the
user, restored after a compaction, instructions, and the client's own notice of a changed file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import IO

from msgspec import structs

from sightline.model.hook_events import Event, Forked, Inserted, Printed, Shown, Used
from sightline.model.json_fields import Row, nested, objects, parse_row, read_fields
from sightline.model.spans import Span
from sightline.model.text import split, unmarked
from sightline.recordings.claude_code.edited_text import EditResult, after
from sightline.recordings.claude_code.tool_results import read

LINE_MAX = 16 << 20
"""Bytes of a row that is still read; a longer one is passed over."""

PART_MAX = 64 << 20
"""Bytes that are read in one go at most."""


ATTACHED = b'"attachment"'
MODEL = b'"model"'
RESULT = b'"toolUseResult"'
COMMAND = b'"command"'
ASKED = b'"requestSessionId"'
"""In the row of an answer: the conversation that asked for it."""

PROMPT = b'"promptSource"'
"""In the row of a message that the user sent."""

COMPANION = b'"turnCompanion"'
"""In the row of the text of a slash command or a skill, behind the prompt or the call that named it."""

STOPPED = b'"promptSubmitEnding"'
"""In the row that the client writes when a hook stopped a prompt: the model is not asked."""

SUMMARY = b'"summarizeMetadata"'
"""In the row of a summary that leaves a part of the conversation as it was."""

ANSWER = b'"type":"assistant"'

TAIL = 1 << 16
"""Bytes in which the row before a prompt mostly is."""

CHAIN_MAX = 32
"""Rows that are followed from one to the row before it. Rows of a damaged transcript may name each other
in a circle."""

HOST = "Claude Code"


def unhooked(transcript: str, offset: int, *, before: int) -> tuple[list[Event], int]:
    """Return the events in a transcript from a byte offset on, and the next offset; see
    agents.dialect.Dialect.unhooked. A file that is shorter than the offset was written anew.
    OSError."""
    wanted = (ATTACHED, MODEL, COMPANION, *((RESULT, COMMAND, ASKED) if before else ()))
    commands: dict[str, str] = {}
    is_sub_agent = os.path.basename(transcript).startswith("agent-")  # else theirs are left out
    used: Used | None = None
    parent, copied_at = "", 0
    found: list[Event] = []
    try:
        with open(transcript, "rb") as file:
            begin = at = offset if offset <= os.fstat(file.fileno()).st_size else 0
            for end, row in rows(file, begin, wanted):
                at = end
                if row is not None and (is_sub_agent or not row.get("isSidechain")):
                    row_at = time_of(row) or 0
                    is_earlier = bool(before) and row_at < before
                    if is_earlier and not is_sub_agent:
                        parent, copied_at = _asked_by(row) or parent, max(copied_at, row_at)
                    results = [*_result(row), *_printed(row, commands)] if is_earlier else []
                    found += [_dated(event, row) for event in (*attached(row), *results)]
                    found += _inserted(row)
                    if (now := _used(row)) not in (None, used):
                        used = now
                        found.append(now)
    except (FileNotFoundError, NotADirectoryError):
        return [], offset
    return [*found, Forked(parent, copied_at)] if parent else found, at


def _asked_by(row: Row) -> str | None:
    """Return the other conversation that the model gave this answer to; a fork copies such rows."""
    asked = row.get("requestSessionId")
    return asked if isinstance(asked, str) and asked != row.get("sessionId") else None


def _dated(event: Event, row: Row) -> Event:
    """Return the event with the time of its row: hooks reported later events already."""
    return structs.replace(event, at=time_of(row)) if isinstance(event, Shown) else event


def _inserted(row: Row) -> Iterator[Inserted]:
    """Yield the texts of a slash command or a skill that a row gives to the agent."""
    at, cwd = time_of(row), row.get("cwd")
    if row.get("isMeta") and row.get("turnCompanion") and at is not None and isinstance(cwd, str):
        for block in objects(nested(row, "message", "content")):
            if isinstance(text := block.get("text"), str) and text:
                yield Inserted(text, cwd, at)


def _used(row: Row) -> Used | None:
    """Return the model and version of an answer's row."""
    model, version = model_of(row), row.get("version")
    if model is None or row.get("type") != "assistant":
        return None
    return Used(model, HOST, version if isinstance(version, str) else None)


def went_back(transcript: str, prompt: str, offset: int) -> tuple[int | None, int]:
    """Return where the conversation continued; see agents.dialect.Dialect.went_back. The row of a
    prompt names the row before it: after the client's own rewind an older one than the newest. A
    prompt that another hook stopped takes the conversation back to the row before it, because the
    model has nothing of what was added to it. So does a summary from a message on: the older text stays in the
    conversation, the newer does not. OSError."""
    name = prompt.encode()
    back: int | None = None
    try:
        with open(transcript, "rb") as file:
            begin = at = offset if offset <= os.fstat(file.fileno()).st_size else 0
            found = None
            for end, row in rows(file, begin, (PROMPT, name, STOPPED, SUMMARY)):
                since, place = None, file.tell()
                if row is None or row.get("isSidechain"):
                    pass
                elif "summarizeMetadata" in row:
                    since = _before_summary(file, at, row)
                elif "promptSubmitEnding" in row:  # behind this prompt: left for the next one
                    since = _before_stopped(file, at, row) if found is None else None
                elif row.get("type") == "user":
                    is_this = row.get("promptId") == prompt
                    if "promptSource" in row or (is_this and found is None):
                        since = _left_at(file, at, row.get("parentUuid"))
                    found = end if is_this else found
                file.seek(place)
                if since is not None:
                    back = since if back is None else min(back, since)
                at = end
            return (back, found) if found is not None else (None, offset)
    except (FileNotFoundError, NotADirectoryError):
        return None, offset


def _left_at(file: IO[bytes], end: int, parent: object) -> int | None:
    """Return the time of the last message up to the row that another one names as the row before it, when
    the conversation had gone on since: 0 for a conversation that begins anew; None where it had not, or where the
    last PART_MAX bytes lack the row. end: the offset of that other row."""
    left, since = _row_of(file, end, parent)
    if (left is None and parent is not None) or not _is_said(since):
        return None
    return 0 if left is None else _message_time(file, end, left)


def _before_summary(file: IO[bytes], end: int, summary: Row) -> int | None:
    """Return the time of the last message before a summary that reaches from there to the end of the
    conversation: 0 where nothing stays before it; None for another summary, or where the last PART_MAX bytes lack the
    row. end: the offset of the summary's row, whose row before it names the last row that stays."""
    if nested(summary, "summarizeMetadata", "direction") != "from":
        return None
    boundary, _ = _row_of(file, end, summary.get("parentUuid"))
    tail = nested(boundary or {}, "compactMetadata", "preservedSegment", "tailUuid")
    row, _ = _row_of(file, end, tail) if isinstance(tail, str) else (None, b"")
    if row is None:
        return None if isinstance(tail, str) or boundary is None else 0
    return _message_time(file, end, row)


def _before_stopped(file: IO[bytes], end: int, ending: Row) -> int | None:
    """Return the time of the last message before a prompt that another hook stopped: 0 for the first prompt,
    None where the last PART_MAX bytes lack the row, or more than CHAIN_MAX rows lie between. ending: the
    row that says so, behind the prompt where the conversation keeps it. end: the offset of that row."""
    parent = ending.get("parentUuid")
    is_inside = nested(ending, "promptSubmitEnding", "promptKept") is True
    row, _ = _row_of(file, end, parent)
    for _ in range(CHAIN_MAX):
        if row is None or not is_inside:
            break
        is_inside, parent = "promptSource" not in row, row.get("parentUuid")
        row, _ = _row_of(file, end, parent)
    else:
        return None
    if row is None:
        return 0 if parent is None else None
    return _message_time(file, end, row)


def _message_time(file: IO[bytes], end: int, row: Row) -> int | None:
    """Return the time of a row, or of the last message before a row of type "system". The client writes
    such rows (the duration of a turn) also when the hooks of the next prompt have begun. Of more than
    CHAIN_MAX such rows, return the time of the last one that was followed."""
    for _ in range(CHAIN_MAX):
        if row.get("type") != "system" or row.get("parentUuid") is None:
            break
        before, _rest = _row_of(file, end, row["parentUuid"])
        if before is None:
            break
        row = before
    return time_of(row)


def _row_of(file: IO[bytes], end: int, id: object) -> tuple[Row | None, bytes]:
    """Return the row of an id before an offset, and the bytes between them; without such a row in
    the last PART_MAX bytes, None and those."""
    name, part = f'"uuid":"{id}"'.encode(), b""
    for size in (TAIL, PART_MAX):
        begin = max(end - size, 0)
        file.seek(begin)
        part = file.read(end - begin)
        at = part.rfind(name)
        if at >= 0:
            line, after = _line_at(part, at)
            return parse_row(line), part[after:]
        if begin == 0:
            break
    return None, part


def _is_said(part: bytes) -> bool:
    """Return whether a part of a transcript has a prompt or an answer of the main conversation."""
    for word in (ANSWER, PROMPT):
        at = part.find(word)
        while at >= 0:
            line, end = _line_at(part, at)
            row = parse_row(line)
            if row is not None and not row.get("isSidechain"):
                return True
            at = part.find(word, end)
    return False


def _line_at(part: bytes, at: int) -> tuple[bytes, int]:
    """Return the line around a place, and where the next line begins."""
    begin, end = part.rfind(b"\n", 0, at) + 1, part.find(b"\n", at)
    end = len(part) if end < 0 else end
    return part[begin:end], end + 1


def attached(row: Row) -> list[Event]:
    """Return the events of a row's attachment; none for an unknown kind or shape."""
    show = _KINDS.get(str(nested(row, "attachment", "type")))
    try:
        return [] if show is None else list(show(row["attachment"]))
    except ValueError:
        return []  # a shape that this client does not have


def _texts(response: object, via: str) -> Iterator[Event]:
    """Yield the texts that a Read showed. A transcript has only the cells of a notebook: the tool's
    own hook records it."""
    for event in read(response, via):
        if isinstance(event, Shown) and event.text is not None:
            yield event


def _instructions(files: object) -> Iterator[Event]:
    """Instruction files. Their head, comments and blank ends are left out for the model; the shown
    lines are known where the transcript holds the file's own text, too."""
    for file in objects(files):
        path, text = file.get("path"), file.get("content")
        if not isinstance(path, str) or not isinstance(text, str):
            continue
        if not file.get("contentDiffersFromDisk"):
            yield Shown(path, None, text, "instructions")
        elif (lines := _place(text, file.get("rawContent"))) is not None:
            yield Shown(path, lines, text, "instructions")


def _place(text: str, raw: object) -> tuple[int, int] | None:
    """Return the lines that a text has in the whole file, where the file contains it once."""
    if not text or not isinstance(raw, str) or raw.count(text) != 1:
        return None
    above = raw[: raw.index(text)]
    if above and not above.endswith("\n"):
        return None
    first = above.count("\n") + 1
    return first, first + len(split(text)) - 1


def _changed(attachment: Row) -> Iterator[Event]:
    """The client's notice of a changed file shows hunks with the line numbers from before. So only
    the first hunk's numbers are right."""
    path, snippet = attachment.get("filename"), attachment.get("snippet")
    if not isinstance(path, str) or not isinstance(snippet, str):
        return
    texts: list[str] = []
    first = 0
    for line in snippet.split("\n"):
        number, tab, text = line.partition("\t")
        if not (tab and number.isdecimal()) or (texts and int(number) != first + len(texts)):
            break
        first = first if texts else int(number)
        texts.append(f"{text}\n")
    if texts and first:
        yield Shown(path, (first, first + len(texts) - 1), "".join(texts), "notice")


def _result(row: Row) -> list[Event]:
    """Return the events of a tool's result: the text that it showed or wrote."""
    told = row.get("toolUseResult")
    if not isinstance(told, dict):
        return []
    try:
        return written(told) if "structuredPatch" in told else list(_texts(told, "read"))
    except ValueError:
        return []


def _printed(row: Row, commands: dict[str, str]) -> Iterator[Printed]:
    """Yield what a shell command printed. commands: those seen so far, by the id of their call."""
    content = nested(row, "message", "content")
    told, cwd = row.get("toolUseResult"), row.get("cwd")
    for block in objects(content):
        command, call = nested(block, "input", "command"), block.get("id")
        if isinstance(command, str) and isinstance(call, str):
            commands[call] = command
        name = commands.get(str(block.get("tool_use_id")))
        output = told.get("stdout") if isinstance(told, dict) else None
        if name and isinstance(cwd, str) and isinstance(output, str) and output:
            yield Printed(name, cwd, output)


_KINDS: Mapping[str, Callable[[Row], Iterator[Event]]] = {
    "file": lambda attachment: _texts(attachment.get("content"), "mention"),
    "nested_memory": lambda attachment: _instructions([attachment.get("content")]),
    "instructions": lambda attachment: _instructions(attachment.get("files")),
    "edited_text_file": _changed,
}


def written(report: Row) -> list[Event]:
    """Return the text that a Write or an Edit showed its agent. ValueError."""
    fields = read_fields(report, EditResult)
    path = fields.file_path
    if path is None:
        raise ValueError("The payload has no filePath.")
    if fields.content is not None:
        return [Shown(path, None, fields.content, "edit")]
    text = after(fields.original_file or "", fields)
    if text is None:
        return []
    lines = split(unmarked(text))
    return [
        Shown(path, (first, last), "".join(lines[first - 1 : last]), "edit")
        for hunk in report["structuredPatch"]
        for first, last in _added(hunk["newStart"], hunk["lines"])
    ]


def _added(at: int, lines: list[str]) -> Iterator[Span]:
    """Yield the runs of new lines of a hunk whose new side begins at line `at`."""
    first = None
    for line in [*lines, ""]:
        if line.startswith("+"):
            first = at if first is None else first
        elif first is not None:
            yield first, at - 1
            first = None
        at += line[:1] in ("+", " ")


def rows(
    file: IO[bytes], offset: int, wanted: Sequence[bytes], upto: int = PART_MAX
) -> Iterator[tuple[int, Row | None]]:
    """Yield the end of each row, and the row if it holds one of these byte strings and is an
    object. A last row without its newline is still being written: it is left for the next call."""
    file.seek(offset)
    for end, line in _lines(file, offset, offset + upto):
        yield end, parse_row(line) if any(word in line for word in wanted) else None


def time_of(row: Row) -> int | None:
    """Return a row's time, UTC microseconds since 1970; None for a time without a zone."""
    try:
        moment = datetime.fromisoformat(row["timestamp"])
    except (KeyError, TypeError, ValueError):
        return None
    return int(moment.timestamp() * 1000) * 1000 if moment.tzinfo else None


def model_of(row: Row) -> str | None:
    """Return the model of a row's message; None for messages of the client or a person."""
    model = nested(row, "message", "model")
    return model if isinstance(model, str) and not model.startswith("<") else None


def _lines(file: IO[bytes], at: int, end: int) -> Iterator[tuple[int, bytes]]:
    while at < end:
        line = file.readline(LINE_MAX)
        if line.endswith(b"\n"):
            at += len(line)
            yield at, line
        elif len(line) < LINE_MAX:
            return
        else:
            skipped = _skipped(file, len(line), end - at)
            if skipped is None:
                return
            at += skipped
            yield at, b""


def _skipped(file: IO[bytes], size: int, most: int) -> int | None:
    """Return the length of a line that was begun, up to `most`; None for a line without an end. The
    rest of a line that is cut short is no JSON and is passed over as well."""
    while size < most:
        part = file.readline(LINE_MAX)
        size += len(part)
        if part.endswith(b"\n"):
            return size
        if len(part) < LINE_MAX:
            return None
    return size
