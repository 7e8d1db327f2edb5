"""Calls that do what a test needs of a disk: fail, die, or let somebody else in between."""

import errno
import os

from sightline.errors import Unverifiable
from sightline.filesystem.file_state import Replacement
from sightline.filesystem.system_calls import Calls

UNCOUNTED = {"time_ns", "sleep", "lstat", "fstat", "access"}


class Hooked(Calls):
    """Tells `hook(name)` of each call before it is made, and of its end as "after <name>"."""

    def __init__(self, hook, base=Calls):
        self._hook = hook
        self._base = base()

    def __getattribute__(self, name):
        if name.startswith("_"):
            return super().__getattribute__(name)
        inner = getattr(self._base, name)
        hook = self._hook
        if name in UNCOUNTED:
            return inner

        def call(*arguments, **options):
            hook(name)
            answer = inner(*arguments, **options)
            hook(f"after {name}")
            return answer

        return call


class BySteps(Calls):
    """A file system that cannot exchange two names in one step."""

    def exchange(self, one, other, *, dir_fd):
        raise OSError(errno.ENOSYS, "no exchange")

    def move(self, src, dst, *, src_fd, dst_fd):
        self._claim(src, dst, src_fd, dst_fd)


class NoLinks(BySteps):
    """One that has no hard links, either."""

    def link(self, *arguments, **options):
        raise OSError(errno.EPERM, "no links")


def failing(number, code, base=Calls):
    """Calls whose `number`th fails with that errno, and the list of those made."""
    made: list[str] = []

    def hook(name):
        if not name.startswith("after "):
            made.append(name)
            if len(made) == number:
                raise OSError(code, os.strerror(code))

    calls = Hooked(hook, base)
    return calls, made


def before(name, act, base=Calls, times=1):
    """Calls that do `act()` before the first `times` calls of that name."""
    left = [times]

    def hook(called):
        if called == name and left[0]:
            left[0] -= 1
            act()

    return Hooked(hook, base)


def dying(number, base=Calls):
    """Calls that kill the process at the `number`th step (before or after a call)."""
    steps = [0]

    def hook(name):
        steps[0] += 1
        if steps[0] == number:
            os.kill(os.getpid(), 9)

    return Hooked(hook, base)


def open_way_to(folder):
    """Let every user get to a folder of ours: each one above it must let them pass."""
    for each in (folder, *folder.parents):
        mode = each.stat().st_mode
        if mode & 0o005 != 0o005:
            each.chmod(mode | 0o055)


def as_nobody(act):
    """Run in a child without root's powers, whose exit tells whether it held."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)
            act()
            code = 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def replace_if(workspace, path, expected, new, token="t"):
    """Replace one file, and return its state or raise what the disk refused."""
    [state] = workspace.replace_each([Replacement(path, expected, new, token)])
    if isinstance(state, Unverifiable):
        raise state
    return state
