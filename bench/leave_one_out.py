"""Measure the cost and losses of folding in a repository whose sessions nobody tuned on.

    python bench/leave_one_out.py [PATH]... [--json] [--min-tokens N]

PATH is a folder with a folder of recordings for each repository; the default is the team's corpus
beside the checkout: Claude Code, Codex and opencode. Each agent is judged apart. Each repository is
left out once. The share of the price of a loss (Rules.share) is chosen on the other repositories:
the cheapest that loses no more than `LOST` of their edits. The table shows the cost and the lost
edits there, in the repository that was left out, and with the share that the policy has. Intervals
are 95 % over sessions: 2,000 samples of as many sessions, drawn again from a fixed seed.
Exit 1 when a view is invalid, or when folding costs an agent's sessions more than sending everything.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from random import Random

ROOT = Path(__file__).resolve().parents[1]
if not __package__:  # started as a script: the library of this checkout
    sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from bench.replay import LEAST_TOKENS  # noqa: E402 (needs the path above)
from msgspec import Struct, structs, to_builtins  # noqa: E402

from sightline.audit.costs import Outcome  # noqa: E402
from sightline.audit.policies import Maker, Ours, Untouched  # noqa: E402
from sightline.audit.run_sessions import Played, replay  # noqa: E402
from sightline.audit.words import CAVEAT  # noqa: E402
from sightline.cli.replay import order  # noqa: E402
from sightline.window.folding import CAREFUL, DEFAULT  # noqa: E402

CORPUS = ROOT.parent / "shared" / "corpus"
AGENTS = ("claude-code", "codex", "opencode")

SHARES = (0.25, DEFAULT.share, 0.5, CAREFUL.share, 2.0)
"""The shares to choose from."""

LOST = {DEFAULT.name: 0.01, CAREFUL.name: 0.0}
"""Policy -> the part of the edits that the chosen share may lose in the repositories tuned on."""

SAMPLES = 2_000
SEED = 20

Pair = tuple[Outcome, Outcome]
"""A session without truncation, and folded."""


class Figure(Struct, frozen=True):
    """Costs and losses over sessions. cost: at 0.10/1.25, as a part of no truncation's; lost: part of
    the edits; each with the bounds of its interval."""

    sessions: int
    edits: int
    lost_edits: int
    cost: float
    cost_interval: tuple[float, float]
    lost: float
    lost_interval: tuple[float, float]
    invalid: int


class Row(Struct, frozen=True):
    """A policy in a repository that was left out; `repository` is "all" for the sum of them. share:
    chosen on the others; tuned: the sessions of the others with that share; left_out: those of the
    repository with that share; shipped: the same with the share of the policy."""

    agent: str
    policy: str
    repository: str
    share: float | None
    tuned: Figure | None
    left_out: Figure
    shipped: Figure


def main(arguments: Sequence[str] | None = None) -> int:
    """Play the recordings and print the table. Exit 2 when there is nothing to play."""
    options = parsed(__doc__, arguments)
    wanted = structs.replace(order([], least_tokens=options.min_tokens), policies=policies())
    sessions = replay(options.paths, wanted).sessions
    if not sessions:
        print(f"No session to play in {' '.join(options.paths)}", file=sys.stderr)
        return 2
    rows = [
        row
        for agent in sorted({session.agent for session in sessions})
        for policy in (DEFAULT.name, CAREFUL.name)
        for row in judge(agent, policy, [each for each in sessions if each.agent == agent])
    ]
    if options.json:
        print(json.dumps({"schema": 1, "rows": to_builtins(rows)}))
    else:
        print(table(rows))
    return int(any(r.shipped.invalid or r.shipped.cost > 1 for r in rows if r.repository == "all"))


def parsed(about: str | None, arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the parsed command line: paths, json, min_tokens. about: the docstring of the command."""
    parser = argparse.ArgumentParser(description=(about or "").splitlines()[0])
    paths = [str(CORPUS / agent) for agent in AGENTS]
    parser.add_argument("paths", nargs="*", default=paths, metavar="PATH")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--min-tokens", type=int, default=LEAST_TOKENS, metavar="N")
    return parser.parse_args(arguments)


def policies() -> dict[str, Maker]:
    """Return no truncation, and our folding with each share."""
    ours = {str(share): partial(Ours, structs.replace(DEFAULT, share=share)) for share in SHARES}
    return {Untouched.name: Untouched, **ours}


