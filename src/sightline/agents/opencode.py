"""Read an exported opencode session as chat messages: opencode writes a call and its result into
one part, and calls models of every provider."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sightline.agents import chat
from sightline.agents.recording import Telling, document, head, moment
from sightline.conversation.recorded_conversation import Conversation, NotOurs

Row = Mapping[str, Any]

AGENT = "opencode"
REDACTED = "REDACTED"
"""The word in place of ids in published exports."""

ASKED = "What did we do so far?"
"""What the model reads in place of all that a compaction took out."""


def conversation(path: str) -> Conversation:
    """Return the conversation in an export. OSError; NotOurs; ValueError, with a message for a
    person, for a damaged file or one without messages."""
    begins = head(path)
    if not begins.lstrip().startswith(b"{") or not _is_ours(begins):
        raise NotOurs("it holds no messages as opencode exports them")
    data, mark = document(path)
    if not isinstance(data, dict) or not isinstance(data.get("messages"), list):
        raise NotOurs("it holds no messages as opencode exports them")
    reader = _Messages()
    for message in data["messages"]:
        reader.message(message)
    info = data.get("info")
    name = str((info if isinstance(info, dict) else {}).get("id") or REDACTED)
    return reader.conversation("chat", AGENT, path, mark if name == REDACTED else name)


def _is_ours(begins: bytes) -> bool:
    named = b'"projectID"' in begins or b'"ses_' in begins
    return named and b'"info"' in begins[:40]


class _Messages(Telling):
    def __init__(self) -> None:
        super().__init__()
        self._ids = chat.Ids()

    def message(self, message: object) -> None:
        """Add a user's message, or an answer, which may take several steps."""
        info = message.get("info") if isinstance(message, dict) else None
        parts = message.get("parts") if isinstance(message, dict) else None
        if not isinstance(info, dict) or not isinstance(parts, list):
            return
        at = _time(info, "created")
        known = [part for part in parts if isinstance(part, dict)]
        if info.get("role") == "user":
            self._typed(known, at)
        elif info.get("role") == "assistant":
            for step in _steps(known):
                self._step(step, at)

    def _typed(self, parts: Sequence[Row], at: int | None) -> None:
        if any(part.get("type") == "compaction" for part in parts):
            self.begin_anew()
            self.add({"role": "user", "content": ASKED}, at)
        content = list(_contents(parts))
        if content:
            self.add({"role": "user", "content": content}, at)

    def _step(self, parts: Sequence[Row], at: int | None) -> None:
        tools = [part for part in parts if part.get("type") == "tool"]
        names = [self._ids.unique(part.get("callID")) for part in tools]
        calls = [
            chat.tool_call(str(part.get("tool")), name, _state(part).get("input"))
            for part, name in zip(tools, names, strict=True)
        ]
        message = chat.assistant_message(_texts(parts, "text"), _texts(parts, "reasoning"), calls)
        if message is not None:
            self.add(message, at)
        for part, name in zip(tools, names, strict=True):
            self._result(part, name)

    def _result(self, part: Row, name: str) -> None:
        """Add a call's result; none for a call that was still running."""
        state = _state(part)
        result = state.get("error") if state.get("status") == "error" else state.get("output")
        if isinstance(result, str):
            self.add(chat.tool_result(name, result), _time(state, "end"))


def _steps(parts: Sequence[Row]) -> Iterator[list[Row]]:
    """Yield the parts of each answer of the model."""
    step: list[Row] = []
    for part in parts:
        if part.get("type") == "step-start" and step:
            yield step
            step = []
        step.append(part)
    yield step


def _contents(parts: Sequence[Row]) -> Iterator[Row]:
    """Yield the user's text and attachments. The text of a mentioned file is a part of its own."""
    for part in parts:
        kind, url = part.get("type"), str(part.get("url") or "")
        if kind == "text" and str(part.get("text") or "").strip() and not part.get("ignored"):
            yield {"type": "text", "text": part["text"]}
        elif kind == "file" and str(part.get("mime")).startswith("image/"):
            yield {"type": "image_url", "image_url": {"url": url}}


def _texts(parts: Sequence[Row], kind: str) -> str:
    texts = [str(part.get("text") or "") for part in parts if part.get("type") == kind]
    return "\n\n".join(text for text in texts if text.strip())


def _time(of: Row, which: str) -> int | None:
    time = of.get("time")
    return moment(time.get(which)) if isinstance(time, dict) else None


def _state(part: Row) -> Row:
    state = part.get("state")
    return state if isinstance(state, dict) else {}
