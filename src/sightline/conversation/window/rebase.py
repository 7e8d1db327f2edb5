"""Rebasing: one current view of each file the agent is at work on, in place of all that showed it.

A read that the agent edited since is out of date, but the text that it left there can be told from
it and the edits. A clear that rewrites the window anyway may put that text once at its end, and
fold the old reads, what the edits were given and their answers.

The text of files as far as a conversation shows it: what was read, with the agent's own edits in
place. What others changed since is not known here, until something shows it.
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
"""The number of a line, and the lines from it on."""

GAIN = 1.25
"""How many times what a view takes has to go for it."""


def folder(rules: Rules, count: Count, stub: Stub, prices: Prices = USUAL) -> Folding:
    """The folder that these rules ask for. See Folding."""
    made = Rebasing if rules.views else Folding
    return made(rules, count, stub, prices)


class Rebasing(Folding):
    """A folder that keeps a current view of the files that were edited and stay."""

    def __init__(self, rules: Rules, count: Count, stub: Stub, prices: Prices = USUAL) -> None:
        super().__init__(rules, count, stub, prices)
        self._current = Current()

    def add(self, block: Block) -> None:
        """The next block of the conversation."""
        self._current.add(block)
        super().add(block)

    def decide(self, tokens: int, idle_s: float = 0.0) -> Decision:
        """What is folded now, and what is shown anew."""
        made = super().decide(tokens, idle_s)
        if not made.folds:
            return made
        folds = list(made.folds)
        tails: list[Tail] = []
        for path, replaced in self._replaceable().items():
            freed = sum(map(self._freed, replaced))
            text = self._text(path)
            tokens = self._count(text)
            if text and freed >= GAIN * tokens:
                folds += replaced
                tails.append(Tail(len(self._blocks) - 1, text, tokens))
        folds.sort(key=lambda fold: fold.block)
        made = structs.replace(made, folds=tuple(folds), tails=tuple(tails))
        self.taken(made)
        return made

    def _replaceable(self) -> dict[str, list[Fold]]:
        """By file, of those that were edited: the folds of what stays of it, is about no other, and
        is all in its text."""
        found: dict[str, list[Fold]] = {}
        before = self._cut(self.rules.keep)
        for place in self._open:
            block = self._blocks[place]
            of = dict.fromkeys(self._files.of(block)) if block.deed in FILES else {}
            path = next(iter(of), "")
            if place >= before or len(of) != 1 or path not in self._files.edited:
                continue
            if place >= self._current.since(path) and not self._waits(place):
                fold = self._folded(place, "superseded")
                if fold is not None:
                    found.setdefault(path, []).append(fold)
        return found

    def _text(self, path: str) -> str:
        """What the agent holds of a file."""
        step = self._blocks[-1].step
        return "\n".join(
            f"[{path} from line {first}, with your edits until step {step}]\n" + "\n".join(lines)
            for first, lines in self._current.runs(path)
        )


class Current:
    """One conversation's files: of each the runs of lines that are known, none touching another."""

    def __init__(self) -> None:
        self._files: dict[str, list[Run]] = {}
        self._given: dict[str, tuple[Rewrite, ...]] = {}
        self._since: dict[str, int] = {}
        self._place = -1

    def add(self, block: Block) -> None:
        """The next block."""
        self._place += 1
        if block.kind == "call" and block.call is not None and block.rewrites:
            self._given[block.call] = block.rewrites
        elif block.kind == "result" and not block.error:
            for rewrite in self._given.pop(block.call or "", ()):
                self._rewrite(rewrite)
            for excerpt in block.excerpts:
                self._show(excerpt)

    def runs(self, path: str) -> Iterator[tuple[int, Sequence[str]]]:
        """The lines that are known, in runs: the number of the first, and the lines."""
        yield from self._files.get(path, ())

    def since(self, path: str) -> int:
        """The place of the block from which on nothing that blocks say of a file is missing here.
        What earlier ones say could not be brought together with an edit, or with a later read."""
        return self._since.get(path, 0)

    def _show(self, excerpt: Excerpt) -> None:
        lines = excerpt.text.split("\n")
        if excerpt.whole:
            self._begin(excerpt.path, [(excerpt.first, lines)], 0)
            return
        runs = self._files.get(excerpt.path, [])
        low = bisect_left(runs, excerpt.first - 1, key=_end)
        high = bisect_left(runs, excerpt.last + 2, key=_first)
        pieces = _overlaid(runs[low:high], excerpt.first, lines)
        gone = excerpt.total is not None and bool(runs) and _end(runs[-1]) > excerpt.total
        if pieces is None or gone:  # others changed it
            self._begin(excerpt.path, [(excerpt.first, lines)], self._place)
        else:
            self._files.setdefault(excerpt.path, runs)[low:high] = [pieces]

    def _rewrite(self, rewrite: Rewrite) -> None:
        if rewrite.old is None:
            self._begin(rewrite.path, [(1, rewrite.new.removesuffix("\n").split("\n"))], 0)
        elif not self._replaced(rewrite.path, rewrite.old, rewrite.new):
            self._begin(rewrite.path, [], self._place + 1)

    def _begin(self, path: str, runs: list[Run], since: int) -> None:
        """Nothing that was known of a file holds any more."""
        self._files[path] = runs
        self._since[path] = since

    def _replaced(self, path: str, old: str, new: str) -> bool:
        """Whether it is certain where an edit goes; it stands there then."""
        runs = self._files.get(path, [])
        texts = ["\n".join([*lines, ""]) for _, lines in runs]
        held = [number for number, text in enumerate(texts) if old in text]
        if not old or len(held) != 1 or texts[held[0]].count(old) != 1:
            return False
        number = held[0]
        text = texts[number].replace(old, new)
        if text and not text.endswith("\n"):
            return False
        first, before = runs[number]
        lines = text.split("\n")[:-1]
        by = len(lines) - len(before)
        below = [(at + by, rest) for at, rest in runs[number + 1 :]]
        runs[number:] = [(first, lines), *below] if lines else below
        return True


def _overlaid(runs: Sequence[Run], first: int, lines: list[str]) -> Run | None:
    """One run of the lines and of what it touches; None where they contradict each other."""
    end = first + len(lines)
    above: list[str] = []
    below: list[str] = []
    begins = min([first, *map(_first, runs)])
    for at, known in runs:
        low, high = max(at, first), min(at + len(known), end)
        if low < high and known[low - at : high - at] != lines[low - first : high - first]:
            return None
        above += known[: max(first - at, 0)]
        below += known[max(end - at, 0) :]
    return begins, [*above, *lines, *below]


def _first(run: Run) -> int:
    return run[0]


def _end(run: Run) -> int:
    """The number of its last line."""
    return run[0] + len(run[1]) - 1
