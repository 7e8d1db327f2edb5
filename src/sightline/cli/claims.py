"""The command claim, with list, release and hand-over, for several agents in one tree."""

from __future__ import annotations

import os

import click

from sightline.api.json_shapes import shape
from sightline.api.session import Session
from sightline.api.workspace_words import this_machine_alone
from sightline.cli import completion, output
from sightline.cli.options import age_from, command, pattern_places
from sightline.cli.output import Call
from sightline.filesystem.mounts import NETWORK, file_system
from sightline.filesystem.watch.event_support import mounts
from sightline.model.path import quoted
from sightline.model.results import Claim
from sightline.model.session_ids import short_id
from sightline.model.spans import Span
from sightline.text.phrases import spans

PATHS_MAX = 100
DAY_S = 86_400


def ttl_from(text: str) -> float:
    """Return a length of time in seconds."""
    seconds = age_from(text) / 1_000_000
    if 0 < seconds <= DAY_S:
        return seconds
    raise click.BadParameter(f"a claim holds for 24h at most, not for {text!r}.")


@command(
    Session.claim,
    example="claim src/app.py --ttl 10m",
    paths={"callback": pattern_places, "required": False},
    ttl={
        "type": ttl_from,
        "metavar": "TIME",
        "default": "30m",
        "show_default": True,
    },
    exclusive={"flag": "--exclusive/--shared"},
)
@click.option(
    "--renew",
    metavar="ID",
    help="Renew this claim: its time (--ttl) starts now.",
    shell_complete=completion.claims,
)
def claim(call: Call, paths: list[str], ttl: float, *, renew: str | None, exclusive: bool) -> None:
    """A session at a shell ends with the shell. Exit code 1: another session claims a path."""
    if bool(paths) == bool(renew) or len(paths) > PATHS_MAX:
        raise click.UsageError(f"Give 1 to {PATHS_MAX} paths to claim, or --renew ID.")
    with call.open() as session:
        if renew:
            claimed = session.renew(renew, ttl)
        else:
            claimed = session.claim(paths, ttl=ttl, exclusive=exclusive)
    words = f"Claimed {_paths(claimed)} until {_end(claimed)}: {claimed.id}"
    output.result(call, {"claim": shape(claimed)}, words)
    if call.json:
        return
    try:
        kind = file_system(os.path.realpath(call.root), mounts())
    except FileNotFoundError:  # the system does not tell its mounts
        return
    if kind in NETWORK:
        output.note(call, this_machine_alone(kind))


@command(
    Session.release,
    name="claim release",
    example="claim release --all",
    claim={
        "nargs": -1,
        "required": False,
        "metavar": "[ID]...",
        "shell_complete": completion.claims,
    },
)
@click.option("--all", "every", is_flag=True, help="All claims of this session.")
def release(call: Call, claim: tuple[str, ...], *, every: bool) -> None:
    if bool(claim) == every:
        raise click.UsageError("Give the ids of claims, or --all.")
    with call.go_on() as session:
        own = [each.id for each in session.claims() if each.session == session.id]
        released = own if every else list(dict.fromkeys(claim))
        for name in released:
            session.release(name)
    words = f"Released {', '.join(released)}." if released else "This session has no claim."
    output.result(call, {"released": released}, words)


@command(Session.claims, name="claim list", example="claim list")
def claims(call: Call) -> None:
    with call.ask() as workspace:
        standing = workspace.claims()
    rows = [("ID", "SESSION", "AGENT", "UNTIL", "PATHS")]
    for each in standing:
        shared = "" if each.exclusive else " (shared)"
        rows.append(
            (each.id, short_id(each.session), each.agent, _end(each), f"{_paths(each)}{shared}")
        )
    words = output.tabled(rows) if standing else "Nothing is claimed."
    output.answer(call, {"claims": shape(standing)}, words)


@command(
    Session.hand_over,
    name="claim hand-over",
    example="claim hand-over helper src/app.py --session main",
    to={"metavar": "SESSION", "shell_complete": completion.sessions},
    paths={"metavar": "[PATH]..."},
)
def hand_over(call: Call, to: str, paths: list[str], lines: Span | None) -> None:
    if lines is not None and len(paths) != 1:
        raise click.UsageError("--lines are of one PATH.")
    with call.open() as session:
        given = session.hand_over(to, paths or None, lines=lines)
    files = [f"{quoted(file.path)}: {spans(file.lines) or 'empty'}" for file in given]
    words = (
        "\n".join([f"{to} was given:", *files])
        if files
        else "This session has no text to hand over."
    )
    output.result(call, {"to": to, "files": shape(given)}, words)


def _paths(claim: Claim) -> str:
    return ", ".join(map(quoted, claim.paths))


def _end(claim: Claim) -> str:
    """Return the time that a claim ends, on the reader's clock."""
    return f"{claim.expires_at.astimezone():%H:%M}"
