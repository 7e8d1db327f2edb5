"""Folders that came and went while a command ran.

A checkpoint has files alone. The folders above its files stood when it was taken; of the others, the
command's beginning names those that stood then. A folder of the tree that is neither is new.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from weakref import WeakKeyDictionary

from msgspec import Struct

from sightline.changes.session_context import SessionContext
from sightline.filesystem.tree_index import NESTED, Tree
from sightline.model.manifest import Manifest
from sightline.model.path import folders_above
from sightline.store.port import Store

FOLDERS_MAX = 1_000
"""Folders that a fact names. Where there are more, a rewind leaves the folders of the command as they
are."""


class _Covered(Struct, frozen=True):
    entries: Manifest
    folders: frozenset[str]


_COVERED: WeakKeyDictionary[Store, _Covered] = WeakKeyDictionary()
"""The folders above the files of the manifest that was asked for last of each store: of 50,000 files they
take 10 ms of the processor."""


def uncovered_folders(
    context: SessionContext, entries: Manifest, tree: Tree
) -> tuple[str, ...] | None:
    """Return the folders of a tree that hold no file of a manifest, and nothing that it leaves out; None
    where there are more than FOLDERS_MAX."""
    last = _COVERED.get(context.store)
    if last is None or last.entries is not entries:
        last = _COVERED[context.store] = _Covered(entries, _folders_of(entries))
    return _named(path for path in folders_of(tree) if f"{path}/" not in last.folders)


def _folders_of(entries: Manifest) -> frozenset[str]:
    """Return the folders, "" or ending in "/", above the files of a manifest and above what it leaves
    out."""
    found = {path[: path.rfind("/") + 1] for path in entries.rows}
    for path in entries.omitted:
        found |= {path} if path.endswith("/") else {path[: path.rfind("/") + 1]}
    return frozenset(found.union(*map(folders_above, found), [""]))


class Folders(Struct, frozen=True):
    """Folders that came and went: while a command ran, since a position, or by a rewind."""

    made: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


def folders_between(before: Iterable[str], now: Iterable[str]) -> Folders:
    """Compare the folders before a command with those after it."""
    came, went = {*now}.difference(before), {*before}.difference(now)
    return Folders(_named(came) or (), _named(went) or ())


def folders_of(tree: Tree) -> Iterator[str]:
    """Yield the folders of a tree without a final "/": neither the root nor repositories of their own."""
    for folder, listing in tree.listings.items():
        if folder and listing.hidden.get("") != NESTED:
            yield folder[:-1]


def _named(folders: Iterable[str]) -> tuple[str, ...] | None:
    """Return folders in order; None where they are more than FOLDERS_MAX."""
    found = tuple(sorted(folders))
    return None if len(found) > FOLDERS_MAX else found
