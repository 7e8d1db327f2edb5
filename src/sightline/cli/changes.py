"""Commands on what others did: changes, notice, ack, edited-since."""

from __future__ import annotations

import sys

import click

from sightline.api import json_shapes
from sightline.cli import output
from sightline.cli.messages import messages_in
from sightline.cli.options import verb
from sightline.cli.output import Call
from sightline.cli.words import who
from sightline.model.results import EditedFile, FileChange, Notice
from sightline.notices.delivery import hand_over
from sightline.notices.words import unread_calls
from sightline.text import phrases
from sightline.text.phrases import one_line, printable


@verb()
@click.option("--all", "every", is_flag=True, help="Also those that were acknowledged.")
@click.pass_obj
def changes(call: Call, *, every: bool) -> None:
    """Show changes that this session was not told of yet.

    Asking consumes nothing: a change is listed until the file is read again, or a notice of it is
    acknowledged.
    """
    with call.open() as session:
        found = session.changes(told=every)
    if call.json:
        output.json({"changes": [json_shapes.change(each) for each in found]})
        return
    for each in found:
        output.text(one_line(each.summary))
        if each.diff:
            output.text(output.coloured(call, each.diff))
    if not found:
        fresh = "Every file is as it was shown." if every else "Nothing is new."
        output.note(call, fresh)


@verb()
@click.option(
    "--budget",
    type=click.IntRange(1),
    default=1_500,
    show_default=True,
    metavar="N",
    help="Tokens at most, of about four characters; files that do not fit are named.",
)
@click.pass_obj
def notice(call: Call, budget: int) -> None:
    """Tell this session what others changed since it was shown.

    It is told again until it is acknowledged by its id (ack), so that a request that failed loses
    nothing.
    """
    with call.open() as session:
        found = session.notice(budget)
        if found is not None:
            hand_over(session._context, found)  # noqa: SLF001 - faces compose the parts
    if call.json:
        output.json({"notice": None if found is None else json_shapes.notice(found)})
    elif found is None:
        output.note(call, "Nothing is new.")
    else:
        output.text(output.coloured(call, found.text))
        output.note(call, _choice(found, call))


def _choice(found: Notice, call: Call) -> str:
    """The two things that can be done next. A pipe leads to a program: it needs the id alone."""
    ack = f"sightline ack {found.id}{_session(call)}"
    if not sys.stdout.isatty():
        return f"Acknowledge it once it was told: {ack}"
    path = next((each.path for each in found.changes if each.state == "stale"), None)
    rows = [("Go on, this is known now:", ack)]
    if path is not None:
        again = f"sightline read {printable(path)}{_session(call)}"
        rows.append(("Reload a file first:", again))
    return "\n".join(["", *phrases.table(rows)])


def _session(call: Call) -> str:
    return f" --session {call.session}" if call.session else ""


@verb()
@click.argument("id")
@click.pass_obj
def ack(call: Call, id: str) -> None:
    """Say that a notice or a warning was taken in.

    What a notice told counts as known; a file that was read or edited meanwhile is left as it is.
    A warning is told no more.
    """
    with call.open() as session:
        session.acknowledge(id)
        left = session.changes()
    if call.json:
        output.json({"acknowledged": id, "left": [each.path for each in left]})
        return
    output.done(call, f"Acknowledged. {_left(left)}")


def _left(changes: list[FileChange]) -> str:
    if not changes:
        return "Nothing else is new."
    return f"Still new: {', '.join(printable(each.path) for each in changes)}."


@verb("edited-since")
@click.argument("when", required=False)
@click.option("--mine", is_flag=True, help="Only what this session edited.")
@click.option("--others", is_flag=True, help="Only what others edited.")
@click.option(
    "--messages",
    metavar="F",
    help="Messages that were taken out of the conversation, as its host holds them: a JSON array,"
    " or one a line (- is stdin). What their calls write counts as well.",
)
@click.pass_obj
def edited_since(
    call: Call, when: str | None, *, mine: bool, others: bool, messages: str | None
) -> None:
    """List files that are other than they were.

    WHEN is a checkpoint, its label, a position (see log) or a time such as 2026-01-31T12:00:00Z.
    Without it: the last checkpoint that this session was asked for, else its start. Asking consumes
    nothing.
    """
    if mine and others:
        raise click.UsageError("--mine or --others, not both.")
    deleted = [] if messages is None else messages_in(messages)
    with call.open() as session:
        at = int(when) if when and when.isdecimal() else when
        try:
            found = session.edited_since(at, deleted_messages=deleted)
        except ValueError as error:
            raise click.BadParameter(f"{error}.", param_hint="WHEN") from error
        kept = [each for each in found if (each.mine or not mine) and (each.others or not others)]
        said = _table(session.id, kept)
    if call.json:
        listed = [json_shapes.edited_file(each) for each in kept]
        output.json({"files": listed, "unread": [json_shapes.unread_call(e) for e in found.unread]})
        return
    if said:
        output.text("\n".join(said))
    elif not found.unread:
        output.note(call, "No file is other than it was then.")
    if found.unread:
        output.note(call, f"{unread_calls([each.tool for each in found.unread])}.")


def _table(session: str, found: list[EditedFile]) -> list[str]:
    return phrases.table(
        (json_shapes.moment(each.at) or "-", one_line(each.path), _by(each, session))
        for each in found
    )


def _by(each: EditedFile, session: str) -> str:
    return "a deleted message asks for it" if each.from_messages else who(each.by, session)
