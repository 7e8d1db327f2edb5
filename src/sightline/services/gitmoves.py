"""What git did to files of ours, told by its logs and by what its commits hold: one fact a move.

Nothing is started as long as its logs are older than our last look at the file.
"""

from __future__ import annotations

from itertools import chain

from sightline.core.causes import UNDER_WAY
from sightline.core.events import Cause, Changed, GitMoved, Rewritten
from sightline.core.reflog import Came, after_told, blob_ids, came_with, conflicted, steps_of, whole
from sightline.core.value import Value
from sightline.services.ground import Difference, bytes_of, differing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from sightline.core.context import DiskFile
    from sightline.core.events import Fact
    from sightline.core.reflog import Step
    from sightline.core.revision import Stamp
    from sightline.services.ground import Ground
    from sightline.workspace.git import Repository

    Trees = dict[str, Mapping[str, str | None]]
    """Commit -> path -> blob id."""

DEADLINE_S = 2.0
"""What git may take for one answer."""

REMEMBERED = 8
"""Moves of git's that are looked through for stashes that were put away."""


class Recognised(Value):
    """facts: moves of git's, each with all files of ours that it touched. likely: path -> cause of
    what git seems to have done, where no fact can say it."""

    facts: tuple[GitMoved, ...]
    likely: dict[str, Cause]

    @property
    def named(self) -> set[str]:
        """The files that a fact tells of."""
        return {path for fact in self.facts for path in fact.paths}


def recognised(ground: Ground, differences: Sequence[Difference]) -> Recognised:
    """What of these differences git made."""
    facts: list[GitMoved] = []
    likely: dict[str, Cause] = {}
    for repository, group in _by_repository(ground, differences):
        fact, seems = _told(ground, repository, group)
        facts += [fact] if fact else []
        likely |= seems
    return Recognised(tuple(facts), likely)


def _by_repository(
    ground: Ground, differences: Iterable[Difference]
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
    ground: Ground, repository: Repository, group: Sequence[Difference]
) -> tuple[GitMoved | None, dict[str, Cause]]:
    """The move that made some of the differences, else what git seems to have done."""
    since_ns = _looked_ns(ground, group)
    steps = _steps(ground, repository, since_ns)
    for step in steps:
        trees = _trees(repository, step, [each.found.path for each in group])
        if trees is None:
            seems = Cause("git", step.operation, step.detail, "likely")
            return None, {each.found.path: seems for each in group}
        made = [each for each in group if _made(ground, repository, step, trees, each)]
        if made:
            return _fact(ground, repository, step, trees, made), {}
    under_way = Cause("git", None, UNDER_WAY, "likely")
    if repository.busy():
        return None, {each.found.path: under_way for each in group}
    if repository.stash_moved(since_ns):
        popped = Cause("git", "stash pop", None, "likely")
        kept = [each for each in group if _is_kept(ground, repository, each)]
        return None, {each.found.path: popped for each in kept}
    if not steps and not repository.stopped(since_ns):
        return None, {}
    marked = [each for each in group if conflicted(bytes_of(ground, each))]
    return None, {each.found.path: under_way for each in marked}


def _is_kept(ground: Ground, repository: Repository, difference: Difference) -> bool:
    """Whether git holds these very bytes, and not because they were committed: of a stash that is
    gone nothing else is left."""
    path, head = difference.found.path, repository.head() or "HEAD"
    after = _came(ground, repository, difference).after
    there = repository.blobs(head, [path], DEADLINE_S)
    if there is None or there[path] in after:
        return False
    return any(blob is not None and repository.holds(blob, DEADLINE_S) for blob in after)


def _looked_ns(ground: Ground, group: Sequence[Difference]) -> int:
    """When the first of these files was last looked at and found as the timeline says."""
    stamps = ground.store.stamps([each.found.path for each in group])
    return min(_at_ns(each.row, stamps.get(each.found.path)) for each in group)


def _at_ns(row: DiskFile, stamp: Stamp | None) -> int:
    same = stamp is not None and stamp.revision == row.revision
    return stamp.read_at_ns if same and stamp else row.at * 1_000


