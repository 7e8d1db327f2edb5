"""Call the handler of a hook event."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sightline.agents.hook_events import (
    Answer,
    Answered,
    Attempted,
    Began,
    ChangedOutside,
    CommandBegan,
    CommandEnded,
    Compacted,
    Ended,
    Event,
    Failed,
    Instructed,
    Prompted,
    Shown,
    Stopped,
    Used,
    Wrote,
)
from sightline.api.session import Session
from sightline.changes.session_context import SessionContext
from sightline.hooks.handlers import file_reads, shell_commands, tool_edits, tool_writes, turns
from sightline.hooks.handlers.tool_edits import CatchUp

HANDLERS: Mapping[type[Event], Callable[[SessionContext, Any], Answer]] = {
    Began: turns.began,
    Instructed: file_reads.instructed,
    Used: turns.used,
    Prompted: turns.prompted,
    Shown: file_reads.shown,
    Wrote: tool_writes.wrote,
    Failed: tool_writes.failed,
    CommandBegan: shell_commands.began,
    CommandEnded: shell_commands.ended,
    Answered: turns.answered,
    ChangedOutside: file_reads.changed_outside,
    Compacted: turns.compacted,
    Stopped: turns.stopped,
    Ended: turns.ended,
}
"""Event -> its handler; `attend` itself calls that of Attempted."""


def attend(session: Session, event: Event, catch_up: CatchUp = lambda _: None) -> Answer:
    """Handle one event of a session, and return the answer for the host. catch_up: see tool_edits.
    SightlineError."""
    with session._lock:  # noqa: SLF001 - a verb like the session's own
        context = session._context  # noqa: SLF001
        if isinstance(event, Attempted):
            return tool_edits.attempted(context, event, catch_up)
        return HANDLERS[type(event)](context, event)
