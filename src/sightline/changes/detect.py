"""TODO: module docstring"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from sightline.changes.session_context import SessionContext
from sightline.filesystem.file_state import FileState
from sightline.model.events import Cause, Change, Changed, Fact, WriteIntended
from sightline.model.projections import DiskFile
from sightline.model.revision import MISSING, UNKNOWN, Revision, Stamp


class Difference(Struct, frozen=True):
    """A file that is not what the timeline says (row). found: how it was looked at; after: what
    stands there."""

    row: DiskFile
    found: FileState
    after: Revision


def differing(ground: SessionContext, found: FileState) -> Difference | None:
    """A file that is not what the timeline says.

    Others write and record while this looks. So the disk is looked at once more, between two
    looks at the timeline: what was found before a write is no change that came after it.
    """
    row = ground.store.disk(found.path)
    if row is None or found.kind == "unreadable" or row.revision == _standing(found):
        return None
    after = _standing(found if _untouched(ground, found) else ground.look(found.path))
    writing = any(_makes(pending.fact, found.path, after) for pending in ground.store.pending())
    if writing or after != _standing(found) or ground.store.disk(found.path) != row:
        return None
    return Difference(row, found, after)


def changed(difference: Difference, cause: Cause) -> Changed:
    """The fact of a difference."""
    row, found = difference.row, difference.found
    mode = found.signature.mode if found.signature else None
    what = change(row.revision, found.revision) if found.kind in ("file", "missing") else "kind"
    path, target = found.path, found.target
    return Changed(path, row.revision, difference.after, what, cause, mode, target=target)


def bytes_of(ground: SessionContext, difference: Difference) -> bytes | None:
    """The bytes that stand there, looked at again where the look did not ask for them."""
    found = difference.found
    if found.data is not None or found.kind != "file":
        return found.data
    again = ground.look(found.path)
    return again.data if again.revision == difference.after else None


def _untouched(ground: SessionContext, found: FileState) -> bool:
    """Whether one stat says that nothing touched the file since it was read."""
    try:
        return found.signature is not None and ground.workspace.stat(found.path) == found.signature
    except OSError:
        return False


def _standing(found: FileState) -> str:
    return found.revision if found.kind in ("file", "missing") else UNKNOWN


def _makes(fact: Fact, path: str, after: str) -> bool:
    """Whether a write under way leaves these bytes at this path: new ones, or none after a move."""
    if not isinstance(fact, WriteIntended):
        return False
    return (path, after) in ((fact.path, fact.after), (fact.src, MISSING))


def change(before: str, after: str) -> Change:
    """What becomes of a file between two revisions."""
    if after == MISSING:
        return "deleted"
    return "created" if before == MISSING else "content"


def doubtful(
    ground: SessionContext,
    rows: dict[str, DiskFile],
    stamps: dict[str, Stamp],
) -> Iterator[FileState]:
    """Read the files for which no stamp of the timeline's bytes vouches."""
    sure = {p: s for p, s in stamps.items() if p in rows and s.revision == rows[p].revision}
    if sure:
        yield from ground.workspace.scan(sure, deadline_s=ground.settings.deadline_s)
    for path, row in rows.items():
        if path in sure:
            continue
        if not (row.revision == MISSING and _is_gone(ground, path)):
            yield ground.look(path)


def _is_gone(ground: SessionContext, path: str) -> bool:
    try:
        return ground.workspace.stat(path) is None
    except OSError:
        return True  # nothing can be told of it
