"""The command checkpoint, with list, diff, export and delete; rewind and undo."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Sequence
from functools import partial
from shlex import quote
from typing import Any, NamedTuple

import click
from msgspec import structs

from sightline.api import workspace_words as words
from sightline.api.json_shapes import shape
from sightline.api.session import Session
from sightline.api.workspace import Workspace
from sightline.api.workspace_words import interrupted_rewind, since
from sightline.cli import completion, output
from sightline.cli.failures import NO, Answered, report
from sightline.cli.guesses import means_other_command, no_such_checkpoint_command
from sightline.cli.input import can_go_on, cannot_ask, messages_in
from sightline.cli.options import command, usage
from sightline.cli.output import Call
from sightline.errors import Hint, RewindRefused, UnknownName, joined_hints
from sightline.model.manifest import FileDifference
from sightline.model.path import quoted
from sightline.model.results import RewindReport
from sightline.model.session_ids import AT_SHELL
from sightline.text.causes import NameOf, called, heading

LABEL_MAX = 200


@command(Session.checkpoint, example="checkpoint 'before the refactoring'")
def checkpoint(call: Call, label: str) -> None:
    """A rewind to the checkpoint takes back the work of all sessions since, or of one. With --session, the
    checkpoint belongs to that session, and a rewind takes back its work alone. Exit code 1: the checkpoint could not be taken.
    """
    if len(label) > LABEL_MAX or not label.isprintable():
        raise click.UsageError(f"A label is one line of at most {LABEL_MAX} characters.")
    if means_other_command(label):
        raise click.UsageError(no_such_checkpoint_command(label))
    with output.progress(call, "Taking the checkpoint"):
        if call.named_session is None:
            with call.ask() as workspace:
                kept = workspace.checkpoint(label)
        else:
            with call.open() as session:
                kept = session.checkpoint(label)
    output.result(call, {"checkpoint": shape(kept)}, "\n".join(words.describe_taken(kept)))


@command(
    Session.checkpoints,
    name="checkpoint list",
    example="checkpoint list",
    without=("newest", "before"),
)
def list_checkpoints(call: Call) -> None:
    """Below each checkpoint: the changes up to the next one."""
    with call.ask() as workspace:
        told = workspace.checkpoints()
        begun = [interrupted_rewind(each, workspace.name_of) for each in told.unfinished_rewinds]
    lines: list[str] = []
    for chapter in told.chapters:
        taken = chapter.checkpoint
        when = since(taken.at)
        lines += words.in_list(
            taken,
            chapter.whose,
            when,
            chapter.changed,
            first=not lines,
        )
    listed = [shape(chapter.checkpoint) for chapter in told.chapters]
    output.answer(
        call,
        {"checkpoints": listed, "unfinished_rewinds": shape(told.unfinished_rewinds)},
        output.fitted("\n".join(lines)),
        "No checkpoint was taken yet. Take one: sightline checkpoint [LABEL]",
    )
    for line in () if call.json else begun:
        output.say(output.worded(line))


@command(
    Workspace.compare,
    name="checkpoint diff",
    example="checkpoint diff 'before the refactoring' --stat",
    before={"metavar": "A", "shell_complete": completion.checkpoints},
    after={"is_argument": True, "metavar": "[B]", "shell_complete": completion.checkpoints},
)
@click.option("--stat", is_flag=True, help="Print only file names and counts of changed lines.")
def diff_checkpoints(call: Call, before: str, after: str | None, *, stat: bool) -> None:
    """Without B, A is compared with the files as they are now. Exit code 0: nothing changed; 1:
    something did.
    """
    with call.ask() as workspace, output.progress(call, "Comparing"):
        differences = workspace.compare(before, after)
    if call.json:
        output.json({"files": shape(differences)})
    elif stat and differences:
        output.text("\n".join(words.stat(differences)))
    else:
        _show(call, differences)
    if differences:
        raise Answered(NO)
    if not call.json:
        output.note(call, "Nothing changed.")


@command(
    Workspace.export,
    name="checkpoint export",
    example="checkpoint export 'before the refactoring' --branch before",
    checkpoint={"metavar": "ID", "shell_complete": completion.checkpoints},
    since={"metavar": "A", "shell_complete": completion.checkpoints},
    until_now={"flag": "--now"},
)
@click.option(
    "--patch", is_flag=True, help="Print the checkpoint's changes as a patch for 'git apply'."
)
@click.option("--output", "file", metavar="FILE", help="The new file that a patch goes to.")
def export_checkpoint(
    call: Call, *, branch: str | None, patch: bool, file: str | None, **arguments: Any
) -> None:
    """Exit code 1: nothing was exported."""
    if (branch is None) == (not patch):
        raise click.UsageError("Pass either --branch NAME or --patch.")
    if branch is not None and (arguments["since"] or arguments["until_now"] or file is not None):
        raise click.UsageError("--since, --now and --output are for a patch.")
    with usage(), call.ask() as workspace, output.progress(call, "Exporting"):
        made = workspace.export(branch=branch, **arguments)
    if file is not None and made.patch is not None:
        try:
            with open(file, "xb") as stream:  # what stands there is not ours to replace
                stream.write(made.patch)
        except OSError as error:
            raise click.UsageError(f"{file} cannot be written: {error.strerror}.") from error
    if call.json:
        shown = shape(made) | ({} if file is None else {"patch": None})
        output.json({"export": {**shown, "output": file}})
    elif made.patch is None:
        output.done(call, "\n".join(words.committed(made)))
    else:
        if file is None and made.patch:
            if sys.stdout.isatty():
                output.text(output.coloured(call, made.patch.decode("utf-8", "surrogateescape")))
            else:
                output.raw(made.patch)
        output.note(call, "\n".join(words.patched(made, file)))


@command(
    Workspace.drop_checkpoints,
    name="checkpoint delete",
    example="checkpoint delete 'before the refactoring'",
    checkpoints={"metavar": "ID...", "shell_complete": completion.checkpoints},
)
def delete_checkpoints(call: Call, checkpoints: tuple[str, ...]) -> None:
    with call.ask() as workspace:
        gone = workspace.drop_checkpoints(checkpoints)
    output.result(call, {"deleted": gone}, f"Deleted {', '.join(gone)}.")


@command(
    *(Workspace.rewind, Session.rewind),
    example="rewind 'before the refactoring' --dry-run",
    without=("deleted_messages",),
    checkpoint={"metavar": "ID", "shell_complete": completion.checkpoints},
    paths={"metavar": "[PATH]...", "required": False},
    force_paths={"flag": "--force-path"},
)
@click.option("--diff", is_flag=True, help="Also show the change of each file's text.")
@click.option("--yes", is_flag=True, help="Go on without asking.")
@click.option(
    "--messages",
    metavar="F",
    help="With --conversation --no-files: the messages removed from the conversation, in the format of 'changes --messages' (- is stdin).",
)
def rewind(
    call: Call,
    checkpoint: str,
    *,
    dry_run: bool,
    diff: bool,
    yes: bool,
    messages: str | None,
    **arguments: Any,
) -> None:
    """With --session, and for a checkpoint that a session took, the command takes back that
    session's work only. On a terminal it shows what each session did, asks how much of that to take
    back (all, one session or one file), and shows the plan; elsewhere pass --dry-run, or --yes for
    all. Exit code 1: some file was left alone.
    """
    of_files = {name: arguments.pop(name) for name in ("files", "conversation")}
    if messages is not None and (of_files["files"] or not of_files["conversation"]):
        raise click.UsageError("--messages is for --conversation --no-files.")
    to = int(checkpoint) if checkpoint.isdecimal() else checkpoint
    asks = Asks(call, dry_run=dry_run, yes=yes, diff=diff)
    if call.named_session is None:
        with call.ask() as workspace:
            own = _session_of(call, workspace, to)
            if own is None and of_files == {"files": True, "conversation": False}:
                try:
                    own = _rewind_all(call, workspace, to, asks, arguments)
                except UnknownName as error:
                    ways = _other_ways(call, checkpoint)
                    error.next_step = Hint(f"{ways} " if ways else "", error.next_step)
                    raise
                if own is None:
                    return
            elif own is None and not workspace.agent_of(AT_SHELL):
                raise click.UsageError("Name the session whose view goes back: --session NAME.")
        call.session = own or AT_SHELL
    asks.check()
    arguments |= of_files | {"deleted_messages": messages_in(messages)}
    with call.open(finish=False, known=True) as session:  # this rewind replaces an unfinished one
        _rewind(call, session, to, asks, **arguments)


def _other_ways(call: Call, word: str) -> str:
    """Name the commands for somebody who named no checkpoint: a file, or a time in words."""
    if os.path.lexists(os.path.join(call.root, call.path(word))) or "." in word or "/" in word:
        return f"Take back the last change of a file: sightline undo {quote(word)}"
    return "" if word.startswith("cp-") else "A time works, too: sightline rewind 12:00, or 2h."


def _session_of(call: Call, workspace: Workspace, to: int | str) -> str | None:
    """Return the session whose own checkpoint this is, and say so; None for the workspace's and a position."""
    if isinstance(to, int):
        return None
    try:
        session = workspace.taken_by(to)
    except UnknownName:
        return None  # a time, or an error that the rewind raises
    if not session:
        return None
    if not call.json and session != AT_SHELL:
        whose = heading(workspace.name_of(session))
        output.note(call, f"{whose} took that checkpoint: only its work is meant.")
    return session


