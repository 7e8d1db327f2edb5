"""Raise warnings, list them and acknowledge them.

A warning is a fact, so it survives restarts. The agent reads it once, with the next prompt; people
see it until it is acknowledged. Deleting its session ends it.
"""

from __future__ import annotations

from collections.abc import Iterable
from os import urandom

from sightline.changes.authors import moment
from sightline.changes.session_context import SessionContext
from sightline.errors import UnknownName
from sightline.model.events import Fact, SessionEnded, WarningAcknowledged, WarningRaised
from sightline.model.results import FileWarning
from sightline.model.timeline import Recorded
from sightline.notices import words
from sightline.sessions.lifecycle import DELETED

TEXT_MAX = 2_000
"""Characters of one warning: it fits beside a notice into what a host hands its agent."""

ID = "w-"


def warn(context: SessionContext, text: str, paths: str | Iterable[str] = ()) -> FileWarning:
    """Raise a warning about files. PathRefused; ValueError for an empty text or one that is too
    long."""
    stripped = text.strip()
    if not 0 < len(stripped) <= TEXT_MAX:
        raise ValueError(f"a warning has 1 to {TEXT_MAX} characters, not {len(stripped)}")
    names = [paths] if isinstance(paths, str) else list(paths)
    located = [context.workspace.locate(name).path for name in names]
    [raised] = context.append([fact_of(stripped, located)])
    return warning_of(raised)


def fact_of(text: str, paths: Iterable[str]) -> WarningRaised:
    """Return the fact of a new warning, to be recorded together with other facts."""
    return WarningRaised(f"{ID}{urandom(4).hex()}", text, tuple(dict.fromkeys(paths)))


def pending(context: SessionContext, session: str | None = None) -> list[FileWarning]:
    """List the warnings that are not acknowledged, of all sessions or of one, oldest first."""
    raised = list(context.store.timeline(session=session, kinds=[WarningRaised]))
    if not raised:
        return []
    kinds: list[type[Fact]] = [WarningAcknowledged, SessionEnded]
    acknowledged: set[str] = set()
    deleted_at: dict[str, int] = {}
    for each in context.store.timeline(after=raised[0].position, kinds=kinds):
        if isinstance(each.fact, WarningAcknowledged):
            acknowledged.add(each.fact.warning)
        elif isinstance(each.fact, SessionEnded) and each.fact.reason == DELETED:
            deleted_at[each.session] = each.position
    alive = [each for each in raised if each.position > deleted_at.get(each.session, 0)]
    warnings = [warning_of(each) for each in alive]
    return [each for each in warnings if each.id not in acknowledged]


def warning_of(raised: Recorded) -> FileWarning:
    """Return the warning of a recorded fact."""
    fact = raised.fact
    assert isinstance(fact, WarningRaised)
    at = moment(raised.happened_at)
    return FileWarning(fact.warning, fact.text, fact.paths, raised.session, at)


def is_warning_id(name: str) -> bool:
    """Return whether an id has the form of a warning's. Ids of notices contain paths."""
    return name.startswith(ID) and "@" not in name


def acknowledge(context: SessionContext, name: str) -> None:
    """Acknowledge the warning of an id, whichever session's it is. Idempotent. UnknownName."""
    if any(each.id == name for each in pending(context)):
        context.append([WarningAcknowledged(name)])
        return
    raised = context.store.timeline(kinds=[WarningRaised])
    if not any(warning_of(each).id == name for each in raised):
        raise UnknownName(*words.unknown(name))
