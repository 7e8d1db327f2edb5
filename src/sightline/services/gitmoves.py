"""What git did to files of ours, told by its logs and by what its commits hold: one fact a move.

Nothing is started as long as its logs are older than our last look at the file.
"""

from __future__ import annotations

from sightline.core.causes import UNDER_WAY
from sightline.core.events import Cause, Changed, GitMoved, Rewritten
from sightline.core.gitsteps import conflicted
from sightline.core.reflog import whole
from sightline.core.value import Value
from sightline.services.gitsteps import DEADLINE_S, Terms, steps_since, trees_of
from sightline.services.ground import Difference, bytes_of, differing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sightline.core.context import DiskFile
    from sightline.core.gitsteps import Step
    from sightline.core.revision import Stamp
    from sightline.services.gitsteps import Trees
    from sightline.services.ground import Ground
    from sightline.workspace.git import Repository


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
        told, seems = _told(ground, repository, group)
        facts += told
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
    ground: Ground,
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


def _looked_ns(ground: Ground, group: Sequence[Difference]) -> int:
    """When the first of these files was last looked at and found as the timeline says."""
    stamps = ground.store.stamps([each.found.path for each in group])
    return min(_at_ns(each.row, stamps.get(each.found.path)) for each in group)


def _at_ns(row: DiskFile, stamp: Stamp | None) -> int:
    same = stamp is not None and stamp.revision == row.revision
    return stamp.read_at_ns if same and stamp else row.at * 1_000


def _fact(
    ground: Ground,
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
        same = found.revision == rows[found.path].revision
        each = None if same else differing(ground, ground.look(found.path))
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
