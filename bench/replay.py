"""Policies of the context window on recorded sessions: what they would cost, and lose.

    python bench/replay.py [PATH]... [--json] [--only NAME]... [--price PRICE] [--min-tokens N]

PATH is a recording or a folder of them; the default is the team's corpus beside the repository.
The same as `sightline replay`, under every policy, for sessions of at least 60,000 tokens.
Exit 1 when a policy of ours made a view that its format does not allow; a baseline that made one is
marked with !. How an agent would have behaved
with less in its window is modelled, not observed.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parents[1]
if not __package__:  # started as a script: the library of this checkout
    sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from bench.policies.catalog import ALL  # noqa: E402 (needs the path above)

from sightline.audit.comparison import Row  # noqa: E402
from sightline.audit.costs import PRICES  # noqa: E402
from sightline.audit.policies import OURS, PRICE  # noqa: E402
from sightline.audit.run_sessions import Replay, replay  # noqa: E402
from sightline.audit.words import (  # noqa: E402
    CAVEAT,
    cells,
    headings,
    summary,
)
from sightline.cli.replay import order, replay_shape  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Sequence

CORPUS = ROOT.parent / "shared" / "corpus" / "claude-code"
LEAST_TOKENS = 60_000


def main(arguments: Sequence[str] | None = None) -> int:
    """Play the chosen recordings and print the table. Exit 2 when there is nothing to play, or to play it
    by."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("paths", nargs="*", default=[str(CORPUS)], metavar="PATH")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--only", action="append", metavar="NAME", help="how policies begin")
    prices = [price.name for price in PRICES]
    parser.add_argument(
        "--price", choices=prices, default=PRICE, help="that our policies reckon with"
    )
    parser.add_argument("--min-tokens", type=int, default=LEAST_TOKENS, metavar="N")
    options = parser.parse_args(arguments)
    names = [name for name in ALL if name.startswith(tuple(options.only or [""]))]
    if not names:
        print(f"No policy begins so. Known: {' '.join(ALL)}", file=sys.stderr)
        return 2
    wanted = order(names, [options.price], least_tokens=options.min_tokens, among=ALL)
    made = replay(options.paths, wanted)
    rows = made.rows()
    if not rows:
        print(f"No session to play in {' '.join(options.paths)}", file=sys.stderr)
        return 2
    print(json.dumps(as_json(made, rows)) if options.json else table(made, rows))
    return int(any(row.total.invalid for row in rows if row.name in OURS))


def as_json(made: Replay, rows: Sequence[Row]) -> dict[str, Any]:
    """A row for each policy, and what they are of."""
    told = replay_shape(made, rows)
    return {"schema": 1, "rows": told.pop("policies"), **told}


def table(made: Replay, rows: Sequence[Row]) -> str:
    """The rows as a Markdown table."""
    shown = range(len(PRICES))
    heads = [*headings(shown), "stale calls", "invalid views"]
    lines = [[*cells(row, shown), *_more(row)] for row in rows]
    body = ["| " + " | ".join(cell.strip() for cell in line) + " |" for line in [heads, *lines]]
    body.insert(1, "|---" + "|--:" * (len(heads) - 1) + "|")
    return "\n".join([*summary(made, rows), "", *body, "", CAVEAT])


def _more(row: Row) -> list[str]:
    return [str(row.total.stale_calls), str(row.total.invalid)]


if __name__ == "__main__":
    sys.exit(main())
