"""Define our hooks of Claude Code: their events, their commands or URLs, and how to recognise
them."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from glob import escape, glob

from sightline.agents.claude_code.hook_command import posix_line, windows_line
from sightline.agents.grouped_hooks import Hook, names_entry
from sightline.agents.hook_line import ENTRY, program_of
from sightline.model.hook_events import Surroundings
from sightline.recordings.claude_code.recorded_sessions import config_dir

AGENT = "claude-code"

URL_PATH = f"/hook/{AGENT}"
"""Where a running `up` answers hooks of the http kind: it tells those."""

TIMEOUT_S = 10
"""When the client stops waiting for a hook; a hook of ours ends itself before that."""

_CHANGING = "Edit|Write|MultiEdit|NotebookEdit|Bash|mcp__.*"
"""Tools that may change a file. Nobody knows what those of an MCP server do."""

EVENTS = {
    "SessionStart": "",
    "InstructionsLoaded": "",
    "UserPromptSubmit": "",
    "PreToolUse": f"^(Read|Grep|{_CHANGING})$",
    "PostToolUse": f"^(Read|Grep|{_CHANGING})$",
    "PostToolUseFailure": f"^({_CHANGING})$",
    "PreSkillShellCommand": "",
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

TELLING = ("SessionStart", "UserPromptSubmit", "PreToolUse")
"""The events at which a hook whose program is gone says so: one of them comes before each thing that
an agent does, and the client shows their messages."""


MANAGED = {
    "darwin": "/Library/Application Support/ClaudeCode",
    "win32": r"C:\Program Files\ClaudeCode",
}
"""Where an administrator's settings are; elsewhere the Linux folder."""


def folders(around: Surroundings) -> list[str]:
    """Return the client's folders of the user and of the project."""
    own = config_dir(around.environ, around.home)
    return [own, *(os.path.join(root, ".claude") for root in around.roots)]


def settings_files(around: Surroundings) -> list[str]:
    """Return the files with the settings of the user and the project, whether or not they exist."""
    own, *projects = folders(around)
    names = ("settings.json", "settings.local.json")
    return [
        os.path.join(own, names[0]),
        *(os.path.join(folder, name) for folder in projects for name in names),
    ]


def managed_files() -> list[str]:
    """Return the files that may hold an administrator's settings, in the client's order of reading."""
    folder = MANAGED.get(sys.platform, "/etc/claude-code")
    more = sorted(glob(os.path.join(escape(folder), "managed-settings.d", "*.json")))
    return [os.path.join(folder, "managed-settings.json"), *more]


def command_hooks(python: str, script: str, settings: str) -> dict[str, Hook]:
    """Return event -> the hook that starts a process for the event, with an interpreter that loads
    no packages. settings: words that name the file which holds the hooks."""
    windows = sys.platform == "win32"
    line, more = (windows_line, {"shell": "powershell"}) if windows else (posix_line, {})
    said = {event: settings if event in TELLING else "" for event in EVENTS}
    return {
        event: {
            "type": "command",
            "command": line(python, script, AGENT, said[event]),
            **more,
            "timeout": TIMEOUT_S,
        }
        for event in EVENTS
    }


def http_hook(url: str, token: str) -> Hook:
    """Return a hook that asks a running `up`."""
    headers = {"Authorization": f"Bearer {token}"}
    return {"type": "http", "url": url, "headers": headers, "timeout": TIMEOUT_S}


NEEDS_NO_UP = ("SessionStart", "PreSkillShellCommand")
"""The events whose hook is always a command. A session begins without `up`; and the client does not
run the shell command of a skill where a hook of it cannot be reached."""


def with_http(commands: Mapping[str, Hook], http: Hook) -> dict[str, Hook]:
    """Return the hooks of the http kind, but for the events that need no `up`."""
    return {event: commands[event] if event in NEEDS_NO_UP else http for event in EVENTS}


def is_ours(hook: Hook) -> bool:
    """Return whether a hook is one of ours, of this version or an older one."""
    if hook.get("type") == "http":
        url = hook.get("url")
        return isinstance(url, str) and url.startswith("http://127.0.0.1:") and URL_PATH in url
    args = hook.get("args")
    return names_entry(hook.get("command"), *(args if isinstance(args, list) else []))


def files_of(hook: Hook) -> list[str]:
    """Return the interpreter and the script of a hook of ours; none for the http kind."""
    if hook.get("type") == "http":
        return []
    if not isinstance(args := hook.get("args"), list):
        return list(program_of(str(hook.get("command"))))
    scripts = [word for word in args if isinstance(word, str) and word.endswith(ENTRY)]
    return [str(hook.get("command")), *scripts[:1]]  # as versions up to 0.1 wrote it


def started(hook: Hook) -> list[str]:
    """Return the arguments of the process that the client starts for a command hook."""
    command = str(hook.get("command"))
    if isinstance(args := hook.get("args"), list):
        return [command, *map(str, args)]
    if hook.get("shell") == "powershell":
        return ["powershell", "-NoProfile", "-Command", command]
    return ["/bin/sh", "-c", command]
