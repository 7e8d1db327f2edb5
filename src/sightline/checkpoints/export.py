"""Export a checkpoint when asked: as a patch, or as a commit on a new branch.

A patch is returned and not stored; a commit belongs to the user. The user's repository gets one
more branch, and nothing else in it changes.
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
from sightline.filesystem.tree_index import NESTED
from sightline.model.manifest import EMPTY, Entry, FileDifference, Manifest, differences
from sightline.model.path import folders_above
from sightline.model.results import Checkpoint, Export, NotCovered

AUTHOR = "Sightline <sightline@localhost>"
"""The author of a commit where none is given; the user's git identity is not read."""


def export(
    context: SessionContext,
    checkpoint: Checkpoint | str,
    branch: str | None = None,
    *,
    since: Checkpoint | str | None = None,
    until_now: bool = False,
    author: str | None = None,
) -> Export:
    """Export a checkpoint as a commit on a new branch. Without a branch, return a patch: of the
    changes since the checkpoint before, or since another, or from the checkpoint until now.
    UnknownName, CheckpointFailed, Unverifiable, ValueError."""
    if branch is not None and (since is not None or until_now):
        raise ValueError("a commit holds the whole tree: since and until_now are for patches")
    if branch is None and author is not None:
        raise ValueError("a patch has no author")
    if since is not None and until_now:
        raise ValueError("until_now begins at the checkpoint itself: leave since out")
    if author is not None and not re.fullmatch(r"[^<>\n\0]*[^<>\n\0 ] <[^<>\n\0 ]+>", author):
        raise ValueError(f"an author is written as 'Name <mail>', not {author!r}")
    taken = _named(context, checkpoint)
    if branch is not None:
        return _commit(context, taken, branch, author or AUTHOR)
    if until_now:
        return _patch(context, taken, None)
    if since is not None:
        return _patch(context, _named(context, since), taken)
    earlier = [each for each in take.listed(context) if each.position < taken.position]
    return _patch(context, earlier[-1] if earlier else None, taken)


def _named(context: SessionContext, asked: Checkpoint | str) -> Checkpoint:
    [found] = take.named(context, asked if isinstance(asked, str) else asked.id)
    return found


def _commit(context: SessionContext, taken: Checkpoint, branch: str, author: str) -> Export:
    manifest = take.load_manifest(context, taken)
    repository = context.workspace.repository(".")
    if repository is None:
        raise CheckpointFailed(*words.no_repository(context.workspace.root))
    try:
        if not branch_commit.is_branch_name(repository, branch):
            raise CheckpointFailed(*words.no_branch_name(branch))
        if branch_commit.has_branch(repository, branch):
            raise CheckpointFailed(*words.branch_exists(branch))
        parent = branch_commit.head(repository)
        tracked = branch_commit.tracked(repository, parent)
        sparse = branch_commit.sparse_paths(repository)
        gone = [
            path
            for path in tracked
            if path not in manifest
            and path not in sparse
            and not _stays(context, manifest, path, tracked[path][0])
        ]
        stays = tracked.keys() - manifest.rows.keys() - set(gone)
        manifest = _without_submodules(manifest, tracked)
        not_contained = tuple(_not_contained(manifest, stays))
        draft = branch_commit.Commit(
            after=parent,
            author=author,
            at_s=int(taken.at.timestamp()),
            message=words.message(taken.label, taken.id, not_contained),
            gone=gone,
            puts=_changed_files(context, manifest, tracked, parent.algorithm),
        )
        commit = branch_commit.write(repository, draft)
        branch_commit.name(repository, branch, commit, author)
    except GitRefused as error:
        raise CheckpointFailed(*words.git_said_no(str(error))) from error
    files = sum(map(takes, manifest))
    return Export(taken.id, taken.id, None, branch, commit, parent.commit, files, not_contained)


def _without_submodules(manifest: Manifest, tracked: Tracked) -> Manifest:
    """Return a manifest without the files of submodules: a commit names the commits of these."""
    links = tuple(f"{path}/" for path, (mode, _) in tracked.items() if mode == GITLINK)
    if not links:
        return manifest
    rows = {path: row for path, row in manifest.rows.items() if not path.startswith(links)}
    return Manifest(rows, {**manifest.omitted, **dict.fromkeys(links, NESTED)})


