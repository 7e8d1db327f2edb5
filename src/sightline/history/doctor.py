"""Check the surroundings: the store, its folder and the program that keeps it, the watcher. Findings are values."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from shutil import disk_usage
from typing import Any, Literal

from msgspec import Struct, structs

from sightline.config.settings import Settings
from sightline.errors import SightlineError, StoreError
from sightline.filesystem.private_files import check_private, open_own
from sightline.store import opening
from sightline.store.embedded import refuse_network
from sightline.store.identity import store_file

State = Literal["ok", "warning", "problem", "unknown"]

VERIFY_FACTS_MAX = 50_000
VERIFY_BYTES_MAX = 256 << 20
"""A larger store is not verified in full: that takes seconds."""

WATCHES = "/proc/sys/fs/inotify/max_user_watches"
WATCHES_MIN = 65_536
"""Watched folders; fewer do not suffice for a large tree beside a watching editor."""

FREE_MIN = 1 << 20
"""Free bytes without which the next fact or text finds no room."""

FOLDERS = ("workspaces", "run")
LOGS = ("hooks.log", "hooks.log.1", "hooks.log.lock")
"""Contents of the state folder."""


class Finding(Struct, frozen=True):
    """The result of a check. case: selects its words in cli/doctor.txt, with these facts; fix: name
    of the repair, "" for none."""

    name: str
    state: State
    case: str
    facts: Mapping[str, Any]
    fix: str = ""


VERSION_WITHIN_S = 10.0


def version_of(program: str) -> tuple[str, str]:
    """Return the first line that `program --version` prints, and the end of a sentence that says why
    it prints none; one of them is empty."""
    try:
        done = subprocess.run(
            [program, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=VERSION_WITHIN_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "", f"does not answer within {VERSION_WITHIN_S:.0f} s"
    except OSError as error:
        return "", f"cannot be run: {error.strerror}"
    if done.returncode:
        return "", f"ends with exit code {done.returncode}"
    return done.stdout.strip().split("\n")[0], ""


def engines() -> Iterator[Finding]:
    """Check the programs that keep stores."""
    for engine in opening.engines():
        case = "racy" if engine.is_racy else "sound"
        yield Finding(engine.name, "ok", case, {"version": engine.version})


def policy(settings: Settings) -> Finding:
    """Report what happens when a Sightline hook fails."""
    return Finding("fail", "ok", settings.fail, {})


def state_folder(settings: Settings) -> Finding:
    """Check that the state folder is private, writable, and on a local disk."""
    home = settings.state_home
    facts = {"folder": home}
    try:
        found = os.stat(home)
    except FileNotFoundError:
        return Finding("state", "ok", "absent", facts)
    except OSError as error:
        return Finding("state", "unknown", "unreadable", {**facts, "why": error.strerror})
    try:
        check_private(home, "workspaces")
        for log in LOGS:
            if os.path.lexists(path := os.path.join(home, log)):
                os.close(open_own(path, os.O_RDONLY))
    except SightlineError as error:
        return structs.replace(refused("state", error), fix="permissions")
    except OSError as error:
        why = {"folder": home, "message": f"{error.filename}: {error.strerror}.", "hint": ""}
        return Finding("state", "problem", "refused", why)
    try:
        refuse_network(os.path.join(home, "store.db"))
    except SightlineError as error:
        return refused("state", error)
    if disk_usage(home).free < FREE_MIN:
        return Finding("state", "problem", "full", facts)
    if not stat.S_ISDIR(found.st_mode) or not os.access(home, os.W_OK | os.X_OK):
        return Finding("state", "problem", "closed", facts)
    open_paths = list(_open_paths(settings))
    if open_paths:
        more = {**facts, "count": len(open_paths), "first": open_paths[0]}
        return Finding("state", "warning", "open", more, "permissions")
    return Finding("state", "ok", "private", facts)


def close_to_others(settings: Settings) -> None:
    """Remove other users' permissions from the state folder and the store: 0700 and 0600. OSError."""
    for path in _open_paths(settings):
        os.chmod(path, 0o700 if os.path.isdir(path) else 0o600)


def store(root: str, settings: Settings, *, verifying: bool = True) -> Finding:
    """Check that the workspace's store opens and, where it is `verifying`, agrees with its timeline."""
    try:
        place = settings.store or store_file(settings.state_home, root)
        where: dict[str, str] = {"workspace_root": root, "state_home": settings.state_home}
        if opening.is_held(settings.store, **where):
            return Finding("store", "problem", "held", {"place": place})
        with closing(opening.open_store(settings.store, **where)) as opened:
            url = opening.url_of(settings.store, **where)
            size = opening.kind_of(url).size(url)
            facts = {"place": place, "facts": opened.position(), "bytes": size}
            small = verifying and opened.position() <= VERIFY_FACTS_MAX and size <= VERIFY_BYTES_MAX
            wrong = opened.verify() if small else None
    except SightlineError as error:
        return refused("store", error)
    if wrong:
        more = {**facts, "first": wrong[0], "count": len(wrong)}
        return Finding("store", "problem", "differs", more)
    return Finding("store", "ok", "large" if wrong is None else "whole", facts)


def refused(name: str, error: SightlineError) -> Finding:
    """Report that what a check needs was refused."""
    facts = {"message": error.message, "hint": error.next_step}
    return Finding(name, "problem", "refused", facts)


def watcher(file: str = WATCHES) -> Finding | None:
    """Check the system's limit of watched folders; None for a system without a limit."""
    if sys.platform != "linux":
        return None
    try:
        with open(file, encoding="ascii") as limit:
            watches = int(limit.read())
    except (OSError, ValueError):
        return Finding("watcher", "unknown", "unreadable", {"file": file})
    state: State = "ok" if watches >= WATCHES_MIN else "warning"
    return Finding("watcher", state, state, {"watches": watches, "advised": WATCHES_MIN * 8})


def _open_paths(settings: Settings) -> Iterator[str]:
    """Yield Sightline's paths in the state folder, and the files of a store elsewhere, that other users
    may access. Of a state folder that the user gave another name, others may read the names, and no
    more. On Windows the folder's own rules decide."""
    home = settings.state_home
    paths = [os.path.join(home, name) for name in LOGS]
    is_ours = os.path.basename(home) == "sightline"
    if is_ours or (os.path.isdir(home) and os.stat(home).st_mode & 0o022):
        paths.insert(0, home)
    if settings.store is not None:
        with suppress(StoreError):  # store() says why
            paths += opening.kind_of(settings.store).files(settings.store)
    for name in FOLDERS:
        paths.append(os.path.join(home, name))
        for folder, folders, files in os.walk(paths[-1]):
            paths += [os.path.join(folder, inside) for inside in (*folders, *files)]
    for path in paths if os.name != "nt" else ():
        try:
            found = os.lstat(path)
        except FileNotFoundError:  # never created, or removed by another process
            continue
        ours = stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)
        if ours and found.st_mode & 0o077 and found.st_uid == os.getuid():
            yield path
