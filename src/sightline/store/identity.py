"""Find the embedded store of a workspace, by its path, or by its folder when that moved.

    <state_home>/workspaces/<id>/store.db
    <state_home>/workspaces/paths/<hash of a path>     "id device inode"
    <state_home>/workspaces/folders/<device>-<inode>   "id path"

A path whose folder is still the recorded one needs one small read. Everything else is decided under
a lock: a folder that moved keeps its store, a copy gets a new store, and a path that was deleted and
made again keeps its store unless the old folder is in use elsewhere.
"""

from __future__ import annotations

import os
import re

from sightline.errors import StoreError
from sightline.filesystem.private_files import Locked, check_private, make_folder, write_file
from sightline.model.revision import revision_of
from sightline.store.sqlite import SqliteStore
from sightline.store.sqlite_errors import os_fault

Folder = tuple[int, int]
"""The device and the inode of a folder."""

PATH_ENTRY = re.compile(r"([0-9a-f]{16}) (\d+) (\d+)")
FOLDER_ENTRY = re.compile(r"([0-9a-f]{16}) (.+)", re.DOTALL)

SAMPLE = 64
"""Files of a store that are looked for in a folder that may be its workspace."""


def store_file(state_home: str, root: str) -> str:
    """Return the file of a workspace's store, which may not exist yet. StoreError."""
    home = os.path.join(state_home, "workspaces")
    try:
        shared = ("workspaces", "workspaces/paths", "workspaces/folders")
        check_private(state_home, *shared)
        status = os.stat(root)
        folder = (status.st_dev, status.st_ino)
        recorded = _of_path(home, root)
        if recorded is not None and recorded[1] == folder:
            check_private(state_home, f"workspaces/{recorded[0]}")
            return _file(home, recorded[0])
        make_folder(os.path.join(home, "paths"))
        make_folder(os.path.join(home, "folders"))
        with Locked(os.path.join(home, "lock")):
            id_ = _decide(home, root, folder)
            _write(_folder_entry(home, folder), id_, root)
            _write(_path_entry(home, root), id_, *folder)
        check_private(state_home, f"workspaces/{id_}")
        return _file(home, id_)
    except OSError as error:
        raise os_fault(error, state_home) from error


def recorded_file(state_home: str, root: str) -> str | None:
    """Return the file of a workspace's store, as store_file does, where its path and its folder are
    recorded; else None. Writes nothing. StoreError, OSError."""
    home = os.path.join(state_home, "workspaces")
    recorded, status = _of_path(home, root), os.stat(root)
    if recorded is None or recorded[1] != (status.st_dev, status.st_ino):
        return None
    check_private(state_home, "workspaces", f"workspaces/{recorded[0]}")
    return _file(home, recorded[0])


def recorded(home: str, root: str) -> tuple[str, str]:
    """Return the id of the store of a path, "" for none, and the path of its workspace now. Nothing
    is recorded. home: the folder with all stores. StoreError, OSError."""
    by_path = _of_path(home, root)
    try:
        status = os.stat(root)
    except (FileNotFoundError, NotADirectoryError):
        if by_path is None:
            return "", root
        newest = _of_folder(home, by_path[1])
        moved = newest is not None and newest[1] != root and _is_folder(newest[1], by_path[1])
        return by_path[0], newest[1] if newest is not None and moved else root
    return _decide(home, root, (status.st_dev, status.st_ino)), root


def entries_of(home: str, id_: str) -> list[str]:
    """Return the files that lead to a store. home: the folder with all stores. OSError."""
    found = []
    for folder, form in (("paths", PATH_ENTRY), ("folders", FOLDER_ENTRY)):
        for entry in os.scandir(os.path.join(home, folder)):
            words = _read(entry.path, form)
            if words is not None and words[1] == id_:
                found.append(entry.path)
    return found


def _decide(home: str, root: str, folder: Folder) -> str:
    """Return the id of the store of a path whose folder is not the recorded one."""
    by_path, by_folder = _of_path(home, root), _of_folder(home, folder)
    if by_path is not None and by_path[1] == folder:
        return by_path[0]  # another process was first
    if by_folder is not None:
        id_, path = by_folder
        if _is_folder(path, folder) or _contains_files(_file(home, id_), root):
            return id_
    if by_path is not None:
        old = _of_folder(home, by_path[1])
        if old is None or old[1] == root or not _is_folder(old[1], by_path[1]):
            return by_path[0]  # the old folder is not in use at another path
    return os.urandom(8).hex()


def _contains_files(file: str, root: str) -> bool:
    """Return whether a folder has any of the files that a store last saw. The inode of the folder is
    not enough: file systems give the inode of a deleted folder to the next new one."""
    if not os.path.exists(file):
        return False
    store = SqliteStore(file)
    try:
        stamps = store.stamps()
    finally:
        store.close()
    return any(
        _is_folder(os.path.join(root, path), (stamp.signature.dev, stamp.signature.ino))
        for path, stamp in list(stamps.items())[:SAMPLE]
    )


def _is_folder(path: str, folder: Folder) -> bool:
    """Return whether a folder, or a file, with this device and inode is at a path."""
    try:
        status = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    return (status.st_dev, status.st_ino) == folder


def _of_path(home: str, root: str) -> tuple[str, Folder] | None:
    """Return the recorded id and folder of a path."""
    entry = _read(_path_entry(home, root), PATH_ENTRY)
    return None if entry is None else (entry[1], (int(entry[2]), int(entry[3])))


def _of_folder(home: str, folder: Folder) -> tuple[str, str] | None:
    """Return the recorded id and the newest path of a folder."""
    entry = _read(_folder_entry(home, folder), FOLDER_ENTRY)
    return None if entry is None else (entry[1], entry[2])


def _file(home: str, id_: str) -> str:
    return os.path.join(home, id_, "store.db")


def _path_entry(home: str, root: str) -> str:
    name = revision_of(os.fsencode(os.path.normcase(root)))[:32]
    return os.path.join(home, "paths", name)


def _folder_entry(home: str, folder: Folder) -> str:
    return os.path.join(home, "folders", f"{folder[0]}-{folder[1]}")


def _read(entry: str, form: re.Pattern[str]) -> re.Match[str] | None:
    """Return the parts of an entry; None where there is none. StoreError for a damaged one."""
    try:
        with open(entry, encoding="utf-8", errors="surrogateescape") as file:
            text = file.read()
    except FileNotFoundError:
        return None
    found = form.fullmatch(text)
    if found is None:
        raise StoreError(
            f"The file {entry}, which names the store of a workspace, is damaged: {text!r:.60}.",
            "Move the file away. Sightline then finds the store by the other entry of its folder.",
        )
    return found


def _write(entry: str, *words: object) -> None:
    write_file(entry, " ".join(map(str, words)).encode("utf-8", "surrogateescape"))
