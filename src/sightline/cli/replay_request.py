"""What `sightline replay` and the benchmark ask for, and its answer as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sightline.agents.readers import READERS
from sightline.errors import UnknownName
from sightline.replay.comparison import Row, Versus
from sightline.replay.costs import PRICES
from sightline.replay.played import Order, Replay
from sightline.replay.policies import POLICIES, PRICE, Maker, Setting, select
from sightline.text.tokens import estimate

Shape = dict[str, Any]


def order(
    policies: Sequence[str] = (),
    prices: Sequence[str] = (),
    least_tokens: int = 0,
    soft_budget: int | None = None,
    among: Mapping[str, Maker] = POLICIES,
) -> Order:
    """Return what to play, of the policies in `among`. UnknownName for a policy or a price."""
    places(prices)
    setting = Setting(estimate, prices[0] if prices else PRICE, soft_budget=soft_budget)
    return Order(READERS, select(policies, among), setting, least_tokens)


def places(prices: Sequence[str]) -> list[int]:
    """Where these prices stand in PRICES; all where none is named. UnknownName."""
    names = [each.name for each in PRICES]
    for price in prices:
        if price not in names:
            raise UnknownName(f"There are no prices {price!r}.", f"There are: {', '.join(names)}")
    return [names.index(price) for price in dict.fromkeys(prices or names)]


def shape(made: Replay, rows: Sequence[Row]) -> Shape:
    """Return a replay as JSON. Fractions are of no truncation."""
    setting = made.order.setting
    whole = rows[0].total if rows else None
    return {
        "sessions": len(made.sessions),
        "calls": whole.calls if whole else 0,
        "policies": [_policy(made, row) for row in rows],
        "modelled": True,
        "tokens_sent": whole.sent if whole else 0,
        "edits": whole.edits if whole else 0,
        "edits_without_support": whole.unfounded if whole else 0,
        "references": whole.references if whole else 0,
        "parameters": {
            "half": made.half,
            "min_tokens": made.order.least_tokens,
            "window": setting.window,
            "prefix": setting.prefix,
            "soft_budget": setting.soft_budget,
            "price": setting.price,
        },
        "session_list": {
            "digest": made.digest,
            "sessions": [
                {
                    "session": each.session,
                    "agent": each.agent,
                    "source": each.source,
                    "half": "held-out" if each.half else "tuned",
                    "tokens": each.tokens,
                    "damaged_rows": each.passed_over,
                    "mended": each.mended,
                }
                for each in made.sessions
            ],
            "left_out": made.others,
            "recorded_again": list(made.again),
        },
        "unreadable": [{"path": each.path, "why": each.why} for each in made.unread],
    }


def _policy(made: Replay, row: Row) -> Shape:
    total = row.total
    names = [each.name for each in PRICES]
    return {
        "name": row.name,
        "sent": row.sent,
        "cost": dict(zip(names, row.costs, strict=True)),
        "lost_edits": row.lost_edits,
        "lost_references": row.lost_references,
        "invalid_views": total.invalid,
        "frontier": [name for name, leads in zip(names, row.frontier, strict=True) if leads],
        "sees_future": False,
        "lost_edits_count": total.lost_edits,
        "lost_references_count": total.lost_references,
        "forced_rereads": total.forced_reads,
        "avoidable_rereads": total.avoidable_reads,
        "stale_calls": total.stale_calls,
        "missing_intents": total.missing_intents,
        "peak_tokens": total.peak,
        "calls_over_window": total.over,
        "changes": total.changes,
        "idle_sessions": row.idle,
        "cpu_ms_per_call": 1000 * total.spent_s / max(total.calls, 1),
        "per_session": {
            "median": row.median,
            "p90": row.p90,
            "costs": list(row.per_session),
            "worst": [
                {"session": made.sessions[at].session, "cost": cost} for at, cost in row.worst
            ],
        },
        "against": {name: _versus(each) for name, each in row.against.items()},
        "first_invalid": total.wrong or None,
    }


def _versus(each: Versus) -> Shape:
    return {
        "better": each.better,
        "worse": each.worse,
        "same": each.same,
        "chance": each.chance,
    }
