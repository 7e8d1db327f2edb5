"""Knowledge that one session takes over from another: all of it (a fork), or some files.

Only text that reached the other agent may be counted there. So a fork is one whose conversation
begins with its parent's, and files are handed over within a family: from who started an agent to
that agent, and back.
"""

from __future__ import annotations

from msgspec import structs

from sightline.changes.session_context import TRIES, Known, SessionContext, believe, load_knowledge
from sightline.changes.session_names import find_session
from sightline.errors import SessionError, StoreConflict
from sightline.filesystem.file_state import ResolvedPath
from sightline.guard.reads import moving
from sightline.model.belief import look
from sightline.model.events import Belief, Fact, Seen, SessionForked, SessionStarted
from sightline.model.projections import Knowledge
from sightline.model.results import HandedOver
from sightline.model.revision import UNKNOWN
from sightline.model.spans import Span, Spans, intersect, spans
from sightline.model.text import decode
from sightline.sessions import words
from sightline.sessions.affected import family
from sightline.sessions.lifecycle import id_for
from sightline.sessions.presence import environment


def fork(ground: SessionContext, agent: str, id: str | None) -> SessionContext:
    """Begin a session that knows all that this one knows now. SessionError if the id exists."""
    session, store = id_for(id), ground.store
    with ground.workspace.lock(f"session {session}"):
        if store.session(session) is not None:
            raise SessionError(f"There is a session {session!r} already.", "Choose another id.")
        state, position = store.session(ground.session), store.position()
        facts: list[Fact] = [
            SessionStarted(agent, ground.session, position),
            SessionForked(ground.session, position),
        ]
        if state is not None and state.owner is not None:
            facts.append(environment(state.owner))
        made = ground.for_session(session)
        made.approve = ground.approve
        made.append(facts)
    return made


def hand_over(
    ground: SessionContext, to: str, paths: list[str] | None, lines: Span | None
) -> tuple[HandedOver, ...]:
    """Count what this session holds of these files (None: of all) as shown to another of its
    family: with this session's very text, so that it is stale where this one is.

    lines: of the text that this session holds, of one file. SessionError for a stranger, for an
    id that is not known, and for a named file of which nothing is held.
    """
    to = find_session(ground.store, to)
    _check_family(ground, to, paths[0] if paths else None)
    if lines is not None and (paths is None or len(paths) != 1):
        raise ValueError("lines belong to one file: name only that file")
    if paths is None:
        every = ground.store.known(ground.session).values()
        return tuple(each for known in every if (each := _give(ground, to, known, None)))
    return tuple(_named(ground, to, path, lines) for path in paths)


def _check_family(ground: SessionContext, to: str, path: str | None) -> None:
    if to == ground.session:
        raise SessionError(
            f"{to!r} is this session itself.", "Name the session that gets the text."
        )
    if family(ground, to) != family(ground, ground.session):
        raise SessionError(*words.not_family(ground.session, to, path))


def _named(ground: SessionContext, to: str, path: str, lines: Span | None) -> HandedOver:
    there = ground.workspace.locate(path)
    known = ground.store.knowledge(ground.session, there.name or there.path)
    given = _give(ground, to, known, lines) if known is not None else None
    if given is None:
        raise SessionError(*words.nothing_held(ground.session, path))
    return given


def _give(
    ground: SessionContext, to: str, known: Knowledge, lines: Span | None
) -> HandedOver | None:
    held = known.belief.held
    held = held if lines is None else intersect(held, spans([lines]))
    if not held and (lines is not None or known.belief.lines):
        return None
    row = ground.store.disk(known.path)
    stood = row.revision if row is not None else UNKNOWN
    receiver = ground.for_session(to)
    for _ in range(TRIES):
        theirs = load_knowledge(receiver, ResolvedPath(known.path))
        belief, body = _after(ground, theirs, known.belief, held)
        seen = Seen(known.path, stood, held, "handover", belief, known.name)
        blobs = ground.keepable(known.path, body)
        try:
            receiver.append([seen], blobs=blobs, expect={known.path: theirs.position})
        except StoreConflict:
            continue
        return HandedOver(known.name or known.path, held)
    raise moving(known.path)


def _after(
    ground: SessionContext, theirs: Known, belief: Belief, held: Spans
) -> tuple[Belief, bytes | None]:
    """Return the receiver's new belief: the giver's text of the lines handed over, else its own.

    If either text is not stored, the text handed over last counts.
    """
    data, own = ground.store.blob(belief.text), theirs.held
    text = decode(data)
    if own is None or data is None or text is None:
        return structs.replace(belief, shown=held, held=held), None
    return believe(look(own, text.lines, held), text, data, belief.text)
