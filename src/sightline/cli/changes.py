"""Commands on changes by others and on news for agents: changes, ack, warnings, briefing."""

from __future__ import annotations

import sys
from typing import Any

import click

from sightline.api import words
from sightline.api.json_shapes import shape
from sightline.api.session import Session
from sightline.api.workspace import Workspace
from sightline.api.workspace_words import in_line, who
from sightline.cli import completion, output
from sightline.cli.input import messages_in
from sightline.cli.options import command, usage
from sightline.cli.output import Call
from sightline.cli.words import note_session
from sightline.hooks.session_transcripts import recorded_work
from sightline.model.path import quoted
from sightline.model.results import EditedFile, Notice
from sightline.model.session_ids import short_id
from sightline.text import phrases
from sightline.text.causes import heading
from sightline.text.printable import one_line, printable


@command(
    *(Session.changes, Session.notice, Session.edited_since),
    example="changes --since 2h",
    without=("deleted_messages", "deliver"),
    told={"flag": "--all"},
    budget={"flag": "--budget", "default": None, "show_default": False},
    when={
        "flag": "--since",
        "metavar": "[WHEN]",
        "is_flag": False,
        "flag_value": "",
        "shell_complete": completion.checkpoints,
    },
)
@click.option(
    "--for-agent",
    is_flag=True,
    help="Print a notice for the agent. To acknowledge it: sightline ack",
)
@click.option("--mine", is_flag=True, help="With --since: only what this session edited.")
@click.option("--others", is_flag=True, help="With --since: only what others edited.")
@click.option(
    "--messages",
    metavar="F",
    help="With --since: messages that were removed from the conversation, in the client's format: a JSON array,"
    " or one a line (- is stdin). Files that their calls write are listed, too.",
)
def changes(
    call: Call, *, told: bool, budget: int | None, when: str | None, for_agent: bool, **of: Any
) -> None:
    """--since lists every file that changed since WHEN, and who changed it."""
    since = when is not None or of["messages"] is not None
    if told + for_agent + since > 1:
        raise click.UsageError("Pass one of --all, --for-agent and --since.")
    if (of["mine"] or of["others"]) and not since:
        raise click.UsageError("--mine and --others go with --since.")
    if budget is not None and not for_agent:
        raise click.UsageError("--budget goes with --for-agent.")
    if for_agent:
        with call.go_on() as session:
            _notice(call, session, budget)
        return
    with call.ask() as workspace:
        if since:
            whose = workspace.worked_last() if of["mine"] or of["others"] else call.session_id
            session = workspace.look(call.named_session or whose)
            _edited_since(call, session, when or None, **of)
            if of["mine"] or of["others"]:
                note_session(call, workspace, session.id or call.session_id)
        else:
            _changes(call, workspace, told=told)


def _changes(call: Call, workspace: Workspace, *, told: bool) -> None:
    """Print what is new to the named session, or to each one that is present."""
    asked = (call.named_session,) if call.named_session else workspace.asked_about().sessions
    unknown = [(each, workspace.look(each).changes(told=told)) for each in asked]
    if call.json:
        shapes = [{**shape(change), "session": each} for each, some in unknown for change in some]
        output.json({"changes": shapes})
        return
    for session, changes in unknown:
        if changes and len(asked) > 1:
            name = workspace.name_of(session)
            output.prose(f"{heading(printable(name))}:")
        for change in changes:
            output.prose(one_line(change.summary))
            if change.diff:
                output.text(output.coloured(call, change.diff))
    if not any(changes for _, changes in unknown):
        output.note(call, "Every file is as it was shown." if told else "Nothing is new.")
    if len(asked) == 1:
        note_session(call, workspace, asked[0])


def _notice(call: Call, session: Session, budget: int | None) -> None:
    news = session.notice(deliver=True) if budget is None else session.notice(budget, deliver=True)
    if call.json:
        output.json({"notice": shape(news)})
    elif news is None:
        output.note(call, "Nothing is new.")
    else:
        output.text(output.coloured(call, news.text))
        output.note(call, _next_commands(news, call))


def _next_commands(notice: Notice, call: Call) -> str:
    """Return the commands that can follow a notice. A program behind a pipe needs only the id."""
    of = call.options_for(call.session_id)
    ack = f"sightline ack {notice.id}{of}"
    if not sys.stdout.isatty():
        return f"After the agent has read the notice, run: {ack}"
    rows = [("To go on, acknowledge it:", ack)]
    path = next((change.path for change in notice.changes if change.state == "stale"), None)
    if path is not None:
        rows.append(("To read a file first:", f"sightline read {quoted(path)}{of}"))
    return "\n".join(["", *phrases.table(rows)])


@command(Session.acknowledge, example="ack", answer={"metavar": "[ID]", "required": False})
def ack(call: Call, answer: str | None) -> None:
    """Without an ID, the last notice of 'changes --for-agent'."""
    with call.go_on() as session:
        given = answer or session.newest_notice()
        session.acknowledge(given)
        left = [change.path for change in session.changes()]
    more = f"Still new: {', '.join(map(printable, left))}." if left else "Nothing else is new."
    output.result(call, {"acknowledged": given, "left": left}, f"Acknowledged. {more}")


def _edited_since(
    call: Call,
    session: Session,
    when: str | None,
    *,
    mine: bool,
    others: bool,
    messages: str | None,
) -> None:
    if mine and others:
        raise click.UsageError("--mine or --others, not both.")
    deleted = messages_in(messages)
    with usage("--since"):
        edited = session.edited_since(when, deleted_messages=deleted)
    files = [
        file
        for file in edited
        if file.probable or ((file.mine or not mine) and (file.others or not others))
    ]
    if call.json:
        output.json({"files": shape(files), "unread": shape(edited.unread)})
        return
    if files:
        output.prose("\n".join(phrases.table(_row(file, session.id) for file in files)))
    elif not edited.unread:
        output.note(call, "No file changed since then.")
    if edited.unread:
        output.note(call, f"{words.unread_calls([each.tool for each in edited.unread])}.")


def _row(file: EditedFile, session: str) -> tuple[str, str, str]:
    by = "a deleted message asks for it" if file.from_messages else who(file.by, session)
    return output.minute_of(file.at) if file.at else "-", quoted(file.path), by


@command(Session.warnings, example="warnings")
def warnings(call: Call) -> None:
    """Covers all sessions; with --session, only that one."""
    with call.ask() as workspace:
        listed = workspace.warnings(call.session)
    rows = [
        (w.id, output.minute_of(w.at), short_id(one_line(w.session)) or "-", in_line(w))
        for w in listed
    ]
    table = "\n".join(phrases.table(rows))
    output.answer(call, {"warnings": shape(listed)}, output.fitted(table), "There are no warnings.")
    if listed and not call.json:
        output.note(call, f"When it is dealt with: sightline ack {listed[0].id}")


@command(Session.briefing, example="briefing --message 'go on'", message={"flag": "--message"})
@click.option("--ack", is_flag=True, help="Acknowledge the briefing: the agent has it.")
def briefing(call: Call, *, ack: bool, **arguments: Any) -> None:
    """Without --session, the briefing is for the session whose agent worked last. With --ack, what
    was printed does not come again.
    """
    with call.ask() as workspace:
        call.shown = workspace.worked_last() if call.named_session is None else None
        note_session(call, workspace, call.session_id)
    with call.go_on() if ack else call.look() as session:
        work = recorded_work(session)
        composed = session.briefing(**arguments, recorded=work)
        output.answer(call, shape(composed), composed.text, "The agent needs no briefing now.")
        if ack:
            session.acknowledge(composed)
