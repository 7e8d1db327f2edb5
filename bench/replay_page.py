"""A replay as one page that needs nothing beside itself: no script, no font, no picture."""

from __future__ import annotations

from binascii import b2a_base64
from collections.abc import Collection, Iterator, Sequence
from hashlib import sha256
from math import sqrt

from sightline.audit import words
from sightline.audit.comparison import Row
from sightline.audit.costs import PRICES
from sightline.audit.played import Replay

STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --dim: #59636e; --rule: #d1d9e0;
  --ours: #0969da; --lead: #1a7f37; --other: #8b949e; --paper: #ffffff; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --dim: #9198a1; --rule: #3d444d;
  --ours: #4493f8; --lead: #3fb950; --other: #768390; --paper: #0d1117; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 76rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
.caveat { border-left: 4px solid var(--ours); padding: .25rem .75rem; }
.wrong { border-left: 4px solid #cf222e; padding: .25rem .75rem; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(26rem, 1fr)); gap: 1rem; }
figure { margin: 0; } figcaption, .dim { color: var(--dim); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .6rem; text-align: right; white-space: nowrap;
  border-bottom: 1px solid var(--rule); }
th:first-child, td:first-child { text-align: left; }
tr.ours td:first-child { font-weight: 600; color: var(--ours); }
dt { font-weight: 600; } dd { margin: 0 0 .4rem 1rem; }
svg { width: 100%; height: auto; } svg text { font: 11px system-ui, sans-serif; fill: var(--dim); }
svg .end { text-anchor: end; } svg .middle { text-anchor: middle; }
svg .grid { stroke: var(--rule); stroke-width: 1; }
svg polyline.lead { fill: none; stroke: var(--lead); stroke-dasharray: 4 3; }
svg circle.ours { fill: var(--ours); } svg circle.lead { fill: var(--lead); }
svg circle.other { fill: var(--other); }
svg text.ours { fill: var(--ours); font-weight: 600; } svg text.lead { fill: var(--lead); }
"""


SESSION_BY_SESSION = (
    f"Cost at {PRICES[0].name}, as a part of no truncation's in the same session. Chance: how "
    "likely so uneven a count is if neither were better."
)


def page(
    of: Replay,
    rows: Sequence[Row],
    shown: Sequence[int],
    ours: Collection[str],
) -> str:
    """The whole page. shown: the prices; ours: the policies that stand out."""
    mark = b2a_base64(sha256(STYLE.encode()).digest(), newline=False).decode()
    policy = f"default-src 'none'; style-src 'sha256-{mark}'; base-uri 'none'; form-action 'none'"
    body = [
        "<h1>Replay: what recorded sessions would have cost, and lost</h1>",
        *(f"<p>{escape(line)}</p>" for line in words.summary(of, rows)),
        f'<p class="caveat">{escape(words.CAVEAT)}</p>',
        *_wrong(rows),
        '<div class="charts">',
        *(_figure(rows, at, ours) for at in shown),
        "</div><h2>Policies</h2>",
        _table(rows, shown, ours),
        _legend(rows),
        "<h2>Session by session</h2>",
        f"<p>{escape(SESSION_BY_SESSION)}</p>",
        _spread(of, rows, ours),
        f'<p class="caveat">{escape(words.CAVEAT)}</p>',
    ]
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Sightline replay</title><style>{STYLE}</style></head><body>"
        + "\n".join(body)
        + "</body></html>\n"
    )


def _wrong(rows: Sequence[Row]) -> list[str]:
    wrong = [row.total for row in rows if row.total.invalid]
    return [
        f'<p class="wrong">Invalid views: {each.invalid}. {escape(each.wrong)}</p>'
        for each in wrong
    ]


def _figure(rows: Sequence[Row], at: int, ours: Collection[str]) -> str:
    name = PRICES[at].name
    said = "Without a cache" if not PRICES[at].cached else f"Prices {name} (cache read / write)"
    left = ", ".join(row.name for row in beyond(rows, at))
    more = f" Beyond the chart: {left}." if left else ""
    caption = f"{said}. Dashed: no other costs less and loses fewer edits. Modelled.{more}"
    drawn = chart(rows, at, ours)
    return f"<figure>{drawn}<figcaption>{escape(caption)}</figcaption></figure>"


def _table(rows: Sequence[Row], shown: Sequence[int], ours: Collection[str]) -> str:
    lines = [(row, words.cells(row, shown)) for row in rows]
    return _rows(words.headings(shown), lines, ours)


def _spread(of: Replay, rows: Sequence[Row], ours: Collection[str]) -> str:
    heads = ["policy", "median", "90 %", "worst", "never acted", "against none", "chance",
             "against age-batch", "chance"]  # fmt: skip
    return _rows(heads, [(row, _spread_cells(of, row)) for row in rows], ours)


def _spread_cells(of: Replay, row: Row) -> list[str]:
    worst = ", ".join(f"{part:.2f} ({of.sessions[at].session[:8]})" for at, part in row.worst[:3])
    cells = [row.name, f"{row.median:.3f}", f"{row.p90:.3f}", worst, str(row.idle)]
    for name in ("none", "age-batch"):
        versus = row.against.get(name)
        if versus is None:
            cells += ["", ""]
        else:
            told = f"{versus.better} better, {versus.worse} worse"
            cells += [told, f"{versus.chance:.3g}"]
    return cells


def _rows(
    heads: Sequence[str], lines: Sequence[tuple[Row, Sequence[str]]], ours: Collection[str]
) -> str:
    head = "".join(f"<th>{escape(each)}</th>" for each in heads)
    body = "".join(
        f"<tr{' class=ours' if row.name in ours else ''}>"
        + "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        + "</tr>"
        for row, cells in lines
    )
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="scroll">{table}</div>'


def _legend(rows: Sequence[Row]) -> str:
    told = words.legend(rows)
    return "<dl>" + "".join(f"<dt>{escape(a)}</dt><dd>{escape(b)}</dd>" for a, b in told) + "</dl>"


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
    """The places of values on a chart. The upward axis is that of square roots: small losses are told apart."""

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


_SPECIAL = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;"})


def escape(text: str) -> str:
    """A text as it may stand between tags, and in the quotes of an attribute."""
    return text.translate(_SPECIAL)
