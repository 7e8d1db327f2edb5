"""The live view of a workspace: what is there now, and when to look again."""

from __future__ import annotations

from typing import Self

from sightline.changes.session_context import SessionContext
from sightline.history.overview import Watch
from sightline.history.watching import Watching
from sightline.model.live_sessions import Overview
from sightline.model.log_entries import Entry


class Live:
    """The watcher and the overview of a workspace, until they are closed. unshown: also files that no session
    was shown."""

    def __init__(self, context: SessionContext, *, unshown: bool = False) -> None:
        self._context = context
        self._watching = Watching(context, unshown=unshown)
        self._watch: Watch | None = None
        self.eyes = self._watching.eyes
        self.patience_s = self._watching.patience_s
        self.fileno = self._watching.fileno

    def overview(self) -> Overview | None:
        """Return the sessions at work; None when nothing happened since the last look. Records changes on disk
        as facts. SightlineError."""
        if self._watch is None:
            self._watch = Watch(self._context, self._watching)
        return self._watch.look()

    def news(self, timeout_s: float = 0) -> tuple[Entry, ...] | None:
        """Wait for changes, and return the facts that are new; None when nothing happened in this time."""
        return self._watching.wait(timeout_s)

    def close(self) -> None:
        """End the look."""
        self._watching.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
