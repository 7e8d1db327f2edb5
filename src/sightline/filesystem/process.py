"""Names of processes, so that another process can tell whether a writer still lives."""

from __future__ import annotations

import os
import sys
from functools import cache

if sys.platform == "win32":
    import ctypes

HOST_FILE = "/proc/sys/kernel/random/boot_id"

SHELLS = frozenset(("sh", "bash", "dash", "zsh", "ksh", "ash", "fish"))
"""Programs that a host may start only to run one command."""

LAUNCHERS = SHELLS | {"uv", "uvx", "timeout", "xargs", "sudo", "doas"}
"""Shells, and programs that run one command and end with it."""

NESTED_MAX = 16
"""The limit of scripts that start scripts and are looked behind."""


def owner() -> str:
    """Return this process as "machine:pid:start"; start tells it from a later process with its pid."""
    return owner_of(os.getpid())


def owner_of(pid: int) -> str:
    """Return a process by its number, in the form of `owner`."""
    return f"{machine()}:{pid}:{_started(pid)}"


def arguments_of(name: str) -> list[str]:
    """Return the command line of a named owner (`owner`); [] where the system does not tell it."""
    pid = name.rsplit(":", 2)[1]
    if not alive(name):
        return []
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return [os.fsdecode(part) for part in file.read().split(b"\0")[:-1]]
    except OSError:
        return []


def started_with(name: str, word: str) -> list[int]:
    """Return the other processes that were started with a variable of the environment that has a word;
    [] where the system does not tell."""
    start, wanted, found = os.fsencode(f"{name}="), os.fsencode(word), []
    for pid in _processes():
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                variables = file.read().split(b"\0")
        except OSError:  # it ended, or is another user's
            continue
        values = (each.removeprefix(start) for each in variables if each.startswith(start))
        if pid != os.getpid() and any(wanted in value.split() for value in values):
            found.append(pid)
    return found


def running_in(folder: str, program: str) -> list[tuple[int, list[str]]]:
    """Return the processes of a program that work in a folder or below it, with their command lines; []
    where the system does not tell. The program may be a script, which an interpreter runs."""
    found = []
    for pid in _processes():
        try:
            place = os.readlink(f"/proc/{pid}/cwd")
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                arguments = [os.fsdecode(part) for part in file.read().split(b"\0")[:-1]]
        except OSError:  # it ended, or is another user's
            continue
        names = [os.path.basename(argument) for argument in arguments[:2]]
        if os.path.join(place, "").startswith(os.path.join(folder, "")) and program in names:
            found.append((pid, arguments))
    return found


def _processes() -> list[int]:
    """Return the numbers of all processes; [] where the system does not tell."""
    try:
        return [int(entry) for entry in os.listdir("/proc") if entry.isdigit()]
    except OSError:
        return []


def behind_shell(pid: int) -> int:
    """Return the process that started a shell, if pid is a shell; else the process itself."""
    shell = _program(pid)
    return pid if shell is None or shell[0] not in SHELLS or shell[1] <= 1 else shell[1]


def holder_of(pid: int) -> int:
    """Return the process that stays while commands of a shell come and go: the shell that a person
    sits at, else the process that runs the scripts that led here."""
    for _ in range(NESTED_MAX):
        program = _program(pid)
        if program is None:
            return pid
        name, parent, is_interactive = program
        if name not in LAUNCHERS or parent <= 1 or is_interactive:
            return pid
        pid = parent
    return pid


def _program(pid: int) -> tuple[str, int, bool] | None:
    """Return a process's name, its parent, and whether it leads the processes of a terminal; None
    where that cannot be read."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            name, _, fields = file.read().partition("(")[2].rpartition(")")
    except OSError:
        return None
    parent, _, session, terminal = map(int, fields.split()[1:5])
    return name, parent, session == pid and terminal != 0


def here(name: str) -> bool:
    """Return whether a named owner belongs to this machine since its last start, which can tell
    whether the owner lives."""
    return name.rsplit(":", 2)[0] == machine()


def alive(name: str) -> bool:
    """Return whether a named owner still runs. An owner of another machine, or of an earlier start of this
    one, counts as gone: only one machine at a time uses a store (store.sqlite_file.refuse_network)."""
    if not here(name):
        return False
    _, pid, start = name.rsplit(":", 2)
    return _exists(int(pid)) and _started(int(pid)) == start


@cache
def machine() -> str:
    """Return a name that changes with every start of the machine, where the system has one."""
    try:
        with open(HOST_FILE, encoding="utf-8") as file:
            return file.read().strip()
    except OSError:
        return os.uname().nodename if hasattr(os, "uname") else os.environ.get("COMPUTERNAME", "")


def _started(pid: int) -> str:
    """Return the time when a process began, in the kernel's ticks; "" where that cannot be read, and
    for a process that ended and was not waited for yet."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            state, *fields = file.read().rpartition(")")[2].split()
            return "" if state == "Z" else fields[18]
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
