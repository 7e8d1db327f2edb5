"""Call the handler of a hook event."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import structs

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
from sightline.hooks.handlers.answer_delivery import deliver_pending
from sightline.hooks.host import ANY, Host
from sightline.model import hook_events as events
from sightline.model.hook_events import Answer, Event

HANDLERS: Mapping[type[Event], Callable[[SessionContext, Any], Answer]] = {
    events.Instructed: file_reads.instructed,
    events.Used: turns.used,
    events.Reading: file_reads.reading,
    events.Searching: file_reads.searching,
    events.Shown: file_reads.shown,
    events.Failed: tool_writes.failed,
    events.InsertionBegan: insertions.began,
    events.Inserted: insertions.inserted,
    events.Printed: shell_commands.printed,
    events.ChangedOutside: file_reads.changed_outside,
    events.FolderAdded: turns.folder_added,
    events.Compacted: turns.compacted,
    events.Stopped: turns.stopped,
    events.Ended: turns.ended,
}
"""Event -> its handler."""

WITH_HOST: Mapping[type[Event], Callable[[SessionContext, Any, Host], Answer]] = {
    events.Began: turns.began,
    events.Prompted: turns.prompted,
    events.Answered: turns.answered,
    events.Attempted: tool_edits.attempted,
    events.Wrote: tool_writes.wrote,
    events.CommandBegan: shell_commands.began,
    events.CommandEnded: shell_commands.ended,
    events.CallBegan: tool_calls.began,
    events.CallEnded: tool_calls.ended,
}
"""Event -> a handler that asks what the host can do, and how much it shows."""


def attend(session: Session, event: Event, host: Host = ANY) -> Answer:
    """Handle one event of a session, and return the answer for the host. SightlineError."""
    with session.attending() as context:
        return handle(context, event, host)


def handle(context: SessionContext, event: Event, host: Host = ANY) -> Answer:
    """Handle one event of a held session, as attend does."""
    if (handler := WITH_HOST.get(type(event))) is not None:
        answer = handler(context, event, host)
    else:
        answer = HANDLERS[type(event)](context, event)
    if answer.refuse is None or not host.can.deny or host.can.injects_in_turn:
        return answer
    room = host.limits.context - len(answer.refuse)  # its words are all that the agent gets now
    told = deliver_pending(context, structs.replace(host, takes_words=True), room=room)
    return structs.replace(answer, context="\n\n".join(filter(None, [answer.context, told])))
