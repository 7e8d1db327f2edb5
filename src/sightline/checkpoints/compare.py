"""Compare two checkpoints, or one with the current tree."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct, structs

from sightline.changes.session_context import SessionContext
from sightline.changes.session_names import names_of
from sightline.checkpoints.rewind import interrupted
from sightline.checkpoints.take import is_of_workspace, load_manifest, named, now, with_manifests
from sightline.model.diff import diff, unified
from sightline.model.manifest import (
    Entry,
    FileDifference,
    Manifest,
    PathChange,
    differences,
)
from sightline.model.path import folders_above, quoted
from sightline.model.results import Checkpoint, Unfinished
from sightline.model.text import lines_of
from sightline.model.validation import number_or_all


class Chapter(Struct, frozen=True):
    """A checkpoint, and how each path differs from the checkpoint before. changed: None for the
    first checkpoint, and where a manifest is not stored any more. whose: the name of its session, "" for
    the workspace's."""

    checkpoint: Checkpoint
    changed: tuple[PathChange, ...] | None
    whose: str = ""


class Story(Struct, frozen=True):
    """The checkpoints of all sessions, oldest first, and the rewinds that were not finished."""

    chapters: tuple[Chapter, ...]
    unfinished_rewinds: tuple[Unfinished, ...]


def compare(
    context: SessionContext, before: Checkpoint, after: Checkpoint | None = None
) -> list[FileDifference]:
    """List the differences between two checkpoints in order of path; after None: between a
    checkpoint and the current tree. CheckpointFailed where a manifest is not stored any more,
    Unverifiable."""
    old = load_manifest(context, before)
    new = now(context) if after is None else load_manifest(context, after)
    return [
        compared(
            each,
            _lines(context, each.path, each.before, live=False),
            _lines(context, each.path, each.after, live=after is None),
        )
        for each in _certain(old, new)
    ]


def compare_named(context: SessionContext, *asked: Checkpoint | str) -> list[FileDifference]:
    """List the differences between one or two checkpoints, given by id or label, as compare does. UnknownName
    names all that are unknown."""
    found = iter(named(context, *(each for each in asked if isinstance(each, str))))
    taken = [each if isinstance(each, Checkpoint) else next(found) for each in asked]
    return compare(context, *taken)


def story(
    context: SessionContext, newest: int | None = None, before: Checkpoint | str | None = None
) -> Story:
    """Return the checkpoints of all sessions, each with its differences, and the unfinished rewinds.
    newest, before: as in take.with_manifests()."""
    chapters: list[Chapter] = []
    name_of = names_of(context.store)
    last: Manifest | None = None
    asked = number_or_all("newest", newest)
    most = None if asked is None else asked + 1  # the first one is compared with the one before
    for checkpoint, manifest in with_manifests(context, most, before):
        changed = None
        if last is not None and manifest is not None:
            changed = tuple(PathChange(e.path, e.change) for e in _certain(last, manifest))
        is_ours = is_of_workspace(checkpoint.session, checkpoint.why)
        whose = "" if is_ours else name_of(checkpoint.session)
        chapters.append(Chapter(checkpoint, changed, whose))
        last = manifest
    shown = chapters if asked is None else chapters[-asked:]
    return Story(tuple(shown), tuple(interrupted.listed(context)))


def _certain(old: Manifest, new: Manifest) -> list[FileDifference]:
    """List the differences that are certain: a path that one manifest omits, by itself or with a
    folder above it, may not differ."""
    omitted = old.omitted.keys() | new.omitted.keys()
    return [
        each
        for each in differences(old, new)
        if omitted.isdisjoint([each.path, *folders_above(each.path)])
    ]


def compared(
    difference: FileDifference,
    old: Sequence[str] | None,
    new: Sequence[str] | None,
    src: str | None = None,
) -> FileDifference:
    """Add the diff of two texts to a difference. old, new: their lines, [] where there is no file,
    None where there is no text to compare. src: the path where the file was before."""
    if old is None or new is None:
        return difference
    hunks = diff(old, new)
    added = sum(b1 - b0 for _, _, b0, b1 in hunks)
    removed = sum(a1 - a0 for a0, a1, _, _ in hunks)
    old_name = (
        "/dev/null" if difference.change == "added" else quoted(f"a/{src or difference.path}")
    )
    new_name = "/dev/null" if difference.change == "removed" else quoted(f"b/{difference.path}")
    text = unified(old, new, hunks, old=old_name, new=new_name) if hunks else ""
    return structs.replace(difference, diff=text, added=added, removed=removed)


def _lines(
    context: SessionContext, path: str, entry: Entry | None, *, live: bool
) -> Sequence[str] | None:
    """Return the lines of an entry; for a symlink its target. live: the text may be on disk where
    the store does not have it."""
    if entry is None:
        return []
    if entry.target is not None:
        return [entry.target]
    data = context.store.blob(entry.revision)
    if data is None and live:
        found = context.look(path)
        data = found.data if found.revision == entry.revision else None
    return lines_of(data)
