"""Say which rows of the views a fact changes, for stores that keep the views as rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Protocol, TypeVar

from msgspec import Struct

from sightline.model import active_claims
from sightline.model.active_claims import CLAIMING, Claim
from sightline.model.events import CommandEnded, CommandStarted
from sightline.model.projections import (
    ENDING_ALL_COMMANDS,
    DiskFile,
    Knowledge,
    SessionState,
    Stash,
    column,
    is_about_stashes,
    is_activity,
    know,
    on_disk,
    stash,
)
from sightline.model.session_ids import archived
from sightline.model.timeline import TURNING, Recorded, Stretch, branch, turns_at
from sightline.store.event_index import (
    COLUMN_FACTS,
    DISK_FACTS,
    is_pending,
    settled_by,
)


class Rows(Protocol):
    """The rows of a store before a fact, and the facts that a branch is folded from."""

    def active(self, session: str) -> int | None:
        """Return SessionState.active of the row of a session; None for a session without a row."""

    def session(self, session: str) -> SessionState | None:
        """Return the row of a session."""

    def disk(self, path: str) -> DiskFile | None:
        """Return the row of a path in the disk view."""

    def knowledge(self, session: str, path: str) -> Knowledge | None:
        """Return the row of a session's knowledge of a canonical path."""

    def all_knowledge(self, session: str) -> dict[str, Knowledge]:
        """Return all rows of a session's knowledge, by path."""

    def claims(self) -> dict[str, Claim]:
        """Return the rows of all claims, by id."""

    def intents(self) -> Mapping[int, Recorded]:
        """Return the pending writes and rewinds by position."""

    def stashes(self) -> dict[str, Stash]:
        """Return the rows of git's stash, by commit."""

    def turnings(self, session: str) -> Sequence[Recorded]:
        """Return the SessionForked and RewindEnded facts of a session, in order."""

    def knowing(self, stretch: Stretch) -> Iterable[Recorded]:
        """Return the facts of a stretch that change knowledge, in order."""


class SessionRow(Struct, frozen=True):
    """Put the row of a session."""

    state: SessionState


class DiskRow(Struct, frozen=True):
    """Put the row of a path in the disk view."""

    state: DiskFile


class KnowledgeRow(Struct, frozen=True):
    """Put the row of a session's knowledge of a path; delete the row where state is None."""

    session: str
    path: str
    state: Knowledge | None


class KnowledgeRows(Struct, frozen=True):
    """Put these rows in place of all rows of a session's knowledge."""

    session: str
    states: Mapping[str, Knowledge]


class ClaimRow(Struct, frozen=True):
    """Put the row of a claim; delete the row where state is None."""

    id: str
    state: Claim | None


class IntentRow(Struct, frozen=True):
    """Put the row of a pending write or rewind; delete the row where recorded is None."""

    position: int
    recorded: Recorded | None


class StashRow(Struct, frozen=True):
    """Put the row of an entry of git's stash; delete the row where state is None."""

    commit: str
    state: Stash | None


class CommandRow(Struct, frozen=True):
    """Put the row of a run of a session, a command under way; delete the row where recorded is None."""

    session: str
    run: str
    recorded: Recorded | None


class NoCommands(Struct, frozen=True):
    """Delete the rows of all commands of a session."""

    session: str


Row = TypeVar("Row")

RowOfView = SessionRow | DiskRow | KnowledgeRow | KnowledgeRows | ClaimRow | StashRow | IntentRow
Change = RowOfView | CommandRow | NoCommands


def changes(rows: Rows, recorded: Recorded) -> list[Change]:
    """Return the changes of rows that a fact makes, the newest fact of the timeline."""
    fact, session = recorded.fact, recorded.session
    made: list[Change] = []
    active = rows.active(session)
    if isinstance(fact, COLUMN_FACTS) or active is None or is_activity(active, recorded):
        made.append(SessionRow(column(rows.session(session), recorded)))
    if isinstance(fact, DISK_FACTS):
        made += _disk_rows(rows, recorded)
    if isinstance(fact, CLAIMING):
        made += _claim_rows(rows.claims(), recorded)
    paths = fact.known_paths()
    if isinstance(fact, TURNING):
        if turns_at(fact):
            made.append(KnowledgeRows(session, fold_known(rows, session, recorded.position)))
    elif paths is None:
        states = rows.all_knowledge(session)
        know(states, recorded)
        made.append(KnowledgeRows(session, states))
    elif paths:
        made += _knowledge_rows(rows, paths, recorded)
    if is_about_stashes(fact):
        made += _stash_rows(rows.stashes(), recorded)
    made += _command_rows(recorded)
    made += [IntentRow(position, None) for position in settled_by(recorded, rows.intents())]
    if is_pending(recorded):
        made.append(IntentRow(recorded.position, recorded))
    return made


def fold_known(rows: Rows, session: str, upto: int) -> dict[str, Knowledge]:
    """Fold what a session knows at a position from the facts of its branch alone, by path in order."""
    states: dict[str, Knowledge] = {}
    for stretch in branch(session, upto, rows.turnings):
        for recorded in rows.knowing(stretch):
            know(states, recorded)
    return dict(sorted(states.items()))


def _disk_rows(rows: Rows, recorded: Recorded) -> Iterator[DiskRow]:
    before = _found(recorded.fact.disk_paths(), rows.disk)
    states = dict(before)
    on_disk(states, recorded)
    for path, state in states.items():
        if before.get(path) is not state:
            yield DiskRow(state)


def _knowledge_rows(rows: Rows, paths: Sequence[str], recorded: Recorded) -> Iterator[KnowledgeRow]:
    session = recorded.session
    before = _found(paths, lambda path: rows.knowledge(session, path))
    states = dict(before)
    know(states, recorded)
    for path in paths:
        if states.get(path) is not before.get(path):
            yield KnowledgeRow(session, path, states.get(path))


def _command_rows(recorded: Recorded) -> list[CommandRow | NoCommands]:
    """Return the rows that model.projections.run changes; they follow from the fact alone."""
    fact, session = recorded.fact, recorded.session
    if archived(session):
        return []
    if isinstance(fact, CommandStarted):
        return [CommandRow(session, fact.run, recorded)]
    if isinstance(fact, CommandEnded):
        return [CommandRow(session, fact.run, None)]
    return [NoCommands(session)] if isinstance(fact, ENDING_ALL_COMMANDS) else []


def _stash_rows(before: Mapping[str, Stash], recorded: Recorded) -> Iterator[StashRow]:
    states = dict(before)
    stash(states, recorded)
    for commit in before.keys() ^ states.keys():
        yield StashRow(commit, states.get(commit))


def _claim_rows(before: Mapping[str, Claim], recorded: Recorded) -> Iterator[ClaimRow]:
    states = dict(before)
    active_claims.step(states, recorded)
    for name in before.keys() | states.keys():
        if before.get(name) is not states.get(name):
            yield ClaimRow(name, states.get(name))


def _found(paths: Iterable[str], row: Callable[[str], Row | None]) -> dict[str, Row]:
    """Look up the row of each path; leave out paths without a row."""
    return {path: state for path in paths if (state := row(path)) is not None}
