"""A watcher for macOS and Windows that uses watchdog (Apache-2.0), without events of reads.

watchdog watches the whole tree at once and does not say when the system dropped events. So many
events in one answer count as a gap, as does a machine that slept: a needless look costs little.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from queue import Empty, SimpleQueue
from time import monotonic, time, time_ns
from types import ModuleType
from typing import Any

from sightline.errors import Unverifiable, WorkspaceError
from sightline.filesystem.folder import ASIDE
from sightline.filesystem.ignore.rules import RuleSet, encodes
from sightline.filesystem.watch.git_folder import EXCLUDE, TOLD, git_files
from sightline.filesystem.watch.polling import PollingWatcher, Rota, has_several_names, identity_of
from sightline.filesystem.watch.watcher import Eyes, Hints, Lost, Watcher
from sightline.model.path import folders_above

Raw = tuple[str, bool, int]
"""A full path, whether it was a folder, and the clock when the event came."""

ROOT_S = 2.0
SLEPT_S = 5.0
"""The least difference between the clock and the process's own clock after the machine slept."""

MANY = 500
"""With so many events in one answer, some may have been dropped: Windows keeps 64 KiB of them."""


def for_elsewhere(root: str, rules: RuleSet, *, polling_s: float) -> Watcher:
    """Return the watcher for this system; see choose.watch."""
    name = "windows" if sys.platform == "win32" else "macos"
    system = import_module(f"sightline.filesystem.watch.{name}")
    why = system.eventless(root)
    if why is not None:
        return PollingWatcher(root, why, polling_s=polling_s)
    return ElsewhereWatcher(root, rules, system, observer, polling_s=polling_s)


