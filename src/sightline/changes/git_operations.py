"""What git did to files of ours, told by its logs and by what its commits hold: one fact a move.

Nothing is started as long as its logs are older than our last look at the file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from msgspec import Struct, structs

from sightline.changes.cause_rules import UNDER_WAY
from sightline.changes.detect import Difference, bytes_of, differing, doubtful
from sightline.changes.session_context import SessionContext
from sightline.filesystem.git.reflog import RESTING, Move, join_moves, unrecorded_moves
from sightline.filesystem.git.repository import Repository
from sightline.model.events import Cause, Changed, Fact, GitMoved, Rewritten
from sightline.model.projections import DiskFile
from sightline.model.revision import MISSING, Revision, Stamp

Trees = dict[str, Mapping[str, str | None]]
"""Commit -> path -> blob id."""


class Recognised(Struct, frozen=True):
    """facts: moves of git's, each with all files of ours that it touched. likely: path -> cause of
    what git seems to have done, where no fact can say it."""

    facts: tuple[GitMoved, ...]
    likely: dict[str, Cause]

    @property
    def named(self) -> set[str]:
        """The files that a fact tells of."""
        return {path for fact in self.facts for path in fact.paths}


def recognised(ground: SessionContext, differences: Sequence[Difference]) -> Recognised:
    """What of these differences git made."""
    facts: list[GitMoved] = []
    likely: dict[str, Cause] = {}
    for repository, group in _by_repository(ground, differences):
        told, seems = _told(ground, repository, group)
        facts += told
        likely |= seems
    return Recognised(tuple(facts), likely)


def _by_repository(
    ground: SessionContext, differences: Iterable[Difference]
) -> Iterator[tuple[Repository, list[Difference]]]:
    folders: dict[str, Repository | None] = {}
    groups: dict[str, tuple[Repository, list[Difference]]] = {}
    for each in differences:
        path = each.found.path
        folder = path.rpartition("/")[0]
        if folder not in folders:
            folders[folder] = ground.workspace.repository(path)
        repository = folders[folder]
        if repository is not None:
            groups.setdefault(repository.folder, (repository, []))[1].append(each)
    yield from groups.values()


def _told(
    ground: SessionContext, repository: Repository, group: Sequence[Difference]
) -> tuple[list[GitMoved], dict[str, Cause]]:
    """The moves that made some of the differences; of the others what git seems to have done."""
    facts: list[GitMoved] = []
    terms = Terms(ground, repository)
    since_ns = _looked_ns(ground, group)
    steps = steps_since(ground, repository, since_ns)
    for step in steps:
        trees = trees_of(repository, step, [each.found.path for each in group])
        if trees is None:
            seems = Cause("git", step.operation, step.detail, "likely")
            return facts, {each.found.path: seems for each in group}
        made = [each for each in group if terms.made_by(step, trees, each)]
        if made:
            told = {path for fact in facts for path in fact.paths}
            facts.append(_fact(ground, repository, terms, step, trees, made, told))
            group = [each for each in group if each.found.path not in facts[-1].paths]
        if not group:
            return facts, {}
    return facts, _seems(ground, repository, terms, group, since_ns, stepped=bool(steps))


def _seems(
    ground: SessionContext,
    repository: Repository,
    terms: Terms,
    group: Sequence[Difference],
    since_ns: int,
    *,
    stepped: bool,
) -> dict[str, Cause]:
    """What git seems to have done where none of its commits can tell."""
    under_way = Cause("git", None, UNDER_WAY, "likely")
    if repository.busy():
        return {each.found.path: under_way for each in group}
    seems: dict[str, Cause] = {}
    if stepped or repository.stopped(since_ns):  # before the stash: a conflict says what it is
        marked = [each for each in group if conflicted(bytes_of(ground, each))]
        seems = {each.found.path: under_way for each in marked}
    if repository.stash_moved(since_ns):
        popped = Cause("git", "stash pop", None, "likely")
        kept = [each for each in group if _is_kept(repository, terms, each)]
        seems = {each.found.path: popped for each in kept} | seems
    return seems


def _is_kept(repository: Repository, terms: Terms, difference: Difference) -> bool:
    """Whether git holds these very bytes, and not because they were committed: of a stash that is
    gone nothing else is left."""
    path, head = difference.found.path, repository.head() or "HEAD"
    after = terms.of(difference).after
    there = repository.blobs(head, [path], DEADLINE_S)
    if there is None or there[path] in after:
        return False
    return any(blob is not None and repository.holds(blob, DEADLINE_S) for blob in after)


def _looked_ns(ground: SessionContext, group: Sequence[Difference]) -> int:
    """When the first of these files was last looked at and found as the timeline says."""
    stamps = ground.store.stamps([each.found.path for each in group])
    return min(_at_ns(each.row, stamps.get(each.found.path)) for each in group)


def _at_ns(row: DiskFile, stamp: Stamp | None) -> int:
    same = stamp is not None and stamp.revision == row.revision
    return stamp.read_at_ns if same and stamp else row.at * 1_000


def _fact(
    ground: SessionContext,
    repository: Repository,
    terms: Terms,
    step: Step,
    trees: Trees,
    made: list[Difference],
    told: set[str],
) -> GitMoved:
    """The move with all files of ours that it touched. told: those that another fact tells of."""
    named = {*told, *(each.found.path for each in made)}
    others = [each for each in _others(ground, repository) if each.found.path not in named]
    held = trees_of(repository, step, [each.found.path for each in others]) if others else None
    if held is not None:
        made = [*made, *(each for each in others if terms.made_by(step, held, each))]
        trees = {commit: {**there, **held[commit]} for commit, there in trees.items()}
    begun = [terms.fits(move.old, trees, made) for move in step.moves]
    changes = tuple(sorted((_rewritten(each) for each in made), key=lambda each: each.path))
    ground.store.keep(
        [b for each in made for b in ground.keepable(each.found.path, bytes_of(ground, each))]
    )
    move = join_moves(step.moves, begun) if step.moves else step
    paths = tuple([each.path for each in changes])
    return GitMoved(move.old, move.new, move.operation, paths, changes, move.detail)


def _rewritten(difference: Difference) -> Rewritten:
    signature = difference.found.signature
    mode = signature.mode if signature else None
    return Rewritten(difference.found.path, difference.row.revision, difference.after, mode)


def _others(ground: SessionContext, repository: Repository) -> Iterator[Difference]:
    """All files of ours in a repository that are not what the timeline says, and those that were
    found in the middle of what git did."""
    rows = ground.store.disks()
    for found in [*doubtful(ground, rows, ground.store.stamps())]:
        same = found.revision == rows[found.path].revision
        each = None if same else differing(ground, ground.look(found.path))
        if each is not None and _belongs(ground, repository, found.path):
            yield each
    for row in rows.values():
        if row.cause == Cause("git", None, UNDER_WAY, "likely"):
            yield from _found_midway(ground, row)


def _found_midway(ground: SessionContext, row: DiskFile) -> Iterator[Difference]:
    for recorded in ground.store.timeline(after=row.position - 1, upto=row.position):
        found = ground.look(row.path)
        if isinstance(recorded.fact, Changed) and found.revision == row.revision:
            before = structs.replace(row, revision=recorded.fact.before)
            yield Difference(before, found, row.revision)


def _belongs(ground: SessionContext, repository: Repository, path: str) -> bool:
    found = ground.workspace.repository(path)
    return found is not None and found.folder == repository.folder


DEADLINE_S = 2.0
"""What git may take for one answer."""

REMEMBERED = 8
"""Moves of git's that are looked through for stashes that were put away."""


