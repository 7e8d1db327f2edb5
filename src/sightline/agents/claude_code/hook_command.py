"""The line of Claude Code's command hooks (agents.hook_line): its variables, and its answer when Sightline is gone.

Claude Code gives `command` to a shell. Other products run the hooks of a workspace's
`.claude/settings*.json` too, and ignore `args`: Copilot CLI 1.0.102 started a bare Python with the
tool's JSON as its program, and refused every call for which Python ended with an error. So one line
holds all of a hook.
"""

from __future__ import annotations

from msgspec import json

from sightline.agents import hook_line
from sightline.recordings.claude_code.recorded_sessions import CONFIG

SESSION = "CLAUDE_CODE_SESSION_ID"
"""The variable in which the client names the conversation to its hooks."""

PROJECT = "CLAUDE_PROJECT_DIR"
"""The variable in which the client names the folder that it was started in."""

GIVEN = {"project": PROJECT, "session": SESSION, CONFIG: CONFIG}


def posix_line(python: str, script: str, agent: str, settings: str = "") -> str:
    """Return a line for sh, bash, zsh and their like. settings: words that name the settings file that
    holds the line, for an event whose answer reaches the person; "" for an event that stays silent."""
    said = gone(python, script, settings) if settings else ""
    return hook_line.posix_line(python, script, agent, GIVEN, said, SESSION)


def windows_line(python: str, script: str, agent: str, settings: str = "") -> str:
    """Return the same line for PowerShell; Claude Code asks for it by the key `shell`, and other products take it
    anyway."""
    said = gone(python, script, settings) if settings else ""
    return hook_line.windows_line(python, script, agent, GIVEN, said, SESSION)


def gone(python: str, script: str, settings: str) -> str:
    """Return a hook's answer when its program is missing. Every product shows or ignores the line."""
    words = hook_line.gone_words(python, script, settings)
    return json.encode({"systemMessage": words}).decode()
