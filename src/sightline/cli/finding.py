"""Commands that find files, and those that count searches: find, list, related, registry, stats."""

from __future__ import annotations

import sys
from typing import Any

import click

from sightline.api.json_shapes import shape
from sightline.api.session import Session
from sightline.api.words import registry_lines, text_of
from sightline.cli import output
from sightline.cli.failures import INTERRUPTED, NO, Answered
from sightline.cli.options import command, usage
from sightline.cli.output import Call
from sightline.cli.words import note_session

INTERRUPTED_S = 0.5
"""How long `related` may take to answer after Ctrl-C."""


@command(
    Session.find,
    example="find config.py 'src/**/conf*.py'",
    without=("name", "reason", "deadline_s"),
)
def find(call: Call, **arguments: Any) -> None:
    """Exit code 1: nothing matches."""
    with call.look() as session, usage(), output.progress(call, "Listing the files"):
        result = session.find(**arguments)
    output.answer(call, shape(result), text_of(result))
    if not result.matches:
        raise Answered(NO)


@command(
    Session.list_directory,
    name="list",
    example="list src --recursive --filter '*.py'",
    path={"metavar": "[DIR]"},
)
@click.option(
    "--next-turn", is_flag=True, help="Do not list now; add the listing to the next briefing."
)
def list_directory(call: Call, *, next_turn: bool, **arguments: Any) -> None:
    if next_turn:
        with call.open() as session:
            session.request_listings([arguments])
        output.note(call, "The next briefing will have the listing.")
        return
    with call.look() as session, usage():
        listing = session.list_directory(**arguments)
    output.answer(call, shape(listing), text_of(listing))


@command(
    Session.related,
    example="related src/app.py",
    without=("max_bytes", "max_tokens", "deadline_s"),
)
@click.option(
    "--complete", is_flag=True, help="Read every source before the answer, however long it takes."
)
def related(call: Call, *, complete: bool, **arguments: Any) -> None:
    """On a terminal the command goes on until every source is read; Ctrl-C prints what is known so
    far. Imports are known for Python, JavaScript, TypeScript, Go, Rust, Java and C; of other
    languages, only tests and neighbouring files are listed.
    """
    if not call.json and sys.stderr.isatty():
        complete = True
    interrupted = False
    with call.look() as session:
        try:
            with output.progress(call, "Reading imports") as progress:
                if complete:
                    arguments["deadline_s"] = None
                files = session.related(**arguments, progress=progress)
        except KeyboardInterrupt:
            interrupted = True
            files = session.related(**{**arguments, "deadline_s": INTERRUPTED_S})
    output.answer(call, shape(files), text_of(files))
    if interrupted:
        raise Answered(INTERRUPTED)


@command(Session.registry, example="registry", without=("limit",), with_md5={"flag": "--md5"})
@click.option("--all", "every", is_flag=True, help="List all files, however many there are.")
def registry(call: Call, *, every: bool, with_md5: bool) -> None:
    """MD5 sums are printed with --json only."""
    with call.ask() as workspace:
        whose = call.named_session or workspace.worked_last()
        session = workspace.look(whose)
        limit = {"limit": None} if every else {}
        known = session.registry(with_md5=with_md5, **limit)
        rows = registry_lines(
            known, session.name_of, lambda table: output.tabled(table).split("\n")
        )
        note_session(call, workspace, whose)
    output.answer(call, shape(known), "\n".join(rows))


@command(Session.stats, example="stats")
def stats(call: Call) -> None:
    """Covers all sessions; with --session, only that one."""
    with call.ask() as workspace:
        counts = workspace.stats(call.session)
    output.answer(call, shape(counts), text_of(counts), "No session looked for files yet.")
