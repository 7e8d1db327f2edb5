"""Rebasing: one current view of each file the agent is at work on, in place of all that showed it.

A read that the agent edited since is out of date, but the text that it left there can be told from
it and the edits. A clear that rewrites the window anyway may put that text once at its end, and
fold the old reads, what the edits were given and their answers.
"""

from __future__ import annotations

from sightline.core.window.blocks import Decision, Tail
from sightline.core.window.current import Current
from sightline.core.window.files import FILES
from sightline.core.window.folding import Folding
from sightline.core.window.prices import USUAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sightline.core.window.blocks import Block, Fold
    from sightline.core.window.folding import Count, Rules, Stub
    from sightline.core.window.prices import Prices

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
        made = made.replace(folds=tuple(folds), tails=tuple(tails))
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
