"""Following a rename: the bytes that were shown, found at another path."""

from __future__ import annotations

from sightline.changes.session_context import Known, SessionContext, load_knowledge
from sightline.filesystem.deadline import DeadlinePassed, within
from sightline.filesystem.file_state import FileState, ResolvedPath
from sightline.model.events import Cause, Moved
from sightline.model.projections import Knowledge
from sightline.model.revision import MISSING, Stamp, StatSignature
from sightline.model.revision import known as names_content

Alike = dict[tuple[int, int], list[tuple[str, StatSignature]]]
"""Size and time of modification -> the files that have them."""


def renamed(ground: SessionContext, found: FileState, known: Known) -> ResolvedPath | None:
    """Where a missing file of this session's was renamed to, recorded as Moved; None when its
    bytes stand nowhere else, or where they stood all along."""
    if found.kind != "missing" or known.retargeted:
        return None
    if known.knowledge is None:
        return _followed_before(ground, found.path)
    where = whereabouts(ground, known.knowledge)
    if where is None:
        return None
    moved = Moved(where.path, found.path, where.revision, _cause(ground, found.path))
    ground.append([moved], found=[where])
    return ResolvedPath(where.path)


def resolve_rename(ground: SessionContext, located: ResolvedPath, found: FileState) -> Known:
    """What this session knows of a path; when that is nothing, what it knows of the missing file
    that these bytes were, recorded as Moved."""
    known = load_knowledge(ground, located, found)
    if known.knowledge is not None or found.kind != "file" or found.signature is None:
        return known
    was = [path for path, stamp in ground.tracked().stamps.items() if _is(found, stamp)]
    gone = [path for path in was if ground.workspace.stat(path) is None]
    if len(gone) != 1:
        return known
    moved = Moved(found.path, gone[0], found.revision, _cause(ground, gone[0]))
    ground.append([moved], found=[found])
    return load_knowledge(ground, located, found)


def _cause(ground: SessionContext, path: str) -> Cause:
    """Who renamed a file: whoever it was lost by, where that is on record."""
    row = ground.store.disk(path)
    known = row.cause if row is not None and row.revision == MISSING else None
    return known or Cause("external")


def _is(found: FileState, stamp: Stamp) -> bool:
    now, then = found.signature, stamp.signature
    if now is None or found.revision != stamp.revision:
        return False
    return (now.dev, now.ino, now.mtime_ns) == (then.dev, then.ino, then.mtime_ns)


def _followed_before(ground: SessionContext, path: str) -> ResolvedPath | None:
    """Where a file that this session knows went when somebody else renamed it; an agent's own
    rename frees the old name."""
    row = ground.store.disk(path)
    if row is None or row.moved_to is None or row.cause is None or row.cause.kind == "agent":
        return None
    there = ground.store.knowledge(ground.session, row.moved_to)
    return ResolvedPath(row.moved_to) if there is not None else None


def whereabouts(ground: SessionContext, knowledge: Knowledge) -> FileState | None:
    """The one file that has the bytes last known of a path, and was that file; see Places."""
    return RenameFinder(ground).find(knowledge)


class RenameFinder:
    """Where files stand now, listed once for all that are asked about together, and only when the
    first is: a command may have removed a hundred.

    A twin is not a rename. Renaming keeps a file's time, and changes its inode (the name is part
    of it) after the lost path was last read; a file written anew has another time.
    """

    def __init__(self, ground: SessionContext) -> None:
        self._ground = ground
        self._alike: Alike | None = None

    def find(self, knowledge: Knowledge) -> FileState | None:
        """The one file that has the bytes last known of a path, and was that file."""
        ground = self._ground
        row = ground.store.disk(knowledge.path)
        stamp = ground.store.stamps([knowledge.path]).get(knowledge.path)
        if row is None or stamp is None or not names_content(stamp.revision):
            return None
        places = [
            there
            for path, signature in self._like(stamp.signature)
            if _came_since(signature, stamp)
            if (there := ground.look(path)).revision == stamp.revision
        ]
        same = [p for p in places if p.signature and p.signature.ino == stamp.signature.ino]
        places = same or places
        return places[0] if len(places) == 1 else None

    def _like(self, then: StatSignature) -> list[tuple[str, StatSignature]]:
        """The files of this size and time; none where listing them all takes too long."""
        if self._alike is None:
            self._alike = {}
            for path, now in self._listed():
                self._alike.setdefault((now.size, now.mtime_ns), []).append((path, now))
        return self._alike.get((then.size, then.mtime_ns), [])

    def _listed(self) -> list[tuple[str, StatSignature]]:
        ground = self._ground
        try:
            return within(ground.settings.deadline_s, lambda: list(ground.workspace.walk()))
        except DeadlinePassed:
            return []


def _came_since(signature: StatSignature, stamp: Stamp) -> bool:
    """Whether a file of the same time came to its place after the lost one was last read."""
    same = (signature.dev, signature.ino) == (stamp.signature.dev, stamp.signature.ino)
    return same or signature.ctime_ns > stamp.read_at_ns
