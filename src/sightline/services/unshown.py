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
        for path in [""] if hints.everything else sorted(hints.paths):
            if not path.startswith(".git/"):
                yield from self._compared(path)

    def _compared(self, path: str) -> Iterator[Entry]:
        now = self._now(path)
        below = f"{path}/" if path else ""
        before = {
            each: mark
            for each, mark in self._known.items()
            if each == path or each.startswith(below)
        }
        for each in sorted(before.keys() | now.keys()):
            if each in self._ours:
                self._known.pop(each, None)
            elif now.get(each) != before.get(each):
                yield self._told(each, before.get(each), now.get(each))

    def _now(self, path: str) -> dict[str, int]:
        """What stands at a path that is listed, or below it."""
        workspace = self._ground.workspace
        if not path:
            return self._standing("")
        try:
            found = workspace.stat(path) if workspace.listed(path) else None
        except OSError:
            found = None
        if found is not None and S_ISDIR(found.mode):
            return self._standing(f"{path}/")
        return {path: mark(found)} if found is not None and S_ISREG(found.mode) else {}

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