def _stays(context: SessionContext, manifest: Manifest, path: str, mode: int) -> bool:
    """Return whether a tracked path that the checkpoint does not have stays in the commit: a
    submodule, or a path that the checkpoint does not cover."""
    if mode == GITLINK or f"{path}/" in manifest.omitted:
        return True
    return not covers(context, manifest, path)


def _not_contained(manifest: Manifest, stays: Iterable[str]) -> Iterator[NotCovered]:
    """Yield what the checkpoint does not cover; a path that stays as in the parent says so."""
    yield from (NotCovered(path, words.NO_NAME) for path in manifest if not takes(path))
    reasons = {path: reason(manifest, path) for path in stays}
    for path, why in manifest.omitted.items():
        if not any(each == path.rstrip("/") or each.startswith(path) for each in reasons):
            yield NotCovered(path, why)
    for path, why in reasons.items():
        yield NotCovered(path, words.as_before(why))


def _changed_files(
    context: SessionContext, manifest: Manifest, tracked: Tracked, algorithm: str
) -> Iterator[tuple[str, int, bytes]]:
    """Yield the path, mode and bytes of each file that differs from the parent commit."""
    for path in filter(takes, manifest):
        side = _side(context, path, manifest[path])
        known = tracked.get(path)
        if known is None or known != (side.mode, blob_id(side.data, algorithm)):
            yield path, side.mode, side.data


def _patch(context: SessionContext, begins: Checkpoint | None, ends: Checkpoint | None) -> Export:
    """Return the patch from a checkpoint (None: from nothing) to another (None: to the current
    tree)."""
    old = EMPTY if begins is None else take.load_manifest(context, begins)
    new = take.now(context) if ends is None else take.load_manifest(context, ends)
    repository = context.workspace.repository(".")
    algorithm = "sha1" if repository is None else repository.algorithm()
    parts: list[bytes] = []
    not_contained: list[NotCovered] = []
    for each in differences(old, new):
        why = _why_left_out(context, each, old, new)
        part = b""
        if why is None:
            old_side, new_side = [
                None if entry is None else _side(context, each.path, entry)
                for entry in (each.before, each.after)
            ]
            part = patch(each.path, old_side, new_side, algorithm)
        if part:
            parts.append(part)
        else:
            not_contained.append(NotCovered(each.path, why or words.RIGHTS))
    return Export(
        since=None if begins is None else begins.id,
        until=None if ends is None else ends.id,
        patch=b"".join(parts),
        branch=None,
        commit=None,
        parent=None,
        files=len(parts),
        not_contained=tuple(not_contained),
    )


def _why_left_out(
    context: SessionContext, each: FileDifference, old: Manifest, new: Manifest
) -> str | None:
    """Return why a patch leaves a difference out; None where it does not. Where one side does not
    cover the path, the file may have been there all the time."""
    if not takes(each.path):
        return words.NO_NAME
    if each.before is None and old is not EMPTY and not covers(context, old, each.path):
        return words.unsure(reason(old, each.path), came=True)
    if each.after is None and not covers(context, new, each.path):
        return words.unsure(reason(new, each.path), came=False)
    return None


def reason(manifest: Manifest, path: str) -> str:
    """Return why a path is not covered, by itself or with a folder above it."""
    for each in (path, f"{path}/", *folders_above(path)):
        if each in manifest.omitted:
            return manifest.omitted[each]
    return "ignored"


def _side(context: SessionContext, path: str, entry: Entry) -> Side:
    """Return an entry as git stores it; its bytes come from the store or else from the disk.
    CheckpointFailed where neither has them."""
    data = link_bytes(entry.target) if entry.target is not None else None
    if data is None:
        data = context.store.blob(entry.revision)
    if data is None:
        found = context.look(path)
        data = found.data if found.revision == entry.revision else None
    if data is None:
        raise CheckpointFailed(*words.text_gone(path))
    return Side(mode_of(entry), data)
