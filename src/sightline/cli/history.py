"""Commands on the timeline: log, why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

import click

from sightline.api.json_shapes import shape
from sightline.api.workspace import Workspace
from sightline.api.workspace_words import sentence
from sightline.cli import completion, output
from sightline.cli import words as cli_words
from sightline.cli.live.lines import Lines
from sightline.cli.live.terminal import Waiting, while_read
from sightline.cli.options import command, usage
from sightline.cli.output import Call
from sightline.model.log_entries import KINDS, Entry, foreign
from sightline.model.path import quoted
from sightline.text.causes import named_entry
from sightline.text.printable import printable

EVERY_S = 0.5
"""Seconds between two looks at the store for new facts."""

ASIDE = ("environment", "imported")
"""Kinds of facts that the log leaves out for people unless they ask for them: where a session runs, and
that an earlier recording was read in."""

BEFORE = 10
"""Facts that --follow begins with by default."""


@command(
    Workspace.timeline,
    example="log --since 2h --kind changed",
    without=("session", "upto"),
    since={"metavar": "WHEN", "shell_complete": completion.checkpoints},
    kinds={"flag": "--kind", "type": click.Choice(KINDS), "metavar": "K"},
    newest={"flag": "-n --newest"},
    diffs={"flag": "-p --diffs"},
)
@click.option("-f", "--follow", is_flag=True, help="Also print new facts, until Ctrl-C.")
def log(
    call: Call,
    path: str | None,
    since: str | None,
    kinds: tuple[str, ...],
    newest: int | None,
    *,
    diffs: bool,
    follow: bool,
) -> None:
    """With --session, the log shows only what that session did. Repeat --kind for several kinds;
    'sightline log --kind x' names them all, and environment and imported are shown only then. WHEN
    is a length of time such as 2h, a date, a time, or a position: the number in front of each line.
    With --json, each line is one object.
    """
    with call.ask() as workspace:
        shown = kinds or (None if call.json else tuple(each for each in KINDS if each not in ASIDE))
        if follow and newest is None and since is None:
            newest = BEFORE
        with usage("--since"):
            entries = workspace.follow(
                path, session=call.session, since=since, kinds=shown, newest=newest, diffs=diffs
            )
        if follow:
            _follow(call, workspace, entries)
            return
        found = next(entries)
        if call.json:
            for entry in found:
                output.json(shape(entry))
            return
        name_of = workspace.names()
        dated = list(_dated(call, (named_entry(entry, name_of) for entry in found)))
    is_narrow = bool(path or call.session or kinds or since)
    nothing = (
        "Nothing is recorded of what you asked for." if is_narrow else "Nothing happened here yet."
    )
    output.text("\n".join(dated) or nothing)


def _follow(call: Call, workspace: Workspace, entries: Iterator[list[Entry]]) -> None:
    """Print the facts so far, then new ones, until Ctrl-C or until nobody reads any more."""
    lines = Lines(workspace.names(), partial(shown_diff, call), json=call.json)
    wait = Waiting()
    with while_read(), wait.heeding():
        while True:
            lines.print(next(entries))
            wait(EVERY_S)


@command(Workspace.why, example="why src/app.py", without=("session",))
def why(call: Call, path: str) -> None:
    """Without --session, the answer is about session cli, or the session that was shown the file
    last.
    """
    with call.ask() as workspace:
        reasons = workspace.why(path, call.named_session)
        lines = cli_words.explained(workspace.name_of, reasons)
        if any(fact.kind in ("changed", "deleted") for fact in reasons.entries):
            lines += ["", f"Each change with its diff: sightline log --diffs {quoted(path)}"]
    output.answer(call, shape(reasons), "\n".join(lines))


def shown_diff(call: Call, diff: str) -> str:
    """Return the diff below the line of a fact, with an empty line behind it."""
    none = "(no diff: a text is not kept, or is the same)"
    return f"{output.coloured(call, diff) if diff else none}\n"


def _dated(call: Call, entries: Iterable[Entry]) -> Iterator[str]:
    """Yield a line for each entry, under its day, and its diff. A change that a session only found has no
    session."""
    day = None
    for entry in entries:
        at = output.local(entry.at)
        if at.date() != day:
            day = at.date()
            yield f"{day}"
        words = sentence(entry, entry.session)
        who = "-" if foreign(entry) or not entry.session else printable(entry.session)
        yield output.fitted(f"{entry.position:>5}  {at:%H:%M:%S}  {who}  {words}")
        if entry.diff is not None:
            yield shown_diff(call, entry.diff)
