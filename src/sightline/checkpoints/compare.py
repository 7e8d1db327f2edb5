"""What lies between two checkpoints, or between one and now: the paths that differ, and how."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct, structs

from sightline.changes.session_context import SessionContext
from sightline.checkpoints.take import load_manifest, now, with_manifests
from sightline.model.diff import diff, unified
from sightline.model.manifest import Change, Difference, Entry, Manifest, differences
from sightline.model.results import Checkpoint, FileDifference
from sightline.model.text import decode


class Chapter(Struct, frozen=True):
    """A checkpoint, and what became of which path since the one before (None: of the first one,
    or where a list of files is not kept any more)."""

    checkpoint: Checkpoint
    changed: tuple[tuple[str, Change], ...] | None


def compare(
    context: SessionContext, before: Checkpoint, after: Checkpoint | None = None
) -> list[FileDifference]:
    """Where two checkpoints differ, in order of path; after None: what stands now.
    CheckpointFailed when a list of files is not kept any more, Unverifiable."""
    old = load_manifest(context, before)
    new = now(context) if after is None else load_manifest(context, after)
    return [_compared(context, each, live=after is None) for each in _known(old, new)]


def story(context: SessionContext) -> list[Chapter]:
    """The checkpoints of all sessions, oldest first, each with what came before it."""
    told: list[Chapter] = []
    before: Manifest | None = None
    for checkpoint, found in with_manifests(context):
        changed = None
        if before is not None and found is not None:
            changed = tuple((each.path, each.change) for each in _known(before, found))
        told.append(Chapter(checkpoint, changed))
        before = found
    return told


def _known(old: Manifest, new: Manifest) -> list[Difference]:
    """Where they differ for certain: what one of them leaves out did not come or go with that."""
    left = old.omitted.keys() | new.omitted.keys()
    return [each for each in differences(old, new) if left.isdisjoint(_above(each.path))]


def _above(path: str) -> list[str]:
    """A path, and each folder above it as a manifest names it."""
    return [path, *(path[: at + 1] for at, letter in enumerate(path) if letter == "/")]


def _compared(context: SessionContext, each: Difference, *, live: bool) -> FileDifference:
    same = (each.path, each.change, each.before, each.after)
    old = _text(context, each.path, each.before, live=False)
    new = _text(context, each.path, each.after, live=live)
    return compared(FileDifference(*same), old, new)


def compared(
    each: FileDifference,
    old: Sequence[str] | None,
    new: Sequence[str] | None,
    src: str | None = None,
) -> FileDifference:
    """A path that differs, with what lies between its lines of then and of later ([] where nothing
    stands); None: they are not kept, or no text. src: where it stood before."""
    if old is None or new is None:
        return each
    hunks = diff(old, new)
    added = sum(b1 - b0 for _, _, b0, b1 in hunks)
    removed = sum(a1 - a0 for a0, a1, _, _ in hunks)
    from_ = "/dev/null" if each.change == "added" else f"a/{src or each.path}"
    to = "/dev/null" if each.change == "removed" else f"b/{each.path}"
    text = unified(old, new, hunks, old=from_, new=to) if hunks else ""
    return structs.replace(each, diff=text, added=added, removed=removed)


def _text(
    context: SessionContext, path: str, entry: Entry | None, *, live: bool
) -> list[str] | None:
    """The lines that stood at a path; a symlink's is where it leads. live: they may not be kept,
    but stand there now."""
    if entry is None:
        return []
    if entry.target is not None:
        return [entry.target]
    data = context.store.blob(entry.revision)
    if data is None and live:
        found = context.look(path)
        data = found.data if found.revision == entry.revision else None
    text = decode(data) if data is not None else None
    return None if text is None else text.lines
