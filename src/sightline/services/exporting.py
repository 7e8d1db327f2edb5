"""Checkpoints that leave the house, only when asked: as a patch, or as a commit on a new branch.

Nothing here is ours to keep: a patch is an answer, and a commit is the user's once it is made. Of
the user's repository nothing changes but that it has a branch more.
"""

from __future__ import annotations

import re

from sightline.errors import CheckpointFailed
from sightline.render import exporting as words
from sightline.services import checkpoints
from sightline.services.patches import between, reason, side
from sightline.services.results import Export, NotCovered
from sightline.services.unheard import covers
from sightline.workspace import gitwriting
from sightline.workspace.gitpatch import blob_id, takes
from sightline.workspace.gitwriting import GITLINK, GitSaidNo

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sightline.core.manifest import Manifest
    from sightline.services.ground import Ground
    from sightline.services.results import Checkpoint
    from sightline.workspace.git import Repository
    from sightline.workspace.gitwriting import Tracked

AUTHOR = "Sightline <sightline@localhost>"
"""Who makes a commit where nobody is named: no identity of the user's is asked for."""


def export(
    ground: Ground,
    checkpoint: Checkpoint | str,
    branch: str | None = None,
    *,
    since: Checkpoint | str | None = None,
    until_now: bool = False,
    author: str | None = None,
) -> Export:
    """A checkpoint as a commit on a new branch; without a branch as a patch: of what it changed
    since the one before, or since another, or of what changed after it until now. UnknownName,
    CheckpointFailed, Unverifiable, ValueError."""
    if branch is not None and (since is not None or until_now):
        raise ValueError("a commit holds the whole tree: since and until_now are for patches")
    if branch is None and author is not None:
        raise ValueError("a patch has no author")
    if since is not None and until_now:
        raise ValueError("until_now begins at the checkpoint itself: leave since out")
    taken = _named(ground, checkpoint)
    if branch is not None:
        return _commit(ground, taken, branch, _author(author))
    if until_now:
        return between(ground, taken, None)
    begins = _before(ground, taken) if since is None else _named(ground, since)
    return between(ground, begins, taken)


def _named(ground: Ground, asked: Checkpoint | str) -> Checkpoint:
    return checkpoints.named(ground, asked if isinstance(asked, str) else asked.id)


def _before(ground: Ground, taken: Checkpoint) -> Checkpoint | None:
    """The checkpoint before one; None where it is the first."""
    earlier = [c for c in checkpoints.listed(ground) if c.position < taken.position]
    return earlier[-1] if earlier else None


def _author(author: str | None) -> str:
    if author is None:
        return AUTHOR
    if not re.fullmatch(r"[^<>\n\0]*[^<>\n\0 ] <[^<>\n\0 ]+>", author):
        raise ValueError(f"an author is written as 'Name <mail>', not {author!r}")
    return author


def _commit(ground: Ground, taken: Checkpoint, branch: str, author: str) -> Export:
    found = checkpoints.manifest(ground, taken)
    repository = ground.workspace.repository(".")
    if repository is None:
        raise CheckpointFailed(*words.no_repository(ground.workspace.root))
    try:
        return _committed(ground, repository, taken, found, branch, author)
    except GitSaidNo as error:
        raise CheckpointFailed(*words.git_said_no(str(error))) from error


def _committed(
    ground: Ground,
    repository: Repository,
    taken: Checkpoint,
    found: Manifest,
    branch: str,
    author: str,
) -> Export:
    _check_name(repository, branch)
    after = gitwriting.head(repository)
    there = gitwriting.tracked(repository, after)
    sparse = gitwriting.left_out(repository)
    gone = [path for path in there if path not in found and path not in sparse]
    gone = [path for path in gone if not _stays(ground, found, path, there[path][0])]
    kept = there.keys() - found.rows.keys() - set(gone)
    lacks = tuple(_lacking(found, kept))
    made = gitwriting.Commit(
        after=after,
        author=author,
        at_s=int(taken.at.timestamp()),
        message=words.message(taken.label, taken.id, lacks),
        gone=gone,
        puts=_puts(ground, found, there, after.algorithm),
    )
    commit = gitwriting.write(repository, made)
    files = sum(map(takes, found))
    gitwriting.name(repository, branch, commit, author)
    return Export(taken.id, taken.id, None, branch, commit, after.commit, files, lacks)


def _check_name(repository: Repository, branch: str) -> None:
    if not gitwriting.is_branch_name(repository, branch):
        raise CheckpointFailed(*words.no_branch_name(branch))
    if gitwriting.has_branch(repository, branch):
        raise CheckpointFailed(*words.branch_exists(branch))


def _stays(ground: Ground, found: Manifest, path: str, mode: int) -> bool:
    """Whether what a commit has at a path is in the next one too, though the checkpoint does not
    name it: it did not look there, or a submodule has nothing in it."""
    return mode == GITLINK or f"{path}/" in found.omitted or not covers(ground, found, path)


def _lacking(found: Manifest, kept: Iterable[str]) -> Iterator[NotCovered]:
    """What a checkpoint does not cover; where the commit before has something there, that stays."""
    yield from (NotCovered(path, words.NO_NAME) for path in found if not takes(path))
    why = {path: reason(found, path) for path in kept}
    for path, said in found.omitted.items():
        if not any(each == path.rstrip("/") or each.startswith(path) for each in why):
            yield NotCovered(path, said)
    for path, said in why.items():
        yield NotCovered(path, words.as_before(said))


def _puts(
    ground: Ground, found: Manifest, there: Tracked, algorithm: str
) -> Iterator[tuple[str, int, bytes]]:
    """What the commit before does not have as the checkpoint has it."""
    for path in filter(takes, found):
        held = side(ground, path, found[path])
        known = there.get(path)
        if known is None or known != (held.mode, blob_id(held.data, algorithm)):
            yield path, held.mode, held.data
