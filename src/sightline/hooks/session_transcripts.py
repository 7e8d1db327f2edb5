"""The transcript of a session whose agent is guarded by hooks, and the work that it tells of."""

from __future__ import annotations

import os

from sightline.agents.dialect import DIALECTS
from sightline.changes.session_context import SessionContext
from sightline.messages.recorded_work import NO_WORK, RecordedWork
from sightline.model.events import Fact, PromptFollowed, TranscriptRead


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
    kinds: list[type[Fact]] = [TranscriptRead, PromptFollowed]
    newest = context.store.timeline(session=context.session, kinds=kinds, newest=1)
    facts = [each.fact for each in newest]
    return next(
        (f.transcript for f in facts if isinstance(f, (TranscriptRead, PromptFollowed))), None
    )
