"""What a look at the whole tree found, kept for the next process: caches beside the locks."""

from __future__ import annotations

import os
import zlib
from _thread import get_ident
from time import time

from sightline.core.deflate import deflated
from sightline.core.lean import dumps, loads
from sightline.workspace.tree import NO_TREE, Listing, Tree

VERSION = 1

TREE = "tree.z"

ABANDONED_S = 3600
"""What is older was left half written by a process that was killed."""


def save(state: str, root: str, tree: Tree) -> None:
    """Keep it. OSError."""
    folders = {
        folder: [listing.stamp, listing.files, listing.folders, listing.hidden]
        for folder, listing in tree.listings.items()
    }
    told = {"v": VERSION, "root": root, "folders": folders, "ignoring": tree.ignoring}
    keep(state, TREE, deflated(dumps(told).encode()))


def load(state: str, root: str) -> Tree:
    """What was kept of this root; nothing where that cannot be read: then all is looked at anew."""
    try:
        told = loads(zlib.decompress(kept(state, TREE)))
        if (told["v"], told["root"]) != (VERSION, root):
            return NO_TREE
        listings = {
            folder: Listing(tuple(stamp), files, tuple(folders), hidden)
            for folder, (stamp, files, folders, hidden) in told["folders"].items()
        }
        ignoring = {file: stamp and tuple(stamp) for file, stamp in told["ignoring"].items()}
    except (OSError, zlib.error, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return NO_TREE
    return Tree(listings, ignoring)


def keep(state: str, name: str, data: bytes) -> None:
    """Put a cache in the place of the last one, whole. OSError."""
    os.makedirs(state, mode=0o700, exist_ok=True)
    aside = os.path.join(state, f"{name}.{os.getpid()}-{get_ident()}")
    try:
        with open(aside, "wb", opener=_private) as file:
            file.write(data)
        os.replace(aside, os.path.join(state, name))
    except BaseException:
        _remove(aside)
        raise
    _sweep(state, f"{name}.")


def add(state: str, name: str, data: bytes, after: bytes) -> bool:
    """Put more behind a cache that begins so; whether that was done. It is one write, and a reader
    has to tell by itself whether all of it is there. OSError."""
    fd = os.open(os.path.join(state, name), os.O_RDWR | os.O_APPEND | _BINARY)
    try:
        return os.read(fd, len(after)) == after and os.write(fd, data) == len(data)
    finally:
        os.close(fd)


def kept(state: str, name: str) -> bytes:
    """The bytes of a cache. OSError."""
    with open(os.path.join(state, name), "rb") as file:
        return file.read()


_BINARY = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


def _sweep(state: str, beginning: str) -> None:
    """Remove what others began to write, and were killed."""
    for name in os.listdir(state):
        if name.startswith(beginning):
            aside = os.path.join(state, name)
            try:
                if os.lstat(aside).st_mtime < time() - ABANDONED_S:
                    os.unlink(aside)
            except FileNotFoundError:
                continue  # it was being written, and is in its place now


def _remove(aside: str) -> None:
    try:
        os.unlink(aside)
    except OSError:
        return  # it was not made, and the first error is the one to tell


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
