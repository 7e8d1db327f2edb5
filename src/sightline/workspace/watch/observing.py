"""watchdog, the library that watches where we do not do it ourselves, loaded when it is needed."""

from __future__ import annotations

from importlib import import_module

from sightline.errors import WorkspaceError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_KINDS = [
    *("FileCreatedEvent", "FileDeletedEvent", "FileModifiedEvent", "FileMovedEvent"),
    *("FileAttribEvent", "DirCreatedEvent", "DirDeletedEvent", "DirMovedEvent", "DirAttribEvent"),
]
"""Never those of files being opened or read: a search over the tree would drown the rest."""


def observer(root: str, handler: object) -> Any:
    """A watchdog observer of a tree that runs and calls handler.dispatch(event) in a thread of its
    own. WorkspaceError when the library is missing."""
    try:
        events, observers = import_module("watchdog.events"), import_module("watchdog.observers")
    except ImportError as error:
        raise WorkspaceError(
            "Changes cannot be watched: the library watchdog is not installed.",
            "Install it with: python -m pip install 'watchdog>=7.1'",
        ) from error
    made = observers.Observer()
    kinds = [getattr(events, kind) for kind in _KINDS]
    made.schedule(handler, root, recursive=True, event_filter=kinds)
    made.start()
    return made
