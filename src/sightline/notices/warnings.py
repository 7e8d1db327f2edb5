"""Raise warnings, list them and acknowledge them.

A warning is a fact, so it survives restarts. The agent reads it once, with the next prompt; people
see it until it is acknowledged. Deleting its session ends it.
"""

from __future__ import annotations

from collections.abc import Iterable

from sightline.changes.session_context import WARNING, SessionContext, warning
from sightline.errors import UnknownName
from sightline.model.events import SessionEnded, WarningAcknowledged, WarningRaised
from sightline.model.marks import sendable
from sightline.model.results import FileWarning
from sightline.model.timeline import Recorded
from sightline.model.units import moment
from sightline.notices import words
from sightline.sessions.lifecycle import DELETED
from sightline.store.port import Timeline

TEXT_MAX = 2_000
"""Characters of one warning: it fits beside a notice into what a host hands its agent."""


def warn(context: SessionContext, text: str, paths: str | Iterable[str] = ()) -> FileWarning:
    """Raise a warning about files. PathRefused; ValueError for an empty text or one that is too
    long."""
    stripped = sendable(text.strip())
    if not 0 < len(stripped) <= TEXT_MAX:
        raise ValueError(f"a warning has 1 to {TEXT_MAX} characters, not {len(stripped)}")
    names = [paths] if isinstance(paths, str) else list(paths)
    located = [context.workspace.locate(name).path for name in names]
    [raised] = context.append([warning(stripped, located)])
    return warning_of(raised)


def warn_of_ignore_files(context: SessionContext) -> None:
    """Raise a warning for each ignore file with patterns that were left out, once."""
    texts = context.workspace.left_out()
    if not texts:
        return
    raised = [warning_of(each).text for each in context.store.timeline(kinds=[WarningRaised])]
    facts = [warning(text, ()) for text in texts if text not in raised]
    if facts:
        context.append(facts)


def pending(context: SessionContext, session: str | None = None) -> list[FileWarning]:
    """List the warnings that are not acknowledged, of all sessions or of one, oldest first."""
    store = context.store
    raised = list(store.timeline(session=session, kinds=[WarningRaised]))
    if not raised:
        return []
    acknowledged = {
        each.fact.warning
        for each in store.timeline(kinds=[WarningAcknowledged], after=raised[0].position)
        if isinstance(each.fact, WarningAcknowledged)
    }
    unread = [each for each in raised if warning_of(each).id not in acknowledged]
    deleted_at = {name: _deleted_at(store, name) for name in {each.session for each in unread}}
    return [warning_of(each) for each in unread if each.position > deleted_at[each.session]]


def _deleted_at(store: Timeline, session: str) -> int:
    """Return the position of the newest deletion of a session; 0 where nobody deleted the session."""
    ends = store.timeline(session=session, kinds=[SessionEnded])
    deletions = (
        each.position
        for each in ends
        if isinstance(each.fact, SessionEnded) and each.fact.reason == DELETED
    )
    return max(deletions, default=0)


def warning_of(raised: Recorded) -> FileWarning:
    """Return the warning of a recorded fact."""
    fact = raised.fact
    assert isinstance(fact, WarningRaised)
    at = moment(raised.happened_at)
    return FileWarning(fact.warning, fact.text, fact.paths, raised.session, at)


def is_warning_id(name: str) -> bool:
    """Return whether an id has the form of a warning's. Ids of notices contain paths."""
    return name.startswith(WARNING) and "@" not in name


def acknowledge(context: SessionContext, name: str) -> None:
    """Acknowledge the warning of an id, whichever session's it is. Idempotent. UnknownName."""
    if any(each.id == name for each in pending(context)):
        context.append([WarningAcknowledged(name)])
        return
    raised = context.store.timeline(kinds=[WarningRaised])
    if not any(warning_of(each).id == name for each in raised):
        raise UnknownName(*words.unknown(name))
