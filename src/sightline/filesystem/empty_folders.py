"""Folders that a write makes, or whose place a file takes: only empty ones ever go."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from contextlib import suppress

from sightline.filesystem.folder import Folder
from sightline.filesystem.system_calls import Calls


def emptied(root: str, folder: str, without: Collection[str]) -> tuple[str, ...] | None:
    """See Workspace.emptied."""
    found: list[str] = []
    waiting = [folder]
    try:
        while waiting:
            found.append(waiting.pop())
            with os.scandir(f"{root}/{found[-1]}") as entries:
                for entry in entries:
                    path = f"{found[-1]}/{entry.name}"
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(path)
                    elif path not in without:
                        return None
    except OSError:
        return None
    return tuple(found)


def remove_folders(calls: Calls, root: str, folders: Iterable[str]) -> tuple[str, ...]:
    """See Workspace.remove_folders."""
    removed: list[str] = []
    for path in sorted(folders, reverse=True):
        with suppress(OSError), Folder(calls, root, path) as above:
            calls.rmdir(above.prefix + above.name, dir_fd=above.fd)
            removed.append(path)
            above.sync()
    return tuple(removed)


def make_folders(calls: Calls, root: str, folders: Iterable[str]) -> tuple[str, ...]:
    """See Workspace.make_folders."""
    made: list[str] = []
    for path in sorted(folders):
        with suppress(OSError), Folder(calls, root, path, make=True) as above:
            calls.mkdir(above.prefix + above.name, dir_fd=above.fd)
            made.append(path)
            above.sync()
    return tuple(made)
