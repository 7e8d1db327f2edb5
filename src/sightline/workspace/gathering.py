"""Reading many files of which a look said a moment ago how they stand: four system calls each.

The stat of the look is the one before the bytes were read, and one after them has to say the same. A
file of which it does not is read by itself (workspace.reading), as is one that cannot be opened.
"""

from __future__ import annotations

import os
from contextlib import closing

from sightline.workspace.descent import Descent
from sightline.workspace.folder import HELD
from sightline.workspace.syscalls import READ

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

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
    with closing(Descent(calls.open, root)) as descent:
        for path, row in asked:
            try:
                data = _bytes(calls, descent, path, row)
            except OSError:
                data = None
            yield path, row, data


def _bytes(calls: Calls, descent: Descent, path: str, row: Row) -> bytes | None:
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
