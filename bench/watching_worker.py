"""A process of bench/watching.py: one watcher, asked line by line on its standard input.

watching_worker.py ours|bare|stored|view|bare-view ROOT

bare is the least that could do it: scandir, a watch per folder, a blocking read. It follows new
folders as a simple reader does, without listing them, and says nothing when events were lost.
stored is ours with the timeline behind it: it has heard of a change once that is a fact in the
store. view is a subscription and the first look at all that ever was shown (bench/filling.py),
once the store is read, and bare-view its floor: a watch per folder, and a stat of each file.
fresh is view with the reading of the store.
A question is a word; its answer is one line of JSON.
"""

from __future__ import annotations

import json
import os
import select
import sqlite3
import sys
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any, Protocol

if not __package__:
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

import sightline
from sightline.api.folders import ports
from sightline.changes.session_context import now_us
from sightline.config.settings import Settings
from sightline.filesystem.ignore.rules import IgnoreRules, RuleSet, git_rules
from sightline.filesystem.watch.choose import (
    for_linux,  # noqa: F401  loaded before it is timed
    watch,
)
from sightline.filesystem.watch.inotify import CREATE, ISDIR, Inotify, events
from sightline.history.session_history import survey
from sightline.history.watching import Watching
from sightline.model.events import Cause, Changed
from sightline.store.port import Append

if TYPE_CHECKING:
    from collections.abc import Callable

    from sightline.filesystem.watch.watcher import Hints, Watcher

QUIET_S = 0.5
"""So long without an event: the storm is over."""


class Reader(Protocol):
    """Either watcher. wait: (seconds) -> paths and whether everything may have changed, or None."""

    def wait(self, timeout_s: float) -> tuple[set[str], bool] | None: ...


class Ours:
    """Sightline's."""

    def __init__(self, root: str) -> None:
        rules = RuleSet((IgnoreRules(root, ".sightlineignore"), git_rules(root)))
        self._watcher: Watcher = watch(root, rules)

    def wait(self, timeout_s: float) -> tuple[set[str], bool] | None:
        """See Reader."""
        hints: Hints | None = self._watcher.wait(timeout_s)
        return None if hints is None else (set(hints.paths), hints.everything)


class Stored:
    """Sightline's, with facts. stored: the file of the store."""

    def __init__(self, root: str, stored: str) -> None:
        settings = Settings(state_home=f"{stored}-state")
        store, tree = ports(root, settings, f"sqlite://{stored}")
        self.store = store
        self._watching = Watching(survey(store, tree, settings, now_us))
        self._watching.wait(0)

    def wait(self, timeout_s: float) -> tuple[set[str], bool] | None:
        """See Reader."""
        until_s = perf_counter() + timeout_s
        while (left_s := until_s - perf_counter()) > 0:
            if entries := self._watching.wait(left_s):  # closing the file is a look for nothing
                return {each.path or "" for each in entries}, False
        return None


def shown(root: str, stored: str) -> Stored:
    """With 200 files that a session was shown: one that changed rests before its next change."""
    settings = Settings(state_home=f"{stored}-state")
    with sightline.open_session(
        root, id="s", store=f"sqlite://{stored}", settings=settings
    ) as session:
        for number in range(200):
            session.read(place_of(number))
    return Stored(root, stored)


class View:
    """A subscription, and the first look at every file of the timeline."""

    def __init__(self, root: str, stored: str) -> None:
        settings = Settings(state_home=f"{stored}-state")
        store, tree = ports(root, settings, f"sqlite://{stored}")
        stamps = store.stamps()
        began_s = perf_counter()
        self._watcher = tree.watch()
        found = list(tree.scan(stamps, deadline_s=60))
        self.took_s = perf_counter() - began_s
        assert not found, found[0]

    def wait(self, timeout_s: float) -> tuple[set[str], bool] | None:
        """See Reader."""
        hints = self._watcher.wait(timeout_s)
        return None if hints is None else (set(hints.paths), hints.everything)


def place_of(number: int) -> str:
    """One of 200 files of a tree of 10,000."""
    folder = 5 * number
    return f"d{folder // 100}/e{folder // 10 % 10}/f{folder % 10}/{50 * number}.txt"


class BareView:
    """A watch per folder, and a stat of each file."""

    def __init__(self, root: str, stored: str) -> None:
        rows = sqlite3.connect(stored).execute("SELECT path FROM disk").fetchall()
        paths = [f"{root}/{path}" for (path,) in rows]
        began_s = perf_counter()
        self._bare = Bare(root)
        for path in paths:
            os.lstat(path)
        self.took_s = perf_counter() - began_s

    def wait(self, timeout_s: float) -> tuple[set[str], bool] | None:
        """See Reader."""
        return self._bare.wait(timeout_s)


