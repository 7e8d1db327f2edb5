"""The text of files as far as a conversation shows it: what was read, with the agent's own edits in
place. What others changed since is not known here."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sightline.core.window.blocks import Block, Excerpt, Rewrite


class Current:
    """One conversation's files: path -> number of a line -> the line."""

    def __init__(self) -> None:
        self._files: dict[str, dict[int, str]] = {}
        self._given: dict[str, tuple[Rewrite, ...]] = {}

    def add(self, block: Block) -> None:
        """The next block."""
        if block.kind == "call" and block.call is not None and block.rewrites:
            self._given[block.call] = block.rewrites
        elif block.kind == "result" and not block.error:
            for rewrite in self._given.pop(block.call or "", ()):
                self._rewrite(rewrite)
            for excerpt in block.excerpts:
                self._show(excerpt)

    def runs(self, path: str) -> Iterator[tuple[int, list[str]]]:
        """The lines that are known, in runs: the number of the first, and the lines."""
        known = self._files.get(path, {})
        run: list[str] = []
        first = last = 0
        for number in sorted(known):
            if run and number != last + 1:
                yield first, run
                run = []
            if not run:
                first = number
            run.append(known[number])
            last = number
        if run:
            yield first, run

    def _show(self, excerpt: Excerpt) -> None:
        lines = excerpt.text.removesuffix("\n").split("\n")
        known = {} if excerpt.whole else self._files.get(excerpt.path, {})
        shown = enumerate(lines, excerpt.first)
        self._files[excerpt.path] = {**known, **dict(shown)}

    def _rewrite(self, rewrite: Rewrite) -> None:
        if rewrite.old is None:
            lines = rewrite.new.removesuffix("\n").split("\n")
            self._files[rewrite.path] = dict(enumerate(lines, 1))
            return
        for first, lines in self.runs(rewrite.path):
            text = "\n".join(lines)
            if rewrite.old in text:
                new = text.replace(rewrite.old, rewrite.new, 1).split("\n")
                self._files[rewrite.path] = self._shifted(rewrite.path, first, lines, new)
                return

    def _shifted(
        self, path: str, first: int, old: Sequence[str], new: Sequence[str]
    ) -> dict[int, str]:
        """A file with a run of its lines in other words; what stands below moves along."""
        known, end, by = self._files[path], first + len(old), len(new) - len(old)
        above = {number: line for number, line in known.items() if number < first}
        below = {number + by: line for number, line in known.items() if number >= end}
        return {**above, **dict(enumerate(new, first)), **below}
