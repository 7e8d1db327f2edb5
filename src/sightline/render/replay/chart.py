"""Policies as points: what they cost against the edits they lose. An SVG, drawn without scripts."""

from __future__ import annotations

from math import sqrt

from sightline.render.replay.markup import escape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from sightline.core.replaying.comparison import Row

WIDTH, HEIGHT = 620, 380
LEFT, RIGHT, TOP, BOTTOM = 52, 110, 14, 40
TICKS = (0, 0.005, 0.01, 0.02, 0.04, 0.07, 0.1)
DEAREST, MOST_LOST = 1.12, 0.12
"""What lies beyond is named, not drawn: there all that matters would be one spot."""
DOT, LETTER, LINE = 4.5, 6.2, 12
"""Pixels of a point's radius, of a letter and of a line, about: labels are kept apart by them."""


def chart(rows: Sequence[Row], at: int, ours: Collection[str]) -> str:
    """The frontier at one of PRICES. ours: policies that stand out."""
    near = [row for row in rows if row not in beyond(rows, at)]
    made = _Chart(
        min(*(row.costs[at] for row in near), 0.9) - 0.02,
        max(*(row.costs[at] for row in near), 1.0) + 0.02,
        max(*(row.lost_edits for row in near), 0.01),
    )
    points = [(made.x(row.costs[at]), made.y(row.lost_edits), row) for row in near]
    lead = sorted((x, y) for x, y, row in points if row.frontier[at])
    drawn = [*made.axes(), _line(lead), *_points(points, at, ours)]
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="Cost against lost edits">{"".join(drawn)}</svg>'
    )


def beyond(rows: Sequence[Row], at: int) -> list[Row]:
    """Policies that are not drawn; no truncation always is."""
    return [row for row in rows if row.costs[at] > DEAREST or row.lost_edits > MOST_LOST]


class _Chart:
    """Where values lie. The upward axis is that of square roots: small losses are told apart."""

    def __init__(self, low: float, high: float, top: float) -> None:
        self.low, self.high, self.top = low, high, top

    def x(self, cost: float) -> float:
        part = (cost - self.low) / (self.high - self.low)
        return LEFT + part * (WIDTH - LEFT - RIGHT)

    def y(self, lost: float) -> float:
        return HEIGHT - BOTTOM - sqrt(lost / self.top) * (HEIGHT - TOP - BOTTOM)

    def axes(self) -> Iterator[str]:
        right, floor = WIDTH - RIGHT, HEIGHT - BOTTOM
        for lost in TICKS:
            if lost <= self.top:
                y = self.y(lost)
                yield f'<line class="grid" x1="{LEFT}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}"/>'
                yield f'<text x="{LEFT - 6}" y="{y + 4:.1f}" class="end">{lost:.1%}</text>'
        step = 0.05
        cost = int(self.low / step + 1) * step
        while cost < self.high:
            x = self.x(cost)
            yield f'<line class="grid" x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{floor}"/>'
            yield f'<text x="{x:.1f}" y="{floor + 16}" class="middle">{cost:.2f}</text>'
            cost += step
        yield f'<text x="{(LEFT + right) / 2}" y="{HEIGHT - 6}" class="middle">cost</text>'
        yield f'<text x="{LEFT}" y="{TOP - 3}" class="end">lost edits</text>'


def _line(points: Sequence[tuple[float, float]]) -> str:
    joined = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline class="lead" points="{joined}"/>'


def _points(
    points: Sequence[tuple[float, float, Row]], at: int, ours: Collection[str]
) -> Iterator[str]:
    taken = [(x - DOT, x + DOT, y + DOT) for x, y, _ in points]
    for x, y, row in sorted(points, key=lambda each: (_weight(each[2], at, ours), each[0])):
        kind = "ours" if row.name in ours else "lead" if row.frontier[at] else "other"
        name = escape(row.name)
        told = f"{name}: cost {row.costs[at]:.3f}, lost edits {row.lost_edits:.1%}"
        low = _free(taken, x + 7, y + 4, len(row.name) * LETTER)
        yield f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="{DOT}"><title>{told}</title></circle>'
        if low is not None:
            yield f'<text class="{kind}" x="{x + 7:.1f}" y="{low:.1f}">{name}</text>'


def _weight(row: Row, at: int, ours: Collection[str]) -> int:
    """Whose label comes first, where there is no room for all."""
    return 0 if row.name in ours else 1 if row.frontier[at] else 2


def _free(taken: list[tuple[float, float, float]], x: float, y: float, long: float) -> float | None:
    """A height near y at which a label touches no other; None where there is none."""
    for shift in (0, -LINE, LINE, -2 * LINE, -3 * LINE, -4 * LINE):
        low = y + shift
        apart = all(
            abs(low - other) >= LINE or x + long < begin or end < x for begin, end, other in taken
        )
        if apart and TOP < low < HEIGHT - BOTTOM + LINE:
            taken.append((x, x + long, low))
            return low
    return None
