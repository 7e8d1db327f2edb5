"""The past: the agents' knowledge and the disk at a position of the timeline."""

from __future__ import annotations

from datetime import datetime
from functools import cached_property

from msgspec import Struct

from sightline.errors import SessionError
from sightline.guard.edit_case import EditCase, Evidence, Rules
from sightline.history.session_history import SessionSummary, summary
from sightline.model.line_marks import unmarked_lines
from sightline.model.projections import DiskFile, Knowledge, SessionState, column, fold_disk
from sightline.model.revision import MISSING, Revision, known
from sightline.model.spans import Spans, covers, whole
from sightline.model.text import lines_of, plain_of
from sightline.model.timeline import Position
from sightline.model.units import moment
from sightline.store.event_index import COLUMN_FACTS, DISK_FACTS
from sightline.store.port import Store


class KnownFile(Struct, frozen=True):
    """A session's knowledge of a file. seen_lines: ever shown; held_lines: those of them still in the
    context window; revision_seen: of the believed text; revision_on_disk: as recorded. state: fresh,
    stale, deleted, moved, or unverifiable when a text is not stored and not every line was shown."""

    path: str
    state: str
    via: str
    seen_lines: Spans
    held_lines: Spans
    total_lines: int
    revision_seen: str
    revision_on_disk: str
    last_read: datetime
    edited_by_agent: bool

    @property
    def stale(self) -> bool:
        """True for a file that certainly differed from the shown text."""
        return self.state in ("stale", "deleted", "moved")


class PastSession(Struct, frozen=True):
    """A session as of a position. turn: its newest one then; files: those that its agent had been shown."""

    id: str
    agent: str
    turn: int
    files: tuple[KnownFile, ...]


class AsOfView(Struct, frozen=True):
    """The past as JSON has it: see AsOf."""

    position: int
    at: datetime | None
    sessions: tuple[PastSession, ...]


class AsOf:
    """The timeline when it was `position` facts long. Facts never change, so the answers stay the
    same; stored texts may be purged meanwhile (gc)."""

    def __init__(self, store: Store, position: Position) -> None:
        newest = store.position()
        if not 0 <= position <= newest:
            raise ValueError(f"the timeline has positions 1 to {newest}, not {position}")
        self._store = store
        self.position = position

    @cached_property
    def at(self) -> datetime | None:
        """The time of the newest fact up to this position; None before the first one."""
        if not self.position:
            return None
        newest = self._store.timeline(after=self.position - 1, upto=self.position)
        return next((moment(recorded.recorded_at) for recorded in newest), None)

    def sessions(self) -> list[SessionSummary]:
        """Return the sessions that had begun, oldest first, without their presence."""
        states = [self._session(state.id) for state in self._store.sessions()]
        return [
            summary(state, len(self._store.known(state.id, self.position)))
            for state in states
            if state is not None
        ]

    def files(self, session: str) -> list[KnownFile]:
        """Return the files that a session's agent had been shown, by path. SessionError."""
        return [self._file(knowledge) for knowledge in self._known(session).values()]

    def text(self, session: str, path: str) -> str | None:
        """Return the text that a session's agent believed a file to have; None for a file that it was
        never shown or whose text is not stored. SessionError."""
        knowledge = self._known(session).get(path)
        return plain_of(self._text(knowledge.belief.text)) if knowledge else None

    def as_view(self) -> AsOfView:
        """Return the sessions that had begun, with the files that their agents had been shown."""
        sessions = tuple(
            PastSession(each.id, each.agent, each.turn, tuple(self.files(each.id)))
            for each in self.sessions()
        )
        return AsOfView(self.position, self.at, sessions)

    @cached_property
    def _disk(self) -> dict[str, DiskFile]:
        return fold_disk(self._store.timeline(kinds=DISK_FACTS, upto=self.position))

    def _known(self, session: str) -> dict[str, Knowledge]:
        if self._session(session) is None:
            raise SessionError(
                f"There was no session {session!r} at position {self.position}.",
                "Name a session that had begun by then, or a later position.",
            )
        return self._store.known(session, self.position)

    def _session(self, session: str) -> SessionState | None:
        """Fold a session's state from the facts that change it and its newest fact."""
        store, upto = self._store, self.position
        facts = list(store.timeline(session=session, kinds=COLUMN_FACTS, upto=upto))
        if not facts:
            facts = list(store.timeline(session=session, upto=upto, limit=1))
        state = None
        for recorded in [*facts, *store.timeline(session=session, upto=upto, newest=1)]:
            state = column(state, recorded)
        return state

    def _file(self, knowledge: Knowledge) -> KnownFile:
        belief = knowledge.belief
        row = self._disk.get(knowledge.path)
        return KnownFile(
            path=knowledge.name or knowledge.path,
            state=self._state(knowledge, row),
            via=knowledge.via,
            seen_lines=belief.shown,
            held_lines=belief.held,
            total_lines=belief.lines,
            revision_seen=belief.text,
            revision_on_disk=row.revision if row else MISSING,
            last_read=moment(knowledge.last_read),
            edited_by_agent=knowledge.last_agent_edit is not None,
        )

    def _state(self, knowledge: Knowledge, row: DiskFile | None) -> str:
        belief = knowledge.belief
        if row is None or row.revision == belief.text:
            return "fresh"
        if row.revision == MISSING:
            return "moved" if row.moved_to else "deleted"
        disk, believed = self._text(row.revision), self._text(belief.text)
        has_marks = disk is None or believed is None
        if has_marks:
            disk, believed = self._marks(row.revision, believed), self._marks(belief.text, disk)
        if disk is None or believed is None:
            complete = covers(belief.shown, whole(belief.lines))
            return "stale" if complete and known(row.revision) else "unverifiable"
        evidence = Evidence(
            "file", disk=disk, belief=belief, believed=believed, has_marks=has_marks
        )
        return EditCase(evidence, Rules()).state

    def _marks(self, revision: Revision, other: bytes | None) -> bytes | None:
        """Return the text of a revision or, of one that may not be stored, its marks, with the lines of
        the other text where that is stored."""
        text, marks = self._text(revision), self._store.marks(revision)
        if text is not None or marks is None or other is None:
            return text if text is not None else marks
        return unmarked_lines(marks, self._store.marks_key(), [lines_of(other) or ()])

    def _text(self, revision: Revision) -> bytes | None:
        return self._store.blob(revision) if known(revision) else None
