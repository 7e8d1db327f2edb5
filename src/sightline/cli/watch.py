"""watch: changes of files as they happen, one a line."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from stat import S_ISREG
from time import monotonic

import click

from sightline.cli import output
from sightline.cli.live.lines import Lines
from sightline.cli.live.terminal import Waiting, while_read
from sightline.cli.options import verb
from sightline.cli.output import Call
from sightline.history.log_entries import OF_FILES, Entry
from sightline.history.watching import Watching
from sightline.history.words import seeing


@verb()
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.pass_obj
def watch(call: Call, paths: Sequence[str]) -> None:
    """Print changes of files as they happen, until Ctrl-C.

    All files that .gitignore does not hide, or only the given ones and what is in them. With
    --json an object a line, as 'sightline log --json' has them; one of a file that no agent was
    shown stands on no timeline, and its position is null. Such a file that changes all the time
    is told of once a second.
    """
    with call.survey() as ground:
        named = tuple(ground.workspace.locate(call.path(path)).path for path in paths)
        with output.progress(call, "Looking at all files"):
            watching = Watching(ground, unshown=True)
        lines, wait = Lines(json=call.json), Waiting()
        calm = Calm(ground.workspace.root)
        with while_read(), watching, wait.heeding():
            output.note(call, _begun(ground.workspace.root, watching))
            while True:
                glance = watching.wait(0)
                entries = glance.entries if glance is not None else ()
                asked = [entry for entry in entries if _asked(entry, named)]
                lines.tell(calm.heard(asked, monotonic()))
                wait(watching.patience_s(), watching.fileno())


def _begun(root: str, watching: Watching) -> str:
    eyes = watching.eyes()
    how = seeing(eyes.mode, eyes.why, eyes.folders)
    return f"Watching {root}, {how}. Ctrl-C ends it."


def _asked(entry: Entry, named: tuple[str, ...]) -> bool:
    if entry.kind not in OF_FILES:
        return False
    about = [path for path in (entry.path, entry.src, *entry.paths) if path is not None]
    if not named or not about:
        return True
    return any(p == name or p.startswith(f"{name}/") for p in about for name in named)


REST_S = 1.0
"""For how long a file's next change is held back. What is on the timeline never is."""

STDOUT = 1


class Calm:
    """Holds back changes of unshown files that were told of just now. The last one is told in the
    end, and that a file came or went is told at once. Nothing is told of a file that the words
    themselves go to, for every word is a change of it. root: the workspace's."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._own = _file_of(STDOUT)
        self._told: dict[str, float] = {}
        self._held: dict[str, Entry] = {}

    def heard(self, entries: Iterable[Entry], now: float) -> list[Entry]:
        """What to tell now, of these and of what was held back. now: seconds of one clock."""
        self._told = {path: at for path, at in self._told.items() if now - at < REST_S}
        fresh = [each for each in entries if not self._holds(each)]
        due = [path for path in self._held if path not in self._told]
        said = [*(self._held.pop(path) for path in due), *fresh]
        self._told |= {each.path: now for each in said if each.path and not each.position}
        return said

    def _holds(self, entry: Entry) -> bool:
        path = entry.path
        if entry.position or path is None:
            return False
        if self._is_own(path):
            return True
        self._held.pop(path, None)
        if path in self._told and entry.before is entry.after is None:
            self._held[path] = entry
            return True
        return False

    def _is_own(self, path: str) -> bool:
        return self._own is not None and self._own == _file_of(f"{self._root}/{path}")


def _file_of(at: str | int) -> tuple[int, int] | None:
    """Which regular file that is, by path or descriptor; None when it is none."""
    try:
        found = os.stat(at)
    except OSError:
        return None
    return (found.st_dev, found.st_ino) if S_ISREG(found.st_mode) else None
