"""Commands that look: status, check, diff, read, saw."""

from __future__ import annotations

import sys

import click

from sightline.api import json_shapes
from sightline.api.json_shapes import pairs
from sightline.api.session import Session
from sightline.cli import output
from sightline.cli import words as cli_words
from sightline.cli.failures import NO, UNKNOWN, Answered
from sightline.cli.options import lines_from, verb
from sightline.cli.output import Call
from sightline.cli.text_input import text_in
from sightline.cli.words import about, numbered, session_shape, status_lines
from sightline.history import session_history
from sightline.model.results import FileView, Verdict
from sightline.model.spans import Span
from sightline.text.phrases import printable, shown, spans


@verb()
@click.pass_obj
def status(call: Call) -> None:
    """Show each session's files, and which of them changed.

    With --session, only that one's.
    """
    with call.survey() as ground:
        with output.progress(call, "Looking at the files that sessions were shown"):
            found = session_history.status(ground, call.session)
        if call.json:
            sessions = [session_shape(ground, each) for each in found]
            output.json({"workspace": ground.workspace.root, "sessions": sessions})
            return
        output.text("\n".join(status_lines(call, ground, found, call.session)))


@verb()
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@click.pass_obj
def check(call: Call, paths: tuple[str, ...]) -> None:
    """Say whether this session may rely on files.

    Exit code 0: on all of them; 1: not; 3: a file cannot be read right now.
    """
    with call.open() as session:
        verdicts = [session.check(call.path(path)) for path in paths]
        if call.json:
            output.json({"files": [json_shapes.verdict(verdict) for verdict in verdicts]})
        else:
            width = max(len(verdict.state) for verdict in verdicts)
            lines = [_checked(call, session, each, width) for each in verdicts]
            output.done(call, "\n".join(lines))
    _answer(verdicts)


@verb()
@click.argument("path")
@click.pass_obj
def diff(call: Call, path: str) -> None:
    """Show what changed since this session last saw a file.

    Exit code 0: nothing did; 1: something did, or it was never shown.
    """
    with call.open() as session:
        verdict = session.check(call.path(path))
        if call.json:
            said = json_shapes.verdict(verdict)
            output.json({key: said[key] for key in ("path", "state", "diff", "changed_by")})
        else:
            _print_diff(call, session, verdict)
    _answer([verdict])


@verb()
@click.argument("path")
@click.option(
    "--lines", type=lines_from, metavar="A-B", help="Only these lines; A- goes to the end."
)
@click.pass_obj
def read(call: Call, path: str, lines: Span | None) -> None:
    """Print a file and record that this session was shown it.

    A pipe gets the file's own bytes, a terminal gets line numbers.
    """
    with call.open() as session:
        view = session.read(call.path(path), lines)
        if call.json:
            output.json(json_shapes.view(view))
            return
        if sys.stdout.isatty():
            output.text(numbered(view), end="")
        else:
            output.raw(_bytes(session, view))
    _tell_about(call, view, lines)


@verb()
@click.argument("path")
@click.option(
    "--lines", type=lines_from, metavar="A-B", help="Which lines were shown. Default: all."
)
@click.option("--via", default="read", show_default=True, help="How: read, mention, search, ...")
@click.option("--text-file", metavar="F", help="Exactly what was shown; - reads it from stdin.")
@click.pass_obj
def saw(call: Call, path: str, lines: Span | None, via: str, text_file: str | None) -> None:
    """Record that another tool showed a file or some lines."""
    text = None if text_file is None else text_in(text_file)
    with call.open() as session:
        session.saw(call.path(path), lines=lines, text=text, via=via)
        verdict = session.check(call.path(path))
    seen = verdict.seen_lines
    if call.json:
        path, state = verdict.path, verdict.state
        output.json({"path": path, "via": via, "seen_lines": pairs(seen), "state": state})
        return
    much = "all of it" if verdict.complete else spans(seen)
    output.done(call, f"Recorded. Of {verdict.path} this session has seen {much}.")


def _answer(verdicts: list[Verdict]) -> None:
    """A known no outweighs a doubt: the question was whether all of them may be relied on."""
    states = {verdict.state for verdict in verdicts}
    if states - {"fresh", "unverifiable"}:
        raise Answered(NO)
    if "unverifiable" in states:
        raise Answered(UNKNOWN)


def _checked(call: Call, session: Session, verdict: Verdict, width: int) -> str:
    return f"{cli_words.state(call, verdict.state, width)}  {cli_words.about(session, verdict)}"


def _print_diff(call: Call, session: Session, verdict: Verdict) -> None:
    if verdict.diff:
        headed = f"--- a/{verdict.path}\n+++ b/{verdict.path}\n{verdict.diff}"
        output.text(output.coloured(call, headed))
    output.note(call, about(session, verdict))
    if verdict.state == "unseen":
        output.note(call, "Read it first, or name the session that was shown it with --session.")


def _bytes(session: Session, view: FileView) -> bytes:
    """The bytes of the lines shown, with their own line ends: from the disk if it still holds
    that revision, else from the store; a text that is never stored may have to be encoded."""
    ground = session._context  # noqa: SLF001 - faces compose the parts
    found = ground.workspace.read(ground.workspace.locate(view.path).path)
    data = found.data if found.revision == view.revision else ground.store.blob(view.revision)
    first, last = view.lines
    if data is not None and (first, last) == (1, view.total_lines):
        return data
    wide = view.encoding.startswith("utf-16")
    if data is None or wide or not last:
        codec = "utf-8" if wide else view.encoding.removesuffix("-sig")
        return view.text.encode(codec, "surrogateescape")
    lines = data.split(b"\n")
    cut = b"\n".join(lines[first - 1 : last])
    return cut + b"\n" if last < len(lines) else cut


def _tell_about(call: Call, view: FileView, asked: Span | None) -> None:
    """What of the file was shown. That a limit cut it short must be known, --quiet or not."""
    path, (first, last) = printable(view.path), view.lines
    before = ", unchanged since they were shown before" if view.unchanged else ""
    much = shown(((first, last),) if last else (), view.total_lines)
    output.note(call, f"{path}: {much} shown{before}.")
    if view.diff:
        output.note(call, "Changed since this session last saw it:")
        output.note(call, output.coloured(call, view.diff, sys.stderr))
    if last and last < view.total_lines:
        more = f"More: sightline read {path} --lines {last + 1}-"
        if asked is None or asked[1] > last:
            output.say(f"Cut at line {last}, as the settings limit it. {more}")
        else:
            output.note(call, more)
