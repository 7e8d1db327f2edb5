"""Words for a window: what would be folded out of it, why, and what that is worth."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sightline.conversation.formats.problems import Problem
from sightline.conversation.window.folding_plan import Plan
from sightline.text.phrases import count, one_line, printable

TIERS = {
    "superseded": "newer text of these lines stands further down",
    "again": "it can be run again",
    "untouched": "the agent has not touched this file for long",
    "input": "what a tool was given, long done",
    "other": "old, and not used since",
    "forced": "only because the budget is that small",
    "modified": "a file that was changed, too old to be kept",
    "stale": "the file was not used for long",
}
"""Why a part goes, by the rule that chose it."""

PROBLEMS_MAX = 10
"""Problems that are told one by one."""


def header(name: str, format: str, messages: int, plan: Plan) -> list[str]:
    """What was looked at, and how its tokens were counted."""
    about = f", up to {plan.margin:.0%} more" if plan.margin else ""
    sent = f"{plan.before:,} tokens (counted by: {plan.counter}{about})"
    return [f"{printable(name)}: {format}, {count(messages, 'message')}, {sent}."]


def told(plan: Plan) -> list[str]:
    """What would be folded, part by part, and what that comes to."""
    if not (plan.folds or plan.dropped or plan.tails):
        return _nothing(plan)
    lines = []
    for fold in plan.folds:
        lines.append(f"{fold.tokens:>9,} tokens  message {fold.message}: {why(fold.tier)}")
        lines.append(f"{'':>11}{printable(one_line(fold.stub))}")
    if plan.dropped:
        kinds = ", ".join(sorted(set(plan.dropped)))
        lines.append(f"Dropped without a stub: {count(len(plan.dropped), 'part')} ({kinds}).")
    lines += [f"Put at the end: {_tail(tail)}" for tail in plan.tails]
    return [*lines, *_sums(plan)]


def why(tier: str) -> str:
    """Why a part goes, for who has never heard of tiers."""
    return TIERS.get(tier, f"by the rule of {tier}")


def _tail(text: str) -> str:
    """The first line of a text that is put at the end, which says what it is."""
    first, _, rest = text.partition("\n")
    more = f", {count(rest.count(chr(10)) + 1, 'line')}" if rest else ""
    return f"{printable(first)}{more}"


def _nothing(plan: Plan) -> list[str]:
    if plan.before <= plan.budget:
        return [f"It fits the budget of {plan.budget:,} tokens: nothing would be folded."]
    over = f"It is over the budget of {plan.budget:,} tokens"
    return [f"{over}, and the policy '{plan.policy}' would fold nothing of it."]


def _sums(plan: Plan) -> list[str]:
    parts, back = count(len(plan.folds), "part"), f"{plan.back:,} tokens back"
    left = f"{plan.after:,} left of {plan.before:,}"
    lines = [f"Folded: {parts}, {back}, {left}. Budget: {plan.budget:,}."]
    if plan.minimum:
        worth = (
            "this one is" if plan.back >= plan.minimum else "this one is not, and only makes it fit"
        )
        paying = f"a clear is worth its cost from {plan.minimum:,} tokens on"
        lines.append(f"At the price {plan.price} {paying}: {worth}.")
    if plan.after > plan.budget:
        over = plan.after - plan.budget
        lines.append(f"It is still {over:,} tokens over: the rest may not be folded.")
    return lines


def broken(name: str, problems: Sequence[Problem]) -> list[str]:
    """What a provider would refuse of a history."""
    shown: Iterable[str] = (
        f"  message {each.message}: {printable(each.why)}" for each in problems[:PROBLEMS_MAX]
    )
    more = len(problems) - PROBLEMS_MAX
    return [
        f"{printable(name)}: a provider would refuse this history ({count(len(problems), 'problem')}):",
        *shown,
        *([f"  and {more:,} more"] if more > 0 else []),
    ]
