"""Commands about sessions: session list, show, fork and delete; turn, models."""

from __future__ import annotations

from typing import Any

import click

from sightline.api.json_shapes import shape
from sightline.api.session import Session
from sightline.api.workspace import Workspace
from sightline.api.workspace_words import forgotten
from sightline.cli import completion, output, words
from sightline.cli.failures import NO, Answered, report
from sightline.cli.options import command, last_sessions, usage
from sightline.cli.output import Call
from sightline.errors import SessionError
from sightline.model.session_ids import short_id
from sightline.text.printable import one_line, printable


@command(example="session list")
@click.argument("what", type=click.Choice(["list", "show", "fork", "delete"]))
def session(_: Call, what: str) -> None:
    """List sessions, or show, fork or delete one."""
    raise click.UsageError(f"Leave out the '--': sightline session {what}")


@command(name="session list", example="session list --last all")
@last_sessions
def list_sessions(call: Call, last: int | None) -> None:
    """List the sessions of this workspace.

    A session is present while the process that holds it lives: an agent's own, or the shell that
    commands were typed in.
    """
    with call.ask() as workspace:
        page = workspace.page_of_sessions(last=last)
        called = {each.id: workspace.name_of(each.id) for each in page.sessions}
    rows = [("ID", "AGENT", "BEGAN", "STATE", "ACTIVE", "TURN", "FILES", "NAME")]
    for each in page.sessions:
        active = output.minute_of(each.last_sign) if each.last_sign is not None else ""
        times = (output.minute_of(each.started), each.presence or "", active)
        name = called[each.id] if each.name else ""
        rows.append((short_id(each.id), each.agent, *times, str(each.turn), str(each.files), name))
    lines = [output.tabled(rows)] if page.sessions else ["No session worked here yet."]
    if page.left_out:
        lines += ["", words.more_sessions(page.left_out, "session list")]
    shapes = {"sessions": shape(page.sessions), "left_out": page.left_out}
    output.answer(call, shapes, output.fitted("\n".join(lines)))


@command(name="session show", example="session show cli")
@click.argument("id", shell_complete=completion.sessions)
def show(call: Call, id: str) -> None:
    """Show one session and its files."""
    with call.ask() as workspace:
        name = _known(call, workspace, id)
        shown = workspace.status(name)
        (only,) = shown.sessions
        if call.json:
            output.json({"session": shape(only)})
            return
        lines = words.status_lines(call, shown, workspace.name_of, name)
    pid = only.holder.rsplit(":", 2)[1] if only.holder else None
    held = f", held by process {pid}" if pid and only.presence == "present" else ""
    since, last = output.minute_of(only.since), output.minute_of(only.last_sign)
    lines += ["", f"It is {only.presence} since {since}{held}; last active {last}."]
    output.prose("\n".join(lines))


@command(name="session delete", example="session delete cli --force")
@click.argument("id", shell_complete=completion.sessions)
@click.option("--force", is_flag=True, help="Delete the session even while its agent is at work.")
def delete(call: Call, id: str, *, force: bool) -> None:
    """End a session, forget what it was shown, drop its claims.

    What it did stays on the timeline. When it is resumed, it has to read files before it may write
    them.
    """
    with call.ask() as workspace:
        gone = workspace.delete_session(_known(call, workspace, id), force=force)
    words = forgotten(printable(gone.session), gone.claims)
    shape = {"deleted": gone.session, "files": gone.files, "claims": gone.claims}
    output.result(call, shape, words)


@command(
    Session.fork,
    name="session fork",
    example="session fork cli --as experiment",
    id={"flag": "--as", "metavar": "NEW"},
)
@click.argument("parent", metavar="ID", shell_complete=completion.sessions)
def fork(call: Call, id: str | None, parent: str) -> None:
    with call.ask() as workspace:
        call.session = parent = _known(call, workspace, parent)
    with call.open() as session:
        forked = session.fork(id)
        forked.close()
    words = f"Forked {printable(short_id(parent))}: {forked.id}"
    output.result(call, {"session": forked.id, "parent": parent}, words)


def _known(call: Call, workspace: Workspace, name: str) -> str:
    """Return the id of the session that somebody names."""
    try:
        return workspace.named_session(name)
    except SessionError as error:
        report(call, "session", error.message, error.next_step)
        raise Answered(NO) from None


@command(Session.turn, example="turn --model some-model")
def turn(call: Call, **arguments: Any) -> None:
    """--provider and --mode need a model, named now or before."""
    with call.open() as session, usage("--model"):
        begun = session.turn(**arguments)
    output.result(call, {"session": call.session_id, "turn": begun}, f"Turn {begun} began.")


@command(Session.model_usage, example="models")
def models(call: Call) -> None:
    """Covers all sessions; with --session, only that one."""
    with call.ask() as workspace:
        uses = workspace.model_usage(call.session)
    rows = [["SINCE", "SESSION", "TURN", "MODEL", "PROVIDER", "MODE"]]
    for used in uses:
        named = (
            short_id(used.session),
            str(used.turn),
            used.model,
            used.provider or "-",
            used.mode or "-",
        )
        rows.append([output.minute_of(used.at), *map(one_line, named)])
    words = output.tabled(rows) if uses else ""
    output.answer(call, {"models": shape(uses)}, words, "No session told which model it used.")
