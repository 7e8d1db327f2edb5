"""The current text of files, as far as a conversation shows it: reads with the agent's edits applied."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from sightline.conversation.window.blocks import Block, Excerpt, Rewrite

Run = tuple[int, list[str]]
"""The number of the first line, and the lines."""


class CurrentText:
    """The known lines of the files of one conversation: lines that were read, with the agent's own
    edits applied. Changes by others stay unknown until a block shows them. The runs of a file do not
    touch each other."""

    def __init__(self) -> None:
        self._files: dict[str, list[Run]] = {}
        self._rewrites: dict[str, tuple[Rewrite, ...]] = {}  # of calls without a result
        self._complete_from: dict[str, int] = {}
        self._place = -1

    def add(self, block: Block) -> None:
        """Add the next block."""
        self._place += 1
        if block.kind == "call" and block.call is not None and block.rewrites:
            self._rewrites[block.call] = block.rewrites
        elif block.kind == "result" and not block.error:
            for rewrite in self._rewrites.pop(block.call or "", ()):
                if rewrite.old is None:
                    lines = rewrite.new.removesuffix("\n").split("\n")
                    self._restart(rewrite.path, [(1, lines)], 0)
                elif not self._replace(rewrite.path, rewrite.old, rewrite.new):
                    self._restart(rewrite.path, [], self._place + 1)
            for excerpt in block.excerpts:
                self._show(excerpt)

    def runs(self, path: str) -> Sequence[Run]:
        """Return the known lines."""
        return self._files.get(path, ())

    def complete_from(self, path: str) -> int:
        """Return the place of the first block whose lines of a file are in the current text, as are
        those of all later blocks. Earlier blocks contradict an edit or a later read."""
        return self._complete_from.get(path, 0)

    def _show(self, excerpt: Excerpt) -> None:
        lines = excerpt.text.split("\n")
        if excerpt.whole:
            self._restart(excerpt.path, [(excerpt.first, lines)], 0)
            return
        runs = self._files.get(excerpt.path, [])
        low = bisect_left(runs, excerpt.first - 1, key=_last_line)
        high = bisect_left(runs, excerpt.last + 2, key=_first_line)
        joined = _overlay(runs[low:high], excerpt.first, lines)
        shortened = excerpt.total is not None and runs and _last_line(runs[-1]) > excerpt.total
        if joined is None or shortened:  # others changed the file
            self._restart(excerpt.path, [(excerpt.first, lines)], self._place)
        else:
            self._files.setdefault(excerpt.path, runs)[low:high] = [joined]

    def _restart(self, path: str, runs: list[Run], complete_from: int) -> None:
        """Replace the known lines of a file."""
        self._files[path] = runs
        self._complete_from[path] = complete_from

    def _replace(self, path: str, old: str, new: str) -> bool:
        """Apply an edit if its position is certain; return whether it was applied."""
        runs = self._files.get(path, [])
        texts = ["\n".join([*lines, ""]) for _, lines in runs]
        matches = [number for number, text in enumerate(texts) if old in text]
        if not old or len(matches) != 1 or texts[matches[0]].count(old) != 1:
            return False
        number = matches[0]
        text = texts[number].replace(old, new)
        if text and not text.endswith("\n"):
            return False
        first, before = runs[number]
        lines = text.split("\n")[:-1]
        moved = len(lines) - len(before)
        below = [(start + moved, rest) for start, rest in runs[number + 1 :]]
        runs[number:] = [(first, lines), *below] if lines else below
        return True


def _overlay(runs: Sequence[Run], first: int, lines: list[str]) -> Run | None:
    """Join lines with the runs that they touch; None where they contradict each other."""
    end = first + len(lines)
    above: list[str] = []
    below: list[str] = []
    for start, known in runs:
        low, high = max(start, first), min(start + len(known), end)
        if low < high and known[low - start : high - start] != lines[low - first : high - first]:
            return None
        above += known[: max(first - start, 0)]
        below += known[max(end - start, 0) :]
    return min([first, *map(_first_line, runs)]), [*above, *lines, *below]


def _first_line(run: Run) -> int:
    return run[0]


def _last_line(run: Run) -> int:
    return run[0] + len(run[1]) - 1
