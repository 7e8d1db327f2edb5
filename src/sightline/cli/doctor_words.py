"""The words of `doctor`: for each check its outcomes, and what to do about them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from sightline.history.words import seeing

STATES = {"ok": "ok", "warning": "warning", "problem": "problem", "unknown": "cannot tell"}
"""State of a finding -> its word."""


def words_of(name: str, case: str, facts: Mapping[str, Any]) -> tuple[str, str]:
    """Return the message and the hint (may be empty) of a finding."""
    if name in _COUNTERS:
        return _COUNTERS[name](facts), _HINTS.get((name, case), "")
    message, hint = _WORDS[name, case]
    return message.format(**facts), hint.format(**facts)


def amount(size: int) -> str:
    """Return a number of bytes in a unit that suits it."""
    for unit in ("bytes", "KiB", "MiB"):
        if size < 1024:
            return f"{size:.0f} {unit}"
        size /= 1024  # type: ignore[assignment]
    return f"{size:.1f} GiB"


KINDS_NAMED = 6


def _facts(counted: Mapping[str, int]) -> str:
    named = [f"{number:,} {word.replace('_', ' ')}" for word, number in counted.items()]
    rest = sum(list(counted.values())[KINDS_NAMED:])
    more = [f"{rest:,} others"] if rest else []
    listed = ", ".join([*named[:KINDS_NAMED], *more])
    return f"{sum(counted.values()):,} on the timeline{f': {listed}' if listed else ''}."


def _sessions(counted: Mapping[str, int]) -> str:
    said = [f"{counted['present']} present, {counted['ended']} ended"]
    if counted["gone"]:
        said.append(f"{counted['gone']} gone without a word")
    if counted["archived"]:
        said.append(f"{counted['archived']} read in from recordings")
    return f"{', '.join(said)}."


def _edits(counted: Mapping[str, int]) -> str:
    return f"{counted['refused']:,} refused, {counted['merged']:,} merged with others' changes."


def _checkpoints(counted: Mapping[str, Any]) -> str:
    missed = counted["missed"]
    if "reason" in counted:
        return f"The newest could not be kept ({counted['when']}): {counted['reason']}"
    more = f", {missed:,} that were due could not be kept" if missed else ""
    return f"{counted['standing']:,} to go back to{more}."


def _sight(counted: Mapping[str, Any]) -> str:
    if not counted["gaps"]:
        return "No gap: nothing happened that could not be seen."
    times = "once" if counted["gaps"] == 1 else f"{counted['gaps']:,} times"
    return (
        f"Lost {times}, the last time {counted['when']} ({counted['reason']}). The next question "
        "looked at the files itself."
    )


def _room(sizes: Mapping[str, int]) -> str:
    free = f", {amount(sizes['free'])} free" if sizes["free"] else ""
    return (
        f"{amount(sizes['total'])}: facts {amount(sizes['facts'])}, what is derived from them "
        f"{amount(sizes['views'])}, stats {amount(sizes['caches'])}, texts {amount(sizes['texts'])} (of "
        f"{amount(sizes['allowed'])}), log {amount(sizes['log'])}{free}."
    )


def _watching(eyes: Mapping[str, Any]) -> str:
    how = seeing(eyes["mode"], eyes["why"], eyes["folders"])
    return f"'up' and 'watch' see changes {how}. Verdicts look for themselves."


_COUNTERS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "facts": _facts,
    "sessions": _sessions,
    "edits": _edits,
    "checkpoints": _checkpoints,
    "sight": _sight,
    "watching": _watching,
    "room": _room,
}
"""Name of a counter -> its numbers in words."""

_HINTS = {
    ("room", "full"): "Let texts go that nobody needs: sightline gc --dry-run",
    ("checkpoints", "missed"): "Take one yourself: sightline checkpoint",
}

_TABLE = """\
sightline/here: {version}, in {folder}
python/here: {version}, {program}
sqlite/sound: {version}
sqlite/racy: {version}. Its checkpoints can lose a commit (until 3.51.3); ours run while nobody writes.
git/here: {version}
git/absent: not found on PATH. Nothing that is judged depends on it.
    Install git, if you use it here.
settings/valid: read from {files}
settings/default: none of your own: the defaults hold
settings/refused: {message}
    {hint}
fail/open: open: when Sightline itself fails, the agent goes on unguarded and the log says so.
fail/closed: closed: when Sightline itself fails, the agent's edits are refused.
state/absent: {folder} is not there yet; it is made when it is needed.
state/private: {folder} is yours alone.
state/open: Other users may open {first} ({count} in all); texts of your files are kept there.
    Run: sightline doctor --fix