def steps_since(ground: SessionContext, repository: Repository, since_ns: int) -> list[Step]:
    """What git may have done since, most particular first. A stash that was put away also resets
    the tree, and says so."""
    moved = repository.moves(since_ns)
    put_away = repository.stash_moved(since_ns)
    stashing = put_away or repository.index_moved(since_ns)
    stashed = repository.stashed() if stashing else ()
    if not (moved or put_away or stashed):
        return []
    every = ground.store.timeline(kinds=[GitMoved], newest=REMEMBERED)
    told = [each for each in every if _is_of(ground, repository, each.fact)]
    known = [commit for each in told for commit in _stash_of(each.fact)]
    taken = [commit for commit in known if commit not in stashed]
    head = repository.head() if stashing else None
    return steps_of(head, stashed, taken, unrecorded_moves(moved, told), put_away=put_away)


def _is_of(ground: SessionContext, repository: Repository, fact: Fact) -> bool:
    """Whether a move was this repository's: trees beside each other may have the same commits."""
    paths = fact.paths if isinstance(fact, GitMoved) else ()
    found = ground.workspace.repository(paths[0]) if paths else repository
    return found is not None and found.folder == repository.folder


def _stash_of(fact: Fact) -> tuple[str, ...]:
    if not isinstance(fact, GitMoved):
        return ()
    if fact.operation == "stash":
        return (fact.after,)
    return (fact.before,) if fact.operation == "stash apply" else ()


