"""The files that a sub-task may write, and the session of an attempt."""

from __future__ import annotations

from sightline.changes.session_context import SessionContext
from sightline.errors import PathRefused
from sightline.filesystem.ignore.wildmatch import SPECIAL
from sightline.model.events import SubtaskProposed, SubtaskStarted
from sightline.store.port import Store


def scope_of(store: Store, session: str, parent: str | None) -> tuple[str, ...]:
    """Return the scope of the sub-task that a session is an attempt at; () for no limit, and for any
    other session."""
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
            return row.fact.scope
    return ()


def scope_pattern(context: SessionContext, text: str) -> str:
    """Return a path or pattern of a scope in its canonical form: a path covers all below it.
    PathRefused for one that leads out of the workspace."""
    name = text.removeprefix("./").rstrip("/") or "."
    if SPECIAL.isdisjoint(name):
        path = context.workspace.locate(name).path
        return "**" if path == "." else path
    if name.startswith(("/", "!")) or ".." in name.split("/"):
        raise PathRefused(text, "outside", f"A scope stays in the workspace: {text!r}.")
    return name
