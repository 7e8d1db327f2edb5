"""Steps of git's that may explain how files changed, and what its commits say to that."""

from __future__ import annotations

from sightline.core.reflog import RESTING, whole
from sightline.core.revision import MISSING
from sightline.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sightline.core.reflog import Move
    from sightline.core.revision import Revision

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
        steps += [_put_away(head, commit, moved) for commit in stashed[-1:]]
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


def _put_away(head: str, commit: str, moved: Sequence[Move]) -> Step:
    """The tree is as it was committed before, which its last reset to where it stood tells."""
    resets = [move.new for move in moved if move.operation == "reset" and move.old == move.new]
    stood = [head, *resets][-1]
    return Step(stood, commit, "stash", None, (commit, f"{commit}{UNTRACKED}"), (f"{commit}^1",))


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
