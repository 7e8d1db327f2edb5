"""Values in a briefing: the memory of the session and the bundle of related files."""

from __future__ import annotations

from msgspec import Struct

from sightline.guard.reads import Look
from sightline.model.agent_work import Report, Todo
from sightline.model.spans import Spans

BUNDLE = "bundle"
"""Name of the bundle among the parts of a briefing."""


class BundledFile(Struct, frozen=True):
    """A file of a bundle. why: reasons, each with the edited file that it relates to; text: the whole
    file, None for a file that is only named; lines: number of lines; size: in bytes."""

    path: str
    why: tuple[str, ...]
    text: str | None
    lines: int
    revision: str
    size: int = 0


class Bundle(Struct, frozen=True):
    """Files related to the edits since the last bundle. edited: the edited files, newest first;
    left_out: number of further related files; upto: position of the last edit; unread: number of
    sources whose imports are not known yet."""

    edited: tuple[str, ...]
    files: tuple[BundledFile, ...]
    left_out: int
    upto: int
    unread: int = 0

    def looks(self) -> tuple[Look, ...]:
        """Return the files whose text the bundle shows."""
        return tuple(
            Look(file.path, None, file.text, BUNDLE) for file in self.files if file.text is not None
        )


class Stale(Struct, frozen=True):
    """A file that differs from the text this session was shown. what: as FileChange.what; by: words
    for the author."""

    path: str
    what: str
    by: str
    moved_to: str | None = None


class Work(Struct, frozen=True):
    """A file that this session changed. deed: created, modified, deleted or moved; src: former path
    of a moved file; probable: nobody knows whether a command of this session changed it, or
    somebody else while the command ran. turn: of its last change, 0 before the first."""

    path: str
    deed: str
    src: str | None = None
    probable: bool = False
    turn: int = 0


class Held(Struct, frozen=True):
    """A file that this session was shown, or edited, lately. lines: shown lines; total: all lines."""

    path: str
    lines: Spans
    total: int


class Memory(Struct, frozen=True):
    """The work of a session so far. request: the user's newest request that asks for more than to go
    on; step: the to-do in progress, else the next one; pending: all open to-dos, step included; done:
    the last finished to-dos; done_count: all finished. refresh: files to read again; changed: files
    changed by this session, newest first; working: other files touched last; result: the summary of
    the last answer where it was a structured one (is_summary), else its end; next_steps: that the
    last structured answer offered; reports: of the sub-agents that answered last, in order; turn: the
    present one, 0 before the first; unread: messages that are not stored, so to-dos may be missing.

    text: the whole memory as a block for the end of the next message, within the budget; "" for an
    empty memory. tokens: of this text; left_out: (kind, number of lines) without room.
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
    is_summary: bool = False
    next_steps: tuple[str, ...] = ()
    reports: tuple[Report, ...] = ()
    turn: int = 0
    unread: int = 0
    text: str = ""
    tokens: int = 0
    left_out: tuple[tuple[str, int], ...] = ()

    @property
    def says_more(self) -> bool:
        """Return whether the memory holds more than the files touched last."""
        work = self.request or self.step or self.pending or self.done or self.result
        return bool(work or self.refresh or self.changed or self.reports)
