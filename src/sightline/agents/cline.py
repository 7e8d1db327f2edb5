"""Read the api_conversation_history.json of a Cline or Roo Code task: Anthropic messages as they
were sent, with calls as tags in their texts. Cline in a terminal writes a file with calls in
blocks."""

from __future__ import annotations

import os

from sightline.agents.json_fields import Row, objects
from sightline.agents.recording import Telling, document, head, moment
from sightline.conversation.recorded_conversation import Conversation, NotOurs

AGENT = "cline"
ROO = "roo"
HISTORY = "api_conversation_history.json"
TERMINAL = ".messages.json"
BESIDE = ("ui_messages.json", "task_metadata.json", "context_history.json", "history_item.json")
"""Files of a task that hold something else."""

MODE = b"# Current Mode"
CLINES = (b"# Current Mode\\nACT", b"# Current Mode\\nPLAN")
"""Both say which mode they are in; these are Cline's two."""

UNKNOWN = ("reasoning", "thoughtSignature")
"""Blocks that these products keep for other providers, and that no Anthropic message has."""


def conversation(path: str) -> Conversation:
    """Return the conversation in a task's history. OSError; NotOurs; ValueError, with a message for
    a person, for a damaged file or another file of a task."""
    begins = head(path)
    if os.path.basename(path) in BESIDE:
        raise ValueError(f"it is a file of a task beside {HISTORY}, which holds the messages")
    if begins.lstrip().startswith(b"{"):
        is_ours = path.endswith(TERMINAL) and b'"messages"' in begins and b'"version"' in begins
    else:
        is_named = os.path.basename(path) == HISTORY or b"<environment_details>" in begins
        is_ours = is_named and begins.lstrip().startswith(b"[") and b'"role"' in begins
    if not is_ours:
        raise NotOurs("it holds no messages as Cline or Roo Code record them")
    data, session = document(path)
    reader = _History()
    for message in objects(data.get("messages") if isinstance(data, dict) else data):
        if message.get("role") in ("user", "assistant"):
            reader.message(message)
    if os.path.basename(path) == HISTORY:  # in a folder named after the task
        session = os.path.basename(os.path.dirname(os.path.abspath(path))) or session
    agent = ROO if MODE in begins and not any(each in begins for each in CLINES) else AGENT
    return reader.conversation("anthropic", agent, path, session)


class _History(Telling):
    def message(self, message: Row) -> None:
        """Add a message. A summary of everything before it starts the context anew. Messages that
        were hidden from the model for some time count as if they had stayed."""
        if message.get("isTruncationMarker"):
            return
        content = message.get("content")
        if isinstance(content, list):
            content = [part for part in objects(content) if part.get("type") not in UNKNOWN]
        if not content or not isinstance(content, str | list):
            return
        if message.get("isSummary") and any(m["role"] == "assistant" for m in self.messages):
            self.begin_anew()
            if message["role"] == "assistant":  # the task stays in front of it
                self.add(self.messages[0], self.times[0])
        self.add({**message, "content": content}, moment(message.get("ts")))
