"""The text of a replay."""

from __future__ import annotations

from collections.abc import Sequence

from sightline.audit.comparison import Row
from sightline.audit.costs import PRICES
from sightline.audit.run_sessions import Replay
from sightline.model.path import quoted
from sightline.recordings.recorded_conversation import Unread
from sightline.text.phrases import count
from sightline.text.printable import printable

CAVEAT = (
    "The recorded agents saw everything: how they would have behaved with less in their window "
    "is modelled here, not observed."
)

INVALID = "a provider would refuse views of this policy."

UNREAD_NAMED = 5
"""Unreadable files that are named; the rest are counted."""


def report(replay: Replay, rows: Sequence[Row], shown: Sequence[int]) -> str:
    """Return the whole text. shown: the prices, as places in PRICES."""
    table = [headings(shown), *(cells(row, shown) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = [*summary(replay, rows), ""]
    for name, *numbers in table:
        aligned = (cell.rjust(width) for cell, width in zip(numbers, widths[1:], strict=True))
        lines.append("  ".join([name.ljust(widths[0]), *aligned]).rstrip())
    lines += ["", *(f"{name}: {meaning}" for name, meaning in legend(rows)), ""]

    invalid = [row.total for row in rows if row.total.invalid]
    lines += [f"INVALID views: {sums.invalid}. The first: {sums.wrong}." for sums in invalid]
    if replay.others:
        lines.append(f"Left out for their size: {count(replay.others, 'session')}.")
    if replay.again:
        lines.append(f"Recorded twice, and played once: {count(len(replay.again), 'session')}.")
    if damaged := sum(session.passed_over for session in replay.sessions):
        lines.append(f"Damaged rows that were passed over: {damaged}.")
    if aside := sum(len(session.set_aside) for session in replay.sessions):
        lines.append(f"Messages that their format cannot hold, left out: {aside}.")
    if mended := sum(session.mended for session in replay.sessions):
        lines.append(f"Histories that had to be mended before they could be played: {mended}.")
    return "\n".join([*lines, *_unread(replay.unread), CAVEAT])


def summary(replay: Replay, rows: Sequence[Row]) -> list[str]:
    """Return two lines about the sessions played and the settings."""
    whole = next(row.total for row in rows if row.name == "none")
    order, setting = replay.order, replay.order.setting
    least = f" of at least {order.least_tokens:,} tokens" if order.least_tokens else ""
    soft = setting.soft_budget
    budget = "each policy's own" if soft is None else f"{soft:,} tokens"
    sessions = (
        f"{count(len(replay.sessions), 'recorded session')}{least}, "
        f"{count(whole.calls, 'call')} of the model, {whole.sent / 1e6:.1f} million tokens sent "
        "without truncation."
    )
    settings = (
        f"List of sessions {replay.digest[:12]}. Window {setting.window:,} tokens, "
        f"{setting.prefix:,} assumed before the first message, soft budget {budget}, "
        f"policies use the prices {setting.price}."
    )
    return [sessions, settings]


def legend(rows: Sequence[Row]) -> list[tuple[str, str]]:
    """Return each column's heading and its meaning."""
    whole = next(row.total for row in rows if row.name == "none")
    cost = (
        "what calls cost at these prices of reading from a cache / writing into it, beside 1 "
        "for a token without a cache; answers, and for each lost edit a failed edit and a read, "
        "included."
    )
    edits = (
        f"edits whose old text was nowhere in the view, of {whole.edits:,} that had stood in "
        "the conversation before."
    )
    references = (
        "paths, long names, hashes, URLs and errors that a call used and the view did not "
        f"hold, of {whole.references:,}."
    )
    return [
        ("sent", "tokens sent to the model, as a share of what no truncation sends."),
        ("cost", cost),
        ("lost edits", edits),
        ("lost refs", references),
        ("*", "no other policy both costs less at these prices and loses fewer edits."),
        *([("!", INVALID)] if any(row.total.invalid for row in rows) else []),
    ]


def headings(shown: Sequence[int]) -> list[str]:
    """Return the headings of the table's columns."""
    prices = (PRICES[at] for at in shown)
    costs = (f"cost {price.name if price.cached else 'uncached'}" for price in prices)
    return ["policy", "sent", *costs, "lost edits", "lost refs", "over window"]


def cells(row: Row, shown: Sequence[int]) -> list[str]:
    """Return a policy's row of the table."""
    return [
        f"{row.name}!" if row.total.invalid else row.name,
        f"{row.sent:.3f}",
        *(f"{row.costs[at]:.3f}{'*' if row.frontier[at] else ' '}" for at in shown),
        f"{row.total.lost_edits} ({row.lost_edits:.1%})",
        f"{row.lost_references:.2%}",
        f"{row.total.over}",
    ]


def _unread(files: Sequence[Unread]) -> list[str]:
    if not files:
        return []
    lines = [f"Not played: {count(len(files), 'file')}."]
    lines += [f"  {quoted(file.path)}: {printable(file.why)}" for file in files[:UNREAD_NAMED]]
    if len(files) > UNREAD_NAMED:
        lines.append(f"  and {len(files) - UNREAD_NAMED} more")
    return lines


def no_session(replay: Replay, example: str) -> list[str]:
    """Return the lines for a replay without a session that counts. example: a folder of recordings."""
    count_out = count(replay.others, "session")
    left_out = f" {count_out} did not count for size." if replay.others else ""
    return [
        f"No recorded session was found to play.{left_out}",
        *_unread(replay.unread),
        f"Name recordings of a coding agent, or a folder of them, such as {example}.",
    ]
