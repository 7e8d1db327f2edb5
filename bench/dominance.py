"""Is a baseline better than our folding on both axes: cheaper, and no more edits lost?

    python bench/dominance.py [PATH]... [--json] [--min-tokens N]

PATH is a recording or a folder of them; the default is the team's corpus beside the checkout: Claude
Code, Codex and opencode. Each agent is judged apart, with sessions of at least 60,000 tokens. At each
price our policies reckon with that price. The table shows what they cost and lose there, and the
cheapest baseline that loses no more edits. Baselines are the rules of products, frameworks and papers,
and the controls. One that breaks a format or passes the window is no choice.
Exit 1 when such a baseline costs less than ours.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
if not __package__:  # started as a script: the library of this checkout
    sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from bench.leave_one_out import parsed  # noqa: E402 (needs the path above)
from bench.policies.catalog import ALL, BASELINES, CONTROLS  # noqa: E402
from msgspec import Struct, to_builtins  # noqa: E402

from sightline.audit.costs import Outcome  # noqa: E402
from sightline.audit.policies import OURS, POLICIES  # noqa: E402
from sightline.audit.run_sessions import Played, replay  # noqa: E402
from sightline.audit.words import CAVEAT  # noqa: E402
from sightline.cli.replay import order  # noqa: E402
from sightline.window.prices import PROFILES  # noqa: E402

NOTHING = "none"
PRICES = tuple(PROFILES)
OTHERS = tuple(name for name in {**POLICIES, **CONTROLS, **BASELINES} if name not in OURS)


class Row(Struct, frozen=True):
    """A policy of ours at a price. cost: as a part of no truncation's; baseline: the cheapest that
    loses no more edits, "" where none is a choice."""

    agent: str
    policy: str
    price: str
    cost: float
    lost_edits: int
    baseline: str
    baseline_cost: float
    baseline_lost_edits: int

    @property
    def is_dominated(self) -> bool:
        """Return whether the baseline costs less."""
        return self.baseline_cost < self.cost


def main(arguments: Sequence[str] | None = None) -> int:
    """Play the recordings and print the table. Exit 2 when there is nothing to play."""
    options = parsed(__doc__, arguments)
    others = totals(options.paths, [NOTHING, *OTHERS], PRICES[0], options.min_tokens)
    if not others:
        print(f"No session to play in {' '.join(options.paths)}", file=sys.stderr)
        return 2
    rows: list[Row] = []
    for at, price in enumerate(PRICES):
        ours = totals(options.paths, [*OURS], price, options.min_tokens)
        rows += [
            judge(agent, policy, at, ours[agent][policy], others[agent])
            for agent in sorted(others)
            for policy in OURS
        ]
    if options.json:
        print(json.dumps({"schema": 1, "rows": to_builtins(rows)}))
    else:
        print(table(rows))
    return int(any(row.is_dominated for row in rows))


def totals(
    paths: Sequence[str], names: Sequence[str], price: str, least_tokens: int
) -> dict[str, dict[str, Outcome]]:
    """Return the sums over the sessions of each agent: agent -> policy -> sum."""
    wanted = order(names, [price], least_tokens=least_tokens, among=ALL)
    sums: dict[str, dict[str, Outcome]] = {}
    for session in replay(paths, wanted).sessions:
        _add(sums.setdefault(session.agent, {}), [*wanted.policies], session)
    return sums


def _add(sums: dict[str, Outcome], names: Sequence[str], session: Played) -> None:
    for name, outcome in zip(names, session.outcomes, strict=True):
        sums[name] = sums.get(name, Outcome()) + outcome


def judge(agent: str, policy: str, at: int, ours: Outcome, others: dict[str, Outcome]) -> Row:
    """Return the row of a policy of ours. at: index of the price."""
    whole = others[NOTHING].costs[at]
    choices = [
        (other.costs[at] / whole, other.lost_edits, name)
        for name, other in others.items()
        if not (other.invalid or other.over) and other.lost_edits <= ours.lost_edits
    ]
    cost, lost, name = min(choices, default=(float("inf"), 0, ""))
    return Row(agent, policy, PRICES[at], ours.costs[at] / whole, ours.lost_edits, name, cost, lost)


def table(rows: Sequence[Row]) -> str:
    """Return the rows as a Markdown table, with ! at those that are dominated."""
    lines = [
        "| agent | policy | price | cost | lost edits | cheapest baseline | its cost | its lost edits |"
    ]
    lines += ["|---|---|---|--:|--:|---|--:|--:|"]
    for row in rows:
        mark = "!" if row.is_dominated else ""
        other = f"{row.baseline} | {row.baseline_cost:.3f} | {row.baseline_lost_edits}"
        cells = (
            f"{row.agent} | {row.policy} | {row.price} | {row.cost:.3f}{mark} | {row.lost_edits}"
        )
        lines.append(f"| {cells} | {other if row.baseline else ' | | '} |")
    return "\n".join([*lines, "", CAVEAT])


if __name__ == "__main__":
    sys.exit(main())