class ElsewhereWatcher:
    """See Watcher. system: the module macos or windows. start: (root, handler of events) -> a running
    watchdog observer."""

    def __init__(
        self,
        root: str,
        rules: RuleSet,
        system: ModuleType,
        start: Callable[[str, Any], Any],
        *,
        polling_s: float,
    ) -> None:
        self._root = root
        self._rules = rules
        self._system = system
        self._start = start
        self._queue: SimpleQueue[Raw | None] = SimpleQueue()
        self._rota = Rota(polling_s)
        self._followed: frozenset[str] = frozenset()
        self._must_restart = False
        self._ahead_s = time() - monotonic()
        self._identity = identity_of(root)
        self._away: Lost | None = None if self._identity else "gone"
        self._observer = self._start(root, self) if self._identity else None
        self.follow(())

    def dispatch(self, event: Any) -> None:
        """Take in an event. watchdog calls this in a thread of its own."""
        at_ns = time_ns()
        for place in (event.src_path, getattr(event, "dest_path", "")):
            if place:
                self._queue.put((os.fsdecode(place), bool(event.is_directory), at_ns))

    def wait(self, timeout_s: float | None) -> Hints | None:
        end_s = float("inf") if timeout_s is None else monotonic() + timeout_s
        while True:
            now_s = monotonic()
            until_s = min(end_s, now_s + ROOT_S, self._rota.due_s if self._rota else end_s)
            events, woken = self._next(max(until_s - now_s, 0))
            hints = self._look(events)
            if hints is not None:
                return hints
            if woken or monotonic() >= end_s:
                return None

    def fileno(self) -> None:
        return None

    def wake(self) -> None:
        self._queue.put(None)

    def eyes(self) -> Eyes:
        return Eyes(
            "away" if self._away else "events",
            self._away,
            folders=0 if self._away else 1,
            followed=len(self._followed),
            polled=len(self._rota),
            every_s=self._rota.every_s if self._rota else 0.0,
        )

    def follow(self, paths: Iterable[str]) -> None:
        self._followed = frozenset(paths)
        inside = f"{self._root}/.git/"
        places = {name: at for name, at in git_files(self._root) if not at.startswith(inside)}
        linked = {path: f"{self._root}/{path}" for path in self._followed}
        self._rota.set({**places, **{p: at for p, at in linked.items() if has_several_names(at)}})

    def close(self) -> None:
        running, self._observer = self._observer, None
        if running is not None:
            running.stop()
            running.join()

    def _next(self, timeout_s: float) -> tuple[list[Raw], bool]:
        """Wait for events and return them, and whether wake() was called."""
        events: list[Raw] = []
        woken = False
        try:
            item = self._queue.get(timeout=timeout_s)
            while True:
                if item is None:
                    woken = True
                else:
                    events.append(item)
                item = self._queue.get_nowait()
        except Empty:
            return events, woken

    def _look(self, events: list[Raw]) -> Hints | None:
        at_ns = min((at for _, _, at in events), default=time_ns())
        identity = identity_of(self._root)
        if identity != self._identity:
            return self._replaced(identity, at_ns)
        if self._away:
            return None
        lost = self._lost(len(events))
        if lost is not None or self._must_restart:
            self._must_restart = False
            return self._gap(at_ns, lost)
        try:
            paths = self._named(events)
        except Unverifiable:
            self._must_restart = True
            raise
        if monotonic() >= self._rota.due_s:
            paths |= self._rota.poll()
        if "" in paths:
            return self._gap(at_ns)
        return Hints(frozenset(paths), at_ns=at_ns) if paths else None

    def _replaced(self, identity: tuple[int, int] | None, at_ns: int) -> Hints:
        lost: Lost | None = None if self._identity is None else "gone"
        self._identity, self._away = identity, None if identity else lost
        self._restart()
        return self._gap(at_ns, lost)

    def _restart(self) -> None:
        self.close()
        self._observer = self._start(self._root, self) if self._identity else None

    def _lost(self, count: int) -> Lost | None:
        ahead_s, self._ahead_s = self._ahead_s, time() - monotonic()
        if self._ahead_s - ahead_s > SLEPT_S:
            return "suspended"
        if self._observer is not None and not all(e.is_alive() for e in self._observer.emitters):
            self._restart()  # a thread of watchdog's ended with an error
            return "overflow"
        return "overflow" if count >= MANY else None

    def _named(self, events: list[Raw]) -> set[str]:
        seen = {(self._system.spelled(place), below) for place, below, _ in set(events)}
        inside = f"{self._root.replace(os.sep, '/')}/"
        return {
            named
            for place, below in seen
            if place.startswith(inside)
            and (named := self._passing(place[len(inside) :], below=below)) is not None
        }

    def _passing(self, path: str, *, below: bool) -> str | None:
        """Return the path that a hint names for a changed path; None for none, "" for everything."""
        if path in self._followed or path in TOLD:
            return path
        if path == EXCLUDE:
            return ""
        folder, name = path[: path.rfind("/") + 1], path[path.rfind("/") + 1 :]
        chains = self._rules.chains(folder)
        if chains is None or name == ".hg" or name.startswith(ASIDE):
            return None
        if name == ".git" or name in self._rules.names or not encodes(name):
            return folder.rstrip("/")
        # A folder may belong to a repository inside the tree.
        nested = any(os.path.lexists(f"{self._root}/{top}.git") for top in folders_above(folder))
        return None if nested or self._rules.hides(chains, path, is_folder=below) else path

    def _gap(self, at_ns: int, lost: Lost | None = None) -> Hints:
        return Hints(frozenset(), everything=True, lost=lost, at_ns=at_ns)


_KINDS = [
    *("FileCreatedEvent", "FileDeletedEvent", "FileModifiedEvent", "FileMovedEvent"),
    *("FileAttribEvent", "DirCreatedEvent", "DirDeletedEvent", "DirMovedEvent", "DirAttribEvent"),
]
"""The events to receive. Events of opening and reading would drown them in every search."""


def observer(root: str, handler: object) -> Any:
    """Start a watchdog observer of a tree, which calls handler.dispatch(event) in a thread of its own.
    WorkspaceError when the library is missing."""
    try:
        events, observers = import_module("watchdog.events"), import_module("watchdog.observers")
    except ImportError as error:
        raise WorkspaceError(
            "Changes cannot be watched: the library watchdog is not installed.",
            "Install it with: python -m pip install 'watchdog>=7.1'",
        ) from error
    made = observers.Observer()
    kinds = [getattr(events, kind) for kind in _KINDS]
    made.schedule(handler, root, recursive=True, event_filter=kinds)
    made.start()
    return made
