"""The command doctor: check everything that guarding depends on, and say what to do."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from textwrap import fill

import click

from sightline.cli import checkup, output
from sightline.cli.doctor_words import STATES, amount, words_of
from sightline.cli.failures import NO, UNKNOWN, Answered
from sightline.cli.options import command
from sightline.cli.output import Call
from sightline.filesystem.discovery import discover
from sightline.history.doctor import Finding
from sightline.text.phrases import printable

WIDTH = 79
COLOURS = {"ok": "green", "warning": "yellow", "problem": "red", "unknown": "yellow"}


@command()
@click.option("--fix", is_flag=True, help="Repair file permissions, hooks and interrupted rewinds.")
def doctor(call: Call, *, fix: bool) -> None:
    """Check that the guard works, and say how to repair it.

    Looks at versions, store, agents' settings, hooks and their speed, and counts facts. Exit code 0:
    all is well, or there are warnings only; 1: a problem; 3: a check could not tell.
    """
    root = discover(call.workspace)
    with output.progress(call, "Looking around"):
        checks = list(checkup.findings(root, call.store))
        if fix and any(finding.fix for finding in checks):
            checkup.mend(root, call.store, checks)
            checks = list(checkup.findings(root, call.store))
    if call.json:
        counted = {each.name: dict(each.facts) for each in checks if each.name in checkup.COUNTERS}
        output.json({"checks": [_shape(finding) for finding in checks], "tracker": counted})
    else:
        _tell(call, checks)
    _answer(checks)


def _tell(call: Call, checks: list[Finding]) -> None:
    """Print the findings; with --quiet only those that are not well."""
    names = max(len(finding.name) for finding in checks)
    states = max(len(STATES[finding.state]) for finding in checks)
    for finding in checks:
        if call.quiet and finding.state == "ok":
            continue
        message, hint = _said(finding)
        state = STATES[finding.state].ljust(states)
        start = f"{state}  {finding.name.ljust(names)}  "
        text = _wrapped(_short(printable(message)), start)
        output.text(text.replace(state, output.style(call, state, COLOURS[finding.state]), 1))
        if hint:
            output.text(_wrapped(_short(printable(hint)), " " * len(start)))


def _short(words: str) -> str:
    """Return paths in the home folder with ~, as people write them."""
    return words.replace(os.path.join(os.path.expanduser("~"), ""), "~/")


def _wrapped(words: str, start: str) -> str:
    indent = " " * len(start)
    return fill(
        words,
        WIDTH,
        initial_indent=start,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _said(finding: Finding) -> tuple[str, str]:
    facts = dict(finding.facts)
    if "bytes" in facts:
        facts["size"] = amount(facts["bytes"])
    if isinstance(facts.get("at"), int):
        at = datetime.fromtimestamp(facts["at"] / 1_000_000, UTC)
        facts["when"] = f"{at.astimezone():%Y-%m-%d %H:%M}"
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