class Bare:
    """A map from watches to folders, and nothing else."""

    def __init__(self, root: str) -> None:
        self._inotify = Inotify()
        self._names: dict[int, str] = {}
        self._poll = select.poll()
        self._poll.register(self._inotify.fd, select.POLLIN)
        self._root = root
        left = [""]
        while left:
            folder = left.pop()
            self._names[self._inotify.add(f"{root}/{folder}")] = folder
            with os.scandir(f"{root}/{folder}") as entries:
                left += [
                    f"{folder}{entry.name}/"
                    for entry in entries
                    if entry.is_dir(follow_symlinks=False)
                ]

    def wait(self, timeout_s: float) -> tuple[set[str], bool] | None:
        """See Reader."""
        if not self._poll.poll(timeout_s * 1e3):
            return None
        paths = set()
        for number, mask, name in events(self._inotify.read()):
            path = f"{self._names.get(number, '')}{os.fsdecode(name)}"
            paths.add(path)
            if mask & ISDIR and mask & CREATE:
                self._follow(path)
        return paths, False

    def _follow(self, path: str) -> None:
        try:
            self._names[self._inotify.add(f"{self._root}/{path}")] = f"{path}/"
        except FileNotFoundError:
            return


def main(kind: str, root: str) -> None:
    """Subscribe, say what that took, answer until there are no more questions."""
    before_kb, began_s = rss_kb(), perf_counter()
    reader = KINDS[kind](root)
    took_s = perf_counter() - began_s
    if isinstance(reader, (View, BareView)):  # reading which files there are is no part of it
        took_s = reader.took_s
    say({"took_s": took_s, "added_kb": rss_kb() - before_kb, "rss_kb": rss_kb()})
    for line in sys.stdin:
        say(QUESTIONS[line.strip()](reader))


def say(answer: object) -> None:
    """One answer."""
    print(json.dumps(answer), flush=True)


def rss_kb() -> int:
    """Memory of this process that is its own or shared, in KiB."""
    with open("/proc/self/status", encoding="ascii") as file:
        return int(next(line for line in file if line.startswith("VmRSS")).split()[1])


def peak_kb(_: Reader) -> int:
    """The most it ever was."""
    with open("/proc/self/status", encoding="ascii") as file:
        return int(next(line for line in file if line.startswith("VmHWM")).split()[1])


def arrived(reader: Reader) -> float:
    """Wait for the next event; when that was, on the clock that all processes share."""
    reader.wait(60)
    return perf_counter()


def drained(reader: Reader) -> dict[str, Any]:
    """Return all news until none comes any more."""
    paths: set[str] = set()
    everything = False
    while True:
        found = reader.wait(QUIET_S)
        if found is None:
            return {"paths": sorted(paths), "everything": everything}
        paths |= found[0]
        everything |= found[1]


def spent(reader: Reader) -> float:
    """Wait for 10 seconds, with whatever comes; the processor's seconds that took."""
    before_s, until_s = process_time(), perf_counter() + 10
    while perf_counter() < until_s:
        reader.wait(until_s - perf_counter())
    return process_time() - before_s


def append(reader: Reader) -> float:
    """The median of 200 single facts appended to the store; seconds."""
    assert isinstance(reader, Stored)
    took = []
    for number in range(200):
        fact = Changed("no.txt", "a" * 64, f"{number:064}", "content", Cause("external"))
        began_s = perf_counter()
        reader.store.append(Append("", [fact], at=number))
        took.append(perf_counter() - began_s)
    return median(took)


KINDS: dict[str, Callable[[str], Reader]] = {
    "ours": Ours,
    "bare": Bare,
    "stored": lambda root: shown(root, f"{os.path.dirname(root)}/store.db"),
    "view": lambda root: View(root, f"{os.path.dirname(root)}/store.db"),
    "fresh": lambda root: Stored(root, f"{os.path.dirname(root)}/store.db"),
    "bare-view": lambda root: BareView(root, f"{os.path.dirname(root)}/store.db"),
}

QUESTIONS: dict[str, Callable[[Any], object]] = {
    "arrived": arrived,
    "drained": drained,
    "spent": spent,
    "peak": peak_kb,
    "append": append,
}

if __name__ == "__main__":
    main(*sys.argv[1:])
