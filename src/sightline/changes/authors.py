"""Find out who changed a file, as one session sees it. For wording only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import dropwhile

from msgspec import structs

from sightline.changes.command_texts import worded
from sightline.changes.detect import being_recorded, host_writes
from sightline.changes.session_context import SessionContext
from sightline.changes.session_names import author
from sightline.model.events import Cause, Changed, Fact, GitMoved, Moved, RewindEnded
from sightline.model.projections import Knowledge, git_cause
from sightline.model.results import ChangedBy, Confidence
from sightline.model.revision import MISSING
from sightline.model.session_ids import archived
from sightline.model.timeline import Recorded, newest_first
from sightline.model.units import moment
from sightline.text import causes, phrases

KINDS: list[type[Fact]] = [Changed, GitMoved, Moved]


def changed_by(
    context: SessionContext, path: str, news: Sequence[Fact] = ()
) -> tuple[str, ChangedBy | None]:
    """Return who changed a file, other than by edits that this session knows of: in words, the last
    author first, and the last author as a value. news: changes that are not recorded yet."""
    known = context.store.knowledge(context.session, path)
    last = _last(context, path, news or _being_recorded(context, path), known)
    if last is None:
        return causes.cause(None, context.session), None
    cause, at, position = last
    authors = [author(context, cause)]
    if known is not None and known.position < position - 1:
        between = context.store.timeline(
            path=path, kinds=KINDS, after=known.position, upto=position - 1
        )
        for recorded in reversed(list(between)):
            earlier = _foreign(context, recorded, path, known)
            if earlier is not None:
                authors.append(author(context, earlier))
    return phrases.in_turn(list(dict.fromkeys(authors))), by(cause, at, context)


def _being_recorded(context: SessionContext, path: str) -> Sequence[Fact]:
    """Return the write of another session's host that stands in a file before its hook recorded it."""
    written = being_recorded(context, context.look(path)) if host_writes(context, path) else None
    return () if written is None else (written,)


def _last(
    context: SessionContext, path: str, news: Sequence[Fact], known: Knowledge | None
) -> tuple[Cause, int, int] | None:
    """Return the cause, the time and the position of the last change that this session does not
    know."""
    for fact in news:
        cause = cause_of(fact, path)
        if cause is not None:
            return cause, context.clock(), context.store.position() + 1
    for recorded, name in _newest_first(context, path):
        if known is not None and recorded.position < known.first_position:
            break
        cause = _foreign(context, recorded, name, known)
        if cause is not None:
            return cause, recorded.happened_at, recorded.position
    return None


def _foreign(
    context: SessionContext, recorded: Recorded, path: str, known: Knowledge | None
) -> Cause | None:
    """Return the cause of a change that this session does not know; else None. Its own edit is
    unknown to it once its conversation was rewound to before the edit."""
    cause = None if archived(recorded.session) else cause_of(recorded.fact, path)
    if cause is None or cause.kind != "agent" or cause.who != context.session:
        return cause
    if known is not None and known.position >= recorded.position:
        return None
    rewinds = context.store.timeline(
        session=context.session, kinds=[RewindEnded], after=recorded.position, newest=1
    )
    return structs.replace(cause, detail=causes.REWOUND) if any(rewinds) else None


def cause_of(fact: Fact, path: str) -> Cause | None:
    """Return the cause of a change or a rename of a file; None for a fact about another file."""
    if isinstance(fact, GitMoved) and path in fact.paths:
        return git_cause(fact)
    if isinstance(fact, Moved) and path in (fact.src, fact.path):
        return fact.cause
    return fact.cause if isinstance(fact, Changed) and fact.path == path else None


def _newest_first(context: SessionContext, path: str) -> Iterator[tuple[Recorded, str]]:
    """Yield changes of a file, each with the path it had then: a rename changes no text. The disk view
    has the position of the newest: searching for it among all facts of the file would take
    milliseconds where there are many."""
    row = context.store.disk(path)
    if row is None or row.cause is None:
        return  # read, and never changed
    newest = context.store.timeline(after=row.position - 1, upto=row.position)
    yield from _along(context, newest, path)


def _along(
    context: SessionContext, facts: Iterable[Recorded], path: str
) -> Iterator[tuple[Recorded, str]]:
    """Yield facts of a file, newest first, then the older ones, across its renames."""
    position = 0
    for recorded in facts:
        fact, position = recorded.fact, recorded.position
        if isinstance(fact, Moved) and fact.path == path:
            path = fact.src
            break
        yield recorded, path
    if position:
        timeline, upto = context.store.timeline, position - 1
        older = newest_first(timeline, upto=upto, path=path, kinds=KINDS)
        yield from _along(context, dropwhile(_is_loss, older), path)


def _is_loss(recorded: Recorded) -> bool:
    """Return whether a fact is the loss of a file, as of the old name behind a rename."""
    return isinstance(recorded.fact, Changed) and recorded.fact.after == MISSING


def by(cause: Cause, at: int, context: SessionContext) -> ChangedBy:
    """Return a cause as this session sees it. For a session, another session's agent is a session.
    at: UTC microseconds."""
    foreign = cause.kind == "agent" and cause.who != context.session
    kind = "session" if foreign else cause.kind
    confidence: Confidence = "certain" if cause.confidence == "certain" else "likely"
    return ChangedBy(kind, cause.who, moment(at), worded(context.store, cause).detail, confidence)
