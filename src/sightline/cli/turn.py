"""Commands about the session itself: turn."""

from __future__ import annotations

import click

from sightline.cli import output
from sightline.cli.options import verb
from sightline.cli.output import Call


@verb()
@click.argument("number", type=click.IntRange(0), required=False)
@click.option("--model", metavar="NAME", help="What its agent uses from here on.")
@click.option("--provider", metavar="NAME", help="Whose model it is.")
@click.option("--mode", metavar="WORD", help="How it is used: plan, act, ...")
@click.pass_obj
def turn(
    call: Call, number: int | None, model: str | None, provider: str | None, mode: str | None
) -> None:
    """Begin a turn of this session."""
    with call.open() as session:
        try:
            begun = session.turn(number, model=model, provider=provider, mode=mode)
        except ValueError as error:
            raise click.BadParameter(f"{error}.", param_hint="--model") from error
    if call.json:
        output.json({"session": call.session_id, "turn": begun})
        return
    output.done(call, f"Turn {begun} began.")
