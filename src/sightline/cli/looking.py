"""Commands that look at files: check, diff, read, saw."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

import click

from sightline.api.json_shapes import fields, shape
from sightline.api.session import Session
from sightline.api.workspace import Workspace
from sightline.cli import output, words
from sightline.cli.failures import NO, UNKNOWN, Answered
from sightline.cli.input import text_in
from sightline.cli.options import command, place
from sightline.cli.output import Call
from sightline.model.path import quoted
from sightline.model.results import Asked, FileView, Verdict
from sightline.model.session_ids import AT_SHELL
from sightline.model.spans import Span
from sightline.text.causes import heading
from sightline.text.phrases import count, shown, spans
from sightline.text.printable import printable

MANY = {"nargs": -1, "metavar": "[PATH]...", "required": False}


@command(Session.check, example="check src/app.py", without=("old", "content"), path=MANY)
def check(call: Call, path: tuple[str, ...]) -> None:
    """Without --session, each file is judged for the session that knows it. Without PATH: all files that
    the present sessions were shown. Exit code 0: the sessions may rely on all of them; 1: not on all; 3: a
    file cannot be read right now.
    """
    with call.ask() as workspace:
        judged = [
            (workspace.look(whose.sessions[0]), each, whose)
            for each in path
            for whose in [_asked(call, workspace, each)]
        ]
        if not path:
            every = _asked(call, workspace)
            views = [workspace.look(each) for each in every.sessions]
            judged = [(view, file.path, every) for view in views for file in view.files()]
        found = [(session, session.check(each), whose) for session, each, whose in judged]
        verdicts = [verdict for _, verdict, _ in found]
        if call.json:
            shapes = [{**shape(each), "session": session.id or None} for session, each, _ in found]
            output.json({"files": shapes})
        elif not found:
            named = call.named_session
            none = (
                f"Session {printable(named)} was shown no file"
                if named
                else "No session was shown a file"
            )
            output.note(call, f"{none} here.")
        else:
            output.done(
                call, output.fitted("\n".join(_judged(call, workspace, found, is_all=not path)))
            )
    answer(verdicts)


def _judged(
    call: Call,
    workspace: Workspace,
    found: Sequence[tuple[Session, Verdict, Asked]],
    *,
    is_all: bool,
) -> Iterator[str]:
    """Yield a line for each verdict, and say whose they are. is_all: they are of all files."""
    width = max(len(verdict.state) for _, verdict, _ in found)
    is_many = is_all and len(found[0][2].sessions) > 1
    for session, group in groupby(found, key=itemgetter(0)):
        yield from _heading(workspace, session, is_many=is_many)
        for number, (_, verdict, whose) in enumerate(group):
            if not is_many and (number == 0 or not is_all):
                words.note_session(call, workspace, session.id or AT_SHELL, whose.others)
            yield f"{words.state(call, verdict.state, width)}  {words.about(workspace, session.id, verdict)}"


def _asked(call: Call, workspace: Workspace, path: str | None = None) -> Asked:
    """Return the sessions that a question is about: the named one, else as asked_sessions decides."""
    if call.named_session is not None:
        return Asked((call.named_session,))
    return workspace.asked_about(path)


def _heading(workspace: Workspace, session: Session, *, is_many: bool) -> list[str]:
    """Return the line above what is of one session, where an answer is about several."""
    if not is_many:
        return []
    name = workspace.name_of(session.id)
    return [f"{heading(printable(name))}:"]


@command(example="diff src/app.py")
@click.argument("path", callback=place, required=False, metavar="[PATH]")
def diff(call: Call, path: str | None) -> None:
    """Show what changed in a file since a session last saw it.

    Without --session, the answer is about the session that knows the file. Without PATH: all files that
    changed since the present sessions saw them. Exit code 0: nothing changed; 1: a file changed, or was
    never shown.
    """
    with call.ask() as workspace:
        asked = _asked(call, workspace, path)
        verdicts: list[Verdict] = []
        shapes: list[dict[str, Any]] = []
        for session in [workspace.look(each) for each in asked.sessions]:
            paths = [path] if path is not None else _not_fresh(session)
            if not call.json and paths:
                for line in _heading(workspace, session, is_many=len(asked.sessions) > 1):
                    output.text(line)
            for verdict in [session.check(each) for each in paths]:
                verdicts.append(verdict)
                of = {"session": session.id or None}
                shapes.append({**fields(verdict, "path", "state", "diff", "changed_by"), **of})
                if not call.json:
                    _show_diff(call, workspace, session, verdict)
        if len(asked.sessions) == 1:
            words.note_session(call, workspace, asked.sessions[0], asked.others)
    if call.json:
        output.json(shapes[0] if path is not None else {"files": shapes})
    elif not verdicts:
        output.note(call, "Every file is as it was shown.")
    answer(verdicts)


def _not_fresh(session: Session) -> list[str]:
    return [file.path for file in session.files() if file.state != "fresh"]


def _show_diff(call: Call, workspace: Workspace, session: Session, verdict: Verdict) -> None:
    """Print the diff of a file since a session saw it, and what that means."""
    if verdict.diff:
        old, new = quoted(f"a/{verdict.path}"), quoted(f"b/{verdict.path}")
        output.text(output.coloured(call, f"--- {old}\n+++ {new}\n{verdict.diff}"))
    output.note(call, words.about(workspace, session.id, verdict))
    if verdict.state == "unseen" and verdict.reason != "not_found":
        output.note(
            call, f"No session was shown it. Read it: sightline read {quoted(verdict.path)}"
        )


@command(Session.read, example="read src/app.py --lines 1-20")
def read(call: Call, path: str, lines: Span | None) -> None:
    """--lines A- shows everything from line A on. A pipe gets the file's own bytes, a terminal gets line
    numbers.
    """
    with call.open() as session:
        view = session.read(path, lines)
        if call.json:
            output.json(shape(view))
            return
        if sys.stdout.isatty():
            output.text(words.numbered(view), end="")
        else:
            output.raw(session.shown_bytes(view))
    _tell_about(call, view, lines)


@command(Session.saw, example="saw src/app.py --via search", without=("text",))
@click.option(
    "--text-file", metavar="F", help="Exactly the text that the tool showed (- is stdin)."
)
def saw(call: Call, path: str, lines: Span | None, via: str, text_file: str | None) -> None:
    text = None if text_file is None else text_in(text_file)
    with call.open() as session:
        session.saw(path, lines=lines, text=text, via=via)
        verdict = session.check(path)
    much = "all of it" if verdict.complete else spans(verdict.seen_lines)
    words = f"Recorded. Of {quoted(verdict.path)} this session has seen {much}."
    shape = {"path": verdict.path, "via": via, **fields(verdict, "seen_lines", "state")}
    output.result(call, shape, words)


def answer(verdicts: list[Verdict]) -> None:
    """Exit with 1 if a file cannot be relied on, else with 3 if one cannot be read."""
    states = {verdict.state for verdict in verdicts}
    if states - {"fresh", "unverifiable"}:
        raise Answered(NO)
    if "unverifiable" in states:
        raise Answered(UNKNOWN)


def _tell_about(call: Call, view: FileView, asked: Span | None) -> None:
    """Say how much of the file was shown. A cut by a limit is said with --quiet, too."""
    path, (first, last) = view.path, view.lines
    if asked is not None and not last:
        output.say(f"{quoted(path)} has only {count(view.total_lines, 'line')}.")
        return
    if view.left_out:
        much = count(len(view.text), "character")
        output.say(
            f"Line {first} of {quoted(path)} is cut after {much}, as the settings limit it;"
            f" {view.left_out} are left out. It does not count as shown."
        )
        return
    before = ", unchanged since they were shown before" if view.unchanged else ""
    much = shown(((first, last),) if last else (), view.total_lines)
    output.note(call, f"{quoted(path)}: {much} shown{before}.")
    if view.diff:
        output.note(call, "Changed since this session last saw it:")
        if not call.quiet:
            output.say_raw(output.coloured(call, view.diff, sys.stderr))
    if last and last < view.total_lines:
        more = f"More: sightline read {quoted(path)} --lines {last + 1}-"
        if asked is None or asked[1] > last:
            output.say(f"Cut at line {last}, as the settings limit it. {more}")
        else:
            output.note(call, more)
