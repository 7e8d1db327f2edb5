"""Find out whether a tree's file system sends events: by its type, or else by a file that is made
and removed."""

from __future__ import annotations

import os

from sightline.filesystem.folder import ASIDE
from sightline.filesystem.mounts import NETWORK, TABLE, file_system, mounted
from sightline.filesystem.watch.inotify import Inotify, events

LOCAL = frozenset(
    (
        *("bcachefs", "btrfs", "ecryptfs", "exfat", "ext2", "ext3", "ext4", "f2fs"),
        *("fuseblk", "jfs", "ntfs3", "overlay", "ramfs", "reiserfs", "tmpfs", "vfat"),
        *("xfs", "zfs"),
    )
)
"""File systems of this machine alone, where the kernel sees every write."""


def mounts() -> str:
    """Return the text of the table of mounts."""
    with open(TABLE, encoding="utf-8", errors="surrogateescape") as file:
        return file.read()


def eventless(kind: str | None) -> bool:
    """Return whether others can write to such a file system past this kernel."""
    return kind in NETWORK or (kind or "").startswith("fuse.")


def silent(root: str, inotify: Inotify, table: str) -> str | None:
    """Return why a tree sends no events, as in Eyes.why; None when it does, and where nothing may be
    written to find out."""
    kind = file_system(root, table)
    if eventless(kind):
        return f"filesystem:{kind}"
    return None if kind in LOCAL or _probed(root, inotify) else "no_events"


def blind(root: str, table: str) -> tuple[str, ...]:
    """Return the folders of the tree, ending in "/", where a mount sends no events."""
    inside = f"{root}/"
    points = (point for point, kind in mounted(table) if eventless(kind))
    return tuple(f"{point[len(inside) :]}/" for point in points if point.startswith(inside))


def _probed(root: str, inotify: Inotify) -> bool:
    # In git's folder where there is one, which tools leave alone. The kernel queues an event
    # before the call that caused it returns, so there is nothing to wait for.
    folder = f"{root}/.git" if os.path.isdir(f"{root}/.git") else root
    name = f"{ASIDE}probe-{os.getpid()}"
    try:
        watch = inotify.add(folder)
    except OSError:
        return True  # gone, unreadable or at the limit: watching the tree reports that
    try:
        os.close(os.open(f"{folder}/{name}", os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        os.unlink(f"{folder}/{name}")
    except OSError:
        return True
    finally:
        inotify.remove(watch)
    return any(seen == os.fsencode(name) for _, _, seen in events(inotify.read()))
