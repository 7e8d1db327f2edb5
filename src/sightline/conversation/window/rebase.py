"""Rebasing: put the current text of each edited file once at the end, in place of all blocks that
showed the file.

A read becomes stale when the agent edits the file, but the current text follows from the read and
the edits. A clear rewrites the window anyway; so it may add the current text once, and fold the old
reads, the edits' arguments and their results.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from msgspec import structs

from sightline.conversation.window.blocks import Block, Decision, Excerpt, Fold, Rewrite, Tail
from sightline.conversation.window.file_index import FILES
from sightline.conversation.window.folding import Count, Folding, Rules, Stub
from sightline.conversation.window.prices import USUAL, Prices

Run = tuple[int, list[str]]
"""The number of the first line, and the lines."""

GAIN = 1.25
"""Tokens freed for each token of a current text, for which the text is worth adding."""


def make_folding(rules: Rules, count: Count, stub: Stub, prices: Prices = USUAL) -> Folding:
    """Return a Folding, with or without rebasing as the rules say."""
    return (Rebasing if rules.views else Folding)(rules, count, stub, prices)


class Rebasing(Folding):
    """A Folding that adds the current text of files that the agent edited and still works on."""

    def __init__(self, rules: Rules, count: Count, stub: Stub, prices: Prices = USUAL) -> None:
        super().__init__(rules, count, stub, prices)
        self._current = CurrentText()

    def add(self, block: Block) -> None:
        """Add the next block of the conversation."""
        self._current.add(block)
        super().add(block)

    def decide(self, tokens: int, idle_s: float = 0.0) -> Decision:
        """Decide what is folded now, and which current texts are added."""
        decision = super().decide(tokens, idle_s)
        if not decision.folds:
            return decision
        folds = list(decision.folds)
        tails: list[Tail] = []
        step = self._blocks[-1].step
        for path, replaced in self._replaceable().items():
            text = "\n".join(
                f"[{path} from line {first}, with your edits until step {step}]\n"
                + "\n".join(lines)
                for first, lines in self._current.runs(path)
            )
            tokens = self._count(text)
            if text and self._freed(replaced) >= GAIN * tokens:
                folds += replaced
                tails.append(Tail(len(self._blocks) - 1, text, tokens))
        folds.sort(key=lambda fold: fold.block)
        decision = structs.replace(decision, folds=tuple(folds), tails=tuple(tails))
        self.apply(decision)
        return decision

    def _replaceable(self) -> dict[str, list[Fold]]:
        """Return, by edited file, folds of the blocks that are about this file alone and whose
        text the current text contains."""
        replaceable: dict[str, list[Fold]] = {}
        end = self._first_kept(self.rules.keep)
        for place in self._candidates:
            block = self._blocks[place]
            paths = {*self._paths[place]} if block.deed in FILES else set()
            if place >= end or len(paths) != 1:
                continue
            (path,) = paths
            if path not in self._files.edited or place < self._current.complete_from(path):
                continue
            fold = None if self._is_waiting(place) else self._fold(place, "superseded")
            if fold is not None:
                replaceable.setdefault(path, []).append(fold)
        return replaceable


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

    def runs(self, path: str) -> Iterator[tuple[int, Sequence[str]]]:
        """Return the known lines in runs: the number of the first line, and the lines."""
        yield from self._files.get(path, ())

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
