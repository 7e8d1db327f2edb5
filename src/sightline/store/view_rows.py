"""Say which rows of the views a fact changes, for stores that keep the views as rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Protocol

from msgspec import Struct

from sightline.model import active_claims
from sightline.model.active_claims import CLAIMING, Claim
from sightline.model.events import CommandEnded, CommandStarted, Fact
from sightline.model.projections import (
    ENDING_ALL_COMMANDS,
    STASHING,
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
    BEGINNING,
    DISK_FACTS,
    KNOWING,
    SETTLING,
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


RowOfView = SessionRow | DiskRow | KnowledgeRow | KnowledgeRows | ClaimRow | StashRow | IntentRow
Change = RowOfView | CommandRow | NoCommands

Step = Callable[[Rows, Recorded], Iterable[Change]]


def changes(rows: Rows, recorded: Recorded) -> list[Change]:
    """Return the changes of rows that a fact makes, the newest fact of the timeline."""
    return [change for step in _steps(type(recorded.fact)) for change in step(rows, recorded)]


@cache
def _steps(kind: type[Fact]) -> list[Step]:
    """Return the steps for facts of a kind: one for each view that such a fact may change."""
    steps: dict[Step, bool] = {
        _session_rows: True,
        _disk_rows: kind in DISK_FACTS,
        _claim_rows: kind in CLAIMING,
        _branch_rows: kind in TURNING,
        _knowledge_rows: kind in KNOWING,
        _stash_rows: kind in STASHING,
        _command_rows: kind in (CommandStarted, CommandEnded, *ENDING_ALL_COMMANDS),
        _settled_intents: kind in SETTLING,
        _begun_rows: kind in BEGINNING,
    }
    return [step for step, is_changed in steps.items() if is_changed]


def fold_known(rows: Rows, session: str, upto: int) -> dict[str, Knowledge]:
    """Fold what a session knows at a position from the facts of its branch alone, by path in order."""
    states: dict[str, Knowledge] = {}
    for stretch in branch(session, upto, rows.turnings):
        for recorded in rows.knowing(stretch):
            know(states, recorded)
    return dict(sorted(states.items()))


def _session_rows(rows: Rows, recorded: Recorded) -> Iterable[SessionRow]:
    active = rows.active(recorded.session)
    if recorded.fact.changes_session or active is None or is_activity(active, recorded):
        return [SessionRow(column(rows.session(recorded.session), recorded))]
    return ()


def _disk_rows(rows: Rows, recorded: Recorded) -> list[DiskRow]:
    paths = recorded.fact.disk_paths()
    before = {path: row for path in paths if (row := rows.disk(path)) is not None}
    states = dict(before)
    on_disk(states, recorded)
    return [DiskRow(state) for path, state in states.items() if before.get(path) is not state]


def _claim_rows(rows: Rows, recorded: Recorded) -> Iterator[ClaimRow]:
    before = rows.claims()
    states = dict(before)
    active_claims.step(states, recorded)
    for name in before.keys() | states.keys():
        if before.get(name) is not states.get(name):
            yield ClaimRow(name, states.get(name))


def _branch_rows(rows: Rows, recorded: Recorded) -> Iterator[KnowledgeRows]:
    if turns_at(recorded.fact):
        states = fold_known(rows, recorded.session, recorded.position)
        yield KnowledgeRows(recorded.session, states)


def _knowledge_rows(rows: Rows, recorded: Recorded) -> list[KnowledgeRow] | list[KnowledgeRows]:
    session, paths = recorded.session, recorded.fact.known_paths()
    if paths is None:
        states = rows.all_knowledge(session)
        know(states, recorded)
        return [KnowledgeRows(session, states)]
    before = {path: row for path in paths if (row := rows.knowledge(session, path)) is not None}
    states = dict(before)
    know(states, recorded)
    return [
        KnowledgeRow(session, path, states.get(path))
        for path in paths
        if states.get(path) is not before.get(path)
    ]


def _stash_rows(rows: Rows, recorded: Recorded) -> Iterator[StashRow]:
    if not is_about_stashes(recorded.fact):
        return
    before = rows.stashes()
    states = dict(before)
    stash(states, recorded)
    for commit in before.keys() ^ states.keys():
        yield StashRow(commit, states.get(commit))


def _command_rows(_: Rows, recorded: Recorded) -> list[CommandRow | NoCommands]:
    """Return the rows that model.projections.run changes; they follow from the fact alone."""
    fact, session = recorded.fact, recorded.session
    if archived(session):
        return []
    if isinstance(fact, CommandStarted):
        return [CommandRow(session, fact.run, recorded)]
    if isinstance(fact, CommandEnded):
        return [CommandRow(session, fact.run, None)]
    return [NoCommands(session)]


def _settled_intents(rows: Rows, recorded: Recorded) -> list[IntentRow]:
    return [IntentRow(position, None) for position in settled_by(recorded, rows.intents())]


def _begun_rows(_: Rows, recorded: Recorded) -> Iterator[IntentRow]:
    if is_pending(recorded):
        yield IntentRow(recorded.position, recorded)
