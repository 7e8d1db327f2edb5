"""The live view of `sightline up`: looks once in a while, and shows what is new.

On a terminal it is a block of lines that is drawn again in its place, elsewhere a line per event.
"""

from __future__ import annotations

from time import monotonic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Never, Protocol

    from sightline.services.overview import Overview, Watch

    class Show(Protocol):
        """Where the state is shown (screen.Screen, lines.Lines)."""

        def show(self, view: Overview) -> None:
            """Something happened."""

        def resized(self) -> None:
            """The terminal has another size, or was used by another program."""


EVERY_S = 1.0
"""Between two looks at the disk. What an agent does through hooks is judged when it does it."""

SHARE = 0.005
"""Of one processor, at most: after a look that took long, the next one waits longer."""


def run(watch: Watch, shown: Show, wait: Callable[[float], bool]) -> Never:
    """Look and show, until `wait` or a signal ends it by raising. wait: for so many seconds; true
    when the terminal has another size since. SightlineError."""
    while True:
        began = monotonic()
        view = watch.look()
        took = monotonic() - began
        if view is not None:
            shown.show(view)
        if wait(max(EVERY_S, took / SHARE)):
            shown.resized()
