"""Commands for several agents in one tree: claim, release, claims, hand-over."""

from __future__ import annotations

import os

import click

from sightline.api import json_shapes
from sightline.cli import output
from sightline.cli.options import age_from, lines_from, verb
from sightline.cli.output import Call
from sightline.filesystem.ignore.wildmatch import SPECIAL
from sightline.filesystem.mounts import NETWORK, file_system
from sightline.filesystem.watch.event_support import mounts
from sightline.model.results import Claim
from sightline.model.spans import Span
from sightline.sessions import words
from sightline.sessions.claims import listed
from sightline.text import phrases
from sightline.text.phrases import printable, spans

PATHS_MAX = 100

DAY_S = 86_400


def ttl_from(text: str) -> float:
    """A length of time in seconds."""
    seconds = age_from(text) / 1_000_000
    if 0 < seconds <= DAY_S:
        return seconds
    raise click.BadParameter(f"A claim stands for some time, a day at most, not for {text!r}.")


@verb()
@click.argument("paths", metavar="PATH...", nargs=-1)
@click.option(
    "--ttl", type=ttl_from, metavar="TIME", default="30m", show_default=True, help="For how long."
)
@click.option("--shared", is_flag=True, help="Others may claim it, too.")
@click.option("--renew", metavar="ID", help="Let this claim stand for that long from now on.")
@click.pass_obj
def claim(
    call: Call, paths: tuple[str, ...], ttl: float, *, shared: bool, renew: str | None
) -> None:
    """Say that this session is at work on paths.

    A folder is claimed with all below it; a pattern is as in a .gitignore. Other sessions that
    write there are told, or refused where the setting 'claims' is "enforce". The claim falls when
    it is released, when its time is up, and when this shell ends. Exit code 1: another session
    claims it.
    """
    if bool(paths) == bool(renew) or len(paths) > PATHS_MAX:
        raise click.UsageError(f"Give 1 to {PATHS_MAX} paths to claim, or --renew ID.")
    with call.open() as session:
        if renew:
            made = session.renew(renew, ttl)
        else:
            named = [_place(call, path) for path in paths]
            made = session.claim(named, ttl=ttl, exclusive=not shared)
    if call.json:
        output.json({"claim": json_shapes.claim(made)})
        return
    output.done(call, f"Claimed {_listed(made)} until {_local(made)}: {made.id}")
    kind = _network(call.root)
    if kind is not None:
        output.note(call, words.this_machine_alone(kind))


@verb()
@click.argument("ids", metavar="ID...", nargs=-1)
@click.option("--all", "every", is_flag=True, help="All claims of this session.")
@click.pass_obj
def release(call: Call, ids: tuple[str, ...], *, every: bool) -> None:
    """Give up claims of this session."""
    if bool(ids) == every:
        raise click.UsageError("Give the ids of claims, or --all.")
    with call.open() as session:
        named = [each.id for each in session.claims() if each.session == session.id]
        wanted = named if every else list(dict.fromkeys(ids))
        for each in wanted:
            session.release(each)
    if call.json:
        output.json({"released": wanted})
        return
    output.done(call, f"Released {', '.join(wanted)}." if wanted else "There was nothing claimed.")


@verb()
@click.pass_obj
def claims(call: Call) -> None:
    """List the claims that stand."""
    with call.survey() as ground:
        found = listed(ground)
    if call.json:
        output.json({"claims": [json_shapes.claim(each) for each in found]})
        return
    rows = [("ID", "SESSION", "AGENT", "UNTIL", "PATHS")]
    for each in found:
        shared = "" if each.exclusive else " (shared)"
        rows.append((each.id, each.session, each.agent, _local(each), f"{_listed(each)}{shared}"))
    output.text("\n".join(phrases.table(rows)) if found else "Nothing is claimed.")


@verb("hand-over")
@click.argument("to", metavar="SESSION")
@click.argument("paths", metavar="PATH...", nargs=-1)
@click.option("--lines", type=lines_from, metavar="A-B", help="Only these, of one file.")
@click.pass_obj
def hand_over(call: Call, to: str, paths: tuple[str, ...], lines: Span | None) -> None:
    """Record that a session was given this one's text of files.

    SESSION is one that this session started, was started by, or is a fork of. Without a PATH all
    that this session holds is meant.
    """
    if lines is not None and len(paths) != 1:
        raise click.UsageError("--lines are of one PATH.")
    with call.open() as session:
        named = [call.path(path) for path in paths] or None
        given = session.hand_over(to, named, lines=lines)
    if call.json:
        files = [{"path": each.path, "lines": json_shapes.pairs(each.lines)} for each in given]
        output.json({"to": to, "files": files})
        return
    said = [f"{printable(each.path)}: {spans(each.lines) or 'empty'}" for each in given]
    output.done(call, f"{to} was given:\n" + "\n".join(said) if said else "There was nothing held.")


def _place(call: Call, name: str) -> str:
    """A path as every command takes it; a pattern without a slash is of all below this folder."""
    path = call.path(name)
    if path == name or "/" in name or SPECIAL.isdisjoint(name):
        return path
    return f"{path.removesuffix(name)}**/{name}"


def _network(root: str) -> str | None:
    """The network file system that a folder stands on, where the system tells."""
    try:
        kind = file_system(os.path.realpath(root), mounts())
    except FileNotFoundError:
        return None
    return kind if kind in NETWORK else None


def _listed(made: Claim) -> str:
    return printable(", ".join(made.paths))


def _local(made: Claim) -> str:
    """Until when, on the reader's clock."""
    return f"{made.expires_at.astimezone():%H:%M}"
