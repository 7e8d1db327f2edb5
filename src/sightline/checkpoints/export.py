"""Checkpoints that leave the house, only when asked: as a patch, or as a commit on a new branch.

Nothing here is ours to keep: a patch is an answer, and a commit is the user's once it is made. Of
the user's repository nothing changes but that it has a branch more.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from sightline.changes.session_context import SessionContext
from sightline.changes.untracked import covers
from sightline.checkpoints import take, words
from sightline.errors import CheckpointFailed
from sightline.filesystem.git import branch_commit
from sightline.filesystem.git.binary_patch import Side, blob_id, link_bytes, mode_of, patch, takes
from sightline.filesystem.git.branch_commit import GITLINK, GitRefused, Tracked
from sightline.filesystem.git.repository import Repository
from sightline.model.manifest import EMPTY, Difference, Entry, Manifest, differences
from sightline.model.results import Checkpoint, Export, NotCovered

AUTHOR = "Sightline <sightline@localhost>"
"""Who makes a commit where nobody is named: no identity of the user's is asked for."""


def export(
    context: SessionContext,
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
    taken = _named(context, checkpoint)
    if branch is not None:
        return _commit(context, taken, branch, _author(author))
    if until_now:
        return between(context, taken, None)
    begins = _before(context, taken) if since is None else _named(context, since)
    return between(context, begins, taken)


def _named(context: SessionContext, asked: Checkpoint | str) -> Checkpoint:
    return take.named(context, asked if isinstance(asked, str) else asked.id)


def _before(context: SessionContext, taken: Checkpoint) -> Checkpoint | None:
    """The checkpoint before one; None where it is the first."""
    earlier = [c for c in take.listed(context) if c.position < taken.position]
    return earlier[-1] if earlier else None


def _author(author: str | None) -> str:
    if author is None:
        return AUTHOR
    if not re.fullmatch(r"[^<>\n\0]*[^<>\n\0 ] <[^<>\n\0 ]+>", author):
        raise ValueError(f"an author is written as 'Name <mail>', not {author!r}")
    return author


def _commit(context: SessionContext, taken: Checkpoint, branch: str, author: str) -> Export:
    found = take.load_manifest(context, taken)
    repository = context.workspace.repository(".")
    if repository is None:
        raise CheckpointFailed(*words.no_repository(context.workspace.root))
    try:
        return _committed(context, repository, taken, found, branch, author)
    except GitRefused as error:
        raise CheckpointFailed(*words.git_said_no(str(error))) from error


def _committed(
    context: SessionContext,
    repository: Repository,
    taken: Checkpoint,
    found: Manifest,
    branch: str,
    author: str,
) -> Export:
    _check_name(repository, branch)
    after = branch_commit.head(repository)
    there = branch_commit.tracked(repository, after)
    sparse = branch_commit.sparse_paths(repository)
    gone = [path for path in there if path not in found and path not in sparse]
    gone = [path for path in gone if not _stays(context, found, path, there[path][0])]
    kept = there.keys() - found.rows.keys() - set(gone)
    lacks = tuple(_lacking(found, kept))
    made = branch_commit.Commit(
        after=after,
        author=author,
        at_s=int(taken.at.timestamp()),
        message=words.message(taken.label, taken.id, lacks),
        gone=gone,
        puts=_puts(context, found, there, after.algorithm),
    )
    commit = branch_commit.write(repository, made)
    files = sum(map(takes, found))
    branch_commit.name(repository, branch, commit, author)
    return Export(taken.id, taken.id, None, branch, commit, after.commit, files, lacks)


def _check_name(repository: Repository, branch: str) -> None:
    if not branch_commit.is_branch_name(repository, branch):
        raise CheckpointFailed(*words.no_branch_name(branch))
    if branch_commit.has_branch(repository, branch):
        raise CheckpointFailed(*words.branch_exists(branch))


def _stays(context: SessionContext, found: Manifest, path: str, mode: int) -> bool:
    """Whether what a commit has at a path is in the next one too, though the checkpoint does not
    name it: it did not look there, or a submodule has nothing in it."""
    return mode == GITLINK or f"{path}/" in found.omitted or not covers(context, found, path)


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
    context: SessionContext, found: Manifest, there: Tracked, algorithm: str
) -> Iterator[tuple[str, int, bytes]]:
    """What the commit before does not have as the checkpoint has it."""
    for path in filter(takes, found):
        held = side(context, path, found[path])
        known = there.get(path)
        if known is None or known != (held.mode, blob_id(held.data, algorithm)):
            yield path, held.mode, held.data


def between(context: SessionContext, begins: Checkpoint | None, ends: Checkpoint | None) -> Export:
    """What leads from a checkpoint (None: from nothing) to another (None: to what stands now).
    CheckpointFailed, Unverifiable."""
    old = EMPTY if begins is None else take.load_manifest(context, begins)
    new = take.now(context) if ends is None else take.load_manifest(context, ends)
    algorithm = _algorithm(context)
    parts: list[bytes] = []
    lacks: list[NotCovered] = []
    for each in differences(old, new):
        why = _untold(context, each, old, new)
        part = b"" if why else _part(context, each, algorithm)
        if part:
            parts.append(part)
        else:
            lacks.append(NotCovered(each.path, why or words.RIGHTS))
    return Export(
        since=None if begins is None else begins.id,
        until=None if ends is None else ends.id,
        patch=b"".join(parts),
        branch=None,
        commit=None,
        parent=None,
        files=len(parts),
        not_contained=tuple(lacks),
    )


def _part(context: SessionContext, each: Difference, algorithm: str) -> bytes:
    old, new = [
        None if entry is None else side(context, each.path, entry)
        for entry in (each.before, each.after)
    ]
    return patch(each.path, old, new, algorithm)


def _untold(context: SessionContext, each: Difference, old: Manifest, new: Manifest) -> str | None:
    """Why a path cannot be told of; None where it can: it may have stood there all the time, where
    one of the two did not cover it."""
    if not takes(each.path):
        return words.NO_NAME
    if each.before is None and old is not EMPTY and not covers(context, old, each.path):
        return words.unsure(reason(old, each.path), came=True)
    if each.after is None and not covers(context, new, each.path):
        return words.unsure(reason(new, each.path), came=False)
    return None


def reason(manifest: Manifest, path: str) -> str:
    """Why a path is not covered, by itself or with a folder above it."""
    above = [f"{path[:at]}/" for at, letter in enumerate(path) if letter == "/"]
    named = [
        manifest.omitted[each] for each in (path, f"{path}/", *above) if each in manifest.omitted
    ]
    return named[0] if named else "ignored"


def side(context: SessionContext, path: str, entry: Entry) -> Side:
    """An entry as git holds it. CheckpointFailed when its text is not kept any more."""
    return Side(mode_of(entry), _data(context, path, entry))


def _data(context: SessionContext, path: str, entry: Entry) -> bytes:
    """The bytes of an entry: they are kept, or stand there now."""
    if entry.target is not None:
        return link_bytes(entry.target)
    data = context.store.blob(entry.revision)
    if data is not None:
        return data
    found = context.look(path)
    if found.revision == entry.revision and found.data is not None:
        return found.data
    raise CheckpointFailed(*words.text_gone(path))


def _algorithm(context: SessionContext) -> str:
    """The hash of the repository that a patch is most likely for."""
    repository = context.workspace.repository(".")
    return "sha1" if repository is None else repository.algorithm()
