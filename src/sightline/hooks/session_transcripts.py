"""The transcript of a session whose agent is guarded by hooks, and the work that it tells of."""

from __future__ import annotations

import os

from sightline.agents.dialect import DIALECTS
from sightline.changes.session_context import SessionContext
from sightline.messages.recorded_work import NO_WORK, RecordedWork
from sightline.model.events import Imported
from sightline.model.timeline import of_kind

SOURCES = ("transcript:", "prompt:")
"""How Imported.source begins for a place in the transcript of a session: see hooks.handlers.transcript."""


def recorded_work(context: SessionContext) -> RecordedWork:
    """Return the to-dos and the reports of sub-agents in the transcript of a session; none where its hooks
    named no transcript, and where it cannot be read."""
    state = context.store.session(context.session)
    dialect = DIALECTS.get(state.agent) if state is not None else None
    transcript = _transcript(context)
    if dialect is None or transcript is None or not os.path.exists(transcript):
        return NO_WORK
    try:
        return dialect.recorded_work(transcript)
    except (OSError, ValueError):
        return NO_WORK


def _transcript(context: SessionContext) -> str | None:
    """Return the transcript that the hooks of a session read last."""
    facts = context.store.timeline(session=context.session, kinds=[Imported])
    for fact in of_kind(Imported, reversed([*facts])):
        begin = next((each for each in SOURCES if fact.source.startswith(each)), None)
        if begin is not None:
            return fact.source.removeprefix(begin).rpartition("@")[0]
    return None
