"""Facts as lines, for the log and for a live view that is no terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sightline.api.json_shapes import shape
from sightline.api.workspace_words import sentence
from sightline.cli import output
from sightline.model.live_sessions import Overview
from sightline.model.log_entries import Entry
from sightline.text.causes import NameOf, named_entry


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
