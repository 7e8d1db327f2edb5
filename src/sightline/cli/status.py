"""The command status, which opens no session and loads no verb."""

from __future__ import annotations

from sightline.cli import output, words
from sightline.cli.options import command, last_sessions
from sightline.cli.output import Call
from sightline.history import session_history


@command(example="status")
@last_sessions
def status(call: Call, last: int | None) -> None:
    """Show each session's files, and the changed ones.

    Present sessions come first. With --session, only the files of that session. A file is fresh (as
    it was shown), stale (changed since), deleted, moved, kind_changed (no regular text file any
    more), unseen (never shown) or unverifiable (it cannot be read now).
    """
    with call.survey() as context:
        with output.progress(call, "Looking at the files that sessions were shown"):
            shown_now = session_history.status(context, call.session, last=last)
        if call.json:
            root = context.workspace.root
            output.json({"workspace": root, **words.page_shape(context, shown_now)})
            return
        output.prose("\n".join(words.status_lines(call, context, shown_now, call.session)))
