"""List the rewinds whose process died before their end. Listing them needs none of the code that rewinds."""

from __future__ import annotations

from sightline.changes.session_context import SessionContext
from sightline.checkpoints.rewind import words
from sightline.guard.unfinished import unfinished_rewinds
from sightline.model.events import RewindStarted
from sightline.model.results import Unfinished
from sightline.model.timeline import Recorded
from sightline.model.units import moment


def listed(context: SessionContext, session: str | None = None) -> list[Unfinished]:
    """List the unfinished rewinds of all sessions, or of one, oldest first; without those whose
    process is alive."""
    return [
        Unfinished(each.session, argument_of(each), moment(each.happened_at))
        for each in unfinished_rewinds(context, session)
    ]


def fact_of(started: Recorded) -> RewindStarted:
    """Return the fact that began a rewind."""
    assert isinstance(started.fact, RewindStarted)
    return started.fact


def argument_of(started: Recorded) -> str:
    """Return the target of a rewind as the command takes it."""
    fact = fact_of(started)
    return words.argument(fact.checkpoint, fact.to)
