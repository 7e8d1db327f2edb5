"""Commands on changes by others and on news for agents: changes, notice, ack, edited-since,
warnings, briefing."""

from __future__ import annotations

import sys
from typing import Any

import click

from sightline.api.json_shapes import shape, time
from sightline.api.session import Session
from sightline.cli import output
from sightline.cli.input import messages_in
from sightline.cli.options import command, usage
from sightline.cli.output import Call
from sightline.cli.words import who
from sightline.model.path import quoted
from sightline.model.results import EditedFile, Notice
from sightline.notices import warnings as session_warnings
from sightline.notices import words
from sightline.notices.delivery import hand_over
from sightline.text import phrases
from sightline.text.phrases import one_line, printable


@command(Session.changes, told={"flag": "--all"})
def changes(call: Call, *, told: bool) -> None:
    """For words to give to the agent, see notice."""
    with call.open() as session:
        unknown = session.changes(told=told)
    if call.json:
        output.json({"changes": shape(unknown)})
        return
    for change in unknown:
        output.text(one_line(change.summary))
        if change.diff:
            output.text(output.coloured(call, change.diff))
    if not unknown:
        output.note(call, "Every file is as it was shown." if told else "Nothing is new.")


@command(Session.notice, budget={"flag": "--budget"})
def notice(call: Call, budget: int) -> None:
    """Acknowledge it with ack."""
    with call.open() as session:
        news = session.notice(budget)
        if news is not None:
            hand_over(session._context, news)  # noqa: SLF001 - faces compose the parts
    if call.json:
        output.json({"notice": shape(news)})
    elif news is None:
        output.note(call, "Nothing is new.")
    else:
        output.text(output.coloured(call, news.text))
        output.note(call, _next_commands(news, call))


def _next_commands(notice: Notice, call: Call) -> str:
    """Return the commands that can follow a notice. A program behind a pipe needs only the id."""
    of = f" --session {call.session}" if call.session else ""
    ack = f"sightline ack {notice.id}{of}"
    if not sys.stdout.isatty():
        return f"After the agent has read the notice, run: {ack}"
    rows = [("Go on, this is known now:", ack)]
    path = next((change.path for change in notice.changes if change.state == "stale"), None)
    if path is not None:
        rows.append(("Reload a file first:", f"sightline read {quoted(path)}{of}"))
    return "\n".join(["", *phrases.table(rows)])


@command(Session.acknowledge, answer={"metavar": "ID"})
def ack(call: Call, answer: str) -> None:
    """ID is that of a notice or a warning."""
    with call.open() as session:
        session.acknowledge(answer)
        left = [change.path for change in session.changes()]
    more = f"Still new: {', '.join(map(printable, left))}." if left else "Nothing else is new."
    output.result(call, {"acknowledged": answer, "left": left}, f"Acknowledged. {more}")


@command(Session.edited_since, without=("deleted_messages",))
@click.option(
    "--mine", is_flag=True, help="Only files that this session edited, surely or probably."
)
@click.option("--others", is_flag=True, help="Only files that others edited, or may have edited.")
@click.option(
    "--messages",
    metavar="F",
    help="Messages that were taken out of the conversation, as its host holds them: a JSON array,"
    " or one a line (- is stdin). Files that their calls write are listed, too.",
)
def edited_since(
    call: Call, when: str | None, *, mine: bool, others: bool, messages: str | None
) -> None:
    """A time is one such as 2026-01-31T12:00:00Z."""
    if mine and others:
        raise click.UsageError("--mine or --others, not both.")
    deleted = messages_in(messages)
    with call.open() as session:
        at = int(when) if when and when.isdecimal() else when
        with usage("WHEN"):
            edited = session.edited_since(at, deleted_messages=deleted)
        files = [
            file
            for file in edited
            if file.probable or ((file.mine or not mine) and (file.others or not others))
        ]
        rows = phrases.table(_row(file, session.id) for file in files)
    if call.json:
        output.json({"files": shape(files), "unread": shape(edited.unread)})
        return
    if rows:
        output.text("\n".join(rows))
    elif not edited.unread:
        output.note(call, "No file changed since then.")
    if edited.unread:
        output.note(call, f"{words.unread_calls([each.tool for each in edited.unread])}.")


def _row(file: EditedFile, session: str) -> tuple[str, str, str]:
    by = "a deleted message asks for it" if file.from_messages else who(file.by, session)
    return time(file.at) if file.at else "-", quoted(file.path), by


@command(Session.warnings)
def warnings(call: Call) -> None:
    """Covers all sessions; with --session, only that one. Acknowledge a warning with ack."""
    with call.survey() as context:
        listed = session_warnings.pending(context, call.session)
    rows = [(w.id, time(w.at), one_line(w.session), words.in_line(w)) for w in listed]
    table = "\n".join(phrases.table(rows))
    output.answer(call, {"warnings": shape(listed)}, table, "There is no warning.")
    if listed and not call.json:
        output.note(call, f"Once it was seen to: sightline ack {listed[0].id}")


@command(Session.briefing, message={"flag": "--message"})
@click.option("--ack", is_flag=True, help="Acknowledge the briefing: the agent has it.")
def briefing(call: Call, *, ack: bool, **arguments: Any) -> None:
    """With --ack, what was printed does not come again."""
    with call.open() as session:
        composed = session.briefing(**arguments)
        output.answer(call, shape(composed), composed.text, "Nothing is due.")
        if ack:
            session.acknowledge(composed)
