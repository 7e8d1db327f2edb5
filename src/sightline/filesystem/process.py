"""Which process is writing, so that another can tell whether it still lives."""

from __future__ import annotations

import ctypes
import os
import sys

HOST_FILE = "/proc/sys/kernel/random/boot_id"

SHELLS = frozenset(("sh", "bash", "dash", "zsh", "ksh", "ash", "fish"))
"""Programs that a host may start only to run one command for it."""

LAUNCHERS = SHELLS | {"uv", "uvx", "timeout", "xargs", "sudo", "doas"}
"""Those, and programs that run one command and end with it."""

NESTED_MAX = 16
"""Scripts that start scripts: how many are looked behind."""


def owner() -> str:
    """This process as "machine:pid:start"; start tells a process from a later one of its number."""
    return owner_of(os.getpid())


def owner_of(pid: int) -> str:
    """Another process by its number, in the same form."""
    return f"{_machine()}:{pid}:{_started(pid)}"


def behind_shell(pid: int) -> int:
    """The process that a shell was started by, if this is a shell; else the process itself."""
    shell = _one_of(SHELLS, pid)
    return pid if shell is None or shell.parent <= 1 else shell.parent


class _Program:
    """A program under way. interactive: it leads the processes of a terminal."""

    def __init__(self, pid: int, parent: int, session: int, terminal: int) -> None:
        self.parent = parent
        self.interactive = session == pid and terminal != 0


def _one_of(names: frozenset[str], pid: int) -> _Program | None:
    """What is known of a process that has one of these names; None for any other."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            name, _, rest = file.read().partition("(")[2].rpartition(")")
    except OSError:
        return None
    if name not in names:
        return None
    parent, _, session, terminal = map(int, rest.split()[1:5])
    return _Program(pid, parent, session, terminal)


def holder_of(pid: int) -> int:
    """The process that stays while commands of a shell come and go: the shell that a person sits
    at, else whoever runs the scripts that led here."""
    for _ in range(NESTED_MAX):
        program = _one_of(LAUNCHERS, pid)
        if program is None or program.parent <= 1 or program.interactive:
            return pid
        pid = program.parent
    return pid


def here(name: str) -> bool:
    """Whether a named owner is of this machine since its last start, which can tell if it lives."""
    return name.rsplit(":", 2)[0] == _machine()


def alive(name: str) -> bool:
    """Whether a named owner still runs. One of another machine, or of an earlier start of this
    one, counts as gone: only one machine at a time uses a store (store.opening.refuse_network)."""
    if not here(name):
        return False
    _, pid, start = name.rsplit(":", 2)
    return _exists(int(pid)) and _started(int(pid)) == start


def _machine() -> str:
    """Changes with every start of the machine, where the system says so."""
    try:
        with open(HOST_FILE, encoding="utf-8") as file:
            return file.read().strip()
    except OSError:
        return os.uname().nodename if hasattr(os, "uname") else os.environ.get("COMPUTERNAME", "")


def _started(pid: int) -> str:
    """When a process began, in the kernel's ticks; "" where that cannot be asked, and of one that
    has ended and was not waited for yet."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            state, *rest = file.read().rpartition(")")[2].split()
            return "" if state == "Z" else rest[18]
    except (OSError, IndexError):
        return ""


if sys.platform == "win32":

    def _exists(pid: int) -> bool:
        # os.kill(pid, 0) would send it a Ctrl-C here.

        kernel = ctypes.WinDLL("kernel32", use_last_error=True)
        handle = kernel.OpenProcess(_SYNCHRONIZE, 0, pid)
        if not handle:
            return bool(ctypes.get_last_error() == _ACCESS_DENIED)
        try:
            return bool(kernel.WaitForSingleObject(handle, 0) == _STILL_RUNS)
        finally:
            kernel.CloseHandle(handle)

    _SYNCHRONIZE = 0x00100000
    _ACCESS_DENIED = 5
    _STILL_RUNS = 0x102  # WAIT_TIMEOUT

else:

    def _exists(pid: int) -> bool:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        return True
