"""A tree, a watcher of it, and what it says of an act: real folders, real events."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sightline.filesystem.ignore.rules import IgnoreRules, RuleSet, git_rules
from sightline.filesystem.watch.choose import for_linux
from sightline.filesystem.watch.inotify import Inotify
from sightline.filesystem.watch.watcher import Hints, Watcher

LONG_S = 30.0
"""Longer than anything here takes: a test that waits so long has failed."""

LOCAL = "/dev/x / ext4 rw 0 0\n"


def rules_of(root: Path) -> RuleSet:
    return RuleSet((IgnoreRules(str(root), ".sightlineignore"), git_rules(str(root))))


@contextmanager
def watching(
    root: Path,
    *,
    inotify: type[Inotify] = Inotify,
    table: str = LOCAL,
    polling_s: float = 0.02,
) -> Iterator[Watcher]:
    root = root.resolve()
    watcher = for_linux(
        str(root), rules_of(root), polling_s=polling_s, inotify=inotify, table=table
    )
    try:
        yield watcher
    finally:
        watcher.close()


def hinted(watcher: Watcher, act: Callable[[], object]) -> set[str]:
    """The paths named after an act; nothing else may be said of it."""
    act()
    hints = all_of(watcher)
    assert not hints.everything
    assert hints.lost is None
    return set(hints.paths)


def all_of(watcher: Watcher) -> Hints:
    """All that is said now. The kernel queues an event before the call that caused it returns."""
    said = list(iter(lambda: watcher.wait(0), None))
    return Hints(
        frozenset().union(*(hints.paths for hints in said)),
        everything=any(hints.everything for hints in said),
        lost=next((hints.lost for hints in said if hints.lost), None),
    )


def told(watcher: Watcher) -> Hints:
    """The next hints, waited for."""
    hints = watcher.wait(LONG_S)
    assert hints is not None
    return hints


def lay(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)


def save(file: Path, text: str = "saved") -> None:
    """As editors do: written aside, renamed over."""
    aside = file.with_name(f"{file.name}.tmp~")
    aside.write_text(text)
    os.replace(aside, file)
