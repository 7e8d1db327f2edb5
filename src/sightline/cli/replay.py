"""The command replay: policies of the context window, compared on recorded sessions."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import click

from sightline.cli import output
from sightline.cli.failures import NO, Answered
from sightline.cli.options import verb
from sightline.cli.output import Call
from sightline.cli.replay_request import order, places, shape
from sightline.replay.comparison import Row
from sightline.replay.played import Half, Replay
from sightline.replay.run_sessions import replay as played
from sightline.replay.words import no_session, report

BAR = 30
"""Characters of the bar that shows how far it is."""


@verb()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--policy", "policies", multiple=True, metavar="P", help="Only these. May be given several times.")  # fmt: skip
@click.option("--price", "prices", multiple=True, metavar="P", help="Show only these, such as 0.10/1.25 or none. Policies that look at prices reckon with the first.")  # fmt: skip
@click.option("--min-tokens", type=click.IntRange(0), default=0, metavar="N", help="Only sessions whose largest window had so many tokens.")  # fmt: skip
@click.option("--soft-budget", type=click.IntRange(1), metavar="N", help="Tokens above which our own policies begin to fold.")  # fmt: skip
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Only the first N files.")
@click.option("--half", type=click.Choice(["both", "tuned", "held-out"]), default="both", help="One of two halves, told by a digest of the session's id: what is tuned on one is shown on the other.")  # fmt: skip
@click.pass_obj
def replay(
    call: Call,
    paths: tuple[str, ...],
    policies: tuple[str, ...],
    prices: tuple[str, ...],
    min_tokens: int,
    soft_budget: int | None,
    limit: int | None,
    half: Half,
) -> None:
    """Play recorded sessions with less in their windows.

    Each PATH is a recording, or a folder of them. Every policy sees a session call by call and
    never what comes later. Costs reckon with prompt caches; a loss is a text that the session went
    by and the view no longer held. How the agent would have behaved then is modelled, not
    observed. Nothing is sent anywhere. Exit code 1: no session was found, or a policy made a
    view that its format does not allow.
    """
    wanted = order(policies, prices, min_tokens, soft_budget)
    with _progress(call) as told:
        made = played(paths, wanted, half, limit=limit, progress=told)
    rows = made.rows()
    _print(call, made, rows, prices)
    if not rows or any(row.total.invalid for row in rows):
        raise Answered(NO)


def _print(call: Call, made: Replay, rows: Sequence[Row], prices: Sequence[str]) -> None:
    if call.json:
        output.json(shape(made, rows))
    elif rows:
        output.text(report(made, rows, places(prices)))
    else:
        output.say("\n".join(no_session(made)))


@contextmanager
def _progress(call: Call) -> Iterator[Callable[[int, int], None] | None]:
    """A bar on a terminal, wiped out at the end; nothing anywhere else."""
    if call.quiet or call.json or not sys.stderr.isatty():
        yield None
        return

    def told(done: int, of: int) -> None:
        full = BAR * done // max(of, 1)
        bar = "█" * full + "░" * (BAR - full)
        click.echo(f"\r{bar} {done} of {of} files", err=True, nl=False)

    try:
        yield told
    finally:
        click.echo("\r\x1b[K", err=True, nl=False, color=True)
