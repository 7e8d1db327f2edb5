"""The files of git's folder that change with every operation of git."""

from __future__ import annotations

import os
from collections.abc import Iterator

from sightline.filesystem.git_control import LeadsOutside, git_folders, git_top

_TOLD = ("HEAD", "index", "ORIG_HEAD", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD")
_STEPS = ("rebase-merge", "rebase-apply", "logs", "logs/HEAD", "logs/refs/stash")
TOLD = frozenset(f".git/{name}" for name in (*_TOLD, *_STEPS))
"""The files of a git folder that hints name, wherever the folder is."""

GROWING = frozenset((".git/logs", ".git/logs/refs"))
"""Folders that git makes when it first needs them."""

EXCLUDE = ".git/info/exclude"
OUTSIDE = "../"
"""The name of all folders between the top of the git tree and the workspace."""


def git_places(root: str) -> Iterator[tuple[str, str]]:
    """Yield the folders to watch beside the tree: name in hints, and path on disk."""
    top = git_top(root)
    if top is None:
        return
    if (folders := _folders(top)) is not None:
        own, common = folders
        yield ".git/", own
        yield ".git/logs/", f"{own}/logs"
        yield ".git/logs/refs/", f"{common}/logs/refs"
        yield ".git/info/", f"{common}/info"
    while root != top:
        root = os.path.dirname(root)
        yield OUTSIDE, root


def git_files(root: str) -> Iterator[tuple[str, str]]:
    """Yield the files to poll where no event comes: name in hints, and path on disk."""
    top = git_top(root)
    if top is not None and (folders := _folders(top)) is not None:
        own, common = folders
        for name in ("HEAD", "index", "logs/HEAD"):
            yield f".git/{name}", f"{own}/{name}"
        yield ".git/logs/refs/stash", f"{common}/logs/refs/stash"


def _folders(top: str) -> tuple[str, str] | None:
    """Return the git folders of a tree; those of a folder `.git` that is no repository yet, too."""
    try:
        return git_folders(top) or (f"{top}/.git", f"{top}/.git")
    except LeadsOutside:
        return None
