"""Folders that came and went while a command ran.

A checkpoint has files alone. The folders above its files stood when it was taken; of the others, the
command's beginning names those that stood then. A folder of the tree that is neither is new.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from weakref import WeakKeyDictionary

from msgspec import Struct

from sightline.changes.session_context import SessionContext
from sightline.filesystem.tree_index import NESTED, NO_TREE, Tree
from sightline.model.manifest import EMPTY, Manifest
from sightline.model.path import folders_above
from sightline.store.port import Store

FOLDERS_MAX = 1_000
"""Folders that a fact names. Where there are more, a rewind leaves the folders of the command as they
are."""


class _Looked(Struct, frozen=True):
    """An answer. covered: folders of the tree ("" or ending in "/") with a file of the manifest."""

    entries: Manifest
    tree: Tree
    covered: frozenset[str]
    answer: tuple[str, ...] | None


_LOOKED: WeakKeyDictionary[Store, _Looked] = WeakKeyDictionary()
"""The last answer for each store: an unchanged listing of a folder gives the same one."""


def uncovered_folders(
    context: SessionContext, entries: Manifest, tree: Tree
) -> tuple[str, ...] | None:
    """Return the folders of a tree that hold no file of a manifest now, and nothing that it leaves out; None
    where there are more than FOLDERS_MAX."""
    last = _LOOKED.get(context.store, _NEVER)
    if last.tree is tree and last.entries is entries:
        return last.answer
    listings, before = tree.listings, last.tree.listings
    covered = {each for each in last.covered if listings.get(each) is before[each]}
    for folder in listings.keys() - covered:
        if any(entries.row(folder + name) is not None for name in listings[folder].files):
            covered.add(folder)
    above = {"", *covered, *(each for path in entries.omitted for each in folders_above(path))}
    for folder in covered:
        while folder := folder[: folder.rfind("/", 0, -1) + 1]:
            if folder in above:
                break
            above.add(folder)
    answer = _named(
        folder[:-1]
        for folder in listings.keys() - above
        if listings[folder].hidden.get("") != NESTED
    )
    _LOOKED[context.store] = _Looked(entries, tree, frozenset(covered), answer)
    return answer


_NEVER = _Looked(EMPTY, NO_TREE, frozenset(), ())


def folders_during(
    context: SessionContext, entries: Manifest, stood: Iterable[str], tree: Tree
) -> Folders:
    """Return the folders that came and went while a command ran. stood: those that held no file of the
    manifest before; tree: after the command. A folder that only lost its files stood before, too."""
    before, now = {*stood}, uncovered_folders(context, entries, tree)
    made = {*(now or ())} - before
    if made:
        made.difference_update(above[:-1] for path in entries.rows for above in folders_above(path))
    removed = [path for path in before if f"{path}/" not in tree.listings]
    return Folders(tuple(sorted(made)), tuple(sorted(removed)))


class Folders(Struct, frozen=True):
    """Folders that came and went: while a command ran, since a position, or by a rewind."""

    made: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


def folders_between(before: Iterable[str], now: Iterable[str]) -> Folders:
    """Compare the folders before and after a command."""
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