def _rewind_all(
    call: Call, workspace: Workspace, to: int | str, asks: Asks, arguments: dict[str, Any]
) -> str | None:
    """Take back what all sessions did, or return the session that the user chose on the terminal."""
    if not asks.can_go_on or asks.asking:
        plan = workspace.rewind(to, **arguments, dry_run=True)
        listed = [session for session, _ in plan.sessions if session]
        if len(listed) > 1:
            shares = words.shares(plan, workspace.names(), workspace.agent_of)
            output.prose("\n".join(shares))
        if len(listed) > 1 and asks.asking:
            chosen = _chosen(listed, {path for _, paths in plan.sessions for path in paths})
            if chosen in listed:
                return chosen
            arguments["paths"] = [chosen] if chosen else arguments["paths"]
    asks.check(of_all=True)
    rewinding = Rewinding(workspace.rewind, workspace.names(), call.options_for(AT_SHELL), None)
    _carry_out(call, rewinding, to, asks, **arguments)
    return None


def _chosen(sessions: Sequence[str], paths: Collection[str]) -> str:
    """Ask how much to take back. Return a session, a path, or "" for all of it."""
    while True:
        answer = output.asked(
            "Take back all of it (a), one session (its number) or one file (its path)? Nothing: Enter"
        )
        if not answer:
            output.say("Nothing was changed.")
            raise Answered(NO)
        if answer in ("a", "all"):
            return ""
        if answer.isdecimal() and 1 <= int(answer) <= len(sessions):
            return sessions[int(answer) - 1]
        if answer in paths or any(path.startswith(f"{answer.rstrip('/')}/") for path in paths):
            return answer.rstrip("/")
        output.say(f"No session above has the number, and no file the path, {answer!r}.")


