"""What a session knows, folded from a whole log."""

from __future__ import annotations

from collections.abc import Iterable

from sightline.model.projections import Knowledge, fold_columns
from sightline.model.timeline import Position, Recorded, columns_of


def fold_knowledge(
    log: Iterable[Recorded], session: str, upto: Position | None = None
) -> dict[str, Knowledge]:
    """Fold all that a session knows at a position, or at the end of a log, from nothing."""
    facts = list(log)
    last = upto if upto is not None else max((r.position for r in facts), default=0)
    return fold_columns(columns_of(facts), session, last)
