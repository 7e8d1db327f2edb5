"""The place of a workspace's answerer: a file that whoever has it keeps locked.

The lock goes with the descriptor, so the hook that takes the place hands it on to the process it
starts, and two hooks that start one at once leave one. Who ends well takes the file away; one that
is left says that somebody ended otherwise, and is too young for a while to be tried again.
"""

from __future__ import annotations

import os
from time import time

from sightline.model.revision import revision_of

RETRY_S = 600.0
"""How long after a start that did not end well the next one comes."""


def place_of(folder: str, root: str, variables: str) -> str:
    """The file for one workspace and one set of variables. folder: that of all sockets."""
    name = revision_of(os.fsencode(f"{root}\0{variables}"))[:16]
    return os.path.join(folder, f"{name}.lock")


def take(path: str) -> int | None:
    """A descriptor that holds the place; None while another holds it. OSError."""
    import fcntl

    descriptor = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if _is(descriptor, path):
            return descriptor
    except BlockingIOError:
        pass
    except BaseException:
        os.close(descriptor)
        raise
    os.close(descriptor)
    return None


def may_start(held: int) -> bool:
    """Whether it is time to start somebody: not just after one that did not end well. If so, that
    is noted in the file. OSError."""
    found = os.fstat(held)
    if found.st_size and 0 <= time() - found.st_mtime < RETRY_S:
        return False
    os.pwrite(held, b"\n", 0)
    return True


def give_back(path: str, held: int) -> None:
    """End well. OSError."""
    try:
        if _is(held, path):
            os.unlink(path)
    finally:
        os.close(held)


def _is(descriptor: int, path: str) -> bool:
    """Whether this is still the file of that name: who ended meanwhile has taken it away."""
    try:
        there = os.stat(path)
    except FileNotFoundError:
        return False
    return os.path.samestat(os.fstat(descriptor), there)
