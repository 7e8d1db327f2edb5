"""The reader of one product's recordings, as a value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from msgspec import Struct

from sightline.model.hook_events import Event
from sightline.recordings.recorded_conversation import Conversation


class Recording(Struct, frozen=True):
    """A recorded conversation. session: our id of it. cwd: the absolute folder where it began.
    started: UTC microseconds since 1970. size: in bytes."""

    path: str
    session: str
    started: int
    cwd: str
    size: int
    parent: str | None = None


def find_none(*_: object) -> list[Recording]:
    """Return no recording."""
    return []


def tell_none(_: Recording) -> Iterable[tuple[int, Event]]:
    """Return no event."""
    return ()


class Reader(Struct, frozen=True, kw_only=True):
    """The reader of a product's recordings.

    name: of the product, in settings, stores and JSON. title: what people call it.
    conversation: return the messages in a file, and recognise the file by its beginning. OSError;
    NotOurs for another product's file; ValueError, with a message for a person, for a file of this
    product that holds no conversation.
    sessions: return the recordings of a workspace, or a folder below it, on this machine, oldest first,
    sub-agents after the main ones. Takes the workspace's root, and the user's environment and home.
    OSError when one cannot be read.
    events: return a recording's events in order, each with its time (UTC microseconds). OSError.
    """

    name: str
    title: str
    conversation: Callable[[str], Conversation]
    sessions: Callable[[str, Mapping[str, str], str], list[Recording]] = find_none
    events: Callable[[Recording], Iterable[tuple[int, Event]]] = tell_none
