"""Reading many files of which a look said a moment ago how they stand: four system calls each.

The stat of the look is the one before the bytes were read, and one after them has to say the same. A
file of which it does not is read by itself (workspace.reading), as is one that cannot be opened.
"""

from __future__ import annotations

import os
from contextlib import closing

from sightline.workspace.folder import HELD, SEARCH
from sightline.workspace.syscalls import READ

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sightline.workspace.syscalls import Calls
    from sightline.workspace.tree import Row


def gather(
    calls: Calls, root: str, asked: Iterable[tuple[str, Row]]
) -> Iterator[tuple[str, Row, bytes | None]]:
    """Each file with its bytes, where it stands as its row says; None where it does not, or cannot
    be read. It is quickest where files of one folder come one after the other."""
    if not HELD:
        yield from ((path, row, None) for path, row in asked)
        return
    with closing(_Descent(calls, root)) as descent:
        for path, row in asked:
            try:
                data = _bytes(calls, descent, path, row)
            except OSError:
                data = None
            yield path, row, data


def _bytes(calls: Calls, descent: _Descent, path: str, row: Row) -> bytes | None:
    cut = path.rfind("/") + 1
    fd = calls.open(path[cut:], READ, dir_fd=descent.to(path[:cut]))
    try:
        data = calls.read(fd, row[0] + 1)  # type: ignore[operator]
        now = calls.fstat(fd)
    finally:
        os.close(fd)
    same = (
        len(data) == row[0] == now.st_size
        and now.st_mtime_ns == row[1]
        and now.st_ctime_ns == row[2]
        and now.st_dev == row[3]
        and now.st_ino == row[4]
        and now.st_mode == row[5]
    )
    return data if same else None


class _Descent:
    """The folder of one path after the other, held open with those above it, so that only what
    differs is opened. As in Folder, no step down follows a symlink."""

    def __init__(self, calls: Calls, root: str) -> None:
        self._calls = calls
        self._folder = ""
        self._parts: list[str] = []
        self._held = [calls.open(root, SEARCH & ~os.O_NOFOLLOW)]

    def to(self, folder: str) -> int:
        """A descriptor of a folder below the root, "" or ending in "/". OSError when it is not
        there any more."""
        if folder != self._folder:
            self._folder = "?"  # where it fails, none
            self._go(folder.split("/")[:-1])
            self._folder = folder
        return self._held[-1]

    def close(self) -> None:
        """Let go of all of them."""
        self._up(0)
        os.close(self._held.pop())

    def _go(self, parts: Sequence[str]) -> None:
        same = 0
        while same < len(self._parts) and self._parts[same : same + 1] == parts[same : same + 1]:
            same += 1
        self._up(same)
        for part in parts[same:]:
            self._held.append(self._calls.open(part, SEARCH, dir_fd=self._held[-1]))
            self._parts.append(part)

    def _up(self, depth: int) -> None:
        while len(self._parts) > depth:
            self._parts.pop()
            os.close(self._held.pop())
