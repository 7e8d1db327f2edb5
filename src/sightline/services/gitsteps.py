"""What git may have done since a look, and what its commits have, held against files of ours."""

from __future__ import annotations

from itertools import chain

from sightline.core.events import GitMoved
from sightline.core.gitsteps import Came, blob_ids, came_with, steps_of
from sightline.core.reflog import after_told
from sightline.services.ground import bytes_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sightline.core.events import Fact
    from sightline.core.gitsteps import Step
    from sightline.services.ground import Difference, Ground
    from sightline.workspace.git import Repository

    Trees = dict[str, Mapping[str, str | None]]
    """Commit -> path -> blob id."""

DEADLINE_S = 2.0
"""What git may take for one answer."""

REMEMBERED = 8
"""Moves of git's that are looked through for stashes that were put away."""


def steps_since(ground: Ground, repository: Repository, since_ns: int) -> list[Step]:
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
    return steps_of(head, stashed, taken, after_told(moved, told), put_away=put_away)


def _is_of(ground: Ground, repository: Repository, fact: Fact) -> bool:
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

    def __init__(self, ground: Ground, repository: Repository) -> None:
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
