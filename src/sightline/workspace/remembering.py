"""What a look at the whole tree found, kept for the next process: a cache beside the locks."""

from __future__ import annotations

import os
import zlib

from sightline.core.deflate import deflated
from sightline.core.lean import dumps, loads
from sightline.workspace.tree import NO_TREE, Listing, Tree

VERSION = 1


def save(state: str, root: str, tree: Tree) -> None:
    """Keep it. OSError."""
    os.makedirs(state, mode=0o700, exist_ok=True)
    folders = {
        folder: [listing.stamp, listing.files, listing.folders, listing.hidden]
        for folder, listing in tree.listings.items()
    }
    kept = {"v": VERSION, "root": root, "folders": folders, "ignoring": tree.ignoring}
    aside = f"{_file(state)}.{os.getpid()}"
    with open(aside, "wb", opener=_private) as file:
        file.write(deflated(dumps(kept).encode()))
    os.replace(aside, _file(state))


def load(state: str, root: str) -> Tree:
    """What was kept of this root; nothing where that cannot be read: then all is looked at anew."""
    try:
        with open(_file(state), "rb") as file:
            kept = loads(zlib.decompress(file.read()))
        if (kept["v"], kept["root"]) != (VERSION, root):
            return NO_TREE
        listings = {
            folder: Listing(tuple(stamp), files, tuple(folders), hidden)
            for folder, (stamp, files, folders, hidden) in kept["folders"].items()
        }
        ignoring = {file: stamp and tuple(stamp) for file, stamp in kept["ignoring"].items()}
    except (OSError, zlib.error, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return NO_TREE
    return Tree(listings, ignoring)


def _file(state: str) -> str:
    return os.path.join(state, "tree.z")


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
