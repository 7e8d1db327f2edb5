"""Find the files that bear a name of secrets: their other names (hard links) are secret, too."""

from __future__ import annotations

from sightline.config.settings import Settings
from sightline.filesystem.port import Workspace
from sightline.filesystem.tree_index import DEV, IGNORED, INO, Tree

Inode = tuple[int, int]
"""A file whatever its name: device and number."""


def secret_inodes(workspace: Workspace, settings: Settings, tree: Tree) -> set[Inode]:
    """Return the files of a tree that bear a name whose text is never stored. Ignored files count,
    too; those in ignored folders and outside the workspace are not looked for. OSError."""
    found: set[Inode] = set()
    for folder, listing in tree.listings.items():
        ignored = [
            name
            for name, why in listing.hidden.items()
            if why == IGNORED and not name.endswith("/")
        ]
        for name in settings.secrets(folder, [*listing.files, *ignored]):
            if name in listing.files:
                row = listing.files[name]
                found.add((int(row[DEV]), int(row[INO])))
            elif (now := workspace.stat(folder + name)) is not None:
                found.add((now.dev, now.ino))
    return found
