"""Commands that look at files: check, diff, read, saw."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from shlex import quote

import click

from sightline.api.json_shapes import fields, shape
from sightline.api.session import Session
from sightline.cli import output, words
from sightline.cli.failures import NO, UNKNOWN, Answered
from sightline.cli.input import text_in
from sightline.cli.options import command, path_argument
from sightline.cli.output import Call
from sightline.history.why import knower
from sightline.model.path import quoted
from sightline.model.results import FileView, Verdict
from sightline.model.spans import Span
from sightline.text.phrases import count, printable, shown, spans

MANY = {"nargs": -1, "metavar": "[PATH]...", "required": False}


@command(Session.check, example="check src/app.py", without=("old", "content"), path=MANY)
def check(call: Call, path: tuple[str, ...]) -> None:
    """Without PATH: all files that the session was shown. Exit code 0: the session may rely on all of
    them; 1: not on all; 3: a file cannot be read right now.
    """
    with call.open() as session:
        paths = path or [file.path for file in session.files()]
        verdicts = [session.check(each) for each in paths]
        if not verdicts and not call.json:
            output.note(call, f"Session {printable(session.id)} was shown no file here.")
            return
        width = max((len(verdict.state) for verdict in verdicts), default=0)
        lines = [
            f"{words.state(call, verdict.state, width)}  {words.about(session, verdict)}"
            for verdict in verdicts
        ]
        output.result(call, {"files": shape(verdicts)}, "\n".join(lines))
        if not call.json and call.named_session is None:
            _name_knowers(call, session, verdicts)
    answer(verdicts)


def _name_knowers(call: Call, session: Session, verdicts: Sequence[Verdict]) -> None:
    """Say which other session knows the files that this one was never shown, as `why` explains it."""
    for verdict in verdicts:
        if verdict.state == "unseen" and verdict.reason != "not_found":
            name = knower(session._context, verdict.path)  # noqa: SLF001 - faces compose the parts
            if name is not None:
                ask = f"sightline check {quoted(verdict.path)} --session {quote(name)}"
                output.note(call, f"Another session was shown it: {ask}")


@command(example="diff src/app.py")
@path_argument
def diff(call: Call, path: str) -> None:
    """Show what changed since this session last saw a file.

    Exit code 0: nothing changed; 1: the file changed, or was never shown.
    """
    with call.open() as session:
        verdict = session.check(path)
        if call.json:
            output.json(fields(verdict, "path", "state", "diff", "changed_by"))
        else:
            if verdict.diff:
                old, new = quoted(f"a/{verdict.path}"), quoted(f"b/{verdict.path}")
                headed = f"--- {old}\n+++ {new}\n{verdict.diff}"
                output.text(output.coloured(call, headed))
            output.note(call, words.about(session, verdict))
            if verdict.state == "unseen" and verdict.reason != "not_found":
                hint = "Read the file first, or name with --session the session that was shown it."
                output.note(call, hint)
    answer([verdict])


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
            output.raw(_bytes(session, view))
    _tell_about(call, view, lines)


@command(Session.saw, example="saw src/app.py --via search", without=("text",))
@click.option(
    "--text-file", metavar="F", help="Exactly the text that the tool showed (- is stdin)."
)
def saw(call: Call, path: str, lines: Span | None, via: str, text_file: str | None) -> None:
    """For tools that are not Sightline's own."""
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


def _bytes(session: Session, view: FileView) -> bytes:
    """Return the bytes of the lines shown, with their own line ends.

    They come from the disk if it still holds that revision, else from the store. A text that is
    never stored, or too large to be, and a part of a line are encoded anew.
    """
    context = session._context  # noqa: SLF001 - faces compose the parts
    state = context.look(context.workspace.locate(view.path).path)
    data = state.data if state.revision == view.revision else context.store.blob(view.revision)
    first, last = view.lines
    if data is not None and (first, last) == (1, view.total_lines) and not view.left_out:
        return data
    wide = view.encoding.startswith("utf-16")
    if data is None or wide or not last or view.left_out:
        codec = "utf-8" if wide else view.encoding.removesuffix("-sig")
        try:
            return view.text.encode(codec)
        except (LookupError, UnicodeEncodeError):
            return view.text.encode()
    lines = data.split(b"\n")
    cut = b"\n".join(lines[first - 1 : last])
    return cut + b"\n" if last < len(lines) else cut


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
        output.note(call, output.coloured(call, view.diff, sys.stderr))
    if last and last < view.total_lines:
        more = f"More: sightline read {quoted(path)} --lines {last + 1}-"
        if asked is None or asked[1] > last:
            output.say(f"Cut at line {last}, as the settings limit it. {more}")
        else:
            output.note(call, more)
