"""Read a task of Cline or Roo Code: its api_conversation_history.json, with Anthropic messages as
they were sent and calls as tags in their texts; the file of Cline in a terminal, with calls in
blocks; and a task exported as Markdown, each message with its texts one after the other."""

from __future__ import annotations

import os
import re
from hashlib import sha256

from sightline.model.json_fields import Row, objects
from sightline.recordings.reader import Reader
from sightline.recordings.recorded_conversation import Conversation, NotOurs
from sightline.recordings.recording_file import Telling, document, head, moment

AGENT = "cline"
ROO = "roo"
HISTORY = "api_conversation_history.json"
HISTORIES = (HISTORY, "claude_messages.json")
"""Names of a task's history, today's and Roo Code's old one."""

TERMINAL = ".messages.json"
BESIDE = (
    *("ui_messages.json", "task_metadata.json", "context_history.json", "history_item.json"),
    "taskHistory.json",
)
"""Files of a task, and of all tasks, that hold something else."""

SHOWN = re.compile(
    rb"""\s*\[\s*\{(?=[^{}]*"ts"\s*:)[^{}]*"type"\s*:\s*"(?:say|ask)"|\s*\{\s*"files_in_context\""""
)
"""How the rows that a person was shown begin, and the list of a task's files, whatever their
names. claude_messages.json has been the name of both."""

MODE = re.compile(rb"# Current Mode\\n(ACT|PLAN)?")
CLINES = frozenset([b"ACT", b"PLAN"])
"""Both say which mode they are in; these are Cline's two."""

UNKNOWN = ("reasoning", "thoughtSignature")
"""Blocks that these products keep for other providers, and that no Anthropic message has."""


def conversation(path: str) -> Conversation:
    """Return the conversation in a task's history. OSError; NotOurs; ValueError, with a message for
    a person, for a damaged file or another file of a task."""
    begins = head(path)
    name = os.path.basename(path)
    if name in BESIDE or SHOWN.match(begins):
        raise ValueError(f"it is a file of a task beside {HISTORY}, which holds the messages")
    if begins.lstrip().startswith(b"{"):
        is_ours = path.endswith(TERMINAL) and b'"messages"' in begins and b'"version"' in begins
    else:
        is_named = name in HISTORIES or b"<environment_details>" in begins
        is_ours = is_named and begins.lstrip().startswith(b"[") and b'"role"' in begins
    if not is_ours:
        raise NotOurs("it holds no messages as Cline or Roo Code record them")
    data, session = document(path)
    modes = _modes(path)
    reader = _History()
    for message in objects(data.get("messages") if isinstance(data, dict) else data):
        if message.get("role") in ("user", "assistant"):
            reader.message(message)
    if name in HISTORIES:  # in a folder named after the task
        session = os.path.basename(os.path.dirname(os.path.abspath(path))) or session
    agent = ROO if modes and not modes & CLINES else AGENT
    return reader.conversation("anthropic", agent, path, session)


def _modes(path: str) -> set[bytes]:
    """Return the modes that a task was in; b"" for any that is not Cline's."""
    with open(path, "rb") as file:
        return {match[1] or b"" for match in MODE.finditer(file.read())}


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


SPEAKER = re.compile(r"(?:\A\s*|\n---\n\n)\*\*(User|Assistant):\*\*\n\n")
BEGINS = (b"**User:**", b"**Assistant:**")
DETAILS = "\n<environment_details>"
ROLES = {"User": "user", "Assistant": "assistant"}


def exported_conversation(path: str) -> Conversation:
    """Return the conversation in an export. OSError; NotOurs; ValueError, with a message for a
    person, for an export without messages."""
    begins = head(path)
    ours = b"<environment_details>" in begins or b"<task>" in begins
    if not begins.lstrip().startswith(BEGINS) or not ours:
        raise NotOurs("it holds no messages as Roo Code exports them")
    with open(path, "rb") as file:
        data = file.read()
    messages = Telling()
    _, *parts = SPEAKER.split(data.decode("utf-8", "replace").replace("\r\n", "\n"))
    for speaker, text in zip(parts[::2], parts[1::2], strict=True):
        content = _contents(text.strip("\n"))
        if content:
            messages.add({"role": ROLES[speaker], "content": content})
    return messages.conversation("anthropic", ROO, path, sha256(data).hexdigest()[:16])


def _contents(text: str) -> list[Row]:
    """Return the texts of a message. The host's description of its surroundings was a text of its
    own."""
    before, details, after = text.rpartition(DETAILS)
    parts = [before, f"{details}{after}".lstrip("\n")] if details else [text]
    return [{"type": "text", "text": part} for part in parts if part.strip()]


READER = Reader(name=AGENT, title="Cline", conversation=conversation)
ROO_READER = Reader(name=ROO, title="Roo Code", conversation=exported_conversation)
