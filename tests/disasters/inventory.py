"""All that git keeps below a folder, so that a test can say that nothing of it was touched."""

from __future__ import annotations

import os
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from tempfile import TemporaryFile

GIT = ".git"


class Kept(dict[str, tuple[object, ...]]):
    """Path -> identity, rights, times, bytes and names, of every `.git` and of all in it."""


def inventory(folder: Path) -> Kept:
    """Every `.git` at or below a folder, as it is now.

    The time of the last change of a file's record is among it, which no program can set: a name
    that was away for a moment, or was written and put back, shows. File systems tell time in
    ticks, so this returns only when a change would have another time.
    """
    found = Kept()
    for where, folders, files in os.walk(folder):
        inside = GIT in Path(where).parts
        for name in [*folders, *files]:
            if inside or name == GIT:
                path = Path(where, name)
                found[str(path)] = _told(path)
    if GIT in folder.parts:
        found[str(folder)] = _told(folder)
    newest = _tick(folder.parent)
    while _tick(folder.parent) == newest:
        pass
    return found


def _told(path: Path) -> tuple[object, ...]:
    stat = path.lstat()
    content = path.read_bytes() if S_ISREG(stat.st_mode) else b""
    names = sorted(os.listdir(path)) if S_ISDIR(stat.st_mode) else []
    times = stat.st_mtime_ns, stat.st_ctime_ns
    return stat.st_ino, stat.st_mode, stat.st_nlink, times, content, names


def _tick(folder: Path) -> int:
    """The file system's time."""
    with TemporaryFile(dir=folder) as made:
        return os.fstat(made.fileno()).st_ctime_ns
