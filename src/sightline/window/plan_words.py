"""Wording of `sightline window`: the parts that a policy folds, why, and the tokens that this frees."""

from __future__ import annotations

from collections.abc import Sequence

from sightline.messages.formats.problems import Problem
from sightline.text.phrases import count, named
from sightline.text.printable import one_line, printable
from sightline.window.folding_plan import Plan

TIERS = {
    "superseded": "newer text of these lines comes later",
    "again": "it can be run again",
    "untouched": "the agent has not touched this file for long",
    "input": "the input of a tool call that was done long ago",
    "other": "old, and not used since",
    "forced": "only because the budget is that small",
}
"""Tier -> why a part is folded."""

PROBLEMS_MAX = 10
"""Problems that are listed one by one."""


def header(name: str, format: str, messages: int, plan: Plan) -> list[str]:
    """Name the history, its size, and the counter of its tokens."""
    about = f", up to {plan.margin:.0%} more" if plan.margin else ""
    sent = f"{plan.before:,} tokens (counted by: {plan.counter}{about})"
    return [f"{printable(name)}: {format}, {count(messages, 'message')}, {sent}."]


def summary(plan: Plan) -> list[str]:
    """List the folded parts, with the sums."""
    if not (plan.folds or plan.dropped or plan.tails):
        if plan.before <= plan.budget:
            return [f"It fits the budget of {plan.budget:,} tokens: nothing would be folded."]
        budget = f"It is over the budget of {plan.budget:,} tokens"
        return [f"{budget}, and the policy '{plan.policy}' would fold nothing of it."]
    lines = []
    for fold in plan.folds:
        lines.append(f"{fold.tokens:>9,} tokens  message {fold.message}: {TIERS[fold.tier]}")
        lines.append(f"{'':>11}{printable(one_line(fold.stub))}")
    if plan.dropped:
        kinds = ", ".join(sorted(set(plan.dropped)))
        lines.append(f"Dropped without a stub: {count(len(plan.dropped), 'part')} ({kinds}).")
    for tail in plan.tails:
        first, _, rest = tail.partition("\n")
        more = f", {count(rest.count(chr(10)) + 1, 'line')}" if rest else ""
        lines.append(f"Put at the end: {printable(first)}{more}")
    parts, freed = count(len(plan.folds), "part"), f"{plan.freed:,} tokens back"
    left = f"{plan.after:,} left of {plan.before:,}"
    lines.append(f"Folded: {parts}, {freed}, {left}. Budget: {plan.budget:,}.")
    if plan.pays_after is None:
        lines.append(
            f"At the price {plan.price} this never pays for itself: it only makes the messages fit."
        )
    elif plan.pays_after:
        answers = count(plan.pays_after, "more answer")
        lines.append(f"At the price {plan.price} this pays for itself after {answers}.")
    if plan.after > plan.budget:
        over = plan.after - plan.budget
        lines.append(f"It is still {over:,} tokens over: the rest may not be folded.")
    return lines


def refusal(name: str, problems: Sequence[Problem]) -> tuple[str, str]:
    """Word the error of a history that a provider would refuse."""
    listed = [f"message {each.message}: {printable(each.why)}" for each in problems]
    why = named(listed, PROBLEMS_MAX)
    hint = "Repair the history in the program that writes it. Nothing was changed."
    return f"{printable(name)}: a provider would refuse this history: {why}.", hint
