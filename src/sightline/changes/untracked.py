"""Look up files that no session has read in the checkpoints."""

from __future__ import annotations

import glob
import os
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from stat import S_ISREG
from weakref import WeakKeyDictionary

from msgspec import Struct

from sightline.changes import git_operations, manifests
from sightline.changes.detect import Difference, change
from sightline.changes.session_context import SessionContext
from sightline.errors import Unverifiable
from sightline.filesystem.file_state import FileState
from sightline.filesystem.left_out import UNNAMED
from sightline.filesystem.submodules import is_submodule
from sightline.filesystem.tree_index import MODE, NO_UNICODE, SPECIAL, Tree
from sightline.model.events import Cause, Changed, CheckpointTaken
from sightline.model.manifest import EMPTY, Entry, Manifest
from sightline.model.path import folders_above
from sightline.model.projections import DiskFile
from sightline.model.revision import MISSING, UNKNOWN, Revision, known
from sightline.model.session_ids import archived
from sightline.model.timeline import Recorded, live
from sightline.shell_parsing.command_line import absolute_path
from sightline.shell_parsing.file_effects import possible_names
from sightline.store.port import Store
from sightline.text import phrases

NAMED_MAX = 200
"""Files of one command that are looked up by name."""

SLACK_NS = 2_000_000_000
"""Nanoseconds by which a disk's clock may differ from ours, and its times may be coarse."""


def look(context: SessionContext, tree: Tree, most: int | None = None) -> tuple[str, ...] | None:
    """Read and record the files that changed since the newest checkpoint and that no session has
    read. A command's later changes then differ from the recorded files. Return the checkpoint's
    files that are missing; None where there is no checkpoint, or no time.

    tree: as it is now; most: files that there is time for."""
    last = newest(context, context.store.position())
    if last is None:
        return None
    since_ns = last.recorded_at * 1_000 - SLACK_NS
    tracked = set(context.store.paths())
    new = [
        path
        for path, row in tree.younger(since_ns)
        if path not in tracked and S_ISREG(int(row[MODE]))
    ]
    if most is not None and len(new) > most:
        return None
    entries = manifest(context, last)
    contents: list[Difference] = []
    for path in new:
        entry = entries.get(path)
        if entry is None and not covers(context, entries, path):
            continue  # the file may have been there all the time
        found = context.look(path)
        if entry is not None and (by_user := _of_mode(found, entry)) is not None:
            context.append([by_user], found=[found])
            continue
        if found.kind != "file" or not known(found.revision):
            continue
        before, led = (entry.revision, entry.target) if entry is not None else (MISSING, None)
        if led is not None:
            cause = Cause("external")
            fact = Changed(path, UNKNOWN, found.revision, "kind", cause, led=led)
            blobs = context.keepable(path, found.data, on_disk=found)
            context.append([fact], blobs=blobs, found=[found])
        elif found.revision != before:
            row = DiskFile(path, before, last.position, last.recorded_at)
            contents.append(Difference(row, found, found.revision))
    _record_contents(context, contents)
    return tuple(path for path in missing(context, entries, tree) if path not in tracked)


class _Missing(Struct, frozen=True):
    """The files of a manifest that a tree lacks."""

    entries: Manifest
    tree: Tree
    paths: frozenset[str]


_MISSING: WeakKeyDictionary[Store, _Missing] = WeakKeyDictionary()
"""The last answer for each store. A daemon asks twice for each command: 50,000 paths took 20 ms."""


def missing(context: SessionContext, entries: Manifest, tree: Tree | None) -> tuple[str, ...]:
    """Return the files of a manifest, and those that it leaves out, that no longer exist, in order of
    path. tree: as it is now; None
    to look at each file."""
    paths: Iterable[str] = entries.rows.keys()
    if tree is not None:
        last = _MISSING.get(context.store)
        if last is not None and last.entries is entries:
            went, came = last.tree.compare_paths(tree)
            paths = (last.paths | entries.rows.keys() & went) - came
        else:
            paths = entries.rows.keys() - tree.paths()
        _MISSING[context.store] = _Missing(entries, tree, frozenset(paths))
    gone = {path for path in paths if is_gone(context, path)}
    return tuple(
        sorted(gone.union(path.rstrip("/") for path in gone_of(context, left_out(entries))))
    )


def left_out(entries: Manifest) -> dict[str, str]:
    """Return the files and whole folders (ending in "/") that a manifest leaves out, and what it names in
    such folders -> the reason, with the size. Sockets and pipes come and go with their programs."""
    reasons = {
        path: why for path, why in entries.omitted.items() if why not in (NO_UNICODE, SPECIAL)
    }
    below: dict[str, list[int]] = {}
    for path, size in entries.sizes.items():
        above = folders_above(path.rstrip("/"))
        reasons[path] = next(reasons[each] for each in (path, *above) if each in reasons)
        if size == UNNAMED or not path.endswith("/"):
            for each in above:
                below.setdefault(each, []).append(size)
    return {path: _with_size(path, why, entries.sizes, below) for path, why in reasons.items()}


def _with_size(
    path: str, why: str, sizes: Mapping[str, int], below: Mapping[str, list[int]]
) -> str:
    """Return the reason why a file or folder is left out, and its size if known. below: of each folder."""
    files = below.get(path, [])
    if path not in sizes or sizes[path] == UNNAMED or UNNAMED in files:
        return why
    if not path.endswith("/"):
        return f"{why}, {phrases.size(sizes[path])}"
    return f"{why}, {phrases.count(len(files), 'file')}, {phrases.size(sum(files))}"


