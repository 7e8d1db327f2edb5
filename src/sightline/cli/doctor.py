"""The command doctor: check everything that guarding depends on, and say what to do."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import click

from sightline.agents.products import PRODUCTS
from sightline.api.workspace_words import seeing
from sightline.cli import checkup, output
from sightline.cli.failures import NO, UNKNOWN, Answered
from sightline.cli.options import command
from sightline.cli.output import Call
from sightline.errors import Hint
from sightline.model.findings import Finding
from sightline.text.phrases import count, size, times
from sightline.text.printable import printable

COLOURS = {"ok": "green", "warning": "yellow", "problem": "red", "unknown": "yellow"}

STATES = {"ok": "ok", "warning": "warning", "problem": "problem", "unknown": "cannot tell"}
"""State of a finding -> its word."""


@command(example="doctor")
@click.option("--fix", is_flag=True, help="Repair file permissions, hooks and interrupted rewinds.")
@click.option(
    "--verbose", is_flag=True, help="Print all checks, also those that found nothing wrong."
)
def doctor(call: Call, *, fix: bool, verbose: bool) -> None:
    """Check that the guard works, and say how to repair it.

    Looks at versions, store, agents' settings, hooks and their speed. Exit code 0: all is well, or
    there are warnings only; 1: a problem; 3: a check could not tell.
    """
    with output.progress(call, "Looking around"):
        checks = list(checkup.findings(call))
        if fix and any(finding.fix for finding in checks):
            checkup.mend(call, checks)
            checks = list(checkup.findings(call))
    off = guard_off(checks)
    checks = [off, *checks] if off else checks
    if call.json:
        counted = {each.name: dict(each.facts) for each in checks if each.name in COUNTERS}
        output.json({"checks": [_shape(finding) for finding in checks], "tracker": counted})
    else:
        wrong = [finding for finding in checks if finding.state != "ok"]
        _tell(call, checks if verbose and not call.quiet else wrong)
        if not verbose:
            well = count(len(checks) - len(wrong), "check")
            all_ = "All else is well" if wrong else "All is well"
            output.done(call, f"{all_} ({well}). To see every check: sightline doctor --verbose")
    _answer(checks)


def guard_off(checks: list[Finding]) -> Finding | None:
    """Return that the guard is off, as doctor says first; None where no check says so."""
    for finding in checks:
        needed = finding.name in ("settings", "state", "store")
        needed = needed and finding.case not in ("differs", "left out")
        if needed and finding.state == "problem":
            message, hint = _said(finding)
            return Finding("guard", "problem", "off", {"message": message, "hint": hint})
    return None


def _tell(call: Call, checks: list[Finding]) -> None:
    """Print the findings."""
    names = max((len(finding.name) for finding in checks), default=0)
    states = max((len(STATES[finding.state]) for finding in checks), default=0)
    for finding in checks:
        message, hint = _said(finding)
        state = STATES[finding.state].ljust(states)
        start = f"{state}  {finding.name.ljust(names)}  "
        text = output.wrapped(_short(printable(message)), start, " " * len(start))
        output.text(text.replace(state, output.style(call, state, COLOURS[finding.state]), 1))
        if hint:
            output.text(output.wrapped(_short(printable(hint)), " " * len(start), " " * len(start)))


def _short(words: str) -> str:
    """Return paths in the home folder with ~, as people write them."""
    return words.replace(os.path.join(os.path.expanduser("~"), ""), "~/")


def _said(finding: Finding) -> tuple[str, str]:
    facts: dict[str, Any] = {
        name: output.worded(fact) if isinstance(fact, Hint) else fact
        for name, fact in finding.facts.items()
    }
    if "bytes" in facts:
        facts["size"] = size(facts["bytes"])
    if isinstance(facts.get("at"), int):
        facts["when"] = output.minute(facts["at"])
    return words_of(finding.name, finding.case, facts)


def _shape(finding: Finding) -> dict[str, str]:
    message, hint = _said(finding)
    return {"name": finding.name, "state": finding.state, "message": message, "hint": hint}


def _answer(checks: list[Finding]) -> None:
    states = {finding.state for finding in checks}
    if "problem" in states:
        raise Answered(NO)
    if "unknown" in states:
        raise Answered(UNKNOWN)


def words_of(name: str, case: str, facts: Mapping[str, Any]) -> tuple[str, str]:
    """Return the message and the hint (may be empty) of a finding."""
    if name in COUNTERS:
        return COUNTERS[name](facts), HINTS.get((name, case), "")
    message, hint = table()["agent" if name in PRODUCTS else name, case]
    return message.format(**facts), hint.format(**facts)


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
        said.append(f"{counted['gone']} whose program is gone")
    if counted["archived"]:
        said.append(f"{counted['archived']} imported from recordings")
    return f"{', '.join(said)}."


def _edits(counted: Mapping[str, int]) -> str:
    return f"{counted['refused']:,} refused, {counted['merged']:,} merged with others' changes."


def _checkpoints(counted: Mapping[str, Any]) -> str:
    missed = counted["missed"]
    if "reason" in counted:
        return f"The newest checkpoint could not be taken ({counted['when']}): {counted['reason']}"
    more = f"; {missed:,} more could not be taken when due" if missed else ""
    return f"You can rewind to {count(counted['standing'], 'checkpoint')}{more}."


def _sight(counted: Mapping[str, Any]) -> str:
    if not counted["gaps"]:
        return "No gap: Sightline could see every change."
    return (
        f"Lost {times(counted['gaps'])}, the last time {counted['when']} ({counted['reason']}). "
        "After that, Sightline looked at the files themselves."
    )


def _room(sizes: Mapping[str, int]) -> str:
    free = f", {size(sizes['free'])} free" if sizes["free"] else ""
    return (
        f"{size(sizes['total'])} in all: facts {size(sizes['facts'])}, views of the facts "
        f"{size(sizes['views'])}, file times {size(sizes['caches'])}, texts {size(sizes['texts'])} (at "
        f"most {size(sizes['allowed'])}), log {size(sizes['log'])}{free}."
    )


def _watching(eyes: Mapping[str, Any]) -> str:
    how = seeing(eyes["mode"], eyes["why"], eyes["folders"])
    return f"'up' and 'watch' see changes {how}. A verdict always looks at the file itself."


COUNTERS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "facts": _facts,
    "sessions": _sessions,
    "edits": _edits,
    "checkpoints": _checkpoints,
    "sight": _sight,
    "watching": _watching,
    "room": _room,
}
"""Name of a counter -> its numbers in words."""

HINTS = {
    ("room", "full"): "See what Sightline can forget: sightline gc --dry-run",
    ("checkpoints", "missed"): "Take one yourself: sightline checkpoint",
}


@cache
def table() -> dict[tuple[str, str], tuple[str, str]]:
    """Return the words of findings: check and case -> message and hint, which may be empty.
    doctor.txt has them as CHECK/CASE: message, and on the next line a hint."""
    with open(os.path.join(os.path.dirname(__file__), "doctor.txt"), encoding="utf-8") as file:
        entries = re.split(r"\n(?! )", file.read().strip())
    words = {}
    for entry in entries:
        name, _, both = entry.partition(": ")
        message, _, hint = both.partition("\n    ")
        check, _, case = name.partition("/")
        words[check, case] = message, hint
    return words
