"""The live view: look at the workspace once in a while, and show what is new.

On a terminal the view is a block of lines, drawn again in its place; elsewhere a line per event.
"""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Never, Protocol

from sightline.api.live import Live
from sightline.model.live_sessions import Overview


class Show(Protocol):
    """A place where the view is shown (screen.Screen, lines.Lines)."""

    def show(self, view: Overview) -> None:
        """Show a new view."""

    def tick(self) -> None:
        """Show what is not on the timeline: whether the guard works."""

    def resized(self) -> None:
        """Show the view again: the terminal was resized, or used by another program."""


SHARE = 0.2
"""The share of one processor that looking may take while a lot happens."""

REST_S = 2.0
"""The longest rest after a look that took long."""


def run(live: Live, shown: Show, wait: Callable[[float, int | None], bool]) -> Never:
    """Look and show until `wait` or a signal raises. SightlineError.

    wait: waits for some seconds, or until a descriptor is readable, and returns whether the
    terminal was resized.
    """
    while True:
        began = monotonic()
        view = live.overview()
        took = monotonic() - began
        if view is not None:
            shown.show(view)
        resized = view is not None and wait(min(took / SHARE, REST_S), None)
        if wait(live.patience_s(), live.fileno()) or resized:
            shown.resized()
        else:
            shown.tick()
