"""Tell whether a session's agent is present: it has not ended, and the process that holds it lives.

There is no heartbeat: the operating system knows which processes live. For a process that it does
not know (on another machine, before a restart, or never named) the session's last sign of life
decides: such a session counts as present for `away_s` seconds after it.
"""

from __future__ import annotations

import sys
from typing import Literal

from msgspec import Struct

from sightline.changes.session_context import SessionContext
from sightline.filesystem.process import alive, here
from sightline.model.events import (
    Changed,
    ClaimReleased,
    EnvironmentSeen,
    Fact,
    GitMoved,
    Moved,
    SessionEnded,
)
from sightline.model.projections import SessionState
from sightline.model.timeline import newest_first
from sightline.store.port import Timeline


class Presence(Struct, frozen=True):
    """The state of a session. since: the time of its end, of its last sign of life where it is
    gone, or of its start; last: the time of its last sign of life. Both in UTC microseconds.
    holder: the process that holds it, "machine:pid:start", where one is named."""

    state: Literal["present", "gone", "ended"]
    since: int
    last: int
    holder: str | None = None


def presence(context: SessionContext, state: SessionState) -> Presence:
    """Return the present state of a session."""
    last = last_sign(context.store, state)
    if state.ended is not None:
        return Presence("ended", state.ended, last, state.owner)
    if is_present(context, state):
        return Presence("present", state.started, last, state.owner)
    return Presence("gone", last, last, state.owner)


def is_present(context: SessionContext, session: SessionState | str) -> bool:
    """Return whether a session's agent is present; False for an id that no session has. The
    timeline is read only where this machine does not know the process."""
    state = context.store.session(session) if isinstance(session, str) else session
    if state is None or state.ended is not None:
        return False
    if state.owner is not None and here(state.owner):
        return alive(state.owner)
    away_us = context.settings.away_s * 1_000_000
    return context.clock() - last_sign(context.store, state) <= away_us


def present_sessions(context: SessionContext) -> list[SessionState]:
    """Return the sessions whose agent is present, oldest first."""
    ids = context.active_sessions()
    states = [state for name in ids if (state := context.store.session(name)) is not None]
    present = [state for state in states if is_present(context, state)]
    return sorted(present, key=lambda state: (state.started, state.id))


def surely_gone(state: SessionState) -> bool:
    """Return whether this machine knows that the process which held a session has ended."""
    return state.owner is not None and here(state.owner) and not alive(state.owner)


def last_sign(store: Timeline, state: SessionState) -> int:
    """Return the time of a session's last sign of life, in UTC microseconds: its newest fact that
    the session itself caused."""
    facts = newest_first(store.timeline, session=state.id)
    own = (each.happened_at for each in facts if _is_own(each.fact, state.id))
    return max(next(own, state.started), state.started)


def _is_own(fact: Fact, session: str) -> bool:
    if isinstance(fact, (Changed, Moved)):
        return fact.cause.who == session
    return not isinstance(fact, (GitMoved, ClaimReleased, SessionEnded))


def environment(
    owner: str | None, host: str | None = None, host_version: str | None = None
) -> EnvironmentSeen:
    """Return the fact that describes this process. owner: the process that holds the session."""
    python = ".".join([str(part) for part in sys.version_info[:3]])
    return EnvironmentSeen(sys.platform, python, host, host_version, owner)


def record_environment(
    context: SessionContext, host: str | None = None, host_version: str | None = None
) -> bool:
    """Record the environment of a session's agent where it differs from the last recorded one;
    return whether it does. A value of None stays as it was."""
    newest = context.store.timeline(session=context.session, kinds=[EnvironmentSeen], newest=1)
    before = next((each.fact for each in newest), None)
    owner: str | None = context.owner
    if isinstance(before, EnvironmentSeen):
        owner, host = before.owner, host or before.host
        if host == before.host:
            host_version = host_version or before.host_version
    now = environment(owner, host, host_version)
    if now == before:
        return False
    context.append([now])
    return True
