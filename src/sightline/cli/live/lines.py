"""The view where nobody looks at a terminal: a line per event, as it happens."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from sightline.api.json_shapes import shape
from sightline.cli import output
from sightline.history.log_entries import Entry
from sightline.history.views import Overview
from sightline.history.words import sentence


class Lines:
    """Prints what is recorded from now on, for people or as objects of `log --json`."""

    def __init__(self, *, json: bool) -> None:
        self._json = json

    def show(self, view: Overview) -> None:
        """Print the news."""
        self.tell(view.news)

    def tell(self, entries: Iterable[Entry]) -> None:
        """Print some of it."""
        for entry in entries:
            if self._json:
                output.json(shape(entry), schema=False)
            else:
                output.text(_said(entry))

    def resized(self) -> None:
        """Nothing here has a size."""


def _said(entry: Entry) -> str:
    at = datetime.fromtimestamp(entry.at / 1_000_000, UTC).astimezone()
    who = f"{entry.session}  " if entry.session else ""
    return f"{at:%Y-%m-%d %H:%M:%S}  {who}{sentence(entry)}"
