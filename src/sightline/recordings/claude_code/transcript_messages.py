"""Read a transcript as the messages that were sent: one conversation, in the order the model read
it.

The client writes a row for each part of an answer and for each result. Rows of an abandoned branch
stay in the file, and so do copies of rows of the conversation that this one continues.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from sightline.messages.formats.format import FORMATS
from sightline.messages.recorded_work import is_of_work, read_work
from sightline.model.agent_work import NO_WORK, RecordedWork
from sightline.model.json_fields import Row, nested, objects, text_parts
from sightline.model.json_text import compact_json
from sightline.recordings.claude_code import transcripts
from sightline.recordings.claude_code.recorded_sessions import recordings, timed_events
from sightline.recordings.claude_code.transcripts import time_of
from sightline.recordings.reader import Reader
from sightline.recordings.recorded_conversation import Conversation, NotOurs
from sightline.recordings.recording_file import Rows, Telling, first_rows

NONE = "it holds no messages as Claude Code records them"

KINDS = (
    *("user", "assistant", "system", "progress", "attachment", "summary", "mode", "api-request"),
    *("file-history-snapshot", "file-history-delta", "queue-operation", "last-prompt"),
    *("permission-mode", "ai-title", "custom-title", "agent-name", "pr-link", "frame-link"),
)
"""What a row may be of."""


def conversation(path: str) -> Conversation:
    """Return the conversation in a transcript. OSError; NotOurs for a file without a conversation
    of Claude Code; ValueError for the rows of a sub-agent alone."""
    if not any(row.get("type") in KINDS for row in first_rows(path)):
        raise NotOurs(NONE)
    rows = Rows(path)
    found = list(rows)
    if not any(_is_ours(row) for row in found):
        raise NotOurs(NONE)
    reader = _Messages()
    for row in main_chain(found):
        reader.row(row)
    if not reader.messages:
        raise ValueError("it holds only messages of a sub-agent")
    session = str(next((row["sessionId"] for row in found if row.get("sessionId")), ""))
    return reader.conversation("anthropic", "claude-code", path, session, rows.damaged)


def recorded_work(transcript: str) -> RecordedWork:
    """Return the work in the last WORK_MAX bytes of a transcript; see
    agents.dialect.Dialect.recorded_work. OSError."""
    with open(transcript, "rb") as file:
        begin = max(os.fstat(file.fileno()).st_size - WORK_MAX, 0)
        file.seek(begin)
        data = file.read()
        if not any(word in data for word in WORKS):
            return NO_WORK
        found = [row for _, row in transcripts.rows(file, begin, (b"{",)) if row is not None]
    calls: set[str] = set()
    told = [(row, _of_work(row, calls)) for row in main_chain(found)]
    messages = [
        {"role": "assistant" if row.get("type") == "assistant" else "user", "content": parts}
        for row, parts in told
        if parts
    ]
    return read_work(FORMATS["anthropic"].blocks(messages, len))


def _of_work(row: Row, calls: set[str]) -> list[Row]:
    """Return the parts of a row that tell of to-dos and sub-agents. calls: of such tools, by id; those
    of the row are added."""
    if row.get("type") == "attachment":
        parts = reminder(row.get("attachment"))
    else:
        parts = text_parts(nested(row, "message", "content"))
    calls |= {
        str(part.get("id"))
        for part in parts
        if part.get("type") == "tool_use" and is_of_work(str(part.get("name")))
    }
    return [
        part
        for part in parts
        if not calls.isdisjoint((str(part.get("id")), str(part.get("tool_use_id"))))
        or "<task-notification>" in str(part.get("text"))
    ]


def _is_ours(row: Row) -> bool:
    return (
        row.get("type") in ("user", "assistant")
        and isinstance(nested(row, "message", "content"), str | list)
        and "sessionId" in row
    )


WORK_MAX = 16 << 20
"""Bytes of a transcript that are read for the work it tells of: the newest, which a hook has time for."""

WORKS = (b'"TodoWrite"', b'"TaskCreate"', b'"Task"', b'"Agent"', b"<task-notification>")
"""A transcript without these tells of no work."""


class _Messages(Telling):
    """Messages built from rows. The parts of an answer may come after the results of its first
    calls."""

    def __init__(self) -> None:
        super().__init__()
        self._answer: tuple[str, list[Row]] | None = None
        self._answered: set[str] = set()

    def row(self, row: Row) -> None:
        """Add a row. Rows that no model read are passed over."""
        kind = row.get("type")
        if kind == "system" and row.get("subtype") == "compact_boundary":
            self.begin_anew()
            self._answer = None
        elif kind == "assistant":
            self._said(row)
        elif kind == "attachment":
            self._heard(row, reminder(row.get("attachment")))
        elif kind == "user":
            self._heard(
                row,
                [
                    part
                    for part in text_parts(nested(row, "message", "content"))
                    if self._is_new(part)
                ],
            )

    def _said(self, row: Row) -> None:
        parts = text_parts(nested(row, "message", "content"))
        if not parts:
            return
        message = row["message"]
        if message.get("model") == "<synthetic>" or row.get("isApiErrorMessage"):
            return  # the client's own words
        name = str(message.get("id") or row.get("uuid"))
        if self._answer is not None and self._answer[0] == name:
            self._answer[1].extend(parts)
            return
        self._answer = name, parts
        self.add({"role": "assistant", "content": parts}, time_of(row))

    def _heard(self, row: Row, parts: list[Row]) -> None:
        if not parts:
            return
        fresh = len(self.messages) in self.borders[-1:]
        if fresh or not self.messages or self.messages[-1]["role"] != "user":
            self.add({"role": "user", "content": []}, time_of(row))
        content: list[Row] = self.messages[-1]["content"]
        results = [part for part in parts if part.get("type") == "tool_result"]
        place = sum(part.get("type") == "tool_result" for part in content)
        content[place:place] = results
        content += [part for part in parts if part.get("type") != "tool_result"]

    def _is_new(self, part: Row) -> bool:
        """Return whether a part is no second result of one call."""
        if part.get("type") != "tool_result":
            return True
        call = str(part.get("tool_use_id"))
        is_new = call not in self._answered
        self._answered.add(call)
        return is_new


def main_chain(rows: Sequence[Row]) -> list[Row]:
    """Return the rows of the main chain, each once, in the order of the file: the path to the last
    row, the other parts of its answers, and their results. Where the chain begins in the middle,
    because rows are missing, all rows before that count."""
    own = list(_once(row for row in rows if not row.get("isSidechain")))
    places = {str(row["uuid"]): place for place, row in enumerate(own) if row.get("uuid")}
    chain = _chain(own, places)
    if not chain:
        return own
    names = {_answer(own[place]) for place in chain} - {None}
    wanted = set(chain) | set(range(min(chain)))
    wanted |= {place for place, row in enumerate(own) if _answer(row) in names}
    calls = {call for place in wanted for call in _calls(own[place], "tool_use", "id")}
    for place, row in enumerate(own):
        answers = not calls.isdisjoint(_calls(row, "tool_result", "tool_use_id"))
        attached = row.get("type") == "attachment"
        if answers or (attached and places.get(str(row.get("parentUuid"))) in wanted):
            wanted.add(place)
    return [own[place] for place in sorted(wanted)]


def _once(rows: Iterable[Row]) -> Iterator[Row]:
    seen: set[str] = set()
    for row in rows:
        mark = row.get("uuid")
        if mark is None or mark not in seen:
            yield row
        if mark is not None:
            seen.add(str(mark))


def _chain(own: Sequence[Row], places: Mapping[str, int]) -> list[int]:
    """Return the places of the rows from the last message back to the first one."""
    talk = [n for n, row in enumerate(own) if row.get("type") in ("user", "assistant")]
    found: dict[int, None] = {}
    place = talk[-1] if talk else None
    while place is not None and place not in found:
        found[place] = None
        row = own[place]
        place = places.get(str(row.get("parentUuid") or row.get("logicalParentUuid")))
    return list(found)


def _answer(row: Row) -> str | None:
    answer: str | None = nested(row, "message", "id") if row.get("type") == "assistant" else None
    return answer


def _calls(row: Row, kind: str, field: str) -> list[str]:
    parts = objects(nested(row, "message", "content"))
    return [str(part.get(field)) for part in parts if part.get("type") == kind]


def reminder(attachment: Any) -> list[Row]:
    """Return the parts of a user's message that an attachment makes; none for an unknown kind, or
    one whose text the transcript does not have."""
    word = _KINDS.get(str(nested(attachment, "type")))
    text = None if word is None else word(attachment)
    return [] if text is None else [{"type": "text", "text": text}]


def _aside(text: str) -> str:
    return f"<system-reminder>\n{text}\n</system-reminder>"


def _edited(attachment: Row) -> str | None:
    path, snippet = attachment.get("filename"), attachment.get("snippet")
    if not isinstance(path, str) or not isinstance(snippet, str):
        return None
    return _aside(
        f"Note: {path} was modified, either by the user or by a linter. This change was "
        "intentional, so make sure to take it into account as you proceed. Here are the relevant "
        f"changes (shown with line numbers):\n{snippet}"
    )


def _memory(attachment: Row) -> str | None:
    content = attachment.get("content")
    text = content.get("content") if isinstance(content, dict) else content
    path = attachment.get("path")
    return _aside(f"Contents of {path}:\n\n{text}") if isinstance(text, str) else None


def _file(attachment: Row) -> str | None:
    """Return the text of a mentioned file, as if the agent had read it."""
    file = nested(attachment, "content", "file")
    if not isinstance(nested(file, "content"), str):
        return None
    first = file.get("startLine")
    start = first if isinstance(first, int) else 1
    lines = file["content"].split("\n")
    numbered = "\n".join(f"{start + number}\t{line}" for number, line in enumerate(lines))
    asked = compact_json({"file_path": file.get("filePath")})
    return _aside(f"Called the Read tool with the following input: {asked}\nResult:\n{numbered}")


def _context(attachment: Row) -> str | None:
    content = attachment.get("content")
    texts = content if isinstance(content, list) else [content]
    text = "\n".join(each for each in texts if isinstance(each, str))
    return _aside(text) if text else None


def _queued(attachment: Row) -> str | None:
    """Return a prompt that the user typed while the agent was at work."""
    prompt = attachment.get("prompt")
    return prompt if isinstance(prompt, str) and prompt.strip() else None


_KINDS: Mapping[str, Callable[[Row], str | None]] = {
    "edited_text_file": _edited,
    "nested_memory": _memory,
    "file": _file,
    "hook_additional_context": _context,
    "skill_listing": _context,
    "queued_command": _queued,
}


READER = Reader(
    name="claude-code",
    title="Claude Code",
    conversation=conversation,
    sessions=recordings,
    events=timed_events,
)
