"""Find a file again that somebody renamed: the same bytes at another path."""

from __future__ import annotations

from sightline.changes.session_context import Known, SessionContext, load_knowledge
from sightline.filesystem.deadline import DeadlinePassed, within
from sightline.filesystem.file_state import FileState, ResolvedPath
from sightline.model.events import Cause, Moved
from sightline.model.revision import MISSING, StatSignature
from sightline.model.revision import known as names_content


def renamed(context: SessionContext, found: FileState, known: Known) -> ResolvedPath | None:
    """Return the new path of a missing file that this session knows, and record Moved; None where
    its bytes are nowhere else, or were there all along."""
    if found.kind != "missing" or known.retargeted:
        return None
    if known.knowledge is None:
        return _followed_before(context, found.path)
    new = RenameFinder(context).find(known.knowledge.path)
    if new is None:
        return None
    moved = Moved(new.path, found.path, new.revision, _cause(context, found.path))
    context.append([moved], found=[new])
    return ResolvedPath(new.path)


def resolve_rename(context: SessionContext, located: ResolvedPath, found: FileState) -> Known:
    """Return this session's knowledge of a path. Where there is none, return its knowledge of the
    missing file that had these bytes, and record Moved."""
    known = load_knowledge(context, located, found)
    now = found.signature
    if known.knowledge is not None or found.kind != "file" or now is None:
        return known
    same = (now.dev, now.ino, now.mtime_ns)
    lost = [
        path
        for path, stamp in context.tracked().stamps.items()
        if stamp.revision == found.revision
        and same == (stamp.signature.dev, stamp.signature.ino, stamp.signature.mtime_ns)
        and context.workspace.stat(path) is None
    ]
    if len(lost) != 1:
        return known
    moved = Moved(found.path, lost[0], found.revision, _cause(context, lost[0]))
    context.append([moved], found=[found])
    return load_knowledge(context, located, found)


def _cause(context: SessionContext, path: str) -> Cause:
    """Return the recorded cause of the loss of a file, which also renamed it."""
    row = context.store.disk(path)
    cause = row.cause if row is not None and row.revision == MISSING else None
    return cause or Cause("external")


def _followed_before(context: SessionContext, path: str) -> ResolvedPath | None:
    """Return the new path of a file that this session found renamed, and knows there. An agent that
    renames a file itself frees the old name."""
    row = context.store.disk(path)
    if row is None or row.moved_to is None:
        return None
    own = context.store.timeline(session=context.session, path=path, kinds=[Moved], newest=1)
    if not any(isinstance(each.fact, Moved) and each.fact.intent is None for each in list(own)):
        return None
    known = context.store.knowledge(context.session, row.moved_to)
    return ResolvedPath(row.moved_to) if known is not None else None


class RenameFinder:
    """Finds where lost files went. It lists all files once, for the first question: a command may
    have removed a hundred.

    A copy is not a rename. A rename keeps the time of a file and changes its inode (the name is part
    of it) after the lost path was last read; a file that is written anew has another time.
    """

    def __init__(self, context: SessionContext) -> None:
        self._context = context
        self._listed: dict[tuple[int, int], list[tuple[str, StatSignature]]] | None = None

    def find(self, path: str) -> FileState | None:
        """Return the one file that has the last known bytes of a path, and was that file."""
        context = self._context
        row = context.store.disk(path)
        stamp = context.store.stamps([path]).get(path)
        if row is None or stamp is None or not names_content(stamp.revision):
            return None
        then = stamp.signature
        same_inode: list[FileState] = []
        others: list[FileState] = []
        for other, now in self._alike(then):
            same = (now.dev, now.ino) == (then.dev, then.ino)
            if same or now.ctime_ns > stamp.read_at_ns:  # it came there after the last read
                found = context.look(other)
                if found.revision == stamp.revision:
                    is_same = found.signature is not None and found.signature.ino == then.ino
                    (same_inode if is_same else others).append(found)
        candidates = same_inode or others
        return candidates[0] if len(candidates) == 1 else None

    def _alike(self, then: StatSignature) -> list[tuple[str, StatSignature]]:
        """Return the files of this size and time; none where listing all files takes too long."""
        if self._listed is None:
            self._listed = {}
            workspace, deadline_s = self._context.workspace, self._context.settings.deadline_s
            try:
                files = within(deadline_s, lambda: list(workspace.walk()))
            except DeadlinePassed:
                files = []
            for path, now in files:
                self._listed.setdefault((now.size, now.mtime_ns), []).append((path, now))
        return self._listed.get((then.size, then.mtime_ns), [])
