"""A file that is not there any more, as its agent knows: a whole write makes it anew.

Hosts have one tool to write over a file and to create one. So whoever writes a file that was
deleted or renamed is told so, once; an agent that did it itself, or was told, means a new file.
"""

from __future__ import annotations

from sightline.changes.session_context import SessionContext
from sightline.model.events import Belief, NoticeAcknowledged, Told
from sightline.model.revision import MISSING

NOTHING_BELIEVED = Belief(MISSING, (), (), 0)


def known_gone(ground: SessionContext, path: str) -> bool:
    """Whether this session's agent took a file away itself, or was told that it is gone."""
    row = ground.store.disk(path)
    if row is None or row.revision != MISSING:
        return False  # not noticed yet: news to the agent
    own = row.cause is not None and row.cause.who == ground.session
    return own or _acknowledged_since(ground, path, row.position)


def told_gone(ground: SessionContext, path: str) -> Told | None:
    """What words that a file is gone tell."""
    row = ground.store.disk(path)
    return Told(path, MISSING, None, row.position, refusal=True) if row else None


def count_gone(ground: SessionContext, told: Told, notice: str) -> None:
    """Count such words as heard. What was shown of the file stays as it was."""
    if not _acknowledged_since(ground, told.path, told.position):
        known = ground.store.knowledge(ground.session, told.path)
        belief = known.belief if known else NOTHING_BELIEVED
        ground.append([NoticeAcknowledged(notice, told.path, belief, told.revision)])


def _acknowledged_since(ground: SessionContext, path: str, position: int) -> bool:
    heard = ground.store.timeline(
        session=ground.session, path=path, kinds=[NoticeAcknowledged], newest=1
    )
    last = next(iter(heard), None)
    return last is not None and last.position > position
