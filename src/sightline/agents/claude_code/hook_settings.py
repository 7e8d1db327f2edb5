"""Define our hooks of Claude Code: their events, their commands or URLs, and how to recognise
them."""

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

_CHANGING = "Edit|Write|MultiEdit|NotebookEdit|Bash|mcp__.*"
"""Tools that may change a file. Nobody knows what those of an MCP server do."""

EVENTS = {
    "SessionStart": "",
    "InstructionsLoaded": "",
    "UserPromptSubmit": "",
    "PreToolUse": f"^(Read|Grep|{_CHANGING})$",
    "PostToolUse": f"^(Read|Grep|{_CHANGING})$",
    "PostToolUseFailure": f"^({_CHANGING})$",
    "PostToolBatch": "",
    "FileChanged": "",
    "DirectoryAdded": "",
    "SubagentStart": "",
    "SubagentStop": "",
    "Stop": "",
    "SessionEnd": "",
}
"""The events that are asked for -> for which tools ("" for all there is). The client takes words and
bars alone for whole names, and anything else for a regular expression that may match inside a name."""


def command_hook(python: str, script: str) -> Hook:
    """Return a hook that starts a process for every event: without a shell, and with an interpreter
    that loads no packages."""
    args = ["-I", "-S", "-c", START, script, AGENT]
    return {"type": "command", "command": python, "args": args, "timeout": TIMEOUT_S}


def http_hook(url: str, token: str) -> Hook:
    """Return a hook that asks a running `up`."""
    headers = {"Authorization": f"Bearer {token}"}
    return {"type": "http", "url": url, "headers": headers, "timeout": TIMEOUT_S}


def wanted(command: Hook, http: Hook | None = None) -> dict[str, Hook]:
    """Return event -> hook. With http the first event stays a command, which needs no `up`."""
    return {event: http if http and event != "SessionStart" else command for event in EVENTS}


def is_ours(hook: Hook) -> bool:
    """Return whether a hook is one of ours."""
    if hook.get("type") == "http":
        url = hook.get("url")
        return isinstance(url, str) and url.startswith("http://127.0.0.1:") and URL_PATH in url
    args = hook.get("args")
    words = [hook.get("command"), *(args if isinstance(args, list) else [])]
    paths = [word.replace("\\", "/") for word in words if isinstance(word, str)]
    return any("sightline/" in path and f"/{ENTRY}" in path for path in paths)
