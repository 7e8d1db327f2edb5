"""From a hook event to the handler that answers it."""

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

HANDLERS: Mapping[type[Event], Callable[[SessionContext, Any], Answer]] = {
    Began: turns.began,
    Instructed: file_reads.instructed,
    Used: turns.used,
    Prompted: turns.prompted,
    Shown: file_reads.shown,
    Attempted: tool_edits.attempted,
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
"""Event -> its handler."""


def attend(session: Session, event: Event) -> Answer:
    """Handle one event of a session, and return the answer for the host. SightlineError."""
    handle = HANDLERS[type(event)]
    with session._lock:  # noqa: SLF001 - a verb like the session's own
        return handle(session._context, event)  # noqa: SLF001
