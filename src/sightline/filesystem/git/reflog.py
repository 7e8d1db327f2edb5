"""What git's own log says of a tree: which operations moved it, from which commit to which."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from sightline.model.events import GitMoved
from sightline.model.timeline import Recorded

NEWEST = 50
"""Lines of the log that are looked at."""

DETAIL_MAX = 80
"""Characters of what git says of an operation: a commit's subject may be long."""


class Move(Struct, frozen=True):
    """A line of the log. old, new: commits; at_s: when, in seconds since 1970, by git's own
    clock. operation: git's name of it, in one word or two; detail: what else it says."""

    old: str
    new: str
    at_s: int
    operation: str
    detail: str | None = None


def moves(log: str) -> tuple[Move, ...]:
    """The newest lines of a log, oldest first. What is no line of a log is left out."""
    lines = log.splitlines()[-NEWEST:]
    return tuple(move for line in lines if (move := _move(line)) is not None)


def _move(line: str) -> Move | None:
    frame, _, said = line.partition("\t")
    old, _, rest = frame.partition(" ")
    new, _, signed = rest.partition(" ")
    at_s = signed.rpartition("> ")[2].partition(" ")[0]
    if not (_is_commit(old) and _is_commit(new) and at_s.isdecimal()):
        return None
    operation, detail = _told(said)
    return Move(old, new, int(at_s), operation, detail)


def _is_commit(word: str) -> bool:
    return len(word) in (40, 64) and not set(word) - set("0123456789abcdef")


def _told(said: str) -> tuple[str, str | None]:
    """The operation and its detail: "checkout: moving from a to b" -> ("checkout", "a..b")."""
    printable = "".join(sign if sign.isprintable() else "?" for sign in said)
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
    """What happened after a moment. Where git's clock is set by hand, no line may be that
    young though the log is: then it is the last of them, with the rest of the same rebase."""
    young = [move for move in log if move.at_s >= at_s]
    if young or not log:
        return tuple(young)
    first = len(log) - 1
    while first and log[first].operation == log[first - 1].operation == "rebase":
        first -= 1
    return tuple(log[first:])


def after_told(log: Sequence[Move], told: Sequence[Recorded]) -> tuple[Move, ...]:
    """What is behind the last that facts (in order) tell of already: the seconds of the log are
    too coarse to tell it from the next."""
    for recorded in reversed(told):
        fact, at_s = recorded.fact, recorded.happened_at // 1_000_000
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


def whole(moves: Sequence[Move], fits: Sequence[bool]) -> Move:
    """Many moves as one: from the newest before which the files stood as they were last seen
    (fits: for each move, whether they did), else from the oldest, to the newest."""
    fitting = [move for move, fit in zip(moves, fits, strict=False) if fit]
    first = [*moves[:1], *fitting][-1]
    last = moves[-1]
    told = [move.detail for move in moves if move.operation == last.operation and move.detail]
    return Move(first.old, last.new, last.at_s, last.operation, told[-1] if told else None)
