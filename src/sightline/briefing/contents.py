"""Values that a briefing may hold: the memory of the session and the bundle of files."""

from __future__ import annotations

from msgspec import Struct

from sightline.conversation.todos import Todo
from sightline.guard.reads import Look
from sightline.model.spans import Spans

BUNDLE = "bundle"
"""The name of the bundle among the parts of a briefing."""


class BundledFile(Struct, frozen=True):
    """A file of a bundle. why: sentences without their end, each with the edited file that it is
    about; text: all of it, None where only its name is told; lines: how many it has."""

    path: str
    why: tuple[str, ...]
    text: str | None
    lines: int
    revision: str


class Bundle(Struct, frozen=True):
    """Files related to the edits since the last bundle. edited: the files, the last one first;
    left_out: further related files; upto: position of the last edit; unread: sources whose imports are
    not known yet."""

    edited: tuple[str, ...]
    files: tuple[BundledFile, ...]
    left_out: int
    upto: int
    unread: int = 0

    def looks(self) -> tuple[Look, ...]:
        """Return the files whose text the bundle shows."""
        return tuple(
            Look(each.path, None, each.text, BUNDLE) for each in self.files if each.text is not None
        )


class Stale(Struct, frozen=True):
    """A file that is not what this session was shown. what: as FileChange.what; by: in words."""

    path: str
    what: str
    by: str
    moved_to: str | None = None


class Work(Struct, frozen=True):
    """A file that this session changed. deed: created, modified, deleted or moved; src: where it
    was moved from."""

    path: str
    deed: str
    src: str | None = None


class Held(Struct, frozen=True):
    """A file that this session was shown, or edited, lately."""

    path: str
    lines: Spans
    total: int


class Memory(Struct, frozen=True):
    """The work of a session so far. request: the newest request of the user, other than to go on;
    step: the to-do that was at work, else the next one; pending: all open to-dos, step included; done: the last
    ones; done_count: all. refresh: files to be read again; changed: by this session, the last one
    first; working: files touched last, of the rest; result: the end of the last answer. unread:
    messages that are not kept, so that to-dos may be missing.

    text: all of it as a block for the tail of the next message, within the budget; "" where there
    is nothing to tell. tokens: of that; left_out: what there was no room for, by kind.
    """

    request: str | None = None
    step: str | None = None
    pending: tuple[Todo, ...] = ()
    done: tuple[Todo, ...] = ()
    done_count: int = 0
    refresh: tuple[Stale, ...] = ()
    changed: tuple[Work, ...] = ()
    working: tuple[Held, ...] = ()
    result: str | None = None
    unread: int = 0
    text: str = ""
    tokens: int = 0
    left_out: tuple[tuple[str, int], ...] = ()

    @property
    def says_more(self) -> bool:
        """Return whether the memory tells more than the files at hand."""
        said = self.request or self.step or self.pending or self.done or self.result
        return bool(said or self.refresh or self.changed)
