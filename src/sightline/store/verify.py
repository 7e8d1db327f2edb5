"""Every view of a store against the fold of its timeline from zero."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sightline.model.active_claims import fold as fold_claims
from sightline.model.projections import Knowledge, SessionState, column, fold_disk, know
from sightline.model.timeline import NOBODY, TURNING, Recorded, branch
from sightline.store.event_index import pends, settled
from sightline.store.port import Store


def differences(store: Store) -> list[str]:
    """One sentence for each row that is not what the timeline says, and for each gap in it."""
    log = list(store.timeline())
    wrong = [
        f"Position {place} of the timeline holds the fact of position {recorded.position}."
        for place, recorded in enumerate(log, 1)
        if recorded.position != place
    ]
    if wrong:
        return wrong  # a fold of a torn timeline would only repeat it
    sessions: dict[str, SessionState] = {}
    intents: dict[int, Recorded] = {}
    columns: dict[str, list[Recorded]] = {}
    for recorded in log:
        name, fact = recorded.session, recorded.fact
        sessions[name] = column(sessions.get(name), recorded)
        columns.setdefault(name, []).append(recorded)
        for position in settled(fact, intents, name):
            del intents[position]
        if pends(recorded):
            intents[recorded.position] = recorded
    wrong += _unlike("disk", store.disks(), fold_disk(log))
    wrong += _unlike("claim", store.claims(), fold_claims(log))
    sessions.pop(NOBODY, None)
    wrong += _unlike("session", {state.id: state for state in store.sessions()}, sessions)
    wrong += _unlike("intent", {each.position: each for each in store.pending()}, intents)
    for name in columns:
        kept, folded = store.known(name), fold_branch(columns, name, len(log))
        wrong += _unlike(f"knowledge of session {name},", kept, folded)
    return wrong


def fold_branch(
    columns: Mapping[str, Sequence[Recorded]], session: str, upto: int
) -> dict[str, Knowledge]:
    """What a session knows at a position, folded from each session's own facts."""

    def turns_of(name: str) -> list[Recorded]:
        return [r for r in columns.get(name, ()) if isinstance(r.fact, TURNING)]

    states: dict[str, Knowledge] = {}
    for stretch in branch(session, upto, turns_of):
        for recorded in columns.get(stretch.session, ()):
            if stretch.after < recorded.position <= stretch.upto:
                know(states, recorded)
    return states


def _unlike(what: str, kept: Mapping[Any, object], folded: Mapping[Any, object]) -> Iterator[str]:
    for key in sorted(kept.keys() | folded.keys()):
        row, fold = kept.get(key), folded.get(key)
        if row != fold:
            yield f"The row of {what} {key} is {row}, the timeline says {fold}."
