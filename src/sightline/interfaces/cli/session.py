"""Commands about the session itself: turn."""

from __future__ import annotations

import click

from sightline.interfaces.cli import output
from sightline.interfaces.cli.options import verb

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sightline.interfaces.cli.call import Call


@verb()
@click.argument("number", type=click.IntRange(0), required=False)
@click.pass_obj
def turn(call: Call, number: int | None) -> None:
    """Begin a turn of this session, the next one unless numbered."""
    with call.open() as session:
        begun = session.turn(number)
    if call.json:
        output.json({"session": call.session_id, "turn": begun})
        return
    output.done(call, f"Turn {begun} began.")
