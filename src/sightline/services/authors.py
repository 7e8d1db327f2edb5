"""Who changed a file, as one session sees it. For wording only: it never decides a verdict."""

from __future__ import annotations

from sightline import render
from sightline.core.events import Changed
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
        if isinstance(fact, Changed):
            return render.cause(fact.cause, ground.session), by(fact.cause, ground.clock(), ground)
    known = ground.store.knowledge(ground.session, path)
    for recorded in _newest_first(ground, path):
        fact = recorded.fact
        if known is not None and recorded.position < known.first_position:
            break
        if isinstance(fact, Changed) and not _own(fact.cause, ground):
            who = render.cause(fact.cause, ground.session)
            return who, by(fact.cause, recorded.happened_at, ground)
    return render.cause(None, ground.session), None


RECENT = 50
"""How many changes of a file are looked through for the last one by somebody else."""


def _newest_first(ground: Ground, path: str) -> Iterator[Recorded]:
    """Changes of a file. The disk view says where the newest stands: looking for it among all
    that was ever recorded of the file takes milliseconds where that is a lot."""
    row = ground.store.disk(path)
    if row is None or row.cause is None:
        return  # looked at, and never changed
    yield from ground.store.timeline(after=row.position - 1, upto=row.position)
    older = ground.store.timeline(path=path, kinds=[Changed], upto=row.position - 1, newest=RECENT)
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
