"""The state of a workspace: each session with its files, and what somebody has to look at."""

from __future__ import annotations

from sightline.changes.session_context import SessionContext
from sightline.changes.session_names import plain_title
from sightline.checkpoints.rewind import interrupted
from sightline.guard import file_states
from sightline.history.session_history import page
from sightline.model.projections import SessionState
from sightline.model.results import SessionStatus, Status
from sightline.model.session_ids import LAST_SESSIONS, NOBODY
from sightline.model.units import moment
from sightline.notices.warnings import pending
from sightline.sessions import usage
from sightline.sessions.claims import listed
from sightline.sessions.presence import presence


def status(
    context: SessionContext, session: str | None = None, *, last: int | None = LAST_SESSIONS
) -> Status:
    """Return the state of a workspace: of the present sessions and the last others, or of one session."""
    if session is not None:
        state = context.store.session(session)
        states, left_out = [] if state is None else [state], 0
    else:
        states, left_out = page(context, last)
    return Status(
        context.workspace.root,
        tuple(_session(context, each) for each in states),
        left_out,
        tuple(interrupted.listed(context, NOBODY)),
        tuple(pending(context, NOBODY)),
    )


def _session(context: SessionContext, state: SessionState) -> SessionStatus:
    name = state.id
    there = presence(context, state)
    used, places = usage.models(context, name)[-1:], usage.environments(context, name)[-1:]
    return SessionStatus(
        id=name,
        agent=state.agent,
        turn=state.turn,
        started=moment(state.started),
        ended=None if state.ended is None else moment(state.ended),
        model=state.model,
        parent=state.parent,
        files=tuple(file_states.files(context.for_session(name))),
        name=plain_title(context.store, name),
        presence=there.state,
        since=moment(there.since),
        last_sign=moment(there.last),
        holder=there.holder,
        claims=tuple(claim for claim in listed(context) if claim.session == name),
        warnings=tuple(pending(context, name)),
        unfinished_rewinds=tuple(interrupted.listed(context, name)),
        provider=used[0].provider if used else None,
        mode=used[0].mode if used else None,
        environment=places[0] if places else None,
    )
