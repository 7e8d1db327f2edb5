"""Read an exported opencode session as chat messages: opencode writes a call and its result into
one part, and calls models of every provider."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sightline.model.json_fields import Row, nested, objects
from sightline.recordings import chat_messages as chat
from sightline.recordings.reader import Reader
from sightline.recordings.recorded_conversation import Conversation, NotOurs
from sightline.recordings.recording_file import Telling, document, head, moment

REDACTED = "REDACTED"
"""The word in place of ids in published exports."""

ASKED = "What did we do so far?"
"""What the model reads in place of all that a compaction took out."""


def conversation(path: str) -> Conversation:
    """Return the conversation in an export. OSError; NotOurs; ValueError, with a message for a
    person, for a damaged file or one without messages."""
    begins = head(path)
    is_named = b'"projectID"' in begins or b'"ses_' in begins
    if not (is_named and begins.lstrip().startswith(b"{") and b'"info"' in begins[:40]):
        raise NotOurs("it holds no messages as opencode exports them")
    data, mark = document(path)
    if not isinstance(nested(data, "messages"), list):
        raise NotOurs("it holds no messages as opencode exports them")
    reader = _Messages()
    reader.folder = str(nested(data, "info", "directory") or "")
    for message in objects(data["messages"]):
        reader.message(message)
    name = str(nested(data, "info", "id") or REDACTED)
    return reader.conversation("chat", "opencode", path, mark if name == REDACTED else name)


class _Messages(Telling):
    def __init__(self) -> None:
        super().__init__()
        self._ids = chat.Ids()

    def message(self, message: Row) -> None:
        """Add a user's message, or an answer, which may take several steps."""
        at, parts = (
            moment(nested(message, "info", "time", "created")),
            objects(message.get("parts")),
        )
        role = nested(message, "info", "role")
        if role == "user":
            self._typed(parts, at)
        elif role == "assistant":
            for step in _steps(parts):
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
            chat.tool_call(str(part.get("tool")), name, nested(part, "state", "input"))
            for part, name in zip(tools, names, strict=True)
        ]
        text, thought = _texts(parts, "text"), _texts(parts, "reasoning")
        self.add(chat.assistant_message(text, thought, calls), at)
        for part, name in zip(tools, names, strict=True):
            failed = nested(part, "state", "status") == "error"
            result = nested(part, "state", "error" if failed else "output")
            if isinstance(result, str):  # else the call was still running
                ended = moment(nested(part, "state", "time", "end"))
                self.add(chat.tool_result(name, result, failed=failed), ended)


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


READER = Reader(name="opencode", title="opencode", conversation=conversation)
