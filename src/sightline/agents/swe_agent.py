"""Read the history of a SWE-agent trajectory as the chat messages that were sent. Leave out the
demonstrations before it, which are of another session."""

from __future__ import annotations

from sightline.agents.json_fields import Row, nested, objects
from sightline.agents.recording import Telling, document, head
from sightline.conversation.recorded_conversation import Conversation, NotOurs

MAIN = ("primary", "main")
"""Names of the main agent; early versions name sub-agents."""

ROLES = ("system", "user", "assistant", "tool")


def conversation(path: str) -> Conversation:
    """Return the conversation in a trajectory. OSError; NotOurs; ValueError, with a message for a
    person, for a damaged file or one without messages."""
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
