"""Our hooks of Claude Code: for which events, what each runs or asks, how they are recognised."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Hook = Mapping[str, Any]

AGENT = "claude-code"
ENTRY = "hook_entry.py"
"""The name of the script that our command hooks run: it tells them from everybody else's."""

URL_PATH = f"/hook/{AGENT}"
"""Where a running `up` answers hooks of the http kind: it tells those."""

TIMEOUT_S = 10
"""When the client stops waiting for a hook; a hook of ours ends itself before that."""

START = "import sys;__file__=sys.argv.pop(1);exec(open(__file__).read())"
"""Runs the script that is named next. Python itself ends with 2 when a script is not there any
more, by which the client means that the call is refused; this ends with 1, and the agent goes on."""

_EDITS = "Edit|Write|MultiEdit|NotebookEdit"

EVENTS = {
    "SessionStart": "",
    "InstructionsLoaded": "",
    "UserPromptSubmit": "",
    "PreToolUse": f"{_EDITS}|Bash",
    "PostToolUse": f"Read|{_EDITS}|Bash|Grep",
    "PostToolUseFailure": f"{_EDITS}|Bash",
    "PostToolBatch": "",
    "FileChanged": "",
    "SubagentStart": "",
    "SubagentStop": "",
    "Stop": "",
    "SessionEnd": "",
}
"""The events that are asked for -> for which tools ("" for all there is)."""


def command_hook(python: str, script: str) -> Hook:
    """A process for every event: no shell in between, and an interpreter that loads no packages."""
    args = ["-I", "-S", "-c", START, script, AGENT]
    return {"type": "command", "command": python, "args": args, "timeout": TIMEOUT_S}


def http_hook(url: str, token: str) -> Hook:
    """No process: a running `up` is asked."""
    headers = {"Authorization": f"Bearer {token}"}
    return {"type": "http", "url": url, "headers": headers, "timeout": TIMEOUT_S}


def wanted(command: Hook, http: Hook | None = None) -> dict[str, Hook]:
    """Event -> its hook. With http the first event stays a command, which needs no `up`."""
    return {event: http if http and event != "SessionStart" else command for event in EVENTS}


def is_ours(hook: Hook) -> bool:
    """Whether a hook was put there by us."""
    if hook.get("type") == "http":
        url = hook.get("url")
        return isinstance(url, str) and url.startswith("http://127.0.0.1:") and URL_PATH in url
    args = hook.get("args")
    words = [hook.get("command"), *(args if isinstance(args, list) else [])]
    paths = [word.replace("\\", "/") for word in words if isinstance(word, str)]
    return any("sightline/" in path and f"/{ENTRY}" in path for path in paths)
