"""Decide which sessions a question is about that names none."""

from __future__ import annotations

from sightline.changes.session_context import SessionContext, located
from sightline.model.events import Changed, Moved, Seen, TurnBegan
from sightline.model.results import Asked
from sightline.model.session_ids import AT_SHELL, NOBODY, archived
from sightline.model.timeline import Recorded, newest_first
from sightline.sessions.presence import present_sessions
from sightline.text.causes import is_rewind


def about_file(context: SessionContext, path: str, usual: str = AT_SHELL) -> Asked:
    """Return the session that a question about a file is about: `usual` where it knows the file, else the one
    that learned of the file last; `usual` where none knows it."""
    session = knower(context, path, usual)
    if session is None:
        return Asked((usual,))
    known = context.knowers(located(context, path).path)
    return Asked((session,), tuple(sorted(each for each in known if each != session)))


def about_all(context: SessionContext) -> Asked:
    """Return the sessions that a question about no file is about: those that are present and were shown
    files, else the one whose agent worked last."""
    present = [state.id for state in present_sessions(context)]
    shown = tuple(each for each in present if context.store.known(each))
    return Asked(shown or (worked_last(context),))


def worked_last(context: SessionContext) -> str:
    """Return the session of the newest fact that its own agent caused, among those that were shown files; the
    shell's where there is none."""
    asked: set[str] = set()
    for recorded in newest_first(context.store.timeline, kinds=[Seen, Changed, TurnBegan]):
        if recorded.session not in asked and _is_own(recorded):
            if context.store.known(recorded.session):
                return recorded.session
            asked.add(recorded.session)
    return AT_SHELL


def _is_own(recorded: Recorded) -> bool:
    """Return whether a session's agent itself did what a fact says."""
    session, fact = recorded.session, recorded.fact
    if session == NOBODY or archived(session):
        return False
    return not isinstance(fact, Changed) or (
        fact.cause.who == session and not is_rewind(fact.cause)
    )


def knower(context: SessionContext, path: str, usual: str | None = None) -> str | None:
    """Return the session `usual` if it knows a file. Else return the session that learned of the file
    last; sessions that may be present come first. None for a file that no session knows."""
    resolved = located(context, path)
    store = context.store
    row = store.disk(resolved.path)
    names = [resolved.name or resolved.path, row.moved_to if row else None]
    for name in filter(None, names):
        if usual is not None and store.knowledge(usual, name):
            return usual
        at_work = context.knowers(name)
        if at_work:
            return max(at_work, key=lambda session: (at_work[session].position, session))
        asked: set[str] = set()
        for recorded in newest_first(store.timeline, path=name, kinds=[Seen, Changed, Moved]):
            session = recorded.session
            if session in asked or not session or archived(session):
                continue
            if store.knowledge(session, name):
                return session
            asked.add(session)
    return None