@command(Session.undo, example="undo --dry-run", paths={"metavar": "[PATH]...", "required": False})
@click.option("--yes", is_flag=True, help="Go on without asking.")
def undo(call: Call, *, paths: list[str], dry_run: bool, commands: bool, yes: bool) -> None:
    """Without --session, the command takes the session that changed a file last, or the one that changed
    PATH last. On a terminal the plan is shown first, and carried out if you agree; elsewhere pass
    --dry-run or --yes. Exit code 1: some file was left alone, or there is nothing to undo.
    """
    asks = Asks(call, dry_run=dry_run, yes=yes)
    with call.ask() as workspace:
        for cut_off in () if dry_run else workspace.interrupted_rewinds(call.named_session):
            asks.check()
            done = workspace.finish_interrupted(cut_off.session)  # an undo that died?
            report(call, "interrupted", output.worded(done), "To go further back: sightline undo")
            raise Answered(NO)
        try:
            turn = workspace.last_turn(call.named_session, paths)
        except RewindRefused as error:
            if paths and not os.path.lexists(os.path.join(call.root, paths[0])):
                error.next_step = joined_hints([error.next_step, _no_file(paths[0])])
            raise
        asks.check()
        name = workspace.name_of(turn.session)
    call.session = turn.session
    which = f"turn {turn.number}" if turn.number else "the last change"
    if not call.json:
        output.note(call, f"Undo {which} of {called(name, 'session')}, {since(turn.at)}.")
    with call.open(finish=False) as session:
        _rewind(call, session, turn.to, asks, commands=commands, paths=paths)