def judge(agent: str, policy: str, sessions: Sequence[Played]) -> list[Row]:
    """Return a row for each repository that was left out, and one for all of them."""
    own = {DEFAULT.name: DEFAULT.share, CAREFUL.name: CAREFUL.share}[policy]
    groups: dict[str, list[Played]] = {}
    for session in sessions:
        groups.setdefault(Path(session.source).parent.name, []).append(session)
    rows: list[Row] = []
    pooled: list[Pair] = []
    for name, group in groups.items():
        others = [each for each in sessions if each not in group]
        share = choose(others, LOST[policy]) if others else None
        left_out = pairs(group, own if share is None else share)
        pooled += left_out
        tuned = None if share is None else figure(pairs(others, share))
        shipped = figure(pairs(group, own))
        rows.append(Row(agent, policy, name, share, tuned, figure(left_out), shipped))
    shipped = figure(pairs(sessions, own))
    return [*rows, Row(agent, policy, "all", None, None, figure(pooled), shipped)]


def choose(sessions: Sequence[Played], most: float) -> float:
    """Return the cheapest share that loses no more than a part of the edits; the largest if none."""
    played = {share: figure(pairs(sessions, share)) for share in SHARES}
    fit = [share for share in SHARES if played[share].lost <= most]
    return min(fit, key=lambda share: played[share].cost, default=SHARES[-1])


def pairs(sessions: Sequence[Played], share: float) -> list[Pair]:
    """Return each session without truncation, and folded with a share."""
    at = 1 + SHARES.index(share)
    return [(session.outcomes[0], session.outcomes[at]) for session in sessions]


def figure(sessions: Sequence[Pair]) -> Figure:
    """Return the sums with their intervals."""
    drawn = Random(SEED)  # noqa: S311 - the same on every run
    samples = [_sums(drawn.choices(sessions, k=len(sessions))) for _ in range(SAMPLES)]
    cost, lost = _sums(sessions)
    return Figure(
        len(sessions),
        sum(folded.edits for _, folded in sessions),
        sum(folded.lost_edits for _, folded in sessions),
        cost,
        _interval([sample[0] for sample in samples]),
        lost,
        _interval([sample[1] for sample in samples]),
        sum(folded.invalid for _, folded in sessions),
    )


def _sums(sessions: Sequence[Pair]) -> tuple[float, float]:
    """Return the cost and the lost edits as fractions."""
    whole = sum(none.costs[0] for none, _ in sessions)
    edits = sum(folded.edits for _, folded in sessions)
    lost = sum(folded.lost_edits for _, folded in sessions)
    return sum(folded.costs[0] for _, folded in sessions) / whole, lost / max(edits, 1)


def _interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the bounds between which 95 % of the values lie."""
    ordered = sorted(values)
    return ordered[int(0.025 * len(ordered))], ordered[int(0.975 * len(ordered))]


def table(rows: Sequence[Row]) -> str:
    """The rows as a Markdown table."""
    heads = ["agent", "policy", "left out", "sessions", "edits", "share"]
    heads += ["tuned on: cost", "tuned on: lost", "left out: cost", "left out: lost"]
    heads += ["as shipped: cost", "as shipped: lost"]
    body = ["| " + " | ".join(heads) + " |", "|---|---|---" + "|--:" * (len(heads) - 3) + "|"]
    for row in rows:
        tuned = (
            ("", "") if row.tuned is None else (f"{row.tuned.cost:.3f}", f"{row.tuned.lost:.1%}")
        )
        cells = [
            *(row.agent, row.policy, row.repository),
            *(str(row.left_out.sessions), str(row.left_out.edits)),
            *("" if row.share is None else f"{row.share:.2f}", *tuned),
            *(*_cells(row.left_out), *_cells(row.shipped)),
        ]
        body.append("| " + " | ".join(cells) + " |")
    return "\n".join([*body, "", CAVEAT])


def _cells(of: Figure) -> tuple[str, str]:
    low, high = of.cost_interval
    fewest, most = of.lost_interval
    return (
        f"{of.cost:.3f} ({low:.2f} to {high:.2f})",
        f"{of.lost_edits}, {of.lost:.1%} ({fewest:.1%} to {most:.1%})",
    )


if __name__ == "__main__":
    sys.exit(main())
