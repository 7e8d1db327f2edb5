"""The sessions of a workspace: list them, show one, end one for good, fork one."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from sightline.interfaces import shapes
from sightline.interfaces.cli import output
from sightline.interfaces.cli.call import Call
from sightline.interfaces.cli.faults import NO, Answered, told
from sightline.interfaces.cli.options import global_options
from sightline.render import several, views

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sightline.core.context import SessionState
    from sightline.services.ground import Ground
    from sightline.services.presence import Presence


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
    from sightline.interfaces.cli.words import session_shape, status_lines
    from sightline.services import history
    from sightline.services.presence import presence

    with call.survey() as ground:
        _known(call, ground, id)
        found = history.status(ground, id)
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
    from sightline.services import ending

    with call.survey() as ground:
        _known(call, ground, id)
        gone = ending.delete(ground, id, force=force)
    if call.json:
        output.json({"deleted": gone.session, "files": gone.files, "claims": gone.claims})
        return
    output.done(call, several.forgotten(views.printable(gone.session), gone.claims))


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
    output.done(call, f"Forked {views.printable(id)}: {made.id}")


for _each in (show, delete, fork):
    _each.params += global_options(hidden=True)
sessions.params += global_options(hidden=True)


def _known(call: Call, ground: Ground, id: str) -> SessionState:
    state = ground.store.session(id)
    if state is None:
        told(call, "session", *several.no_session(id))
        raise Answered(NO)
    return state


def _list(call: Call) -> None:
    from sightline.services import history
    from sightline.services.presence import presence

    with call.survey() as ground:
        every = history.sessions(ground)
        found = [(each, presence(ground, each.session)) for each in every]
    if call.json:
        listed = [
            {**shapes.session(each.session), "files": each.files, **shapes.presence(standing)}
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
    output.text("\n".join(views.table(rows)) if found else "No session worked here yet.")


def _standing(standing: Presence) -> str:
    """How a session stands, since when, and who holds it."""
    pid = standing.holder.rsplit(":", 2)[1] if standing.holder else None
    held = f", held by process {pid}" if pid and standing.state == "present" else ""
    since = _when(standing.since)
    return f"It is {standing.state} since {since}{held}; last heard of {_when(standing.last)}."


def _when(at: int) -> str:
    """Microseconds as a time on the reader's clock."""
    return f"{datetime.fromtimestamp(at / 1_000_000, UTC).astimezone():%Y-%m-%d %H:%M}"
