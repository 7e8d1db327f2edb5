"""Find files that differ from the timeline, while other sessions may write and record."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from sightline.changes.session_context import SessionContext
from sightline.filesystem.file_state import FileState
from sightline.filesystem.process import alive
from sightline.model.events import Cause, Change, Changed, WriteIntended
from sightline.model.projections import DiskFile
from sightline.model.revision import MISSING, UNKNOWN, Revision, Stamp
from sightline.model.timeline import Recorded


class Difference(Struct, frozen=True):
    """A file that differs from its disk row on the timeline. found: the file as it was read; after:
    its revision now."""

    row: DiskFile
    found: FileState
    after: Revision

    @property
    def path(self) -> str:
        return self.found.path

    @property
    def mode(self) -> int | None:
        return self.found.signature.mode if self.found.signature else None


def differing(context: SessionContext, found: FileState) -> Difference | None:
    """Return the difference of a file from the timeline; None where there is none.

    Others write and record meanwhile. So this reads the disk once more, between two reads of the
    timeline: a file that was read before a recorded write is no change after that write.
    """
    row, stands = context.store.disk(found.path), _revision(found)
    if row is None or found.kind == "unreadable" or row.revision == stands:
        return None
    after = stands if _is_untouched(context, found) else _revision(context.look(found.path))
    if after != stands:
        return None
    for pending in context.store.pending():
        write = pending.fact
        if isinstance(write, WriteIntended) and (found.path, after) in (
            (write.path, write.after),
            (write.src, MISSING),  # a move under way
        ):
            return None
    return Difference(row, found, after) if context.store.disk(found.path) == row else None


def host_writes(context: SessionContext, path: str) -> list[Recorded]:
    """Return the writes of a file that the hosts of other sessions are carrying out."""
    return [
        pending
        for pending in context.store.pending()
        if isinstance(pending.fact, WriteIntended)
        and (pending.fact.path, pending.fact.aside, pending.fact.src) == (path, (), None)
        and pending.session != context.session
    ]


def being_recorded(context: SessionContext, found: FileState) -> Changed | None:
    """Return the write of another session's host that left a file as it was found, and that its own hook
    has not recorded yet; None where there is none, or where that host has ended."""
    for pending in host_writes(context, found.path):
        fact = pending.fact
        if isinstance(fact, WriteIntended) and fact.after == found.revision and alive(fact.owner):
            kind, cause = change(fact.before, fact.after), Cause("agent", pending.session)
            return Changed(found.path, fact.before, fact.after, kind, cause)
    return None


def changed(difference: Difference, cause: Cause) -> Changed:
    """Return the fact of a difference."""
    row, found = difference.row, difference.found
    kind = change(row.revision, found.revision) if found.kind in ("file", "missing") else "kind"
    return Changed(
        found.path,
        row.revision,
        difference.after,
        kind,
        cause,
        difference.mode,
        target=found.target,
    )


def bytes_of(context: SessionContext, difference: Difference) -> bytes | None:
    """Return the bytes of the file now, read again where the scan did not read them."""
    found = difference.found
    if found.data is not None or found.kind != "file":
        return found.data
    again = context.look(found.path)
    return again.data if again.revision == difference.after else None


def _is_untouched(context: SessionContext, found: FileState) -> bool:
    """Return whether one stat shows that nothing touched the file since it was read."""
    try:
        return found.signature is not None and context.workspace.stat(found.path) == found.signature
    except OSError:
        return False


def _revision(found: FileState) -> Revision:
    return found.revision if found.kind in ("file", "missing") else UNKNOWN


def change(before: Revision, after: Revision) -> Change:
    """Return the kind of change from one revision to another."""
    if after == MISSING:
        return "deleted"
    return "created" if before == MISSING else "content"


def doubtful(
    context: SessionContext, rows: dict[str, DiskFile], stamps: dict[str, Stamp]
) -> Iterator[FileState]:
    """Read the files that may differ from the timeline: no stamp of their bytes matches."""
    sure = {p: s for p, s in stamps.items() if p in rows and s.revision == rows[p].revision}
    if sure:
        yield from context.workspace.scan(sure, deadline_s=context.settings.deadline_s)
    for path in [path for path in rows if path not in sure]:
        if rows[path].revision != MISSING or not _is_gone(context, path):
            yield context.look(path)


def _is_gone(context: SessionContext, path: str) -> bool:
    try:
        return context.workspace.stat(path) is None
    except OSError:
        return True  # nobody can tell
