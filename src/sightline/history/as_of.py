"""What agents knew, and what stood on disk, at a position of the timeline."""

from __future__ import annotations

from datetime import datetime
from functools import cached_property

from msgspec import Struct

from sightline.changes.authors import moment
from sightline.errors import SessionError
from sightline.guard.edit_case import EditCase, Evidence, Rules
from sightline.guard.verdict import judge
from sightline.history.session_history import SessionSummary
from sightline.model.events import Changed, Fact, GitMoved, Moved, Seen
from sightline.model.projections import DiskFile, Knowledge, SessionState, column, on_disk
from sightline.model.revision import MISSING, Revision, known
from sightline.model.spans import Spans, covers, whole
from sightline.model.text import decode
from sightline.model.timeline import Position
from sightline.store.event_index import COLUMN_FACTS
from sightline.store.port import Store

DISK_FACTS: tuple[type[Fact], ...] = (Seen, Changed, Moved, GitMoved)
"""The kinds that the disk view is stepped by."""


class KnownFile(Struct, frozen=True):
    """What a session knew of a file. seen_lines: that were ever shown, held_lines: of them those
    still in its context window; revision_seen: of the text it believed, revision_on_disk: of what
    stood there as far as was recorded. state: fresh, stale, deleted or moved. Where a text is not
    kept its hash decides if every line had been shown; else the state is unverifiable."""

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
        """Whether it was not what the agent had been shown, for certain."""
        return self.state in ("stale", "deleted", "moved")


class AsOf:
    """The timeline as it was when it was `position` facts long. Facts are never changed, so the
    answers stay the same; texts may be forgotten meanwhile (gc)."""

    def __init__(self, store: Store, position: Position) -> None:
        newest = store.position()
        if not 0 <= position <= newest:
            raise ValueError(f"the timeline has positions 1 to {newest}, not {position}")
        self._store = store
        self.position = position

    @cached_property
    def at(self) -> datetime | None:
        """When the newest fact of then was recorded; None before the first one."""
        newest = self._store.timeline(after=self.position - 1, upto=self.position)
        last = next(iter(newest), None) if self.position else None
        return moment(last.recorded_at) if last else None

    def sessions(self) -> list[SessionSummary]:
        """The sessions that had begun, oldest first, as they stood. Who was present is not kept."""
        states = [self._column(state.id) for state in self._store.sessions()]
        return [
            SessionSummary(state, len(self._store.known(state.id, self.position)))
            for state in states
            if state is not None
        ]

    def files(self, session: str) -> list[KnownFile]:
        """The files that a session's agent had been shown, in order of path. SessionError."""
        return [self._file(knowledge) for knowledge in self._known(session).values()]

    def text(self, session: str, path: str) -> str | None:
        """The text that a session's agent believed a file to have; None when it was never shown,
        or its text is not kept. SessionError."""
        knowledge = self._known(session).get(path)
        data = self._text(knowledge.belief.text) if knowledge else None
        text = decode(data) if data is not None else None
        return None if text is None else text.plain

    @cached_property
    def _disks(self) -> dict[str, DiskFile]:
        states: dict[str, DiskFile] = {}
        for recorded in self._store.timeline(kinds=DISK_FACTS, upto=self.position):
            on_disk(states, recorded)
        return states

    def _known(self, session: str) -> dict[str, Knowledge]:
        if self._column(session) is None:
            raise SessionError(
                f"There was no session {session!r} at position {self.position}.",
                "Ask sessions() for those that there were.",
            )
        return self._store.known(session, self.position)

    def _column(self, session: str) -> SessionState | None:
        """A session's column, folded from the facts that change it and the newest one of all."""
        store, upto = self._store, self.position
        shaping = list(store.timeline(session=session, kinds=COLUMN_FACTS, upto=upto))
        first = [] if shaping else list(store.timeline(session=session, upto=upto))[:1]
        last = list(store.timeline(session=session, upto=upto, newest=1))
        state = None
        for recorded in [*first, *shaping, *last]:
            state = column(state, recorded)
        return state

    def _file(self, knowledge: Knowledge) -> KnownFile:
        belief = knowledge.belief
        row = self._disks.get(knowledge.path)
        stood = row.revision if row else MISSING
        return KnownFile(
            path=knowledge.name or knowledge.path,
            state=self._state(knowledge, row),
            via=knowledge.via,
            seen_lines=belief.shown,
            held_lines=belief.held,
            total_lines=belief.lines,
            revision_seen=belief.text,
            revision_on_disk=stood,
            last_read=moment(knowledge.last_read),
            edited_by_agent=knowledge.last_agent_edit is not None,
        )

    def _state(self, knowledge: Knowledge, row: DiskFile | None) -> str:
        belief = knowledge.belief
        if row is None or row.revision == belief.text:
            return "fresh"
        if row.revision == MISSING:
            return "moved" if row.moved_to else "deleted"
        stood, believed = self._text(row.revision), self._text(belief.text)
        if stood is None or believed is None:
            complete = covers(belief.shown, whole(belief.lines))
            return "stale" if complete and known(row.revision) else "unverifiable"
        sight = Evidence("file", disk=stood, belief=belief, believed=believed)
        return judge(EditCase(sight, Rules()), None).state

    def _text(self, revision: Revision) -> bytes | None:
        return self._store.blob(revision) if known(revision) else None
