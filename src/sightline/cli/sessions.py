"""Commands about sessions: session list, show, fork and delete; turn, models."""

from __future__ import annotations

from typing import Any

import click

from sightline.api.json_shapes import shape
from sightline.api.session import Session
from sightline.changes.session_context import SessionContext
from sightline.changes.session_names import find_session, names_of
from sightline.cli import completion, output, words
from sightline.cli.failures import NO, Answered, report
from sightline.cli.options import command, last_sessions, usage
from sightline.cli.output import Call
from sightline.errors import SessionError
from sightline.history import session_history
from sightline.model.session_ids import short_id
from sightline.sessions import lifecycle
from sightline.sessions import usage as model_usage
from sightline.sessions import words as session_words
from sightline.sessions.presence import presence
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
    with call.survey() as ground:
        page = session_history.sessions(ground, last=last)
        names = names_of(ground.store)
        called = {each.id: names(each.id) for each in page.sessions}
        titles = {each.id: words.name_shape(ground.store, each.id) for each in page.sessions}
    listed = [(each, each.presence) for each in page.sessions if each.presence]
    shapes = [
        {
            **shape(each),
            "name": titles[each.id],
        }
        for each, state in listed
    ]
    rows = [("ID", "AGENT", "BEGAN", "STATE", "ACTIVE", "TURN", "FILES", "NAME")]
    for each, state in listed:
        known = each.session
        times = (output.minute(known.started), state.state, output.minute(state.last))
        name = called[each.id] if titles[each.id] else ""
        rows.append(
            (short_id(known.id), known.agent, *times, str(known.turn), str(each.files), name)
        )
    lines = [output.tabled(rows)] if listed else ["No session worked here yet."]
    if page.left_out:
        lines += ["", words.more_sessions(page.left_out, "session list")]
    output.answer(
        call, {"sessions": shapes, "left_out": page.left_out}, output.fitted("\n".join(lines))
    )


@command(name="session show", example="session show cli")
@click.argument("id", shell_complete=completion.sessions)
def show(call: Call, id: str) -> None:
    """Show one session and its files."""
    with call.survey() as context:
        name = _known(call, context, id)
        shown = session_history.status(context, name)
        (only,) = shown.sessions
        state = presence(context, only.session)
        if call.json:
            output.json({"session": words.session_shape(context, only)})
            return
        lines = words.status_lines(call, context, shown, name)
    pid = state.holder.rsplit(":", 2)[1] if state.holder else None
    held = f", held by process {pid}" if pid and state.state == "present" else ""
    since, last = output.minute(state.since), output.minute(state.last)
    lines += ["", f"It is {state.state} since {since}{held}; last active {last}."]
    output.prose("\n".join(lines))


@command(name="session delete", example="session delete cli --force")
@click.argument("id", shell_complete=completion.sessions)
@click.option("--force", is_flag=True, help="Delete the session even while its agent is at work.")
def delete(call: Call, id: str, *, force: bool) -> None:
    """End a session, forget what it was shown, drop its claims.

    What it did stays on the timeline: no fact is ever deleted. When it is resumed, it
    has to read files before it may write them.
    """
    with call.survey() as context:
        gone = lifecycle.delete(context, _known(call, context, id), force=force)
    words = session_words.forgotten(printable(gone.session), gone.claims)
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
    """ID is the session to fork."""
    with call.survey() as context:
        call.session = parent = _known(call, context, parent)
    with call.open() as session:
        forked = session.fork(id)
        forked.close()
    words = f"Forked {printable(short_id(parent))}: {forked.id}"
    output.result(call, {"session": forked.id, "parent": parent}, words)


def _known(call: Call, context: SessionContext, name: str) -> str:
    """Return the id of the session that somebody names."""
    try:
        return find_session(context.store, name)
    except SessionError as error:
        report(call, "session", error.message, error.hint)
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
    with call.survey() as context:
        known = [state.id for state in context.store.sessions()]
        ids = known if call.session is None else [call.session]
        uses = [(name, used) for name in ids for used in model_usage.models(context, name)]
    uses.sort(key=lambda pair: pair[1].position)
    rows = [["SINCE", "SESSION", "TURN", "MODEL", "PROVIDER", "MODE"]]
    for name, used in uses:
        named = (short_id(name), str(used.turn), used.model, used.provider or "-", used.mode or "-")
        rows.append([output.minute_of(used.at), *map(one_line, named)])
    shapes = [{"session": name, **shape(used)} for name, used in uses]
    words = output.tabled(rows) if uses else ""
    output.answer(call, {"models": shapes}, words, "No session told which model it used.")
