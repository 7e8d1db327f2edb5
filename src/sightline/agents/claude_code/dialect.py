"""Claude Code: whose event a hook was given, what it tells, and what is printed in answer.

Fields as measured with 2.1.329; older clients have fewer. A hook loads only the module that its
event needs.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from sightline.agents.claude_code.json_fields import checked, needed, optional
from sightline.agents.claude_code.payloads import told
from sightline.agents.claude_code.transcripts import shown_since
from sightline.agents.dialect import Caller
from sightline.agents.hook_events import Answer, Event

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
    return told(payload, event)


def answer(payload: Mapping[str, Any], answers: Iterable[Answer]) -> dict[str, Any]:
    """The object to print; empty when there is nothing to say."""
    return printed(payload, answers)


def unhooked(transcript: str, offset: int, *, before: int) -> tuple[list[Event], int]:
    """What a transcript shows from a byte offset on that no hook tells of, and where to go on."""
    return shown_since(transcript, offset, before=before)


TAKE_CONTEXT = (
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "PostToolBatch",
    "UserPromptSubmit",
    "SessionStart",
    "SubagentStart",
)
"""Events with words for the model in their answer. A stop takes some, too, and would go on."""

WATCH = ("SessionStart", "FileChanged", "CwdChanged")

WORDS_MAX = 9_900
"""Characters in all: of 10,000 or more the client shows the model only the beginning."""

NOTE_LENGTH = 100


def printed(payload: Mapping[str, Any], answers: Iterable[Answer]) -> dict[str, Any]:
    """The object to print; empty when there is nothing to say. "allow" is never said: whether the
    user wants to be asked stays the user's own setting."""
    event, given = needed(payload, "hook_event_name"), list(answers)
    out: dict[str, Any] = {}
    context = _joined([each.context for each in given]) if event in TAKE_CONTEXT else ""
    if event == "PreToolUse":
        out, context = _decided(payload, given, context)
    if context:
        out["additionalContext"] = cut(context, WORDS_MAX - len(out.get(REASON, "")))
    watch = list(dict.fromkeys([path for each in given for path in each.watch]))
    if watch and event in WATCH:
        out["watchPaths"] = watch
    return {"hookSpecificOutput": {"hookEventName": event, **out}} if out else {}


REASON = "permissionDecisionReason"


def _decided(
    payload: Mapping[str, Any], given: list[Answer], context: str
) -> tuple[dict[str, Any], str]:
    """The decision on an attempt, and the words that are left for the context: none when it is
    refused, the reason holds them all."""
    refused = _joined([each.refuse or "" for each in given])
    if refused:
        reason = cut(_joined([refused, context]), WORDS_MAX)
        return {"permissionDecision": "deny", REASON: reason}, ""
    out: dict[str, Any] = {}
    asked = _joined([each.ask or "" for each in given])
    if asked:
        out = {"permissionDecision": "ask", REASON: cut(asked, WORDS_MAX // 2)}
    contents = [each.content for each in given if each.content is not None]
    if contents and payload.get("tool_name") == "Write":
        out["updatedInput"] = {**payload["tool_input"], "content": contents[-1]}
    return out, context


def cut(words: str, limit: int) -> str:
    """At most that many characters, ending with a whole line and how many were left out."""
    if len(words) <= limit:
        return words
    kept = words[: limit - NOTE_LENGTH].rpartition("\n")[0] or words[: limit - NOTE_LENGTH]
    left = words[len(kept) :].strip("\n").count("\n") + 1
    return f"{kept}\n[{left} more lines are left out here.]"


def _joined(parts: list[str]) -> str:
    return "\n\n".join([part for part in parts if part])
