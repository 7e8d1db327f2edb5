"""Read the events of a GitHub Copilot CLI session as chat messages. Events of hooks, permissions
and sub-agents share the file, and no request to the main model holds them."""

from __future__ import annotations

import re

from sightline.model.json_fields import Row, nested, objects
from sightline.recordings import chat_messages as chat
from sightline.recordings.reader import Reader
from sightline.recordings.recorded_conversation import Conversation, NotOurs
from sightline.recordings.recording_file import Rows, Telling, first_rows, moment

ASIDE = ("agentId", "parentToolCallId")
"""Fields of what a sub-agent does."""

EVENT = re.compile(
    r"(?:session|system|user|assistant|model|tool|hook|permission|subagent|skill)\.[a-z_]+|abort"
)
"""Types of events."""


def conversation(path: str) -> Conversation:
    """Return the conversation in a session's events, which may begin in the middle of the session: its
    file was cut, or the events are those that the client printed. OSError; NotOurs; ValueError, with
    a message for a person, for a session without messages."""
    if not any(map(_is_event, first_rows(path))):
        raise NotOurs("it holds no events as GitHub Copilot CLI records them")
    found = Rows(path)
    reader = _Events()
    for row in found:
        data = row.get("data")
        if isinstance(data, dict) and not any(data.get(name) or row.get(name) for name in ASIDE):
            reader.event(str(row.get("type")), data, moment(row.get("timestamp")))
    return reader.conversation("chat", "copilot", path, reader.session, found.damaged)


def _is_event(row: Row) -> bool:
    """Return whether a row is an event, and no row of another product that has a type and data."""
    kind = row.get("type")
    is_kind = isinstance(kind, str) and EVENT.fullmatch(kind) is not None
    if not is_kind or not isinstance(row.get("data"), dict):
        return False
    return "parentId" in row or "sessionId" in row["data"]


class _Events(Telling):
    def __init__(self) -> None:
        super().__init__()
        self.session = ""
        self._ids = chat.Ids()
        self._calls: dict[str, str] = {}

    def event(self, kind: str, data: Row, at: int | None) -> None:
        """Add an event. Events that no model read are passed over."""
        if kind == "session.start":
            self.session = self.session or str(data.get("sessionId") or "")
            self.folder = self.folder or str(nested(data, "context", "cwd") or "")
        elif kind == "system.message":
            self.add_text("system", data.get("content"), at)
        elif kind == "user.message":
            self.add_text("user", data.get("transformedContent") or data.get("content"), at)
        elif kind == "system.notification":
            self.add_text("user", data.get("content"), at)
        elif kind == "assistant.message":
            self._add_answer(data, at)
        elif kind == "tool.execution_complete":
            self._result(data, at)
        elif kind == "session.compaction_complete" and data.get("success") is not False:
            self.begin_anew()
            self.add_text("user", data.get("summaryContent"), at)

    def _add_answer(self, data: Row, at: int | None) -> None:
        calls = []
        for each in objects(data.get("toolRequests")):
            name = self._ids.unique(each.get("toolCallId"))
            self._calls[str(each.get("toolCallId"))] = name
            calls.append(chat.tool_call(str(each.get("name")), name, each.get("arguments")))
        thought = str(data.get("reasoningText") or "")
        self.add(chat.assistant_message(str(data.get("content") or ""), thought, calls), at)

    def _result(self, data: Row, at: int | None) -> None:
        name = self._calls.get(str(data.get("toolCallId")))
        if name is None:
            return
        key = "content" if isinstance(data.get("result"), dict) else "message"
        result = data.get("result") or data.get("error")
        text = result.get(key) if isinstance(result, dict) else result
        failed = data.get("success") is False
        self.add(chat.tool_result(name, text if isinstance(text, str) else "", failed=failed), at)


READER = Reader(name="copilot", title="GitHub Copilot CLI", conversation=conversation)
