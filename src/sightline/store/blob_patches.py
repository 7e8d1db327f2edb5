"""Texts that differ from an older one in one place: only that place is kept, and which text it is of.

Most texts are an edit of the one before, and a whole row for each of them would be most of a
store. Where the older one is forgotten, what rests on it is kept otherwise first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sightline.model.revision import Revision
from sightline.model.value import Value
from sightline.store.codec import raw

Run = Callable[[str, Sequence[Any]], list[Any]]
Step = tuple[int, int, str, bytes]
"""head, tail, form and body of a patch."""

WORTH = 4
"""The place is to be this much smaller than the text, which packed is about a third."""

DEPTH_MAX = 16
"""Texts from one to a whole one, each resting on the next: each takes a look into the store."""

PUT = "INSERT OR IGNORE INTO patched VALUES (?,?,?,?,?,?,?)"
STEPS = f"""
  WITH RECURSIVE step (depth, base, head, tail, form, body) AS (
    SELECT 1, base, head, tail, form, body FROM patched WHERE revision = ?
    UNION ALL
    SELECT step.depth + 1, patched.base, patched.head, patched.tail, patched.form, patched.body
    FROM step JOIN patched ON revision = step.base WHERE step.depth < {DEPTH_MAX}
  )
  SELECT * FROM step ORDER BY depth
"""  # noqa: S608  all ours


class Patch(Value):
    """A text as what it has in place of a part of another. head, tail: bytes that both begin and
    end with; form, body: what stands between, packed; data: all of it."""

    revision: Revision
    base: Revision
    head: int
    tail: int
    form: str
    body: bytes
    data: bytes


def patch(
    revision: Revision,
    data: bytes,
    base: Revision,
    before: bytes,
    packed: Callable[[bytes], tuple[str, bytes]],
) -> Patch | None:
    """A text as a patch of another; None where that would not be worth it."""
    head = _alike(before, data, lambda text, low, high: text[low:high])
    was, rest = before[head:], data[head:]
    tail = _alike(was, rest, lambda text, low, high: text[len(text) - high : len(text) - low])
    middle = rest[: len(rest) - tail]
    if WORTH * len(middle) > len(data):
        return None
    return Patch(revision, base, head, tail, *packed(middle), data)


def patched(before: bytes, head: int, tail: int, middle: bytes) -> bytes:
    """The text that a patch makes of another."""
    return b"".join((before[:head], middle, before[len(before) - tail :]))


class Patches:
    """The table patched. run: one statement on its connection."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def put(self, patch: Patch) -> bool:
        """Keep a patch of a text that is kept; False when too many lead to that already. Inside a
        transaction."""
        rows = self._run("SELECT depth FROM patched WHERE revision = ?", (raw(patch.base),))
        depth = rows[0][0] + 1 if rows else 1
        if depth > DEPTH_MAX:
            return False
        place = (patch.head, patch.tail, patch.form, patch.body)
        self._run(PUT, (raw(patch.revision), raw(patch.base), depth, *place))
        return True

    def steps(self, revision: Revision) -> tuple[Revision, list[Step]]:
        """The whole text that one rests on, and the patches that lead from it to the one, the last
        first; none of a text that is no patch."""
        rows = self._run(STEPS, (raw(revision),))
        return rows[-1][1].hex() if rows else revision, [row[2:] for row in rows]

    def base(self, revision: Revision) -> Revision | None:
        """What a text rests on; None when it is no patch."""
        rows = self._run("SELECT base FROM patched WHERE revision = ?", (raw(revision),))
        return rows[0][0].hex() if rows else None

    def resting(self, revision: Revision) -> list[Revision]:
        """The texts that rest on this one."""
        rows = self._run("SELECT revision FROM patched WHERE base = ?", (raw(revision),))
        return [each.hex() for (each,) in rows]

    def remove(self, revision: Revision) -> None:
        """Forget a patch, if it is one. Inside a transaction."""
        self._run("DELETE FROM patched WHERE revision = ?", (raw(revision),))

    def kept(self) -> list[tuple[Revision, int]]:
        """Every patch, with the bytes of its middle."""
        rows = self._run("SELECT revision, length(body) FROM patched", ())
        return [(revision.hex(), size) for revision, size in rows]


def _alike(one: bytes, other: bytes, part: Callable[[bytes, int, int], bytes]) -> int:
    """How many bytes are the same from the end on that `part` counts from."""
    low, high = 0, min(len(one), len(other))
    if part(one, low, high) == part(other, low, high):
        return high
    while high - low > 1:
        middle = (low + high) // 2
        if part(one, low, middle) == part(other, low, middle):
            low = middle
        else:
            high = middle
    return low