def _steps(ground: Ground, repository: Repository, since_ns: int) -> list[Step]:
    """What git may have done since, most particular first. A stash that was put away also resets
    the tree, and says so."""
    moved = repository.moves(since_ns)
    put_away = repository.stash_moved(since_ns)
    stashing = put_away or repository.index_moved(since_ns)
    stashed = repository.stashed() if stashing else ()
    if not (moved or put_away or stashed):
        return []
    told = list(ground.store.timeline(kinds=[GitMoved], newest=REMEMBERED))
    known = [commit for each in told for commit in _stash_of(each.fact)]
    taken = [commit for commit in known if commit not in stashed]
    head = repository.head() if stashing else None
    return steps_of(head, stashed, taken, after_told(moved, told), put_away=put_away)


def _stash_of(fact: Fact) -> tuple[str, ...]:
    if not isinstance(fact, GitMoved):
        return ()
    if fact.operation == "stash":
        return (fact.after,)
    return (fact.before,) if fact.operation == "stash apply" else ()


def _trees(repository: Repository, step: Step, paths: Sequence[str]) -> Trees | None:
    """What the step's commits have at some paths; None when git does not answer."""
    found: Trees = {}
    for commit in dict.fromkeys((*step.olds, *step.news, *chain(*step.commits))):
        blobs = repository.blobs(commit, paths, DEADLINE_S)
        if blobs is None and not commit.endswith(step.optional):
            return None
        found[commit] = blobs or {}
    return found


def _made(
    ground: Ground, repository: Repository, step: Step, trees: Trees, difference: Difference
) -> bool:
    path = difference.found.path
    came = _came(ground, repository, difference)
    olds = [
        blob
        for commit in step.olds
        if (blob := trees[commit].get(path)) is not None or not commit.endswith(step.optional)
    ]
    news = [there for commit in step.news if (there := trees[commit].get(path)) is not None]
    new = news[0] if news else None
    committed = any(
        trees[parent].get(path) != new == trees[commit].get(path) for parent, commit in step.commits
    )
    discards = step.operation == "reset"
    return came_with(came, olds, new, committed=committed, discards=discards)


def _came(ground: Ground, repository: Repository, difference: Difference) -> Came:
    algorithm, before = repository.algorithm(), difference.row.revision
    return Came(
        blob_ids(ground.store.blob(before), before, algorithm),
        blob_ids(bytes_of(ground, difference), difference.after, algorithm),
    )


def _fact(
    ground: Ground, repository: Repository, step: Step, trees: Trees, made: list[Difference]
) -> GitMoved:
    """The move with all files of ours that it touched."""
    named = {each.found.path for each in made}
    others = [each for each in _others(ground, repository) if each.found.path not in named]
    held = _trees(repository, step, [each.found.path for each in others]) if others else None
    if held is not None:
        made = [*made, *(each for each in others if _made(ground, repository, step, held, each))]
        trees = {commit: {**there, **held[commit]} for commit, there in trees.items()}
    begun = [
        move.old in trees
        and all(
            trees[move.old].get(each.found.path) in _came(ground, repository, each).before
            for each in made
        )
        for move in step.moves
    ]
    changes = tuple(sorted((_rewritten(each) for each in made), key=lambda each: each.path))
    ground.store.keep(
        [b for each in made for b in ground.keepable(each.found.path, bytes_of(ground, each))]
    )
    move = whole(step.moves, begun) if step.moves else step
    paths = tuple([each.path for each in changes])
    return GitMoved(move.old, move.new, move.operation, paths, changes, move.detail)


def _rewritten(difference: Difference) -> Rewritten:
    signature = difference.found.signature
    mode = signature.mode if signature else None
    return Rewritten(difference.found.path, difference.row.revision, difference.after, mode)


def _others(ground: Ground, repository: Repository) -> Iterator[Difference]:
    """All files of ours in a repository that are not what the timeline says, and those that were
    found in the middle of what git did."""
    from sightline.services.runs import doubtful

    rows = ground.store.disks()
    for found in [*doubtful(ground, rows, ground.store.stamps())]:
        each = differing(ground, found)
        if each is not None and _belongs(ground, repository, found.path):
            yield each
    for row in rows.values():
        if row.cause == Cause("git", None, UNDER_WAY, "likely"):
            yield from _found_midway(ground, row)


def _found_midway(ground: Ground, row: DiskFile) -> Iterator[Difference]:
    for recorded in ground.store.timeline(after=row.position - 1, upto=row.position):
        found = ground.look(row.path)
        if isinstance(recorded.fact, Changed) and found.revision == row.revision:
            before = row.replace(revision=recorded.fact.before)
            yield Difference(before, found, row.revision)


def _belongs(ground: Ground, repository: Repository, path: str) -> bool:
    found = ground.workspace.repository(path)
    return found is not None and found.folder == repository.folder
