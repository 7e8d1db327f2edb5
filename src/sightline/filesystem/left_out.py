"""The files that a look at the tree leaves out, and those in the folders that it leaves out, by name and size.

Nobody keeps their texts. Their names tell what is gone, after a command removed it.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable
from itertools import islice
from operator import attrgetter

from sightline.filesystem.ignore.rules import is_unlisted

TREES = frozenset({
    "node_modules", "bower_components", "jspm_packages", ".yarn", ".pnpm-store", ".venv", "venv",
    "site-packages", "__pycache__", ".tox", ".nox", ".eggs", "Pods", "Carthage", ".gradle", ".m2",
    ".bundle", ".terraform", ".dart_tool", "elm-stuff", ".stack-work", "dist-newstyle",
})  # fmt: skip
"""Names of folders of dependencies and caches, which a tool makes again: each counts as one."""

MARKS = frozenset({"CACHEDIR.TAG", "pyvenv.cfg"})
"""Files that mark such a folder, whatever its name: the tag of caches (bford.info/cachedir), a virtual
environment."""

FOLDER_MAX = 200
"""Entries of a folder up to which they are named; a larger one counts as one."""

NAMES_MAX = 500
"""Files and folders that are named of one tree, those nearest to its root first."""

UNNAMED = -1
"""In place of a size: a folder whose entries are not named."""


def left_out_sizes(root: str, paths: Iterable[str]) -> dict[str, int]:
    """Return a mapping from the entries of left-out folders to their sizes in bytes. A folder has 0 if its
    entries are in the mapping, else UNNAMED. Also the files and named folders among the
    paths themselves. paths: as the look hides them, from the root. Folders end in "/"."""
    found: dict[str, int] = {}
    asked = sorted(paths)
    for path in [path for path in asked if not path.endswith("/")][:NAMES_MAX]:
        found[path] = _size(f"{root}/{path}")
    waiting = deque(path for path in asked if path.endswith("/"))
    room = NAMES_MAX
    while waiting and room:
        folder = waiting.popleft()
        entries = _entries(root, folder, min(room, FOLDER_MAX))
        if entries is None:
            continue
        room -= len(entries)
        found |= {folder: 0, **{f"{folder}{name}": size for name, size in entries.items()}}
        waiting += [f"{folder}{name}" for name in entries if name.endswith("/")]
    return found


def _entries(root: str, folder: str, most: int) -> dict[str, int] | None:
    """Return the entries of a folder in order of name: the sizes of its files, UNNAMED for its folders.
    None where they are not to be named."""
    if folder.rstrip("/").rpartition("/")[2] in TREES:
        return None
    try:
        with os.scandir(f"{root}/{folder}") as entries:
            listed = list(islice(entries, most + 1))
        if len(listed) > most or not MARKS.isdisjoint(each.name for each in listed):
            return None
        listed.sort(key=attrgetter("name"))
        return dict(_row(each) for each in listed if not is_unlisted(each.name))
    except OSError:
        return None


def _row(entry: os.DirEntry[str]) -> tuple[str, int]:
    if entry.is_dir(follow_symlinks=False):
        return f"{entry.name}/", UNNAMED
    return entry.name, entry.stat(follow_symlinks=False).st_size


def _size(path: str) -> int:
    try:
        return os.lstat(path).st_size
    except OSError:
        return 0
