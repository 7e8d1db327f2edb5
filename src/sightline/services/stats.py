"""How a workspace's searches for files went: a view of the timeline, like the others."""

from __future__ import annotations

from sightline.core.finding.success import FACTS, FindStats, counted
from sightline.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sightline.store import Store


class Stats(Value):
    """What is counted. find: how searches by patterns went."""

    find: FindStats = FindStats()


def stats(store: Store, session: str | None = None) -> Stats:
    """Of one session, or of all."""
    return Stats(counted(store.timeline(session=session, kinds=FACTS)))
