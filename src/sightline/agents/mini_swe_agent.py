"""Read a mini-swe-agent trajectory as the chat messages that were sent. Before version 1.1 a
trajectory is a bare list, and a command stands in a fence of the model's text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sightline.agents.recording import Telling, document, head, moment
from sightline.conversation.recorded_conversation import Conversation, NotOurs

Row = Mapping[str, Any]

AGENT = "mini-swe-agent"
ENDS = ".traj.json"
SENT = (
    *("role", "content", "tool_calls", "tool_call_id", "name", "function_call"),
    *("reasoning_content", "thinking_blocks"),
)
"""What of a message goes to the model; the rest is for people."""

ROLES = ("system", "user", "assistant", "tool")
"""The role "exit" tells how it ended: no model read it."""


def conversation(path: str) -> Conversation:
    """Return the conversation in a trajectory. OSError; NotOurs; ValueError, with a message for a
    person, for a damaged file or one without messages."""
    if not _is_ours(path, head(path)):
        raise NotOurs("it holds no messages as mini-swe-agent records them")
    data, mark = document(path)
    listed = data.get("messages") if isinstance(data, dict) else data
    messages = Telling()
    for message in listed if isinstance(listed, list) else ():
        if isinstance(message, dict) and message.get("role") in ROLES:
            sent = {key: value for key, value in message.items() if key in SENT}
            messages.add(
                {key: value for key, value in sent.items() if value is not None}, _at(message)
            )
    return messages.conversation("chat", AGENT, path, mark)


def _is_ours(path: str, begins: bytes) -> bool:
    is_trajectory = b'"trajectory_format"' in begins or b'"model_stats"' in begins
    if begins.lstrip().startswith(b"{"):
        return is_trajectory and b'"info"' in begins[:40]
    return begins.lstrip().startswith(b"[") and path.endswith(ENDS) and b'"content"' in begins


def _at(message: Row) -> int | None:
    extra = message.get("extra")
    return moment(extra.get("timestamp")) if isinstance(extra, dict) else None
