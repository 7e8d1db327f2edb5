"""The files that a sub-task may write, and the session of an attempt."""

from __future__ import annotations

from sightline.model.events import SubtaskProposed, SubtaskStarted
from sightline.store.port import Store

Scopes = tuple[tuple[str, ...], ...]
"""Scopes that all hold: of a sub-task, and of those that it is a part of."""


def narrowed(scopes: Scopes, scope: tuple[str, ...]) -> Scopes:
    """Return scopes together with the scope of a sub-task, () for no limit of its own."""
    return (*scopes, scope) if scope else scopes


def scopes_of(store: Store, session: str, parent: str | None) -> Scopes:
    """Return the scopes that hold for the attempt of a session: of its sub-task, and of each sub-task that the
    parents are attempts at, the outermost first. () for a session that is no attempt."""
    if parent is None:
        return ()
    rows = list(store.timeline(session=parent, kinds=[SubtaskProposed, SubtaskStarted]))
    name = next(
        (
            row.fact.subtask
            for row in reversed(rows)
            if isinstance(row.fact, SubtaskStarted) and row.fact.session == session
        ),
        None,
    )
    for row in rows:
        if isinstance(row.fact, SubtaskProposed) and row.fact.subtask == name:
            above = store.session(parent)
            outer = scopes_of(store, parent, above.parent if above is not None else None)
            return narrowed(outer, row.fact.scope)
    return ()
