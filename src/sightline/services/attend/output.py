"""What a command's output shows of files, and what its own text put into them."""

from __future__ import annotations

from sightline.core.commandline import starts
from sightline.core.printed import appeared, hits, plain
from sightline.core.regions import count, spans, union
from sightline.core.shell import readings, searches, writings, written
from sightline.core.text import decode
from sightline.errors import FileMissing, PathRefused, Unverifiable
from sightline.services.looks import saw

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from sightline.core.regions import Spans
    from sightline.core.text import Text
    from sightline.services.attend import CommandEnded
    from sightline.services.ground import Ground
    from sightline.workspace import Found

FILES_MAX = 50
RUNS_MAX = 100
"""Files, and runs of lines in all, of one output that are recorded."""


class Pages:
    """The texts of files as they stand now, each looked at once."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self._texts: dict[str, Text | None] = {}
        self._lines: dict[str, list[str]] = {}

    def text(self, path: str) -> Text | None:
        """None for what is no text, is not there or not ours, and for the files after many."""
        if path not in self._texts:
            full = len(self._texts) >= FILES_MAX
            self._texts[path] = None if full else self._looked(path)
        return self._texts[path]

    def lines(self, path: str) -> list[str]:
        """Its lines without their newlines; none where there is no text."""
        if path not in self._lines:
            text = self.text(path)
            self._lines[path] = [line.removesuffix("\n") for line in text.lines] if text else []
        return self._lines[path]

    def _looked(self, path: str) -> Text | None:
        try:
            data = self._ground.look(self._ground.workspace.locate(path).path).data
        except (PathRefused, Unverifiable):
            return None  # a word that looks like a path need not be one
        return decode(data) if data is not None else None


def note_shown(ground: Ground, event: CommandEnded) -> None:
    """Record the lines of files that stand in the output."""
    if not event.output:
        return
    pages, output = Pages(ground), plain(event.output)
    seen: dict[str, Spans] = {}
    folders = starts(event.command, event.cwd)
    at = 0
    for same in zip(*(readings(event.command, folder) for folder in folders), strict=True):
        told = [(*appeared(each, pages.lines(each.path), output, at), each.path) for each in same]
        lines, at, path = max(told, key=lambda one: count(one[0]))
        seen[path] = union(seen.get(path, ()), lines)
    for folder in folders:
        for place in searches(event.command, folder):
            for path, line in _found(pages, place, output):
                seen[path] = union(seen.get(path, ()), ((line, line),))
    _record(ground, pages, seen, "shell")


def note_written(ground: Ground, event: CommandEnded, changed: Iterable[Found]) -> None:
    """Record files whose text stands in the command itself: their agent knows it."""
    pages = Pages(ground)
    seen: dict[str, Spans] = {}
    folders = starts(event.command, event.cwd)
    for writing in [each for folder in folders for each in writings(event.command, folder)]:
        text = pages.text(writing.path)
        if text is not None and writing.text and text.plain.endswith(plain(writing.text)):
            total = len(text.lines)
            new = writing.text.count("\n") + (not writing.text.endswith("\n"))
            if writing.appended or total == new:
                seen[writing.path] = spans([(total - new + 1, total)])
    for there in changed:
        if there.data and len(there.data) <= 4 * len(event.command):
            path = f"{ground.workspace.root}/{there.path}"
            text = pages.text(path)
            if text is not None and written(event.command, text.plain):
                seen[path] = spans([(1, len(text.lines))])
    _record(ground, pages, seen, "command")


def _found(pages: Pages, folder: str, output: str) -> Iterable[tuple[str, int]]:
    for name, line, row in hits(output):
        path = name if name.startswith("/") else f"{folder}/{name}"
        lines = pages.lines(path)
        if 1 <= line <= len(lines) and lines[line - 1] == row:
            yield path, line


def _record(ground: Ground, pages: Pages, seen: dict[str, Spans], via: str) -> None:
    left = RUNS_MAX
    for path, lines in seen.items():
        text = pages.text(path)
        for first, last in lines[: max(left, 0)]:
            assert text is not None
            try:
                saw(ground, path, (first, last), "".join(text.lines[first - 1 : last]), via)
            except (FileMissing, PathRefused):
                break  # it went away since it was looked at
        left -= len(lines)
