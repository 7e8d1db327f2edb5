"""The sessions of a workspace: list them, show one, end one for good, fork one."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from sightline.api import json_shapes
from sightline.changes.session_context import SessionContext
from sightline.cli import output
from sightline.cli.failures import NO, Answered, told
from sightline.cli.options import global_options
from sightline.cli.output import Call
from sightline.cli.words import session_shape, status_lines
from sightline.history import session_history
from sightline.model.projections import SessionState
from sightline.sessions import lifecycle, words
from sightline.sessions.presence import Presence, presence
from sightline.text import phrases


@click.group(invoke_without_command=True, epilog="Options of all commands: see 'sightline --help'.")
@click.pass_context
def sessions(context: click.Context) -> None:
    """List sessions, or show, delete or fork one.

    A session is present while the process that holds it lives: an agent's own, or the shell that
    commands were typed in.
    """
    if context.invoked_subcommand is None:
        _list(context.ensure_object(Call))


@sessions.command("show", cls=click.Command)
@click.argument("id")
@click.pass_obj
def show(call: Call, id: str) -> None:
    """Show one session and its files."""
    with call.survey() as ground:
        _known(call, ground, id)
        found = session_history.status(ground, id)
        standing = presence(ground, found[0].session)
        if call.json:
            output.json({"session": session_shape(ground, found[0])})
            return
        lines = status_lines(call, ground, found, id)
        output.text("\n".join([*lines, "", _standing(standing)]))


@sessions.command("delete", cls=click.Command)
@click.argument("id")
@click.option("--force", is_flag=True, help="Also where it is at work.")
@click.pass_obj
def delete(call: Call, id: str, *, force: bool) -> None:
    """End a session, forget what it was shown, drop its claims.

    What it did stays on the timeline: no fact is ever deleted. Taken up again, it begins with
    nothing, and has to read before it may write.
    """
    with call.survey() as ground:
        _known(call, ground, id)
        gone = lifecycle.delete(ground, id, force=force)
    if call.json:
        output.json({"deleted": gone.session, "files": gone.files, "claims": gone.claims})
        return
    output.done(call, words.forgotten(phrases.printable(gone.session), gone.claims))


@sessions.command("fork", cls=click.Command)
@click.argument("id")
@click.option("--as", "new", metavar="NEW", help="The id of the fork. Default: a new one.")
@click.pass_obj
def fork(call: Call, id: str, new: str | None) -> None:
    """Begin a session that knows all that another knows now.

    From here on each goes its own way.
    """
    call.session = id
    with call.survey() as ground:
        _known(call, ground, id)
    with call.open() as session:
        made = session.fork(new)
        made.close()
    if call.json:
        output.json({"session": made.id, "parent": id})
        return
    output.done(call, f"Forked {phrases.printable(id)}: {made.id}")


for _each in (show, delete, fork):
    _each.params += global_options(hidden=True)
sessions.params += global_options(hidden=True)


def _known(call: Call, ground: SessionContext, id: str) -> SessionState:
    state = ground.store.session(id)
    if state is None:
        told(call, "session", *words.no_session(id))
        raise Answered(NO)
    return state


def _list(call: Call) -> None:
    with call.survey() as ground:
        every = session_history.sessions(ground)
        found = [(each, presence(ground, each.session)) for each in every]
    if call.json:
        listed = [
            {
                **json_shapes.session(each.session),
                "files": each.files,
                **json_shapes.presence(standing),
            }
            for each, standing in found
        ]
        output.json({"sessions": listed})
        return
    rows = [("ID", "AGENT", "BEGAN", "STATE", "HEARD OF", "TURN", "FILES")]
    for each, standing in found:
        state = each.session
        begun, last = _when(state.started), _when(standing.last)
        numbers = (str(state.turn), str(each.files))
        rows.append((state.id, state.agent, begun, standing.state, last, *numbers))
    output.text("\n".join(phrases.table(rows)) if found else "No session worked here yet.")


def _standing(standing: Presence) -> str:
    """How a session stands, since when, and who holds it."""
    pid = standing.holder.rsplit(":", 2)[1] if standing.holder else None
    held = f", held by process {pid}" if pid and standing.state == "present" else ""
    since = _when(standing.since)
    return f"It is {standing.state} since {since}{held}; last heard of {_when(standing.last)}."


def _when(at: int) -> str:
    """Microseconds as a time on the reader's clock."""
    return f"{datetime.fromtimestamp(at / 1_000_000, UTC).astimezone():%Y-%m-%d %H:%M}"
