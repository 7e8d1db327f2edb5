"""Two pieces of work timed side by side: ours, and the least that could do the same."""

from __future__ import annotations

from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    Work = Callable[[], object]
    Times = tuple[list[float], list[float]]


class Limit(NamedTuple):
    """The limit of a figure: a ratio to its floor, or milliseconds where a person waits."""

    ratio: float | None = None
    ms: float | None = None

    def __str__(self) -> str:
        if self.ratio is not None:
            return f"{self.ratio:g} x"
        return "" if self.ms is None else f"{self.ms:g} ms"


class Figure(NamedTuple):
    """One line of the table. run: (an empty folder) -> seconds of our rounds, of the floor's."""

    name: str
    what: str
    floor: str
    limit: Limit
    run: Callable[[str], Times]


class Row(NamedTuple):
    """A measured figure: medians of the rounds in milliseconds, and the fastest round of each.
    ratio: of the medians; best_ratio: of the fastest. met is None without a limit."""

    name: str
    what: str
    floor: str
    ours_ms: float
    floor_ms: float
    ratio: float
    best_ms: float
    best_floor_ms: float
    best_ratio: float
    limit: str
    met: bool | None
    rounds: int


def measure(figure: Figure, folder: str) -> Row:
    """Run a figure. Other programs only ever add time, so a limit is held against the medians,
    and, where those miss it on a busy machine, against the fastest rounds."""
    ours, floor = figure.run(folder)
    middle, fastest = (median(ours), median(floor)), (min(ours), min(floor))
    met = None
    if figure.limit != Limit():
        met = any(_kept(figure.limit, *pair) for pair in (middle, fastest))
    return Row(
        figure.name,
        figure.what,
        figure.floor,
        round(middle[0] * 1e3, 4),
        round(middle[1] * 1e3, 4),
        round(middle[0] / middle[1], 2),
        round(fastest[0] * 1e3, 4),
        round(fastest[1] * 1e3, 4),
        round(fastest[0] / fastest[1], 2),
        str(figure.limit),
        met,
        len(ours),
    )


def measure_each(figures: Iterable[Figure], only: Sequence[str], prefix: str) -> Iterator[Row]:
    """Measure each figure whose name begins so, in a folder of its own."""
    for figure in figures:
        if figure.name.startswith(tuple(only)):
            with TemporaryDirectory(prefix=prefix) as folder:
                yield measure(figure, folder)


def interleaved(
    ours: Work,
    floor: Work,
    rounds: int,
    *,
    before: Work | None = None,
    before_floor: Work | None = None,
) -> Times:
    """Both works in turn, the one that begins changing with each round, so that a neighbour's
    load and a warm cache fall on both. `before` runs untimed ahead of each of its works. One
    further round comes first and is not counted: it pays for what is loaded late."""
    times: Times = ([], [])
    sides = ((ours, before, times[0]), (floor, before_floor, times[1]))
    for number in range(rounds + 1):
        for work, prepare, into in sides if number % 2 else reversed(sides):
            if prepare is not None:
                prepare()
            started = perf_counter()
            work()
            took = perf_counter() - started
            if number:
                into.append(took)
    return times


def _kept(limit: Limit, ours: float, floor: float) -> bool:
    if limit.ratio is not None:
        return ours <= limit.ratio * floor
    return limit.ms is None or ours * 1e3 <= limit.ms
