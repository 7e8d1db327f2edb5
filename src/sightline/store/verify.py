"""Compare every view of a store with the fold of its timeline from zero."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sightline.model.active_claims import fold as fold_claims
from sightline.model.projections import (
    SessionState,
    column,
    fold_columns,
    fold_disk,
    fold_running,
    fold_stashes,
)
from sightline.model.session_ids import NOBODY
from sightline.model.timeline import Recorded, columns_of
from sightline.store.event_index import is_pending, settled_by
from sightline.store.port import Store


def differences(store: Store) -> list[str]:
    """Return one sentence for each gap in the timeline, and for each row that differs from the
    fold of the timeline."""
    log = list(store.timeline())
    wrong = [
        f"Position {place} of the timeline holds the fact of position {recorded.position}."
        for place, recorded in enumerate(log, 1)
        if recorded.position != place
    ]
    if wrong:
        return wrong  # a fold of a torn timeline would only repeat the gaps
    sessions: dict[str, SessionState] = {}
    intents: dict[int, Recorded] = {}
    for recorded in log:
        sessions[recorded.session] = column(sessions.get(recorded.session), recorded)
        for position in settled_by(recorded, intents):
            del intents[position]
        if is_pending(recorded):
            intents[recorded.position] = recorded
    wrong += _unlike("disk", store.disks(), fold_disk(log))
    wrong += _unlike("claim", store.claims(), fold_claims(log))
    sessions.pop(NOBODY, None)
    wrong += _unlike("session", {state.id: state for state in store.sessions()}, sessions)
    wrong += _unlike("stash entry", store.stashes(), fold_stashes(log))
    wrong += _unlike("intent", _by_position(store.pending()), intents)
    wrong += _unlike("command", _by_position(store.running()), _by_position(fold_running(log)))
    columns = columns_of(log)
    for name in columns:
        folded = fold_columns(columns, name, len(log))
        wrong += _unlike(f"knowledge of session {name},", store.known(name), folded)
    return wrong


def _by_position(rows: Iterable[Recorded]) -> dict[int, Recorded]:
    return {recorded.position: recorded for recorded in rows}


def _unlike(view: str, rows: Mapping[Any, object], folded: Mapping[Any, object]) -> Iterator[str]:
    for key in sorted(rows.keys() | folded.keys()):
        row, fold = rows.get(key), folded.get(key)
        if row != fold:
            yield f"The row of {view} {key} is {row}, the timeline says {fold}."
