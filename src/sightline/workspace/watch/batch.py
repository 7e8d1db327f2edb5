"""What one reading of inotify's queue amounts to, each name once however often it was written."""

from __future__ import annotations

from sightline.workspace.watch.inotify import (
    CREATE,
    DELETE_SELF,
    IGNORED,
    ISDIR,
    MOVE_SELF,
    MOVED_FROM,
    MOVED_TO,
    OVERFLOW,
    UNMOUNT,
    events,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sightline.workspace.watch import Lost

AS_FILE, AS_FOLDER = 1, 2
_FATES: tuple[tuple[int, Lost], ...] = (
    (DELETE_SELF, "gone"),
    (MOVE_SELF, "moved"),
    (UNMOUNT, "unmounted"),
)


class Batch:
    """touched: watch -> name -> AS_FILE or AS_FOLDER or both, as what the name was seen.
    came, left: folders that appeared or were renamed away, as (watch, name). ended: watches that
    are no more. fates: watch -> what became of its folder itself."""

    def __init__(self, data: bytes) -> None:
        self.touched: dict[int, dict[bytes, int]] = {}
        self.came: list[tuple[int, bytes]] = []
        self.left: list[tuple[int, bytes]] = []
        self.ended: list[int] = []
        self.fates: dict[int, Lost] = {}
        self.overflow = False
        for watch, mask, name in events(data):
            if name:
                names = self.touched.setdefault(watch, {})
                names[name] = names.get(name, 0) | (AS_FOLDER if mask & ISDIR else AS_FILE)
                if mask & ISDIR:
                    self._folder(watch, mask, name)
            else:
                self._own(watch, mask)

    def _folder(self, watch: int, mask: int, name: bytes) -> None:
        if mask & MOVED_FROM:
            self.left.append((watch, name))
        elif mask & (CREATE | MOVED_TO):
            self.came.append((watch, name))

    def _own(self, watch: int, mask: int) -> None:
        if mask & OVERFLOW:
            self.overflow = True
        elif mask & IGNORED:
            self.ended.append(watch)
        for bit, fate in _FATES:
            if mask & bit:
                self.fates[watch] = fate
