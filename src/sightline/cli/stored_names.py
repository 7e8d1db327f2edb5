"""The names that a store keeps, with descriptions, for the completion of a shell."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

from sightline.api.folders import settings_of
from sightline.changes.session_context import now_us
from sightline.changes.session_names import names_of
from sightline.checkpoints.take import fact_of, recorded_checkpoints
from sightline.cli.output import Call, minute
from sightline.errors import SightlineError
from sightline.store.opening import open_to_look
from sightline.store.port import Store, Timeline

MOST = 200
"""Sessions, and facts about checkpoints, that are offered."""


def stored(call: Call, kind: str) -> list[tuple[str, str]]:
    """Return the names of a kind in the store of the workspace, with their descriptions; none where
    there is no store, or where it cannot be read at once. kind: checkpoints, sessions or claims."""
    try:
        settings = settings_of(call.root, call.store)
        url = call.store if call.store is not None else settings.store
        store = open_to_look(url, workspace_root=call.root, state_home=settings.state_home)
        if store is None:
            return []
        with closing(store):
            return [*NAMES[kind](store)]
    except (SightlineError, OSError):
        return []  # a terminal in the middle of a line has no room for an error


def checkpoints(store: Timeline) -> Iterator[tuple[str, str]]:
    """Yield labels, then ids, the newest first."""
    taken = [(each, fact_of(each)) for each in recorded_checkpoints(store, MOST)][::-1]
    labels: dict[str, str] = {}
    for each, fact in taken:
        labels.setdefault(fact.label, f"checkpoint, {minute(each.happened_at)}")
    yield from labels.items()
    for each, fact in taken:
        when = minute(each.happened_at)
        yield fact.checkpoint, f"{fact.label}, {when}" if fact.label else when


def sessions(store: Store) -> Iterator[tuple[str, str]]:
    """Yield ids, the newest session first."""
    name_of = names_of(store)
    for state in reversed(store.sessions(newest=MOST)):
        name = name_of(state.id)
        yield state.id, state.agent if name == state.id else f"{state.agent} {name}"


def claims(store: Store) -> Iterator[tuple[str, str]]:
    """Yield the ids of claims that have not expired, the oldest first."""
    name_of = names_of(store)
    for claim in store.claims().values():
        if claim.expires_at > now_us():
            yield claim.id, f"{', '.join(claim.paths)} (session {name_of(claim.session)})"


NAMES = {"checkpoints": checkpoints, "sessions": sessions, "claims": claims}
