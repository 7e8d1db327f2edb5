"""Leaving an answerer behind: what a conversation's first hook does once it has answered.

Nobody waits for it, and nothing depends on it. It gets no pipe of the host, no folder to stand in
and, of the environment, only what finds Sightline's files: a conversation's secrets end with it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from sightline.filesystem.private_files import make_folder
from sightline.hooks.call import Call
from sightline.hooks.daemon_lock import may_start, place_of, take
from sightline.hooks.protocol import own_settings, private, run_folder

ENTRY = "daemon_entry.py"
KEPT = ("HOME", "LANG", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
KEPT_STARTS = ("SIGHTLINE_", "XDG_", "LC_")
"""The variables that it gets, and how their names begin."""

PATH_MAX = 103
"""Bytes of a socket's path: systems take 104 to 108, with one at its end."""

ROOM = len("/000000-auto-0000.sock")
"""Bytes of it behind its folder."""


def start(call: Call) -> None:
    """Start one for this call's workspace, unless somebody has its place. Never raises an
    Exception: what goes wrong leaves a line in the hooks' log."""
    try:
        if hasattr(os, "posix_spawn") and hasattr(os, "getuid") and sys.executable:
            _start(call)
    except Exception as error:  # noqa: BLE001 - the hook was answered, and that is what counts
        call.note(error)


def _start(call: Call) -> None:
    assert call.project is not None
    if call.owner is None:
        return
    folder = run_folder(call.environ, call.home)
    if len(os.fsencode(folder)) + ROOM > PATH_MAX:
        return  # each hook does its own work there; `up` says why
    make_folder(folder)
    if not private(folder):
        return
    path = place_of(folder, call.project, own_settings(call.environ))
    held = take(path)
    if held is None:
        return
    try:
        if may_start(held):
            os.set_inheritable(held, True)  # noqa: FBT003 - the argument has no name
            _spawn(call, [str(held), path])
    finally:
        os.close(held)  # the one that was started holds it on


def _spawn(call: Call, place: list[str]) -> None:
    assert call.caller is not None
    assert call.project is not None
    assert call.owner is not None
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), ENTRY)
    told = [*place, call.project, call.caller.session, call.owner]
    os.posix_spawn(
        sys.executable,
        [sys.executable, "-I", "-S", script, *told],
        _environ(call.environ),
        file_actions=[
            (os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_RDWR, 0) for stream in range(3)
        ],
        setsid=True,
    )


def _environ(environ: Mapping[str, str]) -> dict[str, str]:
    return {
        key: value for key, value in environ.items() if key in KEPT or key.startswith(KEPT_STARTS)
    }
