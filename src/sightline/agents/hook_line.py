"""The line of a command hook: start Sightline, or say once a session that Sightline is gone.

Products give a hook's command to a shell. One line holds all of a hook, and ends with 0 wherever it is run: a
product may run the hooks of another one, and may refuse each call for which a hook ends with an error. The line
reads nothing itself, and leaves no shell behind: `exec` puts the interpreter in its place, so that the
hook's parent is the product.

What the product tells its hooks in variables is handed over as words NAME=VALUE, under neutral names (hooks.client).
The line must outlive the program that it names. It notes in the folder for temporary files, by an empty folder named
after the session, that the person was told.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping

ENTRY = "hook_entry.py"
"""The name of the script that our command hooks run: it tells them from everybody else's."""

START = "import sys;__file__=sys.argv.pop(1);exec(open(__file__).read())"
"""Runs the script that is named next. Python itself ends with 2 when a script vanished just now, by
which products mean that the call is refused; this ends with 1, and the agent goes on."""


def posix_line(
    python: str,
    script: str,
    agent: str,
    given: Mapping[str, str] | None = None,
    gone: str = "",
    session: str = "",
) -> str:
    """Return a line for sh, bash, zsh and their like.

    given: word -> the variable with its value: project (the folder that the product was started for), session,
    or a variable of the product under its own name. gone: what the hook prints when its program is missing; "" for
    a hook that stays silent. session: the variable that names the conversation, "" for none.
    """
    start = shlex.join([python, "-I", "-S", "-c", START, script, agent])
    words = "".join([f' {word}="${variable}"' for word, variable in (given or {}).items()])
    line = f"[ -x {shlex.quote(python)} ] && [ -r {shlex.quote(script)} ] && exec {start}{words}; "
    if gone:
        folder = 'd="${TMPDIR:-/tmp}"; [ -w "$d" ] || d=/tmp'
        name = f"${{{session}:-$PPID}}" if session else "$PPID"
        note = f'mkdir "$d/sightline-gone-{name}" 2>/dev/null'
        line += f"{folder}; {note} && printf '%s\\n' {shlex.quote(gone)}; "
    return f"{line}exit 0"


def windows_line(
    python: str,
    script: str,
    agent: str,
    given: Mapping[str, str] | None = None,
    gone: str = "",
    session: str = "",
) -> str:
    """Return the same line for PowerShell, which every Windows has. It was never run."""
    program, file = _in_powershell(python), _in_powershell(script)
    words = "".join([f' "{word}=$env:{variable}"' for word, variable in (given or {}).items()])
    start = f"& {program} -I -S -c {_in_powershell(START)} {file} {agent}{words}"
    line = f"if ((Test-Path {program}) -and (Test-Path {file})) {{ {start} }} "
    if gone:
        name = f"$env:{session}" if session else "$PID"
        note = f'New-Item -ItemType Directory "$env:TEMP/sightline-gone-{name}" -ErrorAction'
        line += f"elseif ({note} SilentlyContinue) {{ {_in_powershell(gone)} }} "
    return f"{line}; exit 0"


def program_of(command: str) -> tuple[str, str]:
    """Return the interpreter and the script that a line starts; the line itself where it names none."""
    try:
        words = shlex.split(command)
    except ValueError:
        words = command.split()
    scripts = [word for word in words if word.endswith(ENTRY)]
    before = words[words.index("exec") + 1 :] if "exec" in words else words
    return (before[0], scripts[0]) if before and scripts else (command, command)


def gone_words(python: str, script: str, settings: str) -> str:
    """Word the message to a person where the program of a hook is missing. settings: words that name the settings
    file that holds the hook."""
    return (
        f"Sightline cannot start: {python} or {script} is gone. Edits are not guarded. Install it there "
        f"again, or take its hooks out: delete those that name {ENTRY} in {settings}."
    )


def _in_powershell(word: str) -> str:
    return "'" + word.replace("'", "''") + "'"