def trees_of(repository: Repository, step: Step, paths: Sequence[str]) -> Trees | None:
    """What the step's commits have at some paths; None when git does not answer."""
    found: Trees = {}
    for commit in dict.fromkeys((*step.olds, *step.news, *chain(*step.commits))):
        blobs = repository.blobs(commit, paths, DEADLINE_S)
        if blobs is None and not commit.endswith(step.optional):
            return None
        found[commit] = blobs or {}
    return found


class Terms:
    """Files of ours in git's terms, each put into them once."""

    def __init__(self, ground: SessionContext, repository: Repository) -> None:
        self._ground = ground
        self._repository = repository
        self._known: dict[str, Came] = {}

    def of(self, difference: Difference) -> Came:
        """What a file was and is."""
        path = difference.found.path
        if path not in self._known:
            algorithm, before = self._repository.algorithm(), difference.row.revision
            self._known[path] = Came(
                blob_ids(self._ground.store.blob(before), before, algorithm),
                blob_ids(bytes_of(self._ground, difference), difference.after, algorithm),
            )
        return self._known[path]

    def made_by(self, step: Step, trees: Trees, difference: Difference) -> bool:
        """Whether a step changed the file. trees: what its commits have there."""
        path = difference.found.path
        olds = [
            blob
            for commit in step.olds
            if (blob := trees[commit].get(path)) is not None or not commit.endswith(step.optional)
        ]
        news = [there for commit in step.news if (there := trees[commit].get(path)) is not None]
        new = news[0] if news else None
        committed = any(
            trees[parent].get(path) != new == trees[commit].get(path)
            for parent, commit in step.commits
        )
        discards = step.operation == "reset"
        return came_with(self.of(difference), olds, new, committed=committed, discards=discards)

    def fits(self, commit: str, trees: Trees, differences: Iterable[Difference]) -> bool:
        """Whether all these files were as a commit has them when they were last seen."""
        there = trees.get(commit)
        return there is not None and all(
            there.get(each.found.path) in self.of(each).before for each in differences
        )


STOPS = 6
"""Commits on the way of many moves that are compared: the first and the last ones."""

STASHES = 4
"""Stashes that are compared, the newest ones."""

UNTRACKED = "^3"
"""How the commit of a stash's untracked files is named. Not every stash has one."""


class Step(Struct, frozen=True):
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
        one = join_moves([*begun, last], ())
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


class Came(Struct, frozen=True):
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
    return hashlib.new(
        algorithm, b"blob %d\0" % len(data) + data, usedforsecurity=False
    ).hexdigest()


def conflicted(data: bytes | None) -> bool:
    """Whether a merge stopped in the middle of this text."""
    if data is None:
        return False
    text = b"\n" + data
    return all(text.count(b"\n" + sign * 7) for sign in (b"<", b"=", b">"))
