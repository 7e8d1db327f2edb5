"""Find the rewinds whose process died before their end. Listing them needs none of the code that rewinds."""

from __future__ import annotations

from sightline.changes.session_context import SessionContext
from sightline.checkpoints.rewind import words
from sightline.filesystem.process import alive
from sightline.model.events import RewindStarted
from sightline.model.results import Unfinished
from sightline.model.timeline import Recorded
from sightline.model.units import moment


def unfinished_rewinds(
    context: SessionContext, session: str | None = None, *, own: bool = False
) -> list[Recorded]:
    """Return the rewinds whose process died, oldest first, of all sessions or of one. Of each
    session only the newest rewind counts: it leads to where the session is to be. own: also those
    that this process began."""
    newest: dict[str, Recorded] = {}
    for entry in context.store.pending():
        fact = entry.fact
        if session in (None, entry.session) and isinstance(fact, RewindStarted):
            newest.pop(entry.session, None)
            if (own and fact.owner == context.owner) or not alive(fact.owner):
                newest[entry.session] = entry
    return list(newest.values())


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
