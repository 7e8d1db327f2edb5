"""The line of a command hook: start Sightline, or say once a session that Sightline is gone.

Claude Code gives `command` to a shell. Other products run the hooks of a workspace's
`.claude/settings*.json` too, and ignore `args`: Copilot CLI 1.0.102 started a bare Python with the
tool's JSON as its program, and refused every call for which Python ended with an error. So one line
holds all of a hook. The line ends with 0 wherever it is run, reads nothing itself, and leaves no
shell behind: `exec` puts the interpreter in its place, so that the hook's parent is the client.

The line must outlive the program that it names. It notes in the folder for temporary files, by an
empty folder named after the session, that the person was told.
"""

from __future__ import annotations

import shlex

from msgspec import json

ENTRY = "hook_entry.py"
"""The name of the script that our command hooks run: it tells them from everybody else's."""

START = "import sys;__file__=sys.argv.pop(1);exec(open(__file__).read())"
"""Runs the script that is named next. Python itself ends with 2 when a script vanished just now, by
which the client means that the call is refused; this ends with 1, and the agent goes on."""

SESSION = "CLAUDE_CODE_SESSION_ID"
"""The variable in which the client names the conversation to its hooks."""


def posix_line(python: str, script: str, agent: str, settings: str = "") -> str:
    """Return a line for sh, bash, zsh and their like. settings: words that name the settings file that
    holds the line, for an event whose answer reaches the person; "" for an event that stays silent."""
    start = shlex.join([python, "-I", "-S", "-c", START, script, agent])
    line = f"[ -x {shlex.quote(python)} ] && [ -r {shlex.quote(script)} ] && exec {start}; "
    if settings:
        folder = 'd="${TMPDIR:-/tmp}"; [ -w "$d" ] || d=/tmp'
        note = f'mkdir "$d/sightline-gone-${{{SESSION}:-$PPID}}" 2>/dev/null'
        line += (
            f"{folder}; {note} && printf '%s\\n' {shlex.quote(gone(python, script, settings))}; "
        )
    return f"{line}exit 0"


def windows_line(python: str, script: str, agent: str, settings: str = "") -> str:
    """Return the same line for PowerShell, which every Windows has; Claude Code asks for it by the key
    `shell`, and other products take it anyway. It was never run."""
    program, file = _in_powershell(python), _in_powershell(script)
    start = f"& {program} -I -S -c {_in_powershell(START)} {file} {agent}"
    line = f"if ((Test-Path {program}) -and (Test-Path {file})) {{ {start} }} "
    if settings:
        note = (
            f'New-Item -ItemType Directory "$env:TEMP/sightline-gone-$env:{SESSION}" -ErrorAction'
        )
        said = _in_powershell(gone(python, script, settings))
        line += f"elseif ({note} SilentlyContinue) {{ {said} }} "
    return f"{line}; exit 0"


def gone(python: str, script: str, settings: str) -> str:
    """Return a hook's answer when its program is missing. Every product shows or ignores the line."""
    words = (
        f"Sightline cannot start: {python} or {script} is gone. Edits are not guarded. Install it there "
        f"again, or take its hooks out: delete those that name {ENTRY} in {settings}."
    )
    return json.encode({"systemMessage": words}).decode()


def program_of(command: str) -> tuple[str, str]:
    """Return the interpreter and the script that a line starts; the line itself where it names none."""
    try:
        words = shlex.split(command)
    except ValueError:
        words = command.split()
    scripts = [word for word in words if word.endswith(ENTRY)]
    before = words[words.index("exec") + 1 :] if "exec" in words else words
    return (before[0], scripts[0]) if before and scripts else (command, command)


def _in_powershell(word: str) -> str:
    return "'" + word.replace("'", "''") + "'"
