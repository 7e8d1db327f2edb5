"""The index of imports that a process has of each workspace, and who may ask it."""

from __future__ import annotations

import os
from _thread import allocate_lock
from contextlib import contextmanager
from weakref import WeakKeyDictionary

from sightline.services.importing import Importing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from sightline.workspace import Workspace


def index_of(workspace: Workspace) -> Importing:
    """The one index of a workspace."""
    with _LOCK:
        return _KEPT.setdefault(workspace, Importing())


@contextmanager
def looked(
    workspace: Workspace, first: str, *, within_s: float | None = None
) -> Iterator[Importing]:
    """The index after a look, held; see refresh. Where another thread holds it for longer than there
    is time, what an earlier process kept is asked, by one of its own."""
    index = index_of(workspace)
    if not index.lock.acquire(timeout=-1 if within_s is None else max(within_s, 0)):
        index = Importing()
        index.lock.acquire()
        within_s = 0
    try:
        index.refresh(workspace, first, within_s=within_s)
        yield index
    finally:
        index.lock.release()


_KEPT: WeakKeyDictionary[Workspace, Importing] = WeakKeyDictionary()
_LOCK = allocate_lock()


def _begin_child() -> None:
    """What other threads held when a process forked is let go of by nobody."""
    _KEPT.clear()
    _LOCK.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_LOCK.acquire, after_in_parent=_LOCK.release, after_in_child=_begin_child
    )
