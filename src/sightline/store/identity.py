"""Which embedded store belongs to a workspace: by its path, and by its folder when that moved.

    <state_home>/workspaces/<id>/store.db
    <state_home>/workspaces/paths/<hash of a path>     "id device inode"
    <state_home>/workspaces/folders/<device>-<inode>   "id path"

A path whose folder is still the one recorded needs one small read. Everything else is decided
under a lock: a folder that moved keeps its store, a copy begins its own, and a path that was
deleted and made anew keeps its store unless that folder lives on elsewhere.
"""

from __future__ import annotations

import os

from sightline.filesystem.private_files import Locked, make_folder, write_file
from sightline.model.revision import revision_of
from sightline.store.sqlite import SqliteStore
from sightline.store.sqlite_errors import os_fault

Folder = tuple[int, int]

SAMPLE = 64
"""How many files of a store are looked for in a folder that may be its workspace."""


def store_file(state_home: str, root: str) -> str:
    """The file of this workspace's store, which may not be there yet. StoreError."""
    home = os.path.join(state_home, "workspaces")
    try:
        found = os.stat(root)
        folder = (found.st_dev, found.st_ino)
        known = _of_path(home, root)
        if known is not None and known[1] == folder:
            return _file(home, known[0])
        make_folder(os.path.join(home, "paths"))
        make_folder(os.path.join(home, "folders"))
        with Locked(os.path.join(home, "lock")):
            id_ = _decide(home, root, folder)
            _write(_folder_entry(home, folder), id_, root)
            _write(_path_entry(home, root), id_, *folder)
        return _file(home, id_)
    except OSError as error:
        raise os_fault(error, state_home) from error


def _decide(home: str, root: str, folder: Folder) -> str:
    known = _of_path(home, root)
    if known is not None and known[1] == folder:
        return known[0]  # another process was first
    there = _of_folder(home, folder)
    if there is not None and (_is(there[1], folder) or _holds(_file(home, there[0]), root)):
        return there[0]
    if known is not None and not _lives_elsewhere(home, root, known[1]):
        return known[0]
    return os.urandom(8).hex()


def _lives_elsewhere(home: str, root: str, folder: Folder) -> bool:
    """Whether the folder that once stood at `root` is in use at another path."""
    there = _of_folder(home, folder)
    return there is not None and there[1] != root and _is(there[1], folder)


def _holds(file: str, root: str) -> bool:
    """Whether a folder holds any of the very files that a store last saw. Its own number alone
    says little: file systems give the inode of a deleted folder to the next one made."""
    if not os.path.exists(file):
        return False

    store = SqliteStore(file)
    try:
        stamps = store.stamps()
    finally:
        store.close()
    return any(
        _is(os.path.join(root, path), (stamp.signature.dev, stamp.signature.ino))
        for path, stamp in list(stamps.items())[:SAMPLE]
    )


def _is(path: str, folder: Folder) -> bool:
    try:
        found = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    return (found.st_dev, found.st_ino) == folder


def _of_path(home: str, root: str) -> tuple[str, Folder] | None:
    """The id and the folder recorded of a path."""
    entry = _read(_path_entry(home, root))
    if entry is None:
        return None
    id_, device, inode = entry.split(" ")
    return id_, (int(device), int(inode))


def _of_folder(home: str, folder: Folder) -> tuple[str, str] | None:
    """The id and the newest path recorded of a folder."""
    entry = _read(_folder_entry(home, folder))
    if entry is None:
        return None
    id_, _, path = entry.partition(" ")
    return id_, path


def _file(home: str, id_: str) -> str:
    return os.path.join(home, id_, "store.db")


def _path_entry(home: str, root: str) -> str:
    name = revision_of(os.fsencode(os.path.normcase(root)))[:32]
    return os.path.join(home, "paths", name)


def _folder_entry(home: str, folder: Folder) -> str:
    return os.path.join(home, "folders", f"{folder[0]}-{folder[1]}")


def _read(entry: str) -> str | None:
    try:
        with open(entry, encoding="utf-8", errors="surrogateescape") as file:
            return file.read()
    except FileNotFoundError:
        return None


def _write(entry: str, *words: object) -> None:
    write_file(entry, " ".join(map(str, words)).encode("utf-8", "surrogateescape"))
