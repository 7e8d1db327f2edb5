"""Read a trajectory of SWE-agent or of mini-swe-agent as the chat messages that were sent. Leave out
the demonstrations before a history of SWE-agent, which are of another session. Before version 1.1
of mini-swe-agent a trajectory is a bare list, and a command stands in a fence of the model's text."""

from __future__ import annotations

from sightline.model.json_fields import Row, nested, objects
from sightline.recordings.reader import Reader
from sightline.recordings.recorded_conversation import Conversation, NotOurs
from sightline.recordings.recording_file import Telling, document, head, moment

MAIN = ("primary", "main")
"""Names of the main agent; early versions name sub-agents."""

ROLES = ("system", "user", "assistant", "tool")
"""The role "exit" of mini-swe-agent tells how it ended: no model read it."""

MINI_ENDS = ".traj.json"
MINI_SENT = (
    *("role", "content", "tool_calls", "tool_call_id", "name", "function_call"),
    *("reasoning_content", "thinking_blocks"),
)
"""What of a message of mini-swe-agent goes to the model; the rest is for people."""


def conversation(path: str) -> Conversation:
    """Return the conversation in a trajectory of SWE-agent. OSError; NotOurs; ValueError, with a
    message for a person, for a damaged file or one without messages."""
    begins = head(path)
    is_trajectory = b'"trajectory"' in begins and b'"environment"' in begins
    is_history = b'"history"' in begins[:40] and b'"agent"' in begins
    if not begins.lstrip().startswith(b"{") or not (is_trajectory or is_history):
        raise NotOurs("it holds no history as SWE-agent records it")
    data, mark = document(path)
    messages = Telling()
    for row in objects(nested(data, "history")):
        is_main = not row.get("is_demo") and row.get("agent", "main") in MAIN
        if is_main and row.get("role") in ROLES:
            messages.add(_sent(row))
    return messages.conversation("chat", "swe-agent", path, mark)


def _sent(row: Row) -> Row:
    sent: Row = {key: row[key] for key in ("role", "content") if key in row}
    if row.get("tool_calls"):
        sent["tool_calls"] = row["tool_calls"]
    if row["role"] == "tool" and isinstance(row.get("tool_call_ids"), list):
        sent["tool_call_id"] = next(iter(row["tool_call_ids"]), None)
    return sent


def mini_conversation(path: str) -> Conversation:
    """Return the conversation in a trajectory of mini-swe-agent. OSError; NotOurs; ValueError, with
    a message for a person, for a damaged file or one without messages."""
    begins = head(path)
    is_trajectory = b'"trajectory_format"' in begins or b'"model_stats"' in begins
    is_object = begins.lstrip().startswith(b"{") and b'"info"' in begins[:40]
    is_list = begins.lstrip().startswith(b"[") and path.endswith(MINI_ENDS)
    if not ((is_list and b'"content"' in begins) or (is_object and is_trajectory)):
        raise NotOurs("it holds no messages as mini-swe-agent records them")
    data, mark = document(path)
    messages = Telling()
    for message in objects(data.get("messages") if isinstance(data, dict) else data):
        if message.get("role") in ROLES:
            sent = {key: message[key] for key in message if key in MINI_SENT}
            sent = {key: value for key, value in sent.items() if value is not None}
            messages.add(sent, moment(nested(message, "extra", "timestamp")))
    return messages.conversation("chat", "mini-swe-agent", path, mark)


READER = Reader(name="swe-agent", title="SWE-agent", conversation=conversation)
MINI_READER = Reader(name="mini-swe-agent", title="mini-SWE-agent", conversation=mini_conversation)
