"""How a workspace's searches for files went: a view of the timeline, like the others."""

from __future__ import annotations

from sightline.core.finding.success import FACTS, Stats, counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sightline.store import Store


def stats(store: Store, session: str | None = None) -> Stats:
    """Of one session, or of all."""
    return Stats(counted(store.timeline(session=session, kinds=FACTS)))
