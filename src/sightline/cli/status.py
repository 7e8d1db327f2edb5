"""The command status, which opens no session and loads no verb of one."""

from __future__ import annotations

from sightline.api.json_shapes import shape
from sightline.cli import output, words
from sightline.cli.options import command, last_sessions
from sightline.cli.output import Call


@command(example="status")
@last_sessions
def status(call: Call, last: int | None) -> None:
    """Show each session's files, and the changed ones.

    Present sessions come first. A file is fresh (as it was shown), stale (changed since), deleted,
    moved, kind_changed (no regular text file any more), unseen (never shown) or unverifiable (it
    cannot be read now).
    """
    with call.ask() as workspace:
        with output.progress(call, "Looking at the files that sessions were shown"):
            shown = workspace.status(call.session, last=last)
        if call.json:
            output.json(shape(shown))
            return
        output.prose("\n".join(words.status_lines(call, shown, workspace.name_of, call.session)))
