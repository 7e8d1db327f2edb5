"""The command watch: changes of files as they happen, one a line."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from stat import S_ISREG
from time import monotonic

import click

from sightline.api.workspace_words import seeing
from sightline.cli import output
from sightline.cli.live.lines import Lines
from sightline.cli.live.terminal import Waiting, while_read
from sightline.cli.options import command, place
from sightline.cli.output import Call
from sightline.model.log_entries import OF_FILES, Entry
from sightline.model.path import is_at_or_below, quoted
from sightline.text.phrases import joined


@command(example="watch src")
@click.argument("paths", nargs=-1, metavar="[PATH]...", callback=place)
def watch(call: Call, paths: Sequence[str]) -> None:
    """Print changes of files as they happen, until Ctrl-C.

    Watches all files that .gitignore does not hide, or only the given files and folders. A change
    of a file that no agent was shown is not recorded: its position is null, and it is printed once
    a second at most.
    """
    with call.ask() as workspace:
        named = tuple(map(workspace.path_of, paths))
        with output.progress(call, "Looking at all files"):
            live = workspace.live(unshown=True)
        lines, wait = Lines(workspace.names(), json=call.json), Waiting()
        calm = Calm(workspace.root)
        with while_read(), live, wait.heeding():
            eyes = live.eyes()
            how = seeing(eyes.mode, eyes.why, eyes.folders)
            output.note(call, f"Watching {workspace.root}, {how}. Ctrl-C ends it.")
            if absent := [each for each in named if not os.path.lexists(f"{calm.root}/{each}")]:
                output.note(
                    call, f"There is no file or folder {joined([*map(quoted, absent)], 'or')} yet."
                )
            while True:
                asked = [entry for entry in live.news() or () if _is_asked(entry, named)]
                lines.print(calm.due(asked, monotonic()))
                wait(live.patience_s(), live.fileno())


def _is_asked(entry: Entry, named: tuple[str, ...]) -> bool:
    if entry.kind not in OF_FILES:
        return False
    about = [path for path in (entry.path, entry.src, *entry.paths) if path is not None]
    if not named or not about:
        return True
    return any(is_at_or_below(path, named) for path in about)


REST_S = 1.0
"""Seconds for which a file's next change is held back, unless it is on the timeline."""

STDOUT = 1


class Calm:
    """Holds back changes of files without a session that were printed just now.

    The last change of a file is printed in the end; that a file came or went is printed at once. A
    file that stdout goes to is left out: every printed line would be a change of it.
    """

    def __init__(self, root: str) -> None:
        self.root = root
        self._stdout = _file_of(STDOUT)
        self._printed: dict[str, float] = {}
        self._held: dict[str, Entry] = {}

    def due(self, entries: Iterable[Entry], now: float) -> list[Entry]:
        """Return the entries to print now, held ones included. now: seconds of one clock."""
        self._printed = {path: at for path, at in self._printed.items() if now - at < REST_S}
        fresh = [entry for entry in entries if not self._holds(entry)]
        rested = [path for path in self._held if path not in self._printed]
        due = [*(self._held.pop(path) for path in rested), *fresh]
        self._printed |= {entry.path: now for entry in due if entry.path and not entry.position}
        return due

    def _holds(self, entry: Entry) -> bool:
        path = entry.path
        if entry.position or path is None:
            return False
        if self._stdout is not None and self._stdout == _file_of(f"{self.root}/{path}"):
            return True
        self._held.pop(path, None)
        if path in self._printed and entry.before is entry.after is None:
            self._held[path] = entry
            return True
        return False


def _file_of(at: str | int) -> tuple[int, int] | None:
    """Return device and inode of a regular file, by path or descriptor; None for anything else."""
    try:
        state = os.stat(at)
    except OSError:
        return None
    return (state.st_dev, state.st_ino) if S_ISREG(state.st_mode) else None
