"""The transcript of a session whose agent is guarded by hooks, and the work that it tells of."""

from __future__ import annotations

import os

from sightline.agents.products import product
from sightline.api.session import Session
from sightline.model.agent_work import NO_WORK, RecordedWork


def recorded_work(session: Session) -> RecordedWork:
    """Return the to-dos and the reports of sub-agents in the transcript of a session; none where its hooks
    named no transcript, and where it cannot be read."""
    agent, transcript = product(session.agent), session.transcript()
    if agent is None or transcript is None or not os.path.exists(transcript):
        return NO_WORK
    try:
        return agent.dialect.recorded_work(transcript)
    except (OSError, ValueError):
        return NO_WORK
