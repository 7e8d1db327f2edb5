"""What is printed in answer to a hook of Claude Code."""

from __future__ import annotations

from sightline.agents.claude_code.fields import needed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from sightline.services.attend import Answer

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
