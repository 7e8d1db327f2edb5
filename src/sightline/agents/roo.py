"""Read a task that Roo Code or Cline exported as Markdown: the messages that were sent, each with
its texts one after the other."""

from __future__ import annotations

import re
from hashlib import sha256

from sightline.agents.json_fields import Row
from sightline.agents.recording import Telling, head
from sightline.conversation.recorded_conversation import Conversation, NotOurs

SPEAKER = re.compile(r"(?:\A\s*|\n---\n\n)\*\*(User|Assistant):\*\*\n\n")
DETAILS = "\n<environment_details>"
ROLES = {"User": "user", "Assistant": "assistant"}


def conversation(path: str) -> Conversation:
    """Return the conversation in an export. OSError; NotOurs; ValueError, with a message for a
    person, for an export without messages."""
    begins = head(path)
    ours = b"<environment_details>" in begins or b"<task>" in begins
    if not begins.lstrip().startswith(b"**User:**") or not ours:
        raise NotOurs("it holds no messages as Roo Code exports them")
    with open(path, "rb") as file:
        data = file.read()
    messages = Telling()
    _, *parts = SPEAKER.split(data.decode("utf-8", "replace").replace("\r\n", "\n"))
    for speaker, text in zip(parts[::2], parts[1::2], strict=True):
        content = _contents(text.strip("\n"))
        if content:
            messages.add({"role": ROLES[speaker], "content": content})
    return messages.conversation("anthropic", "roo", path, sha256(data).hexdigest()[:16])


def _contents(text: str) -> list[Row]:
    """Return the texts of a message. The host's description of its surroundings was a text of its
    own."""
    before, details, after = text.rpartition(DETAILS)
    parts = [before, f"{details}{after}".lstrip("\n")] if details else [text]
    return [{"type": "text", "text": part} for part in parts if part.strip()]
