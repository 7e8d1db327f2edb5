"""git's own log of a tree: the operations that moved it from one commit to another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from sightline.model.events import GitMoved
from sightline.model.timeline import Recorded

NEWEST = 50
"""The number of lines of the log to look at."""

DETAIL_MAX = 80
"""The limit of characters of a detail: a commit's subject may be long."""


class Move(Struct, frozen=True):
    """A line of the log. old, new: commits; at_s: seconds since 1970 by git's clock; operation: git's
    name of the operation, one word or two; detail: the other words of the line."""

    old: str
    new: str
    at_s: int
    operation: str
    detail: str | None = None


def moves(log: str, *, newest: int | None = NEWEST) -> tuple[Move, ...]:
    """Return the newest lines of a log, oldest first, without lines that are no entries of a log. newest: the
    number of lines to look at, None for all."""
    lines = log.splitlines()[-newest if newest else None :]
    return tuple(move for line in lines if (move := _move(line)) is not None)


def _move(line: str) -> Move | None:
    frame, _, message = line.partition("\t")
    old, _, rest = frame.partition(" ")
    new, _, signed = rest.partition(" ")
    at_s = signed.rpartition("> ")[2].partition(" ")[0]
    if not (_is_commit(old) and _is_commit(new) and at_s.isdecimal()):
        return None
    operation, detail = _parse_operation(message)
    return Move(old, new, int(at_s), operation, detail)


def _is_commit(word: str) -> bool:
    return len(word) in (40, 64) and not set(word) - set("0123456789abcdef")


def _parse_operation(message: str) -> tuple[str, str | None]:
    """Return the operation and its detail: "checkout: moving from a to b" -> ("checkout", "a..b")."""
    printable = "".join(sign if sign.isprintable() else "?" for sign in message)
    head, _, rest = printable.partition(": ")
    operation, _, about = head.partition(" ")
    if operation in ("merge", "pull"):  # they name what was merged, not what came of it
        return operation, _cut(about)
    if about in ("(merge)", "(cherry-pick)"):
        return about[1:-1], None
    if operation == "commit":
        return operation, None
    if rest.startswith("moving from "):
        src, _, dst = rest.removeprefix("moving from ").partition(" to ")
        return operation, _cut(f"{src}..{dst}")
    if operation == "rebase":
        return operation, _cut(rest.removeprefix("checkout ")) if about == "(start)" else None
    return operation, _cut(rest.removeprefix("moving to "))


def _cut(detail: str) -> str | None:
    return f"{detail[:DETAIL_MAX]}…" if len(detail) > DETAIL_MAX else detail or None


RESTING = ("commit", "branch", "clone", "Branch")
"""Operations that leave the files of the tree as they are, or make the whole tree."""


def since(log: Sequence[Move], at_s: int) -> tuple[Move, ...]:
    """Return the moves after a moment (seconds since 1970). Where git's clock is set by hand, no line may
    be that young although the log is: then return the last move, with the other steps of its rebase."""
    young = [move for move in log if move.at_s >= at_s]
    if young or not log:
        return tuple(young)
    first = len(log) - 1
    while first and log[first].operation == log[first - 1].operation == "rebase":
        first -= 1
    return tuple(log[first:])


def unrecorded_moves(log: Sequence[Move], facts: Iterable[Recorded]) -> tuple[Move, ...]:
    """Return the moves after the last one that facts (newest first) record already. The seconds of the
    log alone are too coarse to tell one move from the next. Facts from before the first move are not read."""
    first_s = min((move.at_s for move in log), default=None)
    for recorded in facts:
        fact, at_s = recorded.fact, recorded.happened_at // 1_000_000
        if first_s is None or at_s < first_s:
            break
        assert isinstance(fact, GitMoved)
        same = [
            at
            for at, move in enumerate(log)
            if (move.new, move.operation) == (fact.after, fact.operation)
            and move.old != move.new
            and move.at_s <= at_s
        ]
        if same:
            return tuple(log[same[-1] + 1 :])
    return tuple(log)


def join_moves(moves: Sequence[Move], fits: Sequence[bool]) -> Move:
    """Join moves into one that ends at the newest. It begins at the newest move before which the
    files were as they were last seen (fits: whether they were, for each move), else at the oldest."""
    fitting = [move for move, fit in zip(moves, fits, strict=False) if fit]
    first = [*moves[:1], *fitting][-1]
    last = moves[-1]
    details = [move.detail for move in moves if move.operation == last.operation and move.detail]
    return Move(first.old, last.new, last.at_s, last.operation, details[-1] if details else None)
