"""Commands about the session itself: changes, turn."""

from __future__ import annotations

import click

from sightline.interfaces import shapes
from sightline.interfaces.cli import output
from sightline.interfaces.cli.options import verb
from sightline.render.views import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sightline.interfaces.cli.call import Call


@verb()
@click.pass_obj
def changes(call: Call) -> None:
    """Show every change to files that this session was shown.

    Asking consumes nothing: a change is listed until the file is read again.
    """
    with call.open() as session:
        found = session.changes()
    if call.json:
        output.json({"changes": [shapes.change(each) for each in found]})
        return
    for each in found:
        output.text(printable(each.summary))
        if each.diff:
            output.text(output.coloured(call, each.diff))
    if not found:
        output.note(call, "Every file is as it was shown.")


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