def _no_file(path: str) -> str:
    """Word the hint for an undo of a path that does not exist; the user may mean a time."""
    if "." in path or "/" in path:
        return f"There is no file {quoted(path)} now."
    return f"All since a time: sightline rewind {quote(path)}"


class Asks:
    """The mode of a rewind: ask the user first, preview only, or go ahead."""

    def __init__(self, call: Call, *, dry_run: bool, yes: bool, diff: bool = False) -> None:
        self.dry_run, self.diff = dry_run, diff
        self.can_go_on = can_go_on(call, dry_run=dry_run, yes=yes)
        self.asking = self.can_go_on and not (dry_run or yes)

    def check(self, *, of_all: bool = False) -> None:
        """Raise UsageError if the command has to ask and stdin is not a terminal. of_all: the rewind takes back the work of all sessions."""
        if not self.can_go_on:
            more = (
                " with the work of all sessions. For less, add --session NAME or the paths of files"
            )
            raise cannot_ask(more if of_all else "")


class Rewinding(NamedTuple):
    """The verb that rewinds, and what to print about it. options: of further commands; session: whose work
    is taken back, None for all."""

    verb: Callable[..., RewindReport]
    name_of: NameOf
    options: str
    session: str | None


def _rewind(call: Call, session: Session, to: int | str, asks: Asks, **arguments: Any) -> None:
    """Take back the work of one session."""
    name_of = partial(session.name_of, for_people=True)
    rewinding = Rewinding(session.rewind, name_of, call.options_for(session.id), session.id)
    _carry_out(call, rewinding, to, asks, **arguments)


def _carry_out(
    call: Call,
    rewinding: Rewinding,
    to: int | str,
    asks: Asks,
    *,
    commands: bool = False,
    **arguments: Any,
) -> None:
    """Plan a rewind, ask if wanted, carry it out, and print the report."""

    def carried_out(*, dry_run: bool, commands: bool = commands) -> RewindReport:
        return rewinding.verb(to, dry_run=dry_run, commands=commands, **arguments)

    dry_run, diff, asking = asks.dry_run, asks.diff, asks.asking
    name_of, options = rewinding.name_of, rewinding.options
    plan = carried_out(dry_run=True) if asking or dry_run or diff else None
    wanted = plan.diffs if plan and (asking or diff or call.json) else None
    if asking and plan is not None:
        doubts = carried_out(dry_run=True, commands=False) if commands else None
        if not _agreed(call, plan, wanted or (), doubts, name_of, options, diff=diff):
            return
    done = plan
    if plan is None or not dry_run:
        with output.progress(call, "Rewinding"):
            done = carried_out(dry_run=False)
    assert done is not None
    if call.json:
        output.json({**shape(structs.replace(done, diffs=wanted)), "session": rewinding.session})
    else:
        _show(call, (wanted or ()) if diff and not asking else ())
        warned = [] if done.warning is None else [words.raised(done.warning)]
        lines = [output.worded(line, options) for line in words.lines_of(done, name_of)]
        said = "\n".join([*lines, *warned])
        output.done(call, output.fitted(said))
    if done.left_alone and not dry_run:
        raise Answered(NO)


def _show(call: Call, differences: Sequence[FileDifference]) -> None:
    for each in differences:
        output.text(output.coloured(call, each.diff) if each.diff else words.without_text(each))


def _agreed(
    call: Call,
    plan: RewindReport,
    differences: Sequence[FileDifference],
    cautious: RewindReport | None,
    name_of: NameOf,
    options: str,
    *,
    diff: bool,
) -> bool:
    """Show the plan and ask for consent. Return False if there is nothing to do. cautious: where
    the plan has files that may be the user's, the plan without them."""
    if diff:
        _show(call, differences)
    counts = words.counts_of(differences)
    doubts = words.maybe_yours(cautious) if cautious is not None else ()
    lines = [output.worded(line, options) for line in words.lines_of(plan, name_of, counts)]
    output.prose("\n".join([*lines, *doubts]))
    if not plan.changed:
        return False
    if not output.confirmed("Do this?"):
        output.say("Nothing was changed.")
        raise Answered(NO)
    return True