state/closed: {folder} cannot be written.
    Give yourself write permission, or name another folder in SIGHTLINE_HOME.
state/unreadable: {folder} cannot be looked at: {why}.
    Check its permissions.
state/refused: {message}
    {hint}
store/whole: {facts} facts, {size}, verified: {place}
store/large: {facts} facts, {size}, too many to verify here: {place}
store/differs: {place} does not hold what its timeline says, in {count} places. {first}
    Copy the file with its -wal, then report this with the copy's timeline: sightline log --json
store/refused: {message}
    {hint}
rewind/unfinished: The rewind to {to} of session {session} was interrupted, and is not finished.
    Run: sightline doctor --fix, or sightline rewind {to} --session {session}
watcher/ok: {watches} folders may be watched.
watcher/warning: Only {watches} folders may be watched.
    Run: sudo sysctl fs.inotify.max_user_watches={advised}
watcher/unreadable: {file} cannot be read.
claude-code/here: {version}, {program}
claude-code/absent: claude is not found on PATH.
    Nothing to do, if you start it otherwise.
claude-code/silent: {program} --version {why}.
    Run it yourself to see why.
hooks/none: No agent is connected here: nothing is guarded.
    Run: sightline init {agent}
hooks/registered: {scope}: {events} events call Sightline ({kind}).
hooks/refused: {message}
    {hint}
hooks/off: {path} switches all hooks off ({key}).
    Take {key} out of it.
hooks/gone: {scope}: {path} names {missing}, which is not there. Nothing is guarded.
    Run: sightline doctor --fix, or: sightline init {agent}{flag}
hooks/outdated: {scope}: {path} is not what this version writes.
    Run: sightline doctor --fix, or: sightline init {agent}{flag}
hooks/elsewhere: {scope}: hooks call another installation, {script}.
    To have this one called: sightline init {agent}{flag}
hooks/double: Connected in {scopes}: one is enough, and hooks that differ are all called.
    Run: sightline init {agent} --remove --scope {last}
latency/measured: A hook takes {p50} ms, one in twenty {p95} ms or more.
latency/answered: 'sightline up' is asked and answers in {p50} ms, one in twenty in {p95} ms or more.
latency/http fails: {why}.
    Run: sightline init claude-code --kind http
latency/slow: A hook takes {p50} ms, one in twenty {p95} ms or more: the agent waits for each.
    With 'sightline up' running, most of that goes away.
latency/fails: The hook command fails: {why}.
    Run: sightline init {agent}{flag}
latency/not running: Hooks ask 'sightline up', which does not run: nothing is guarded.
    Run: sightline up, or: sightline init {agent} --kind command
faults/none: No hook failed, as far as the log goes back.
faults/some: {count} in the log, the newest at {at} ({event}): {message}
    All of them: {file}
faults/unreadable: {file} cannot be read: {why}.
    Check its permissions.
transcript/none: No session of an agent is recorded for this folder.
transcript/read: {path}: {shown} shown texts found in {size}.
transcript/unreadable: {path} cannot be read: {why}.
    Run it again: sightline doctor
up/running: 'sightline up' runs for this folder and answers hooks.
up/not running: 'sightline up' does not run; nothing needs it.
up/outdated: 'sightline up' runs as another version than this one, so hooks do not ask it.
    End it and start it again, or run the installation that the hooks call.
answerer/running: Process {pid} answers hooks since {since} ({calls} so far) and ends with their client.
answerer/not running: None runs; the first hook of a conversation starts one, that ends with its client.
answerer/outdated: Process {pid} answers hooks of another version than this one.
    It ends by itself, at the latest when its client does.
answerer/not needed: None runs: 'sightline up' answers hooks.
answerer/off: off: each hook does the work itself, as your settings say.
answerer/silent: Process {pid} does not answer: each hook does the work itself.
    End it, if it stays like that: kill -9 {pid}
"""
"""CHECK/CASE: message, and on the next line a hint."""

_WORDS: dict[tuple[str, str], tuple[str, str]] = {}
for _entry in re.split(r"\n(?! )", _TABLE.strip()):
    _name, _, _words = _entry.partition(": ")
    _message, _, _hint = _words.partition("\n    ")
    _check, _, _case = _name.partition("/")
    _WORDS[_check, _case] = _message, _hint
