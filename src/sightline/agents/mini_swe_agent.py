"""Read a mini-swe-agent trajectory as the chat messages that were sent. Before version 1.1 a
trajectory is a bare list, and a command stands in a fence of the model's text."""

from __future__ import annotations

from sightline.agents.json_fields import nested, objects
from sightline.agents.recording import Telling, document, head, moment
from sightline.conversation.recorded_conversation import Conversation, NotOurs

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
    begins = head(path)
    is_trajectory = b'"trajectory_format"' in begins or b'"model_stats"' in begins
    is_object = begins.lstrip().startswith(b"{") and b'"info"' in begins[:40]
    is_list = begins.lstrip().startswith(b"[") and path.endswith(ENDS) and b'"content"' in begins
    if not (is_list or (is_object and is_trajectory)):
        raise NotOurs("it holds no messages as mini-swe-agent records them")
    data, mark = document(path)
    messages = Telling()
    for message in objects(data.get("messages") if isinstance(data, dict) else data):
        if message.get("role") in ROLES:
            sent = {key: message[key] for key in message if key in SENT}
            sent = {key: value for key, value in sent.items() if value is not None}
            messages.add(sent, moment(nested(message, "extra", "timestamp")))
    return messages.conversation("chat", "mini-swe-agent", path, mark)
