"""Which positions of the timeline a question is about."""

from __future__ import annotations

from sightline.core.events import Changed, GitMoved
from sightline.core.timeline import TURNING
from sightline.store.codec import text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from sightline.core.events import Fact

ANY_SESSION = "session IN (SELECT id FROM sessions)"
"""Lets the index on (session, path) find a path alone; see schema/0001_ground.sql."""

POSITIONS = "SELECT position FROM events"
NAMING = (
    f"{POSITIONS} WHERE {ANY_SESSION} AND path = ?"  # noqa: S608  all ours
    " UNION ALL SELECT position FROM event_paths WHERE path = ?"
)

CHANGES = frozenset((Changed, GitMoved))
"""They name a file in one way each, and the one of them that there are many of has an index."""

CHANGING = (
    f"{POSITIONS} WHERE path = ? AND kind = 'Changed'"  # noqa: S608
    " UNION ALL SELECT position FROM event_paths WHERE path = ?"
)

TURNS = frozenset(TURNING)
TURNED = "kind IN ('SessionForked', 'RewindEnded')"
"""Spelled out, because SQLite takes the index on them for these very words alone."""


def selection(
    *,
    session: str | None,
    path: str | None,
    kinds: Sequence[type[Fact]] | None,
    after: int,
    upto: int | None,
    since: int | None,
    newest: int | None,
) -> tuple[str, list[Any]]:
    """The statement that answers the positions of the facts that meet every condition given, in
    order, with newest the last one first; and its values."""
    where = ["position > ?"]
    values: list[Any] = [after]
    if upto is not None:
        where.append("position <= ?")
        values.append(upto)
    if since is not None:
        where.append("happened_at >= ?")
        values.append(since)
    if session is not None:
        where.append("session = ?")
        values.append(text(session))
    if path is not None and kinds is not None and CHANGES.issuperset(kinds):
        where.append(f"position IN ({CHANGING})")
        values += [text(path)] * 2
    elif path is not None:
        where.append(f"position IN ({NAMING})")
        values += [text(path)] * 2
    if kinds is not None and session is not None and TURNS.issuperset(kinds):
        where.append(TURNED)
    elif kinds is not None:
        where.append(f"kind IN ({','.join('?' * len(kinds))})")
        values += [kind.__name__ for kind in kinds]
        if all("path" not in kind._fields for kind in kinds):
            where += ["path IS NULL", ANY_SESSION]
    sql = f"{POSITIONS} WHERE {' AND '.join(where)} ORDER BY position"
    if newest is not None:
        sql += " DESC LIMIT ?"
        values.append(newest)
    return sql, values
