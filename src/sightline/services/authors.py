"""Who changed a file, as one session sees it. For wording only: it never decides a verdict."""

from __future__ import annotations

from sightline import render
from sightline.core.context import git_cause
from sightline.core.events import Changed, GitMoved
from sightline.core.timeline import archived
from sightline.services.results import ChangedBy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from sightline.core.events import Cause, Fact
    from sightline.core.timeline import Recorded
    from sightline.services.ground import Ground


def changed_by(
    ground: Ground, path: str, news: Sequence[Fact] = ()
) -> tuple[str, ChangedBy | None]:
    """Who, other than this session, last changed a file: in words and as a value."""
    for fact in news:
        made = cause_of(fact, path)
        if made is not None:
            return render.cause(made, ground.session), by(made, ground.clock(), ground)
    known = ground.store.knowledge(ground.session, path)
    for recorded in _newest_first(ground, path):
        made = cause_of(recorded.fact, path)
        if known is not None and recorded.position < known.first_position:
            break
        if made is not None and not _own(made, ground):
            who = render.cause(made, ground.session)
            return who, by(made, recorded.happened_at, ground)
    return render.cause(None, ground.session), None


def cause_of(fact: Fact, path: str) -> Cause | None:
    """Who changed a file, by a fact; None where the fact tells of no change of it."""
    if isinstance(fact, GitMoved) and path in fact.paths:
        return git_cause(fact)
    return fact.cause if isinstance(fact, Changed) and fact.path == path else None


KINDS: list[type[Fact]] = [Changed, GitMoved]

RECENT = 50
"""How many changes of a file are looked through for the last one by somebody else."""


def _newest_first(ground: Ground, path: str) -> Iterator[Recorded]:
    """Changes of a file. The disk view says where the newest stands: looking for it among all
    that was ever recorded of the file takes milliseconds where that is a lot."""
    row = ground.store.disk(path)
    if row is None or row.cause is None:
        return  # looked at, and never changed
    yield from ground.store.timeline(after=row.position - 1, upto=row.position)
    older = ground.store.timeline(path=path, kinds=KINDS, upto=row.position - 1, newest=RECENT)
    yield from (each for each in reversed(list(older)) if not archived(each.session))


def _own(cause: Cause, ground: Ground) -> bool:
    return cause.kind == "agent" and cause.who == ground.session


def by(cause: Cause, at: int, ground: Ground) -> ChangedBy:
    """A cause as this session sees it: another session's agent is a session to it."""
    foreign = cause.kind == "agent" and cause.who != ground.session
    kind = "session" if foreign else cause.kind
    return ChangedBy(kind, cause.who, moment(at), cause.detail, cause.confidence)


def moment(at: int) -> datetime:
    """Microseconds since 1970 as an aware UTC datetime."""
    from datetime import UTC, datetime

    return datetime.fromtimestamp(at / 1_000_000, UTC)
