"""What can be wrong around us, as values: the store, its folder, the disk, SQLite, the watcher."""

from __future__ import annotations

import os
import sqlite3
import stat
import sys
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from msgspec import Struct

from sightline.config.settings import Settings
from sightline.errors import SightlineError
from sightline.store.identity import store_file
from sightline.store.opening import open_store, refuse_network

State = Literal["ok", "warning", "problem", "unknown"]

RACY = ((3, 7, 0), (3, 51, 2))
"""First and last SQLite in which a checkpoint can lose what another writer commits meanwhile."""

VERIFY_FACTS_MAX = 50_000
VERIFY_BYTES_MAX = 256 << 20
"""A store with more is not folded from zero, nor are all its texts read: that takes seconds."""

WATCHES = "/proc/sys/fs/inotify/max_user_watches"
WATCHES_MIN = 65_536
"""Folders; fewer do not last for a large tree beside an editor that watches, too."""


ROOMS = ("workspaces", "run")
LOGS = ("hooks.log", "hooks.log.1")
"""What stands in the state folder."""


class Finding(Struct, frozen=True):
    """One thing that was looked at. case: which words of cli.doctor_words say it, with these facts.
    fix: what can be done about it here, "" for nothing."""

    name: str
    state: State
    case: str
    facts: Mapping[str, Any]
    fix: str = ""


def sqlite_build(version: tuple[int, ...] = sqlite3.sqlite_version_info) -> Finding:
    """Which SQLite Python brought."""
    racy = RACY[0] <= version <= RACY[1]
    named = ".".join(map(str, version))
    return Finding("sqlite", "ok", "racy" if racy else "sound", {"version": named})


def policy(settings: Settings) -> Finding:
    """What happens when a hook of ours fails itself."""
    return Finding("fail", "ok", settings.fail, {})


def state_folder(settings: Settings) -> Finding:
    """Whether the folder of the stores is there, ours alone, and on a disk of this machine."""
    home = settings.state_home
    facts = {"folder": home}
    try:
        found = os.stat(home)
    except FileNotFoundError:
        return Finding("state", "ok", "absent", facts)
    except OSError as error:
        return Finding("state", "unknown", "unreadable", {**facts, "why": error.strerror})
    try:
        refuse_network(os.path.join(home, "store.db"))
    except SightlineError as error:
        return Finding(
            "state", "problem", "refused", {"message": error.message, "hint": error.hint}
        )
    if not stat.S_ISDIR(found.st_mode) or not os.access(home, os.W_OK | os.X_OK):
        return Finding("state", "problem", "closed", facts)
    open_to = [path for path in _kept(home) if _others_may(path)]
    if open_to:
        more = {**facts, "count": len(open_to), "first": open_to[0]}
        return Finding("state", "warning", "open", more, "permissions")
    return Finding("state", "ok", "private", facts)


def close_to_others(settings: Settings) -> None:
    """Take away what other users may do in the state folder: 0700 and 0600. OSError."""
    for path in _kept(settings.state_home):
        if _others_may(path):
            os.chmod(path, 0o700 if os.path.isdir(path) else 0o600)


def store(root: str, settings: Settings) -> Finding:
    """Whether the workspace's store opens and holds what its timeline says."""
    try:
        place = settings.store or store_file(settings.state_home, root)
        kept = open_store(settings.store, workspace_root=root, state_home=settings.state_home)
        try:
            facts = kept.position()
            size = _size(place)
            small = facts <= VERIFY_FACTS_MAX and size <= VERIFY_BYTES_MAX
            wrong = kept.verify() if small else None
        finally:
            kept.close()
    except SightlineError as error:
        return Finding(
            "store", "problem", "refused", {"message": error.message, "hint": error.hint}
        )
    known = {"place": place, "facts": facts, "bytes": size}
    if wrong:
        return Finding(
            "store", "problem", "differs", {**known, "first": wrong[0], "count": len(wrong)}
        )
    return Finding("store", "ok", "large" if wrong is None else "whole", known)


def watcher(file: str = WATCHES) -> Finding | None:
    """How much of a tree may be watched; None where the system sets no such limit."""
    if sys.platform != "linux":
        return None
    try:
        with open(file, encoding="ascii") as limit:
            watches = int(limit.read())
    except (OSError, ValueError):
        return Finding("watcher", "unknown", "unreadable", {"file": file})
    state: State = "ok" if watches >= WATCHES_MIN else "warning"
    return Finding("watcher", state, state, {"watches": watches, "advised": WATCHES_MIN * 8})


def _kept(home: str) -> Iterator[str]:
    """What is ours in the state folder; itself, unless the user chose a folder of another name."""
    if os.path.basename(home) == "sightline":
        yield home
    yield from (os.path.join(home, name) for name in LOGS)
    for room in ROOMS:
        yield os.path.join(home, room)
        for folder, folders, files in os.walk(os.path.join(home, room)):
            yield from (os.path.join(folder, name) for name in (*folders, *files))


def _others_may(path: str) -> bool:
    """Whether somebody else has a right to it; on Windows the folder's own rules stand."""
    if os.name == "nt":
        return False
    try:
        found = os.lstat(path)
    except FileNotFoundError:  # not made yet, or a write of another process is over
        return False
    ours = stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)
    return ours and bool(found.st_mode & 0o077) and found.st_uid == os.getuid()


def _size(place: str) -> int:
    """Bytes of an embedded store and its log."""
    file = place.removeprefix("sqlite://")
    there = [path for path in (file, f"{file}-wal") if os.path.exists(path)]
    return sum(map(os.path.getsize, there))
