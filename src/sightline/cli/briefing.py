"""The command briefing: what an agent is to be told before its next turn."""

from __future__ import annotations

from typing import Any

import click

from sightline.briefing.compose import BUDGET, LEAST, Briefing
from sightline.cli import output
from sightline.cli.options import verb
from sightline.cli.output import Call


@verb()
@click.option("--message", metavar="TEXT", help="What the user said; without it, a session begins.")
@click.option(
    "--budget",
    type=click.IntRange(LEAST),
    default=BUDGET,
    show_default=True,
    metavar="N",
    help="Tokens at most.",
)
@click.option("--ack", is_flag=True, help="It is with the agent now: tell none of it again.")
@click.pass_obj
def briefing(call: Call, message: str | None, budget: int, *, ack: bool) -> None:
    """Tell what an agent is to know before its next turn.

    Warnings, what others changed, the files that the message mentions (@src/app.py), listings that
    were asked for, files that belong to what was edited, and where the message asks to go on (or
    there is none yet) what was going on and the files that the session knows. Asking consumes
    nothing; with --ack, what was printed counts as told.
    """
    with call.open() as session:
        told = session.briefing(message, budget)
        if call.json:
            output.json(_shape(told))
        elif told.text:
            output.text(told.text)
        else:
            output.note(call, "Nothing is due.")
        if ack:
            session.acknowledge(told)


def _shape(told: Briefing) -> dict[str, Any]:
    return {
        "text": told.text,
        "tokens": told.tokens,
        "parts": [{"name": p.name, "text": p.text, "tokens": p.tokens} for p in told.parts],
        "left_out": [*told.left_out],
    }
