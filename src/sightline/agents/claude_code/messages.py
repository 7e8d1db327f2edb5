"""A transcript as the messages that were sent: one conversation, in the order the model read it.

The client writes a row for each part of an answer and for each result; a row of an abandoned
branch stays in the file, and so do copies of rows of the conversation that this one went on from.
"""

from __future__ import annotations

from sightline.agents.claude_code.chain import kept
from sightline.agents.claude_code.reminders import reminder
from sightline.agents.claude_code.rows import time_of
from sightline.agents.recorded import first_rows, rows
from sightline.core.replaying.conversation import Conversation, NotOurs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    Row = Mapping[str, Any]
    Part = dict[str, Any]

AGENT = "claude-code"
NONE = "it holds no messages as Claude Code records them"

KINDS = (
    *("user", "assistant", "system", "progress", "attachment", "summary", "mode", "api-request"),
    *("file-history-snapshot", "file-history-delta", "queue-operation", "last-prompt"),
    *("permission-mode", "ai-title", "custom-title", "agent-name", "pr-link", "frame-link"),
)
"""What a row may be of."""


def conversation(path: str) -> Conversation:
    """The conversation in a transcript. OSError when it cannot be read; NotOurs when it
    holds no conversation of Claude Code."""
    if not any(row.get("type") in KINDS for row in first_rows(path)):
        raise NotOurs(NONE)
    found, passed_over = rows(path)
    if not any(_is_ours(row) for row in found):
        raise NotOurs(NONE)
    made = _Messages()
    for row in kept(found):
        made.add(row)
    if not made.messages:
        raise ValueError("all that it holds is of a sub-agent")
    return Conversation(
        "anthropic",
        tuple(made.messages),
        tuple(made.times),
        tuple(made.borders),
        path,
        AGENT,
        str(next((row["sessionId"] for row in found if row.get("sessionId")), "")),
        passed_over,
    )


def _is_ours(row: Row) -> bool:
    return (
        row.get("type") in ("user", "assistant")
        and isinstance(row.get("message"), dict)
        and "sessionId" in row
    )


class _Messages:
    """Rows put together. An answer's parts may come after the results of its first calls."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []
        self.times: list[int | None] = []
        self.borders: list[int] = []
        self._answer: tuple[str, list[Part]] | None = None
        self._answered: set[str] = set()

    def add(self, row: Row) -> None:
        """A row of the conversation; of no interest are those that no model read."""
        kind = row.get("type")
        if kind == "system":
            if row.get("subtype") == "compact_boundary" and self.messages:
                self.borders.append(len(self.messages))
                self._answer = None
        elif kind == "assistant":
            self._said(row)
        elif kind == "attachment":
            self._heard(row, reminder(row.get("attachment")))
        elif kind == "user":
            self._heard(row, list(self._new(_parts(row))))

    def _said(self, row: Row) -> None:
        parts = _parts(row)
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
        self._begin("assistant", parts, row)

    def _heard(self, row: Row, parts: list[Part]) -> None:
        if not parts:
            return
        fresh = len(self.messages) in self.borders[-1:]
        if fresh or not self.messages or self.messages[-1]["role"] != "user":
            self._begin("user", [], row)
        content: list[Part] = self.messages[-1]["content"]
        results = [part for part in parts if part.get("type") == "tool_result"]
        place = sum(part.get("type") == "tool_result" for part in content)
        content[place:place] = results
        content += [part for part in parts if part.get("type") != "tool_result"]

    def _new(self, parts: list[Part]) -> Iterator[Part]:
        """Without second results of one call."""
        for part in parts:
            if part.get("type") == "tool_result":
                call = str(part.get("tool_use_id"))
                if call in self._answered:
                    continue
                self._answered.add(call)
            yield part

    def _begin(self, role: str, content: list[Part], row: Row) -> None:
        self.messages.append({"role": role, "content": content})
        self.times.append(time_of(row))


def _parts(row: Row) -> list[Part]:
    """The parts of a row's message; a text alone is one."""
    content = row["message"].get("content") if isinstance(row.get("message"), dict) else None
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content.strip() else []
    parts = content if isinstance(content, list) else []
    return [part for part in parts if isinstance(part, dict) and not _empty(part)]


def _empty(part: Part) -> bool:
    return part.get("type") == "text" and not str(part.get("text", "")).strip()
