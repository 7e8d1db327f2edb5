"""A replay as lines of text."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sightline.replay.comparison import Row
from sightline.replay.costs import PRICES
from sightline.replay.played import Replay, Unread
from sightline.text.phrases import count, printable

CAVEAT = (
    "The recorded agents saw everything: how they would have behaved with less in their window "
    "is modelled here, not observed."
)

HALVES = {"both": "all", "tuned": "the half used for tuning", "held-out": "the half held out"}
NAMED = 5
"""Files that are named; of the others the number is told."""


def report(
    of: Replay, rows: Sequence[Row], shown: Sequence[int], cheats: Collection[str] = ()
) -> str:
    """All of it. shown: the prices, by their places in PRICES; cheats: policies that are shown
    the future."""
    lines = [*summary(of, rows), "", *_table(rows, shown, cheats), ""]
    lines += [f"{name}: {said}" for name, said in legend(rows, cheats)]
    lines += ["", *_notes(of, rows), CAVEAT]
    return "\n".join(lines)


def summary(of: Replay, rows: Sequence[Row]) -> list[str]:
    """What was played."""
    whole = next(row.total for row in rows if row.name == "none")
    setting = of.order.setting
    least = f"of at least {of.order.least_tokens:,} tokens, " if of.order.least_tokens else ""
    soft = setting.soft_budget
    budget = "each policy's own" if soft is None else f"{soft:,} tokens"
    played = (
        f"{count(len(of.sessions), 'recorded session')} ({least}{HALVES[of.half]}), "
        f"{count(whole.calls, 'call')} of the model, {whole.sent / 1e6:.1f} million tokens sent "
        "without truncation."
    )
    fixed = (
        f"List of sessions {of.digest[:12]}. Window {setting.window:,} tokens, "
        f"{setting.prefix:,} assumed before the first message, soft budget {budget}, "
        f"policies reckon with {setting.price}."
    )
    return [played, fixed]


def legend(rows: Sequence[Row], cheats: Collection[str]) -> list[tuple[str, str]]:
    """What the columns say."""
    whole = next(row.total for row in rows if row.name == "none")
    cost = (
        "what calls cost at these prices of reading from a cache / writing into it, beside 1 "
        "for a token without a cache; answers, and getting each lost text back, included."
    )
    edits = (
        f"edits whose old text was nowhere in the view, of {whole.edits:,} that had stood in "
        "the conversation before."
    )
    named = (
        "paths, long names, hashes, URLs and errors that a call used and the view did not "
        f"hold, of {whole.references:,}."
    )
    leads = "no other policy both costs less at these prices and loses fewer edits."
    told = [
        ("sent", "tokens sent to the model, as a part of no truncation's."),
        ("cost", cost),
        ("lost edits", edits),
        ("lost refs", named),
        ("*", leads),
    ]
    if any(row.name in cheats for row in rows):
        told.append(("cheats", "it is shown the future: a bound, no rival."))
    return told


def headings(shown: Sequence[int]) -> list[str]:
    """Of the table's columns."""
    prices = [PRICES[at] for at in shown]
    return [
        "policy", "sent", *(f"cost {each.name if each.cached else 'uncached'}" for each in prices), "lost edits",
        "lost refs", "over window",
    ]  # fmt: skip


def cells(row: Row, shown: Sequence[int], cheats: Collection[str]) -> list[str]:
    """A policy's row."""
    marks = ["*" if row.frontier[at] else " " for at in shown]
    return [
        f"{row.name} (cheats)" if row.name in cheats else row.name,
        f"{row.sent:.3f}",
        *(f"{row.costs[at]:.3f}{mark}" for at, mark in zip(shown, marks, strict=True)),
        f"{row.total.lost_edits} ({row.lost_edits:.1%})",
        f"{row.lost_references:.2%}",
        f"{row.total.over}",
    ]


def _table(rows: Sequence[Row], shown: Sequence[int], cheats: Collection[str]) -> list[str]:
    lines = [headings(shown), *(cells(row, shown, cheats) for row in rows)]
    widths = [max(len(line[at]) for line in lines) for at in range(len(lines[0]))]
    return [
        "  ".join(
            cell.rjust(width) if at else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]


def _notes(of: Replay, rows: Sequence[Row]) -> list[str]:
    """What a reader has to know beside the numbers."""
    wrong = [row.total for row in rows if row.total.invalid]
    damaged = sum(session.passed_over for session in of.sessions)
    mended = sum(session.mended for session in of.sessions)
    notes = [f"INVALID views: {each.invalid}. The first: {each.wrong}." for each in wrong]
    if of.others:
        notes.append(f"Left out for their size or their half: {count(of.others, 'session')}.")
    if of.again:
        notes.append(f"Recorded twice, and played once: {count(len(of.again), 'session')}.")
    if damaged:
        notes.append(f"Damaged rows that were passed over: {damaged}.")
    if mended:
        notes.append(f"Histories that had to be mended before they could be played: {mended}.")
    return [*notes, *unread(of.unread)]


def unread(files: Sequence[Unread]) -> list[str]:
    """Files that hold no session that can be played, and why."""
    if not files:
        return []
    named = [f"  {printable(each.path)}: {printable(each.why)}" for each in files[:NAMED]]
    more = len(files) - NAMED
    rest = [f"  and {more} more (all are in --json)"] if more > 0 else []
    return [f"Not played: {count(len(files), 'file')}.", *named, *rest]


def nothing(of: Replay) -> list[str]:
    """No session that counts."""
    left = f" {count(of.others, 'session')} did not count for size or half." if of.others else ""
    return [
        f"No recorded session was found to play.{left}",
        *unread(of.unread),
        "Name recordings of a coding agent, or a folder of them, such as ~/.claude/projects.",
    ]
