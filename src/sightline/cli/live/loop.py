"""The live view: look at the workspace once in a while, and show what is new.

On a terminal the view is a block of lines, drawn again in its place; elsewhere a line per event.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from time import monotonic
from typing import Never, Protocol

from sightline.api.json_shapes import shape
from sightline.api.live import Live
from sightline.api.workspace_words import sentence
from sightline.cli import output
from sightline.model.live_sessions import Overview
from sightline.model.log_entries import Entry
from sightline.text.causes import NameOf, named_entry


class Show(Protocol):
    """A place where the view is shown (screen.Screen, Lines)."""

    def show(self, view: Overview) -> None:
        """Show a new view."""

    def tick(self) -> None:
        """Show what is not on the timeline: whether the guard works."""

    def resized(self) -> None:
        """Show the view again: the terminal was resized, or used by another program."""


class Lines:
    """Prints facts as lines for people, or as objects of `log --json`."""

    def __init__(
        self, name_of: NameOf = str, diff: Callable[[str], str] = str, *, json: bool
    ) -> None:
        """name_of: session -> its name for people; diff: of a fact -> its lines."""
        self._json, self._name_of, self._diff = json, name_of, diff

    def show(self, view: Overview) -> None:
        """Print the facts that are new in a view."""
        self.print(view.news)

    def print(self, entries: Iterable[Entry]) -> None:
        """Print facts."""
        for entry in entries:
            if self._json:
                output.json(shape(entry))
                continue
            entry = named_entry(entry, self._name_of)
            who = f"{entry.session}  " if entry.session else ""
            output.prose(f"{output.local(entry.at):%Y-%m-%d %H:%M:%S}  {who}{sentence(entry)}")
            if entry.diff is not None:
                output.text(self._diff(entry.diff))

    def tick(self) -> None:
        """Do nothing: lines are facts."""

    def resized(self) -> None:
        """Do nothing: printed lines stay."""


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
