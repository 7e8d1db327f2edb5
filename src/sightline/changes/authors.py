"""Who changed a file, as one session sees it. For wording only: it never decides a verdict."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from msgspec import structs

from sightline.changes import words
from sightline.changes.cause_rules import REWOUND  # most hooks are about none such
from sightline.changes.session_context import SessionContext
from sightline.model.events import Cause, Changed, Fact, GitMoved, RewindEnded
from sightline.model.projections import Knowledge, git_cause
from sightline.model.results import ChangedBy
from sightline.model.timeline import Recorded, archived
from sightline.text import phrases


def changed_by(
    ground: SessionContext, path: str, news: Sequence[Fact] = ()
) -> tuple[str, ChangedBy | None]:
    """Who changed a file other than by an edit that this session knows of, the last one first: in
    words, and the last one as a value. news: changes that are not recorded yet."""
    known = ground.store.knowledge(ground.session, path)
    last = _last(ground, path, news, known)
    if last is None:
        return words.cause(None, ground.session), None
    made, at, position = last
    said = [words.cause(made, ground.session)]
    if known is not None and known.position < position - 1:
        for recorded in reversed(_between(ground, path, known.position, position)):
            earlier = _foreign(ground, recorded, path, known)
            if earlier is not None:
                said.append(words.cause(earlier, ground.session))
    return phrases.in_turn(list(dict.fromkeys(said))), by(made, at, ground)


def _last(
    ground: SessionContext, path: str, news: Sequence[Fact], known: Knowledge | None
) -> tuple[Cause, int, int] | None:
    """The last change that this session does not know: its cause, when it happened, and its
    position."""
    for fact in news:
        made = cause_of(fact, path)
        if made is not None:
            return made, ground.clock(), ground.store.position() + 1
    for recorded in _newest_first(ground, path):
        if known is not None and recorded.position < known.first_position:
            break
        made = _foreign(ground, recorded, path, known)
        if made is not None:
            return made, recorded.happened_at, recorded.position
    return None


def _foreign(
    ground: SessionContext, recorded: Recorded, path: str, known: Knowledge | None
) -> Cause | None:
    """Who made a change that this session does not know; None where it does. Its own are such
    once its conversation was taken back to before them."""
    made = cause_of(recorded.fact, path)
    if made is None or not _own(made, ground):
        return made
    if known is not None and known.position >= recorded.position:
        return None
    back = ground.store.timeline(
        session=ground.session, kinds=[RewindEnded], after=recorded.position, newest=1
    )
    if next(iter(back), None) is None:
        return None

    return structs.replace(made, detail=REWOUND)


def _between(ground: SessionContext, path: str, after: int, before: int) -> list[Recorded]:
    """Changes of a file behind one position and before another, oldest first."""
    log = ground.store.timeline(path=path, kinds=KINDS, after=after, upto=before - 1, newest=RECENT)
    return [each for each in log if not archived(each.session)]


def cause_of(fact: Fact, path: str) -> Cause | None:
    """Who changed a file, by a fact; None where the fact tells of no change of it."""
    if isinstance(fact, GitMoved) and path in fact.paths:
        return git_cause(fact)
    return fact.cause if isinstance(fact, Changed) and fact.path == path else None


KINDS: list[type[Fact]] = [Changed, GitMoved]

RECENT = 50
"""How many changes of a file are looked through for the last one by somebody else."""


def _newest_first(ground: SessionContext, path: str) -> Iterator[Recorded]:
    """Changes of a file. The disk view says where the newest stands: looking for it among all
    that was ever recorded of the file takes milliseconds where that is a lot."""
    row = ground.store.disk(path)
    if row is None or row.cause is None:
        return  # looked at, and never changed
    yield from ground.store.timeline(after=row.position - 1, upto=row.position)
    older = ground.store.timeline(path=path, kinds=KINDS, upto=row.position - 1, newest=RECENT)
    yield from (each for each in reversed(list(older)) if not archived(each.session))


def _own(cause: Cause, ground: SessionContext) -> bool:
    return cause.kind == "agent" and cause.who == ground.session


def by(cause: Cause, at: int, ground: SessionContext) -> ChangedBy:
    """A cause as this session sees it: another session's agent is a session to it."""
    foreign = cause.kind == "agent" and cause.who != ground.session
    kind = "session" if foreign else cause.kind
    return ChangedBy(kind, cause.who, moment(at), cause.detail, cause.confidence)


def moment(at: int) -> datetime:
    """Microseconds since 1970 as an aware UTC datetime."""
    return datetime.fromtimestamp(at / 1_000_000, UTC)
