"""Call the handler of a hook event."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sightline.agents import hook_events as events
from sightline.agents.hook_events import Answer, Event
from sightline.api.session import Session
from sightline.changes.session_context import SessionContext
from sightline.hooks.handlers import (
    file_reads,
    insertions,
    shell_commands,
    tool_calls,
    tool_edits,
    tool_writes,
    turns,
)
from sightline.hooks.handlers.tool_edits import CatchUp, Rewriters
from sightline.messages.recorded_work import RecordedWork

HANDLERS: Mapping[type[Event], Callable[[SessionContext, Any], Answer]] = {
    events.Instructed: file_reads.instructed,
    events.Used: turns.used,
    events.Reading: file_reads.reading,
    events.Searching: file_reads.searching,
    events.Shown: file_reads.shown,
    events.Wrote: tool_writes.wrote,
    events.Failed: tool_writes.failed,
    events.CommandBegan: shell_commands.began,
    events.CommandEnded: shell_commands.ended,
    events.InsertionBegan: insertions.began,
    events.Inserted: insertions.inserted,
    events.CallBegan: tool_calls.began,
    events.CallEnded: tool_calls.ended,
    events.Printed: shell_commands.printed,
    events.Answered: turns.answered,
    events.ChangedOutside: file_reads.changed_outside,
    events.FolderAdded: turns.folder_added,
    events.Compacted: turns.compacted,
    events.Stopped: turns.stopped,
    events.Ended: turns.ended,
}
"""Event -> its handler; `attend` itself calls those of Attempted, Began and Prompted."""


def attend(
    session: Session,
    event: Event,
    catch_up: CatchUp = lambda _: None,
    rewriters: Rewriters = list,
    read_work: turns.ReadWork = RecordedWork,
) -> Answer:
    """Handle one event of a session, and return the answer for the host. catch_up, rewriters: see
    tool_edits; read_work: see turns. SightlineError."""
    with session._lock:  # noqa: SLF001 - a verb like the session's own
        context = session._context  # noqa: SLF001
        if isinstance(event, events.Attempted):
            return tool_edits.attempted(context, event, catch_up, rewriters)
        if isinstance(event, events.Began):
            return turns.began(context, event, read_work)
        if isinstance(event, events.Prompted):
            return turns.prompted(context, event, read_work)
        return HANDLERS[type(event)](context, event)
