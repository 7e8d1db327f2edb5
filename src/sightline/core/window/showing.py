"""Which block shows each line of a file newest, so that it is known what nobody needs any more."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter

from sightline.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from sightline.core.regions import Span

    Run = tuple[int, int, int]
    """Lines, and the place of the block that shows them newest."""

ERAS_MAX = 8
"""How often lines may move until what was shown before is superseded by the whole file alone."""

NOBODY = -1


class Shown(Value):
    """What a block shows. whole: the file has no other lines."""

    place: int
    spans: tuple[Span, ...]
    whole: bool


class Era:
    """The time between two edits that moved lines. up, down: how far at most its lines moved
    since, towards the first line (0 or less) and away from it."""

    def __init__(self) -> None:
        self.up = self.down = 0
        self.runs: list[Run] = []


class Showing:
    """One file. A block is superseded when newer ones show all its lines: surely, so where an edit
    moved lines, nobody knows which, newer ones have to show them wherever they are. news: the
    blocks that were superseded since somebody emptied it, among others maybe."""

    def __init__(self) -> None:
        self._log: list[Shown | int] = []
        self._owned: Counter[int] = Counter()
        self._eras = [Era()]
        self._right = True
        self.news: list[int] = []

    def show(self, place: int, spans: Iterable[Span], *, whole: bool) -> None:
        """A block shows lines; whole: there are no others."""
        self._add(Shown(place, tuple(spans), whole))

    def move(self, by: int) -> None:
        """An edit made the file longer by so many lines, or shorter."""
        if by and self._log:
            self._add(by)

    def rewritten(self, place: int) -> None:
        """All of the file was given by the call at a place: what showed it before is not true."""
        shown = [each for each in self._log if isinstance(each, Shown)]
        self.news += [each.place for each in shown if each.place <= place]
        self._log = [each for each in shown if each.place > place]
        self._right = False

    def gone(self, place: int) -> None:
        """A block shows nothing any more."""
        self._log = [each for each in self._log if isinstance(each, int) or each.place != place]
        self._right = self._right and not self._owned[place]

    def superseded(self, place: int) -> bool:
        """Whether there is nothing that only this block shows."""
        if not self._right:
            self._again()
        return not self._owned[place]

    def _again(self) -> None:
        log, self._log = self._log, []
        self._owned, self._eras, self._right = Counter(), [Era()], True
        for each in log:
            self._add(each)

    def _add(self, told: Shown | int) -> None:
        if not self._right:
            self._again()
        self._log.append(told)
        if isinstance(told, int):
            self._moved(told)
            return
        if told.whole:
            self.news += self._owned
            self._owned, self._eras = Counter(), [Era()]
        for first, last in told.spans:
            for era in self._eras[:-1]:
                self._put(era, 1 if first == 1 else first - era.up, last - era.down, NOBODY)
            self._put(self._eras[-1], first, last, told.place)

    def _moved(self, by: int) -> None:
        if self._eras[-1].runs:
            self._eras = [*self._eras[-ERAS_MAX:], Era()]
        for era in self._eras[:-1]:
            era.up, era.down = era.up + min(by, 0), era.down + max(by, 0)

    def _put(self, era: Era, first: int, last: int, place: int) -> None:
        """These lines are shown by a block now, and by none before it."""
        if first > last:
            return
        runs = era.runs
        low = high = bisect_left(runs, first, key=_last)
        left: list[Run] = [(first, last, place)]
        while high < len(runs) and runs[high][0] <= last:
            begin, end, owner = runs[high]
            self._owned[owner] -= min(end, last) - max(begin, first) + 1
            if not self._owned[owner]:
                self.news.append(owner)
            left += [(begin, first - 1, owner)] if begin < first else []
            left += [(last + 1, end, owner)] if end > last else []
            high += 1
        self._owned[place] += last - first + 1
        runs[low:high] = sorted(left)


def _last(run: Run) -> int:
    return run[1]
