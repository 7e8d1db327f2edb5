"""The conversations that an agent product recorded on this machine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from sightline.agents.connection import Place
from sightline.agents.hook_events import Event
from sightline.history.doctor import Finding


class Recording(Struct, frozen=True):
    """A recorded conversation. session: our id of it. cwd: the absolute folder where it began.
    started: UTC microseconds since 1970. size: in bytes."""

    path: str
    session: str
    started: int
    cwd: str
    size: int
    parent: str | None = None


class RecordedSessions:
    """Find and read the conversations that a product records. The defaults find none."""

    def recordings(self, place: Place) -> list[Recording]:
        """Return the conversations recorded in a workspace or a folder below it, oldest first, sub-agents
        after the main ones. OSError when one cannot be read."""
        return []

    def timed_events(self, recording: Recording) -> Iterable[tuple[int, Event]]:
        """Return a recording's events in order, with their times (UTC microseconds)."""
        return ()

    def health(self, place: Place) -> Iterator[Finding]:
        """Report whether the newest recorded conversation of a workspace can be read."""
        yield from ()
