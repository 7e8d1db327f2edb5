"""What git's own log says of a tree: which operations moved it, from which commit to which."""

from __future__ import annotations

from sightline.core.events import GitMoved
from sightline.core.revision import MISSING
from sightline.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sightline.core.revision import Revision
    from sightline.core.timeline import Recorded

NEWEST = 50
"""Lines of the log that are looked at."""

DETAIL_MAX = 80
"""Characters of what git says of an operation: a commit's subject may be long."""


class Move(Value):
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


STOPS = 6
"""Commits on the way of many moves that are compared: the first and the last ones."""

STASHES = 4
"""Stashes that are compared, the newest ones."""

UNTRACKED = "^3"
"""How the commit of a stash's untracked files is named. Not every stash has one."""


class Step(Value):
    """What git may have done, and which commits can tell. old, new, operation, detail: as a fact
    says it. olds: commits that the files were as in before; news: that they are as in now, the
    first that has one; optional: how those are named that need not be there; commits:
    those that were made meanwhile, behind their parents."""

    old: str
    new: str
    operation: str
    detail: str | None
    olds: tuple[str, ...]
    news: tuple[str, ...]
    moves: tuple[Move, ...] = ()
    optional: str = UNTRACKED
    commits: tuple[tuple[str, str], ...] = ()


def steps_of(
    head: str | None,
    stashed: Sequence[str],
    taken: Sequence[str],
    moved: Sequence[Move],
    *,
    put_away: bool,
) -> list[Step]:
    """What git may have done, the most particular first. stashed: what the stash holds, the newest
    last; taken: what it was known to hold and does not any more; moved: moves of the tree;
    put_away: whether the newest stash may be new."""
    steps: list[Step] = []
    if head is not None and put_away:
        steps += [_put_away(head, commit) for commit in stashed[-1:]]
    if head is not None:
        for commit in [*reversed(taken), *reversed(stashed)][:STASHES]:
            operation = "stash apply" if commit in stashed else "stash pop"
            news = (commit, f"{commit}{UNTRACKED}")
            steps.append(Step(commit, head, operation, None, (head,), news))
    return [*steps, *_moving(moved)]


def _moving(moved: Sequence[Move]) -> Iterator[Step]:
    """The moves of the tree as one step. Only where an operation began can a file have been seen
    before it; a rebase of many commits is one."""
    moving = [move for move in moved if move.operation not in RESTING]
    begun = [
        move
        for at, move in enumerate(moving)
        if set(move.old) != {"0"}
        and not (at and move.operation == moving[at - 1].operation == "rebase")
    ]
    if not begun:
        return
    last = moving[-1]
    olds = tuple(dict.fromkeys(move.old for move in begun if move.old != last.new))
    near = olds if len(olds) <= STOPS else (*olds[: STOPS // 2], *olds[-STOPS // 2 :])
    told = tuple(move for move in begun if move.old in near)
    if near or last.operation == "reset":
        one = whole([*begun, last], ())
        committed = [
            (m.old, m.new) for m in moved if m.operation == "commit" and set(m.old) != {"0"}
        ]
        yield Step(
            *(one.old, one.new, one.operation, one.detail, near, (one.new,), (*told, last)),
            commits=tuple(committed[-STOPS // 2 :]),
        )


def _put_away(head: str, commit: str) -> Step:
    return Step(head, commit, "stash", None, (commit, f"{commit}{UNTRACKED}"), (head,))


class Came(Value):
    """What a file was and is, in git's terms. before, after: the blob ids that its bytes may have
    (of the bytes, and of them with other line ends), None among them when it is not there; an
    empty `before` when the text is not at hand."""

    before: frozenset[str | None]
    after: frozenset[str | None]


def came_with(
    file: Came,
    olds: Iterable[str | None],
    new: str | None,
    *,
    committed: bool = False,
    discards: bool = False,
) -> bool:
    """Whether a file came from one commit to another. olds: its blob id at those that the tree
    stood at before; new: where it stands now; committed: whether what stands there was committed
    meanwhile; discards: whether what was not may have been thrown away."""
    if new not in file.after:
        return False
    earlier = set(olds)
    if file.before & earlier:
        return True
    # Where it is not as it was before: what was never committed is gone, and the commit's text
    # stands there. A reset does that; but what was committed meanwhile, somebody had saved.
    return bool(earlier - {new} or discards) and not committed


def blob_ids(data: bytes | None, revision: Revision, algorithm: str) -> frozenset[str | None]:
    """The ids git may know a file's bytes by. data None: not at hand, or nothing is there."""
    if data is None:
        return frozenset((None,)) if revision == MISSING else frozenset()
    return frozenset(_blob_id(each, algorithm) for each in {data, data.replace(b"\r\n", b"\n")})


def _blob_id(data: bytes, algorithm: str) -> str:
    import hashlib

    return hashlib.new(
        algorithm, b"blob %d\0" % len(data) + data, usedforsecurity=False
    ).hexdigest()


def conflicted(data: bytes | None) -> bool:
    """Whether a merge stopped in the middle of this text."""
    if data is None:
        return False
    text = b"\n" + data
    return all(text.count(b"\n" + sign * 7) for sign in (b"<", b"=", b">"))