def gone_of(context: SessionContext, paths: Iterable[str]) -> Iterator[str]:
    """Yield those of some files and folders (ending in "/") that are missing, in order; of a missing folder
    nothing that was in it."""
    gone: set[str] = set()
    for path in sorted(paths):
        if gone.isdisjoint(folders_above(path)) and is_gone(context, path.rstrip("/")):
            gone.add(f"{path.rstrip('/')}/")
            yield path


def hidden(tree: Tree) -> Iterator[str]:
    """Yield the files and folders that a look leaves out and that can be found again by name. Whole folders
    end in "/"."""
    for folder, listing in tree.listings.items():
        for name, why in listing.hidden.items():
            if why not in (NO_UNICODE, SPECIAL):
                yield folder + name


def named_uncovered(
    context: SessionContext, command: str, folders: Iterable[str]
) -> tuple[str, ...]:
    """Return the files and folders that a command names, also by patterns, and that no checkpoint would
    cover. folders: absolute, where the command may run."""
    root, found = os.path.join(context.workspace.root, ""), set[str]()
    for full in islice(_named(command, folders), NAMED_MAX):
        path = full[len(root) :].replace(os.sep, "/") if full.startswith(root) else ""
        if path and path not in found and _is_uncovered(context, path):
            found.add(path)
    return tuple(sorted(found))


def _named(command: str, folders: Iterable[str]) -> Iterator[str]:
    """Yield what is there of the absolute paths that a command names."""
    for folder in folders:
        for word in possible_names(command):
            full = absolute_path(folder, word)
            if full is not None and glob.has_magic(full):
                yield from islice(glob.iglob(full), NAMED_MAX)
            elif full is not None and os.path.lexists(full):
                yield full


def _is_uncovered(context: SessionContext, path: str) -> bool:
    root = context.workspace.root
    above = [each for each in folders_above(f"{path}/") if os.path.lexists(f"{root}/{each}.git")]
    try:
        is_inside = any(not is_submodule(root, each) for each in above)
        return is_inside or not context.workspace.listed(path)
    except Unverifiable:
        return False


def _record_contents(context: SessionContext, differences: Sequence[Difference]) -> None:
    """Record the changes of unread files since a checkpoint, by git or by somebody outside."""
    by_git = git_operations.recognised(context, differences, unread=True)
    others = [each for each in differences if each.path not in by_git.paths]
    facts = [
        Changed(
            each.path,
            each.row.revision,
            each.after,
            change(each.row.revision, each.after),
            by_git.likely.get(each.path, Cause("external")),
        )
        for each in others
    ]
    texts = [context.keepable(each.path, each.found.data, on_disk=each.found) for each in others]
    blobs = [text for kept in texts for text in kept]
    if facts or by_git.facts:
        found = [each.found for each in differences]
        context.append([*by_git.facts, *facts], blobs=blobs, found=found)


def _of_mode(found: FileState, entry: Entry) -> Changed | None:
    """Return the fact of changed permissions, where the bytes are those of a checkpoint's entry."""
    mode = found.signature.mode if found.signature is not None else None
    if entry.target is not None or found.revision != entry.revision or mode in (None, entry.mode):
        return None
    revision = found.revision
    return Changed(found.path, revision, revision, "mode", Cause("external"), mode)


def is_gone(context: SessionContext, path: str) -> bool:
    """Return whether a path is missing; False where the disk does not answer."""
    try:
        return context.workspace.stat(path) is None
    except OSError:
        return False


def newest(context: SessionContext, upto: int) -> Recorded | None:
    """Return the newest checkpoint of any session until a position."""
    last = [*context.store.timeline(kinds=[CheckpointTaken], upto=upto, newest=1)]
    if last and archived(last[0].session):
        last = [recorded for recorded in _checkpoints(context) if recorded.position <= upto][-1:]
    return last[0] if last else None


def manifest(context: SessionContext, checkpoint: Recorded) -> Manifest:
    """Return the manifest of a checkpoint; an empty one where it is not kept any more."""
    return manifests.stored_manifest(context, _manifest(checkpoint)) or EMPTY


class ManifestHistory:
    """The files of all checkpoints. Ask in order of position, so that each manifest is read once."""

    def __init__(self, context: SessionContext) -> None:
        self._context = context
        self._checkpoints = _checkpoints(context)
        self._reader = manifests.Reader(context.store)
        self._last: tuple[Revision, Mapping[str, Entry]] | None = None

    def entry(self, path: str, upto: int) -> Entry | None:
        """Return the entry of a path in the newest checkpoint until a position; None where it has
        none, and where its manifest is not kept any more."""
        checkpoint = self._newest(upto)
        if checkpoint is None:
            return None
        revision = _manifest(checkpoint)
        if self._last is None or self._last[0] != revision:
            loaded = manifests.at_hand(self._context, revision) or self._reader.read(revision)
            self._last = revision, loaded or {}
        return self._last[1].get(path)

    def position(self, upto: int) -> int:
        """Return the position of the newest checkpoint until a position; 0 where there is none."""
        checkpoint = self._newest(upto)
        return checkpoint.position if checkpoint is not None else 0

    def _newest(self, upto: int) -> Recorded | None:
        at = bisect_right(self._checkpoints, upto, key=lambda recorded: recorded.position)
        return self._checkpoints[at - 1] if at else None


def _checkpoints(context: SessionContext) -> list[Recorded]:
    return live(context.store.timeline(kinds=[CheckpointTaken]))


def _manifest(checkpoint: Recorded) -> Revision:
    assert isinstance(checkpoint.fact, CheckpointTaken)
    return checkpoint.fact.manifest


def covers(context: SessionContext, manifest: Mapping[str, Entry], path: str) -> bool:
    """Return whether a manifest would have a file, had it been there."""
    omitted = manifest.omitted if isinstance(manifest, Manifest) else {}
    return omitted.keys().isdisjoint([path, *folders_above(path)]) and context.workspace.listed(
        path
    )
