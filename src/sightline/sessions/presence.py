"""Whether a session's agent is still there: it has not ended, and the process that holds it lives.

Nothing beats for this: the operating system knows who lives. Of a process that it does not know
(of another machine, of an earlier start of this one, or none that was told) the newest sign of
life decides; such a session counts as present for `away_s` seconds after it.
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
    GitMoved,
    Moved,
    SessionEnded,
)
from sightline.model.projections import SessionState
from sightline.model.timeline import Recorded
from sightline.store.port import Store

Standing = Literal["present", "gone", "ended"]

TAIL = 50
"""How many of a session's newest facts are looked through for one of its own agent's."""


class Presence(Struct, frozen=True):
    """How a session stands. since: when it ended, or its agent's last sign of life where it is
    gone, or when it began; last: its last sign of life. Both are UTC microseconds. holder: the
    process that holds it, "machine:pid:start", where that was told."""

    state: Standing
    since: int
    last: int
    holder: str | None = None


def presence(context: SessionContext, state: SessionState) -> Presence:
    """How a session stands now."""
    last = last_sign(context.store, state)
    if state.ended is not None:
        return Presence("ended", state.ended, last, state.owner)
    if _lives(context, state.owner, last):
        return Presence("present", state.started, last, state.owner)
    return Presence("gone", last, last, state.owner)


def present(context: SessionContext, state: SessionState) -> bool:
    """Whether a session's agent is there. The timeline is asked only where the machine is not
    the one to know."""
    if state.ended is not None:
        return False
    if state.owner is not None and here(state.owner):
        return alive(state.owner)
    return _lives(context, None, last_sign(context.store, state))


def surely_gone(state: SessionState) -> bool:
    """Whether this machine knows that the process which held a session has ended."""
    return state.owner is not None and here(state.owner) and not alive(state.owner)


def is_present(context: SessionContext, session: str) -> bool:
    """The same by id; a session that never was is not."""
    state = context.store.session(session)
    return state is not None and present(context, state)


def _lives(context: SessionContext, owner: str | None, last: int) -> bool:
    if owner is not None and here(owner):
        return alive(owner)
    return context.clock() - last <= context.settings.away_s * 1_000_000


def last_sign(store: Store, state: SessionState) -> int:
    """When a session's agent was last heard of. What was only found in its files, and what others
    recorded in its name, is no sign of its own."""
    newest = list(store.timeline(session=state.id, newest=TAIL))
    own = (each.happened_at for each in reversed(newest) if _own(each))
    return max(next(own, state.started), state.started)


def _own(recorded: Recorded) -> bool:
    fact = recorded.fact
    if isinstance(fact, (Changed, Moved)):
        return fact.cause.who == recorded.session
    return not isinstance(fact, (GitMoved, ClaimReleased, SessionEnded))


def environment(
    owner: str | None, host: str | None = None, host_version: str | None = None
) -> EnvironmentSeen:
    """Where this process runs, as a fact. owner: of who holds the session."""
    python = ".".join([str(part) for part in sys.version_info[:3]])
    return EnvironmentSeen(sys.platform, python, host, host_version, owner)


def note(context: SessionContext, host: str | None = None, host_version: str | None = None) -> bool:
    """Record where a session's agent runs, when that is not what was recorded last. What is not
    told stays as it was."""
    newest = context.store.timeline(session=context.session, kinds=[EnvironmentSeen], newest=1)
    last = next(iter(newest), None)
    before = last.fact if last is not None and isinstance(last.fact, EnvironmentSeen) else None
    if before is not None:
        host = host or before.host
        if host == before.host:
            host_version = host_version or before.host_version
    now = environment(before.owner if before else context.owner, host, host_version)
    if now == before:
        return False
    context.append([now])
    return True
