"""How the entries of one folder stand, by a stat each."""

from __future__ import annotations

import os
from stat import S_ISLNK, S_ISREG
from time import time_ns

from sightline.workspace.scan import SECOND_NS, TICK_NS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sightline.workspace.tree import Row


def rows_of(
    fd: int | None, full: str, names: Sequence[str] | dict[str, Row], known: dict[str, Row]
) -> tuple[dict[str, Row], frozenset[str]]:
    """What a stat says of these entries of a folder, with the contents that known rows vouch for;
    and those that have several names. Those that are gone are left out. The known rows themselves
    where nothing else is to be said. fd: the folder, where it is open; full: its name."""
    lstat, second, racy = os.lstat, SECOND_NS, 2 * TICK_NS
    before = "" if fd is not None else full
    other: dict[str, Row | None] = {}
    linked: list[str] = []
    at_ns = time_ns()
    rows = known.items() if names is known else [(name, known.get(name)) for name in names]
    for name, row in rows:
        try:
            now = lstat(before + name, dir_fd=fd)
        except OSError:
            other[name] = None
            continue
        if now.st_nlink > 1:
            linked.append(name)
        if row is not None:
            # core.revision.compare in place, as in scan: a call per file would double the cost.
            size, modified, changed, device, inode, mode, _, read_at_ns = row
            if (
                changed == now.st_ctime_ns
                and modified == now.st_mtime_ns
                and size == now.st_size
                and inode == now.st_ino
                and mode == now.st_mode
                and device == now.st_dev
                and changed < (settled_ns := read_at_ns - racy)  # type: ignore[operator]
                and modified < settled_ns
                and changed % second
            ):
                continue
        other[name] = _row(before + name, fd, now, at_ns)
    if not other and len(rows) == len(known):
        return known, frozenset(linked)
    found = ((name, other.get(name, row)) for name, row in rows)
    return {name: row for name, row in found if row is not None}, frozenset(linked)


def renewed(
    files: dict[str, Row], asked: Mapping[str, Row], rows: Mapping[str, Row]
) -> dict[str, Row]:
    """All files of a folder, where those that were asked for have these rows, or are gone."""
    gone = asked.keys() - rows.keys()
    return {name: rows.get(name, row) for name, row in files.items() if name not in gone}


def _row(name: str, fd: int | None, now: os.stat_result, at_ns: int) -> Row | None:
    """What a stat says of an entry; None for what is neither a file nor a symlink."""
    mode = now.st_mode
    if not (S_ISLNK(mode) or S_ISREG(mode)):
        return None
    content = _target(name, fd) if S_ISLNK(mode) else ""
    times = now.st_mtime_ns, now.st_ctime_ns
    return [now.st_size, *times, now.st_dev, now.st_ino, mode, content, at_ns]


def _target(name: str, fd: int | None) -> str:
    try:
        return os.readlink(name, dir_fd=fd)
    except OSError:
        return ""
