"""The command replay: policies of the context window, compared on recorded sessions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import click

from sightline.api.json_shapes import Shape, fields
from sightline.audit.comparison import Row
from sightline.audit.costs import PRICES
from sightline.audit.policies import OURS, POLICIES, PRICE, Maker, Setting, select
from sightline.audit.run_sessions import Order, Replay
from sightline.audit.run_sessions import replay as played
from sightline.audit.words import no_session, report
from sightline.cli import completion, output
from sightline.cli.failures import NO, Answered
from sightline.cli.options import command, number_from
from sightline.cli.output import Call
from sightline.errors import UnknownName
from sightline.recordings.product_readers import EXAMPLE
from sightline.text.tokens import estimate


@command(example=f"replay {EXAMPLE}")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--policy", "policies", multiple=True, metavar="P", shell_complete=completion.one_of(POLICIES), help="Play only this policy; repeatable. Default: none, default, careful, anthropic (clear_tool_uses) and mask-10 (SWE-agent).")  # fmt: skip
@click.option("--price", "prices", multiple=True, metavar="P", help="Show only these prices, such as 0.10/1.25 or none. Policies that use prices use the first.")  # fmt: skip
@click.option("--min-tokens", type=number_from(0), default=0, metavar="N", help="Only sessions whose largest window had at least N tokens.")  # fmt: skip
@click.option("--soft-budget", type=number_from(1), metavar="N", help="Tokens above which our own policies begin to fold.")  # fmt: skip
@click.option("--limit", type=number_from(1), metavar="N", help="Read only the first N files.")
def replay(
    call: Call,
    paths: tuple[str, ...],
    policies: tuple[str, ...],
    prices: tuple[str, ...],
    min_tokens: int,
    soft_budget: int | None,
    limit: int | None,
) -> None:
    """Compute what sessions would cost under folding policies.

    Each PATH is a recording, or a folder of them. A loss is a text that the session used and that
    the policy had folded. How the agent would have behaved then is modelled, not observed. Nothing
    is sent anywhere. Exit code 1: no session was found, or a policy of Sightline's own made a view
    that its format does not allow.
    """
    wanted = order(policies, prices, min_tokens, soft_budget)
    with output.progress(call, "Playing the recordings") as progress:
        recorded = played(paths, wanted, limit=limit, progress=progress)
    rows = recorded.rows()
    if call.json:
        output.json(replay_shape(recorded, rows))
    elif rows:
        output.text(report(recorded, rows, places(prices)))
    else:
        output.say("\n".join(no_session(recorded, EXAMPLE)))
    if not rows or any(row.total.invalid for row in rows if row.name in OURS):
        raise Answered(NO)


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
    return Order(select(policies, among), setting, least_tokens)


def places(prices: Sequence[str]) -> list[int]:
    """Return the positions of named prices in PRICES; of all by default. UnknownName."""
    names = [price.name for price in PRICES]
    for price in prices:
        if price not in names:
            raise UnknownName(f"There are no prices {price!r}.", f"There are: {', '.join(names)}")
    return [names.index(price) for price in dict.fromkeys(prices or names)]


def replay_shape(recorded: Replay, rows: Sequence[Row]) -> Shape:
    """Return a replay as JSON. Fractions are relative to no truncation."""
    whole = rows[0].total if rows else None
    return {
        "sessions": len(recorded.sessions),
        "calls": whole.calls if whole else 0,
        "policies": [_policy(row) for row in rows],
        "modelled": True,
        "tokens_sent": whole.sent if whole else 0,
        "edits": whole.edits if whole else 0,
        "edits_without_support": whole.unfounded if whole else 0,
        "references": whole.references if whole else 0,
        "parameters": {
            "min_tokens": recorded.order.least_tokens,
            **fields(recorded.order.setting, "window", "prefix", "soft_budget", "price"),
        },
        "session_list": {
            "digest": recorded.digest,
            "sessions": [
                {
                    **fields(session, "session", "agent", "source"),
                    "tokens": session.tokens,
                    "damaged_rows": session.passed_over,
                    "mended": session.mended,
                    "set_aside": list(session.set_aside),
                }
                for session in recorded.sessions
            ],
            "left_out": recorded.others,
            "recorded_again": list(recorded.again),
        },
        "unreadable": [fields(file, "path", "why") for file in recorded.unread],
    }


def _policy(row: Row) -> Shape:
    total = row.total
    names = [price.name for price in PRICES]
    return {
        **fields(row, "name", "sent"),
        "cost": dict(zip(names, row.costs, strict=True)),
        **fields(row, "lost_edits", "lost_references"),
        "invalid_views": total.invalid,
        "frontier": [name for name, leads in zip(names, row.frontier, strict=True) if leads],
        "lost_edits_count": total.lost_edits,
        "lost_references_count": total.lost_references,
        "forced_rereads": total.forced_reads,
        "avoidable_rereads": total.avoidable_reads,
        **fields(total, "stale_calls", "missing_intents"),
        "peak_tokens": total.peak,
        "calls_over_window": total.over,
        "changes": total.changes,
        "cpu_ms_per_call": 1000 * total.spent_s / max(total.calls, 1),
        "cost_per_session": list(row.per_session),
        "first_invalid": total.wrong or None,
    }
