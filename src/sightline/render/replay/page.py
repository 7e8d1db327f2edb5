"""A replay as one page that needs nothing beside itself: no script, no font, no picture."""

from __future__ import annotations

from binascii import b2a_base64
from hashlib import sha256

from sightline.core.replaying.costs import PRICES
from sightline.render.replay import words
from sightline.render.replay.chart import beyond, chart
from sightline.render.replay.markup import escape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from sightline.core.replaying.comparison import Row

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
    of: words.Replay,
    rows: Sequence[Row],
    shown: Sequence[int],
    ours: Collection[str],
    cheats: Collection[str],
) -> str:
    """The whole page. shown: the prices; ours: the policies that stand out; cheats: those that
    are shown the future."""
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
        _table(rows, shown, ours, cheats),
        _legend(rows, cheats),
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


def _table(
    rows: Sequence[Row], shown: Sequence[int], ours: Collection[str], cheats: Collection[str]
) -> str:
    lines = [(row, words.cells(row, shown, cheats)) for row in rows]
    return _rows(words.headings(shown), lines, ours)


def _spread(of: words.Replay, rows: Sequence[Row], ours: Collection[str]) -> str:
    heads = ["policy", "median", "90 %", "worst", "never acted", "against none", "chance",
             "against age-batch", "chance"]  # fmt: skip
    return _rows(heads, [(row, _spread_cells(of, row)) for row in rows], ours)


def _spread_cells(of: words.Replay, row: Row) -> list[str]:
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


def _legend(rows: Sequence[Row], cheats: Collection[str]) -> str:
    told = words.legend(rows, cheats)
    return "<dl>" + "".join(f"<dt>{escape(a)}</dt><dd>{escape(b)}</dd>" for a, b in told) + "</dl>"
