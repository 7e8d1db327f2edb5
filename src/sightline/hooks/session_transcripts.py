"""The transcript of a session whose agent is guarded by hooks, and the work that it tells of."""

from __future__ import annotations

import os

from sightline.agents.dialect import DIALECTS
from sightline.api.session import Session
from sightline.messages.recorded_work import NO_WORK, RecordedWork


def recorded_work(session: Session) -> RecordedWork:
    """Return the to-dos and the reports of sub-agents in the transcript of a session; none where its hooks
    named no transcript, and where it cannot be read."""
    dialect, transcript = DIALECTS.get(session.agent), session.transcript()
    if dialect is None or transcript is None or not os.path.exists(transcript):
        return NO_WORK
    try:
        return dialect.recorded_work(transcript)
    except (OSError, ValueError):
        return NO_WORK
