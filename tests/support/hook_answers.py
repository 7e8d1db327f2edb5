"""What products take as the answer of a hook, as they publish it. Written without the code under test."""

from __future__ import annotations

import json
from typing import Any

PERMISSION: dict[str, type] = {
    "permissionDecision": str,
    "permissionDecisionReason": str,
    "updatedInput": dict,
}
CONTEXT: dict[str, type] = {"additionalContext": str}

CLAUDE_CODE: dict[str, dict[str, type]] = {
    "PreToolUse": PERMISSION | CONTEXT,
    "PreSkillShellCommand": PERMISSION,
    "PostToolUse": CONTEXT | {"classifierContext": str},
    "PostToolUseFailure": CONTEXT,
    "PostToolBatch": CONTEXT,
    "UserPromptSubmit": CONTEXT | {"sessionTitle": str},
    "SessionStart": CONTEXT | {"initialUserMessage": str, "sessionTitle": str, "watchPaths": list},
    "SubagentStart": CONTEXT,
    "Stop": CONTEXT,
    "SubagentStop": CONTEXT,
    "FileChanged": {"watchPaths": list},
    "CwdChanged": {"watchPaths": list},
}
"""Event -> fields of hookSpecificOutput, as sdk.d.ts of the npm package @anthropic-ai/claude-agent-sdk
types SyncHookJSONOutput (0.3.332). An event that is not here has no such object."""

TOP: dict[str, type] = {
    "continue": bool,
    "suppressOutput": bool,
    "stopReason": str,
    "decision": str,
    "systemMessage": str,
    "terminalSequence": str,
    "reason": str,
    "hookSpecificOutput": dict,
}
DECISIONS = ("allow", "deny", "ask", "defer")
SHOWN_MAX = 10_000
"""Characters of which the client shows the model all (`agents/claude_code/dialect.py`)."""


def check_claude_code(event: str, printed: bytes) -> None:
    """Raise ValueError where the client would not take the bytes that a hook printed."""
    answer: Any = json.loads(printed.decode()) if printed else {}
    json.dumps(answer, ensure_ascii=False).encode()
    _are(answer, TOP)
    given = answer.get("hookSpecificOutput")
    if given is None:
        return
    fields = dict(given)
    if fields.pop("hookEventName", None) != event or event not in CLAUDE_CODE:
        raise ValueError(f"{event}: an answer for another event: {given}")
    _are(fields, CLAUDE_CODE[event])
    if fields.get("permissionDecision", "ask") not in DECISIONS:
        raise ValueError(f"{event}: no decision: {given}")
    shown = fields.get("additionalContext", "") + fields.get("permissionDecisionReason", "")
    if len(shown) >= SHOWN_MAX:
        raise ValueError(f"{event}: {len(shown)} characters")


def _are(fields: dict[str, Any], kinds: dict[str, type]) -> None:
    for key, value in fields.items():
        if key not in kinds or not isinstance(value, kinds[key]):
            raise ValueError(f"no field {key!r}, or another type: {value!r}")


HOOK_CHECKS = {"claude-code": check_claude_code}
"""Product with hooks -> check of an answer to an event."""
