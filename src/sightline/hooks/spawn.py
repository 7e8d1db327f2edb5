"""Start a workspace's daemon, at most one of this installation at a time.

A daemon keeps its workspace's lock file locked. The lock belongs to the open descriptor: a hook
takes the lock and hands the descriptor to the daemon that it starts, so two hooks that start a
daemon at once leave one daemon, and no process number is trusted. A daemon that ends as planned
removes the file. A file that is left over means that a daemon failed or was killed: the next start
waits RETRY_S.

The daemon gets no pipe of the host, the folder / and only the environment variables that find
files and programs (PASSED), so the secrets of a conversation end with the conversation.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from time import time

from sightline.filesystem.private_files import make_folder
from sightline.hooks.call import Call
from sightline.hooks.protocol import is_private, own_settings, run_folder, stamp
from sightline.model.revision import revision_of

ENTRY = "daemon_entry.py"
PASSED = (
    *("HOME", "LANG", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"),
    *("PATH", "SUDO_UID", "TMPDIR"),
)
PASSED_STARTS = ("SIGHTLINE_", "XDG_", "LC_")
"""The variables that a daemon gets, and the beginnings of their names: what finds Sightline's files,
git and its owner. What a handler asks the environment for stands here."""

RETRY_S = 600.0
"""Seconds from a start that did not end well to the next start."""


def start_daemon(call: Call) -> None:
    """Start a daemon for this call's workspace, unless one runs. Never raise an Exception: a fault
    leaves a line in the hooks' log."""
    try:
        if hasattr(os, "posix_spawn") and hasattr(os, "getuid") and sys.executable:
            _start(call)
    except Exception as error:  # noqa: BLE001 - the hook was answered; that is enough
        call.note(error)


def _start(call: Call) -> None:
    if call.owner is None or call.project is None or call.caller is None:
        return
    folder = run_folder(call.environ, call.home)
    make_folder(folder)
    if not is_private(folder):
        return
    path = lock_path(folder, call.project, own_settings(call.environ), stamp())
    lock = acquire_lock(path)
    if lock is None:
        return
    try:
        if _may_start(lock):
            os.set_inheritable(lock, True)  # noqa: FBT003 - the argument has no name
            _spawn(call.environ, [str(lock), path, call.project, call.caller.session, call.owner])
    finally:
        os.close(lock)  # the daemon's copy keeps the lock


def _spawn(environ: Mapping[str, str], args: list[str]) -> None:
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), ENTRY)
    os.posix_spawn(
        sys.executable,
        [sys.executable, "-I", "-S", script, *args],
        {
            key: value
            for key, value in environ.items()
            if key in PASSED or key.startswith(PASSED_STARTS)
        },
        file_actions=[
            (os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_RDWR, 0) for stream in range(3)
        ],
        setsid=True,
    )


def lock_path(folder: str, root: str, variables: str, installation: str) -> str:
    """Return the lock file for one workspace, one set of variables and one installation (protocol.stamp):
    hooks ask no daemon of another. folder: run_folder()."""
    name = revision_of(os.fsencode(f"{root}\0{variables}\0{installation}"))[:16]
    return os.path.join(folder, f"{name}.lock")


def acquire_lock(path: str) -> int | None:
    """Return a descriptor that holds the lock; None while another process holds it. OSError."""
    import fcntl

    descriptor = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if _is_at(descriptor, path):
            return descriptor
    except BlockingIOError:
        pass
    except BaseException:
        os.close(descriptor)
        raise
    os.close(descriptor)
    return None


def release_lock(path: str, lock: int) -> None:
    """Remove the lock file, to tell that the daemon ended as planned. OSError."""
    try:
        if _is_at(lock, path):
            os.unlink(path)
    finally:
        os.close(lock)


def _may_start(lock: int) -> bool:
    """Return whether no start failed within RETRY_S, and note this start in the file. OSError."""
    status = os.fstat(lock)
    if status.st_size and 0 <= time() - status.st_mtime < RETRY_S:
        return False
    os.pwrite(lock, b"\n", 0)
    return True


def _is_at(descriptor: int, path: str) -> bool:
    """Return whether the open file still has this path. A daemon that ended removed it."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        return False
