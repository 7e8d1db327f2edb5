"""The live view of `sightline up`: looks once in a while, and shows what is new.

On a terminal it is a block of lines that is drawn again in its place, elsewhere a line per event.
"""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Never, Protocol

from sightline.history.overview import Watch
from sightline.history.views import Overview
from sightline.history.watching import Watching


class Show(Protocol):
    """Where the state is shown (screen.Screen, lines.Lines)."""

    def show(self, view: Overview) -> None:
        """Something happened."""

    def resized(self) -> None:
        """The terminal has another size, or was used by another program."""


SHARE = 0.2
"""Of one processor, at most, while a lot happens: after a look that took long, a longer rest."""

REST_S = 2.0
"""The longest of these: a person looks on."""


def run(
    watch: Watch, watching: Watching, shown: Show, wait: Callable[[float, int | None], bool]
) -> Never:
    """Look and show, until `wait` or a signal ends it by raising. wait: for so many seconds, or
    until a descriptor is readable; true when the terminal has another size since.
    SightlineError."""
    while True:
        began = monotonic()
        view = watch.look()
        took = monotonic() - began
        if view is not None:
            shown.show(view)
        resized = view is not None and wait(min(took / SHARE, REST_S), None)
        if wait(watching.patience_s(), watching.fileno()) or resized:
            shown.resized()
