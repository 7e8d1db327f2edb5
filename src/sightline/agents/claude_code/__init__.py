"""Claude Code: whose event a hook was given, what it tells, and what is printed in answer.

Fields as measured with 2.1.329; older clients have fewer. A hook loads only the module that its
event needs.
"""

from __future__ import annotations

import os

from sightline.agents import Caller
from sightline.agents.claude_code.fields import checked, needed, optional

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from sightline.services.attend import Answer, Event

AGENT_ID_LENGTH = 8
"""Characters of a sub-agent's id that tell it from its siblings."""


def caller(payload: Mapping[str, Any]) -> Caller:
    """Whose event it is; a sub-agent has a session of its own. ValueError."""
    checked(payload, dict, "input")
    session, cwd = needed(payload, "session_id"), needed(payload, "cwd")
    transcript = optional(payload, "transcript_path")
    agent = optional(payload, "agent_id")
    if not agent:
        return Caller(session, cwd, None, transcript)
    own = optional(payload, "agent_transcript_path")
    if own is None and transcript is not None:
        folder = transcript.removesuffix(".jsonl")
        own = os.path.join(folder, "subagents", f"agent-{agent}.jsonl")
    name = sub_agent(session, optional(payload, "agent_type"), agent)
    return Caller(name, cwd, session, own)


def sub_agent(session: str, kind: str | None, agent: str) -> str:
    """Our id of a sub-agent's session."""
    name = "".join([char if char.isprintable() else "-" for char in kind or ""]).strip()
    return f"{session}/{name or 'agent'}-{agent[:AGENT_ID_LENGTH]}"


def events(payload: Mapping[str, Any], event: str | None = None) -> list[Event]:
    """What a payload tells, in order; nothing for what is of no interest. ValueError."""
    from sightline.agents.claude_code.payloads import told

    return told(payload, event)


def answer(payload: Mapping[str, Any], answers: Iterable[Answer]) -> dict[str, Any]:
    """The object to print; empty when there is nothing to say."""
    from sightline.agents.claude_code.answers import printed

    return printed(payload, answers)


def unhooked(transcript: str, offset: int, *, before: int) -> tuple[list[Event], int]:
    """What a transcript shows from a byte offset on that no hook tells of, and where to go on."""
    from sightline.agents.claude_code.transcripts import shown_since

    return shown_since(transcript, offset, before=before)
