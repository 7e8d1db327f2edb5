"""From what the kernel saw to what a hint says: names become paths, ignored ones are left out."""

from __future__ import annotations

import os
from functools import partial

from sightline.core.value import Value
from sightline.workspace.folder import ASIDE
from sightline.workspace.scan import encodes
from sightline.workspace.watch.batch import AS_FILE, AS_FOLDER
from sightline.workspace.watch.git import EXCLUDE, GROWING, OUTSIDE, TOLD

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from sightline.workspace.rules import Chain
    from sightline.workspace.watch.batch import Batch
    from sightline.workspace.watch.folders import Folders
    from sightline.workspace.watch.ignoring import Ignoring

    Hides = Callable[[str, int], bool]
    """A path and what it was seen to be -> whether it is hidden."""


class Named(Value):
    """paths: what hints say. relist: folders ("" or with a "/" at the end) in which other entries
    than before may be listed now. git: its folders may be others. everything: see Hints."""

    paths: frozenset[str]
    relist: frozenset[str] = frozenset()
    git: bool = False
    everything: bool = False


def named(
    batch: Batch,
    folders: Folders,
    ignoring: Ignoring,
    followed: frozenset[str],
    *,
    hidden: bool = False,
) -> Named:
    """What the events of a batch are about. Watches that are no longer known say nothing: what
    came or went instead of their folders does. hidden: ignored entries count, too."""
    paths: set[str] = set()
    relist: set[str] = set()
    git = False
    for watch, raw in batch.touched.items():
        folder = folders.names.get(watch)
        if folder is None:
            continue
        names = {os.fsdecode(name): seen for name, seen in raw.items()}
        if watch in folders.git:
            git |= _of_git(folder, names, ignoring, paths, relist)
            continue
        if ".git" in names:
            git |= not folder
            relist.add(folder)
        narrow = watch in folders.narrow or watch in folders.nested
        hides = None if narrow else _nothing if hidden else _hiding(folder, ignoring)
        if hides is not None and not ignoring.names.isdisjoint(names):
            relist.add(folder)
        paths.update(_passing(folder, names, hides, followed, folders.kept))
    paths |= {folder.rstrip("/") for folder in relist}
    everything = "" in paths
    return Named(frozenset(paths - {""}), frozenset(relist), git, everything)


def _of_git(
    folder: str,
    names: Mapping[str, int],
    ignoring: Ignoring,
    paths: set[str],
    relist: set[str],
) -> bool:
    """What one of git's folders tells. True when git made another folder to watch."""
    if folder == OUTSIDE:
        if not ignoring.names.isdisjoint(names):
            relist.add("")
        return ".git" in names
    told = {folder + name for name in names}
    paths |= told & TOLD
    if EXCLUDE in told:
        relist.add("")
    return not GROWING.isdisjoint(told)


def _passing(
    folder: str,
    names: Mapping[str, int],
    hides: Hides | None,
    followed: frozenset[str],
    kept: set[str],
) -> Iterator[str]:
    """The paths of a folder's entries that count: followed ones and those above them, and, where
    the folder is not ignored, all that is not hidden."""
    for name, seen in names.items():
        path = folder + name
        if path in followed or f"{path}/" in kept:
            yield path
        elif hides is None or name in (".git", ".hg") or name.startswith(ASIDE):
            continue
        elif not encodes(name):
            yield folder.rstrip("/")
        elif not hides(path, seen):
            yield path


def _nothing(_: str, __: int) -> bool:
    """Nothing is hidden."""
    return False


def _hiding(folder: str, ignoring: Ignoring) -> Hides | None:
    """Whether a rule hides an entry of a folder as all that it was seen to be; None where the
    folder is ignored itself."""
    chains = ignoring.chains(folder)
    return None if chains is None else partial(_hides, ignoring, chains)


def _hides(ignoring: Ignoring, chains: tuple[Chain, ...], path: str, seen: int) -> bool:
    return all(
        ignoring.hides(chains, path, below=below)
        for kind, below in ((AS_FILE, False), (AS_FOLDER, True))
        if seen & kind
    )
