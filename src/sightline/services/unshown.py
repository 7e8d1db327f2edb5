"""Unshown: files that no session was shown, told of while somebody watches. Nothing is recorded
of them: nobody's knowledge is touched, and a build would fill the store."""

from __future__ import annotations

from stat import S_ISDIR, S_ISREG

from sightline.core.events import Cause
from sightline.core.revision import MISSING
from sightline.services.entries import Entry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from sightline.core.revision import StatSignature
    from sightline.services.ground import Ground
    from sightline.services.ours import Ours
    from sightline.workspace.watch import Hints


class Unshown:
    """All listed files of a workspace but those of the timeline, as they stood at the last look:
    a number for each, told from what a save changes."""

    def __init__(self, ground: Ground, ours: Ours) -> None:
        self._ground = ground
        self._ours = ours
        self._known = self._standing("")

    def changes(self, hints: Hints) -> Iterator[Entry]:
        """What became of those that hints are about, each as an entry that is on no timeline."""
        paths = {""} if hints.everything else {p for p in hints.paths if not p.startswith(".git/")}
        now: dict[str, int] = {}
        folders: set[str] = set()
        for path in paths:
            found = self._found(path)
            if found is not None and S_ISREG(found.mode):
                now[path] = mark(found)
                continue
            folders.add(path)  # one that is gone may have been a folder
            if not path or (found is not None and S_ISDIR(found.mode)):
                now |= self._standing(f"{path}/" if path else "")
        yield from self._compared(self._before(paths, folders), now)

    def _before(self, paths: set[str], folders: set[str]) -> dict[str, int]:
        """What is known of paths, and of what was below those that may have been folders."""
        if not folders:
            return {path: self._known[path] for path in paths if path in self._known}
        return {
            path: known
            for path, known in self._known.items()
            if path in paths or not folders.isdisjoint(_above(path))
        }

    def _compared(self, before: dict[str, int], now: dict[str, int]) -> Iterator[Entry]:
        for path in sorted(before.keys() | now.keys()):
            if path in self._ours:
                self._known.pop(path, None)
            elif now.get(path) != before.get(path):
                yield self._told(path, before.get(path), now.get(path))

    def _found(self, path: str) -> StatSignature | None:
        workspace = self._ground.workspace
        try:
            return workspace.stat(path) if path and workspace.listed(path) else None
        except OSError:
            return None

    def _standing(self, under: str) -> dict[str, int]:
        listed = self._ground.workspace.walk(under=under)
        return {
            path: mark(found)
            for path, found in listed
            if path not in self._ours and S_ISREG(found.mode)
        }

    def _told(self, path: str, before: int | None, now: int | None) -> Entry:
        if now is None:
            del self._known[path]
        else:
            self._known[path] = now
        kind = "deleted" if now is None else "changed"
        old, new = (MISSING if each is None else None for each in (before, now))
        at = self._ground.clock()
        return Entry(0, at, "", "", kind, path, None, None, old, new, Cause("external"))


def mark(found: StatSignature) -> int:
    """What a save changes of a file, and a change of its mode does not, as one number."""
    return hash((found.size, found.mtime_ns, found.ino))


def _above(path: str) -> Iterator[str]:
    """The folders above a path, the root ("") among them."""
    while path:
        path = path.rpartition("/")[0]
        yield path
