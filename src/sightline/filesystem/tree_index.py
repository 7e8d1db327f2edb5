"""The index of a tree: its files and symlinks, and what is left out and why.

`look` is the only code that walks a tree. A folder whose times vouch for it still has the entries that an
earlier look listed, and a file whose times vouch for it still has the bytes that were read then. So
a second look is one stat for each folder and file, without a listing and without ignore rules.
`scan.settled` says which times vouch: never those younger than two ticks of the disk's clock.

`read_files` reads files that a look described a moment ago, four system calls each.
`save` and `load` keep an index for later processes.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from errno import ENAMETOOLONG
from functools import partial
from operator import attrgetter, is_
from stat import S_IFLNK, S_IFREG, S_ISDIR, S_ISLNK, S_ISREG
from threading import get_ident
from time import monotonic, time, time_ns
from typing import Protocol

from msgspec import Struct, structs

from sightline.errors import Unverifiable
from sightline.filesystem.deadline import DeadlinePassed
from sightline.filesystem.folder import HELD, SEARCH
from sightline.filesystem.ignore.rules import Chains, RuleSet, encodes, is_unlisted
from sightline.filesystem.private_files import make_folder
from sightline.filesystem.scan import settled
from sightline.filesystem.system_calls import READ, Calls
from sightline.model.json_text import json_bytes
from sightline.model.path import PATH_LIMIT
from sightline.model.revision import StatSignature

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

Row = list[int | str]
"""size, mtime_ns, ctime_ns, dev, ino, mode, content, looked_at_ns. content: the revision of a
file, the target of a symlink, "" for a file whose bytes were not read."""

MTIME, DEV, INO, MODE, CONTENT, LOOKED_AT = 1, 3, 4, 5, 6, 7

FILE_NAME: Row = [0, 0, 0, 0, 0, S_IFREG, "", 0]
LINK_NAME: Row = [0, 0, 0, 0, 0, S_IFLNK, "", 0]
"""Rows of a look for names only. No stat equals them."""

NESTED = "a repository of its own"
TOO_LONG = "its path is longer than the system opens"
CLOSED = "the folder may not be listed"
IGNORED = "ignored"
SPECIAL = "neither a file nor a symlink"
NO_UNICODE = "its name is not valid Unicode"

NO_NAMES: frozenset[str] = frozenset()


class Listing(Struct, frozen=True):
    """The entries of one folder. stamp: dev, ino, mtime_ns, ctime_ns, looked_at_ns of the folder;
    hidden: name (a folder's ends in "/") -> why it is left out; "" for the whole folder; linked: the
    files that had another name, too, when they were last looked at; newest_ns: the youngest time of
    a file, computed from the rows."""

    stamp: tuple[int, ...]
    files: dict[str, Row]
    folders: tuple[str, ...]
    hidden: dict[str, str]
    linked: frozenset[str] = frozenset()
    newest_ns: int = 0

    def __post_init__(self) -> None:
        times = [max(row[1], row[2]) for row in self.files.values()]
        structs.force_setattr(self, "newest_ns", max(times, default=0))


NO_LISTING = Listing((), {}, (), {})


class Tree(Struct, frozen=True):
    """Folder ("" or ending in "/") -> its entries. ignore_files: each ignore file that was asked ->
    its stamp (see file_stamp), None where there was none. own: the tree without those of its submodules,
    where it has any."""

    listings: dict[str, Listing]
    ignore_files: dict[str, tuple[int, ...] | None]
    own: Tree | None = None

    def count(self) -> int:
        """Return how many files and symlinks are not left out."""
        return sum([len(listing.files) for listing in self.listings.values()])

    def files(self) -> Iterator[tuple[str, Row]]:
        """Yield every file and symlink that is not left out, in no order."""
        for folder, listing in self.listings.items():
            for name, row in listing.files.items():
                yield folder + name, row

    def paths(self) -> set[str]:
        """Return the path of every file and symlink that is not left out."""
        return {
            folder + name for folder, listing in self.listings.items() for name in listing.files
        }

    def row(self, path: str) -> Row | None:
        """Return the row of a file or symlink; None where there is none, or it is left out."""
        folder = path[: path.rfind("/") + 1]
        listing = self.listings.get(folder)
        return listing.files.get(path[len(folder) :]) if listing is not None else None

    def files_in(self, folders: Iterable[str]) -> Iterator[tuple[str, Row]]:
        """Yield the files and symlinks in some of the tree's folders (without a final "/"), not those
        below."""
        for folder in folders:
            for name, row in self.listings[f"{folder}/"].files.items():
                yield f"{folder}/{name}", row

    def compare_paths(self, later: Tree) -> tuple[set[str], set[str]]:
        """Return the paths that a later tree lacks, and all paths of its changed folders. A later
        tree shares the listings of unchanged folders."""
        went = _paths_of_others(self, later)
        came = _paths_of_others(later, self)
        return went - came, came

    def younger(self, since_ns: int) -> list[tuple[str, Row]]:
        """Return the files and symlinks whose times are then or later, in order of path."""
        return sorted(
            (folder + name, row)
            for folder, listing in self.listings.items()
            if listing.newest_ns >= since_ns
            for name, row in listing.files.items()
            if row[1] >= since_ns or row[2] >= since_ns  # type: ignore[operator]
        )


def _paths_of_others(tree: Tree, other: Tree) -> set[str]:
    """Return the paths of a tree in folders that changed between it and the other tree."""
    return {
        folder + name
        for folder, listing in tree.listings.items()
        if other.listings.get(folder) is not listing
        for name in listing.files
    }


NO_TREE = Tree({}, {})


def signature_of_row(row: Row) -> StatSignature:
    """Return the signature of a file as a look found it."""
    return StatSignature(*row[:CONTENT])  # type: ignore[arg-type]


class Changed(Protocol):
    """Folders of a tree that may have changed since a look."""

    def folders(self, last: Tree) -> set[str] | None:
        """Return the folders that may have changed since a look gave `last`; None when any may."""

    def enter(self, folder: str) -> None:
        """Prepare for a look at a folder that is new or may be another one."""

    def settle(self, tree: Tree) -> None:
        """Forget what came before a look, which ended and gave this tree."""


def look(
    root: str,
    rules: RuleSet,
    last: Tree = NO_TREE,
    until: float | None = None,
    *,
    under: str = "",
    names_only: bool = False,
    changed: Changed | None = None,
) -> Tree:
    """Return how the tree stands; `last` itself where nothing changed.

    last: the answer of an earlier look. until: by time.monotonic(). under: look at one folder ("" or
    ending in "/") and those below it. names_only: stat no files; rows of unchanged folders
    may be old then, and other rows are FILE_NAME or LINK_NAME. changed: look at its folders alone,
    where they are known. Unverifiable when an ignore file cannot be read, DeadlinePassed when time is
    up.
    """
    asked = changed.folders(last) if changed is not None else None
    enter = changed.enter if changed is not None else None
    stamps = _ignore_stamps(root, rules, last, last.listings)
    looking = partial(_Look, root, rules, last, until, names_only=names_only, enter=enter)
    if stamps == last.ignore_files:
        tree = looking(trusts=True, asked=asked).tree(under)
        if asked is not None and _has_new_links(tree, last):
            tree = looking(trusts=True).tree(under)  # of a file that got a name only one is told
        if tree.ignore_files == stamps:  # otherwise an ignore file came or went
            return tree
    return looking(trusts=False).tree(under)


def _has_new_links(tree: Tree, last: Tree) -> bool:
    """Return whether a file has several names and had one at the last look."""
    return any(
        listing.linked and not listing.linked <= last.listings.get(folder, NO_LISTING).linked
        for folder, listing in tree.listings.items()
    )


class _Look:
    """One look. trusts: the ignore files are those of the last look, so folders that did not change
    need not be listed again. asked: the folders to look at; None for all. enter: see Changed."""

    def __init__(
        self,
        root: str,
        rules: RuleSet,
        last: Tree,
        until: float | None,
        *,
        trusts: bool,
        names_only: bool,
        asked: set[str] | None = None,
        enter: Callable[[str], None] | None = None,
    ) -> None:
        self._root = root
        self._rules = rules
        self._last = last
        self._until = until
        self._trusts = trusts
        self._names_only = names_only
        self._asked = None if asked is None else {"", *asked}
        self._enter = enter
        self._chains: dict[str, Chains] = {}

    def tree(self, under: str) -> Tree:
        if self._asked is not None and not under:
            return self._tree_of_asked(self._asked)
        listings: dict[str, Listing] = {}
        waiting = [under]
        while waiting:
            folder = waiting.pop()
            if self._until is not None and monotonic() > self._until:
                raise DeadlinePassed
            listing = self._listing(folder)
            if listing is None:
                continue
            listings[folder] = listing
            waiting += [f"{folder}{name}/" for name in reversed(listing.folders)]
        last = self._last if self._trusts else NO_TREE
        stamps = _ignore_stamps(self._root, self._rules, last, listings, listings)
        known = self._last.listings
        same = len(listings) == len(known) and stamps == self._last.ignore_files
        if same and all(known.get(folder) is listing for folder, listing in listings.items()):
            return self._last
        return Tree(listings, stamps)

    def _tree_of_asked(self, asked: set[str]) -> Tree:
        """Return the last tree with the present content of the asked folders: the cost grows with the
        asked folders, not with the folders of the tree."""
        listings = dict(self._last.listings)
        changed: set[str] = set()
        waiting = sorted(asked, reverse=True)  # a folder before those in it
        while waiting:
            folder = waiting.pop()
            if self._until is not None and monotonic() > self._until:
                raise DeadlinePassed
            above, _, name = folder.rstrip("/").rpartition("/")
            parent = listings.get(f"{above}/" if above else "", NO_LISTING)
            listing = self._listing(folder) if not folder or name in parent.folders else None
            known = listings.get(folder)
            below = listing.folders if listing is not None else ()
            if listing is not known:
                gone = set(known.folders).difference(below) if known is not None else set()
                removed = _inside(listings, [f"{folder}{each}/" for each in gone])
                changed |= {folder, *removed}
                for each in removed:
                    del listings[each]
                if listing is not None:
                    listings[folder] = listing
                else:
                    del listings[folder]
            waiting += self._others(listings, [f"{folder}{each}/" for each in below])
        stamps = _ignore_stamps(self._root, self._rules, self._last, listings, changed)
        if not changed and stamps == self._last.ignore_files:
            return self._last
        return Tree(listings, stamps)

    def _listing(self, folder: str) -> Listing | None:
        """Return the entries of a folder; None when it is gone since its parent was listed."""
        known = self._last.listings.get(folder)
        if self._enter is not None:
            self._enter(folder)
        at_ns, full = time_ns(), f"{self._root}/{folder}"
        try:
            found = os.lstat(full.rstrip("/"))
        except OSError as error:
            is_long = error.errno == ENAMETOOLONG
            return _unlistable(folder, (0,) * 5, error) if is_long else None
        if not S_ISDIR(found.st_mode):
            return None
        stamp = (found.st_dev, found.st_ino, found.st_mtime_ns, found.st_ctime_ns, at_ns)
        if (
            self._trusts
            and known is not None
            and known.stamp[:4] == stamp[:4]
            and settled(*known.stamp[2:])
        ):
            if self._names_only:
                return known
            rows, linked = _rows(full, known.files, known.files)
            if rows is known.files and linked == known.linked:
                return known
            return Listing(known.stamp, rows, known.folders, known.hidden, linked)
        return self._list(folder, full, stamp, known.files if known else {})

    def _list(
        self, folder: str, full: str, stamp: tuple[int, ...], known: dict[str, Row]
    ) -> Listing | None:
        try:
            with os.scandir(full) as entries:
                listed = list(entries)
        except OSError as error:
            return _unlistable(folder, stamp, error)
        if folder and any(entry.name == ".git" for entry in listed):
            return Listing(stamp, {}, (), {"": NESTED})
        files: dict[str, Row] = {}
        folders, special, hidden = [], [], {}
        room = PATH_LIMIT - len(os.fsencode(full))
        for entry in sorted(listed, key=attrgetter("name")):
            name, is_folder = entry.name, entry.is_dir(follow_symlinks=False)
            # Most names are plain: only the others are looked at closely.
            plain = name.isascii() and len(name) < room
            if not plain and (reason := _unusable(name, room)) is not None:
                spoken = name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
                hidden[spoken + "/" * is_folder] = reason
            elif name.startswith(".") and is_unlisted(name):
                continue
            elif is_folder:
                folders.append(name)
            elif entry.is_file(follow_symlinks=False):
                files[name] = FILE_NAME
            elif entry.is_symlink():
                files[name] = LINK_NAME
            else:
                special.append(name)
        chains = self._chains_of(folder, {entry.name for entry in listed})
        ignored = self._rules.hidden_names(chains, folder, [*files, *special])
        hidden |= dict.fromkeys(special, SPECIAL) | dict.fromkeys(ignored, IGNORED)
        if ignored:
            files = {name: row for name, row in files.items() if name not in ignored}
        closed = {n for n in folders if self._rules.hides(chains, folder + n, is_folder=True)}
        hidden |= {f"{name}/": IGNORED for name in closed}
        rows, linked = (files, NO_NAMES) if self._names_only else _rows(full, files, known)
        return Listing(stamp, rows, tuple([n for n in folders if n not in closed]), hidden, linked)

    def _others(self, listings: Mapping[str, Listing], folders: Iterable[str]) -> list[str]:
        """Return those of the folders that are new, or others than at the last look (renamed ones) with all
        that is listed below them; the first one last."""
        found: set[str] = set()
        for folder in folders:
            known = listings.get(folder)
            if known is None:
                found.add(folder)
                continue
            try:
                now = os.lstat(f"{self._root}/{folder[:-1]}")
                is_same = known.stamp[:2] == (now.st_dev, now.st_ino)
            except OSError:
                is_same = False
            if not is_same:
                found |= {folder, *_inside(listings, [folder])}
        return sorted(found, reverse=True)

    def _chains_of(self, folder: str, names: Collection[str] | None = None) -> Chains:
        """Return the rules for a folder's entries. names: of its entries, where it was
        listed."""
        if folder not in self._chains:
            if folder:
                above = self._chains_of(folder[: folder.rfind("/", 0, -1) + 1])
                self._chains[folder] = self._rules.extend(above, folder, names)
            else:
                self._chains[folder] = self._rules.chains_of_root()
        return self._chains[folder]


def _unusable(name: str, room: int) -> str | None:
    """Return why an entry of a folder can be neither stored nor opened; None where it can. room: bytes
    that a path in the folder has left."""
    if not encodes(name):
        return NO_UNICODE
    return TOO_LONG if len(name if name.isascii() else os.fsencode(name)) >= room else None


def _unlistable(folder: str, stamp: tuple[int, ...], error: OSError) -> Listing | None:
    """Return the listing of a folder that the system does not list; None for one that is gone.
    Unverifiable for any other error."""
    if isinstance(error, (FileNotFoundError, NotADirectoryError)):
        return None
    if isinstance(error, PermissionError) or error.errno == ENAMETOOLONG:
        return Listing(stamp, {}, (), {"": TOO_LONG if error.errno == ENAMETOOLONG else CLOSED})
    raise not_listed(folder, error) from error


def _rows(
    full: str, names: Iterable[str], known: dict[str, Row]
) -> tuple[dict[str, Row], frozenset[str]]:
    """Return the rows of a folder's present files and symlinks, or `known` itself where nothing
    changed; and the files that have several names. full: the folder, ending in "/"; known: rows
    that keep their content where the times vouch for it."""
    lstat, at_ns = os.lstat, time_ns()
    rows: dict[str, Row] = {}
    linked: list[str] = []
    for name in names:
        try:
            now = lstat(full + name)
        except OSError:
            continue
        mode = now.st_mode
        if not (S_ISREG(mode) or S_ISLNK(mode)):
            continue
        if now.st_nlink > 1:
            linked.append(name)
        times = now.st_mtime_ns, now.st_ctime_ns
        signature = [now.st_size, *times, now.st_dev, now.st_ino, mode]
        row = known.get(name)
        if row is None or row[:CONTENT] != signature or not settled(*times, int(row[LOOKED_AT])):
            row = [*signature, _link_target(full + name) if S_ISLNK(mode) else "", at_ns]
        rows[name] = row
    same = len(rows) == len(known) and all(map(is_, rows.values(), known.values()))
    return known if same else rows, frozenset(linked)


def _link_target(path: str) -> str:
    try:
        return os.readlink(path)
    except OSError:
        return ""


def _inside(listings: Iterable[str], folders: Sequence[str]) -> list[str]:
    """Return the listed folders that are these, or below them."""
    return [each for each in listings if each.startswith(tuple(folders))] if folders else []


def _ignore_stamps(
    root: str,
    rules: RuleSet,
    last: Tree,
    listings: Mapping[str, Listing],
    changed: Iterable[str] = (),
) -> dict[str, tuple[int, ...] | None]:
    """Return the stamp of every ignore file that says anything: those for the root, and those in the
    folders of a tree. last: a tree whose folders stand as listed, but for the changed ones."""

    def holds(folder: str, name: str) -> bool:
        listing = listings.get(folder, NO_LISTING)
        return name in listing.files or name in listing.hidden

    asked = [path[len(root) + 1 :].rpartition("/") for path in last.ignore_files]
    known = {(f"{above}{cut}", name) for above, cut, name in asked if name in rules.names}
    known |= {(folder, name) for folder in changed for name in rules.names}
    files = {f"{root}/{folder}{name}" for folder, name in known if holds(folder, name)}

    def hidden_entries() -> Iterator[str]:
        for folder, listing in listings.items():
            for name, why in listing.hidden.items():
                if why == IGNORED:
                    yield folder + name

    stamps = {file: file_stamp(file) for file in files.union(rules.files_of_root())}
    stamps |= rules.open_stamps(last.ignore_files, hidden_entries)
    return stamps | dict.fromkeys(rules.unread().intersection(stamps), (time_ns(),))


def file_stamp(file: str) -> tuple[int, ...] | None:
    """Return what tells one state of a file from another; None where there is none. The stamp of a file
    that changed a moment ago equals no other stamp."""
    try:
        found = os.lstat(file)
    except (OSError, ValueError):  # a `.git` file may name what no path can be
        return None
    times = found.st_mtime_ns, found.st_ctime_ns
    now_ns = time_ns()
    if not settled(*times, now_ns):
        return (now_ns,)
    return (found.st_size, *times, found.st_dev, found.st_ino)


def not_listed(folder: str, error: OSError) -> Unverifiable:
    """Return the error for a folder that cannot be listed."""
    name = folder.rstrip("/") or "."
    words = f"{name} could not be listed: {error.strerror or type(error).__name__}."
    return Unverifiable(name, words, "Check that it is there and readable.")


class _OpenFolders:
    """The open folder of the current path, with the folders above open, too, so the next path opens few.
    As in Folder, no step down follows a symlink."""

    def __init__(self, open_: Callable[..., int], root: str) -> None:
        self._open = open_
        self._parts: list[str] = []
        self._held = [open_(root, SEARCH & ~os.O_NOFOLLOW)]

    def descend(self, folder: str) -> int:
        """Return a descriptor of a folder, "" or ending in "/". OSError when it is gone."""
        parts = folder.split("/")[:-1]
        while self._parts != parts[: len(self._parts)]:
            self._leave()
        for part in parts[len(self._parts) :]:
            self._held.append(self._open(part, SEARCH, dir_fd=self._held[-1]))
            self._parts.append(part)
        return self._held[-1]

    def close(self) -> None:
        while self._parts:
            self._leave()
        os.close(self._held.pop())

    def _leave(self) -> None:
        self._parts.pop()
        os.close(self._held.pop())


def read_files(
    calls: Calls, root: str, asked: Iterable[tuple[str, Row]]
) -> Iterator[tuple[str, Row, bytes | None]]:
    """Yield each file with its bytes; None where it no longer stands as its row says, or cannot be
    read. Ask for the files of one folder one after the other: that is quickest."""
    if not HELD:
        yield from ((path, row, None) for path, row in asked)
        return
    with closing(_OpenFolders(calls.open, root)) as folders:
        for path, row in asked:
            folder = path[: path.rfind("/") + 1]
            data: bytes | None
            try:
                fd = calls.open(path[len(folder) :], READ, dir_fd=folders.descend(folder))
                try:
                    data = calls.read(fd, int(row[0]) + 1)
                    now = calls.fstat(fd)
                finally:
                    os.close(fd)
            except OSError:
                data = None
            else:
                times = now.st_mtime_ns, now.st_ctime_ns
                signature = [now.st_size, *times, now.st_dev, now.st_ino, now.st_mode]
                if len(data) != row[0] or signature != row[:CONTENT]:
                    data = None
            yield path, row, data


VERSION = 1

TREE = "tree.z"

LEVEL = 1
"""zstd's level: a caller waits for the look, and the next look writes the file anew."""

ABANDONED_S = 3600
"""A process that was killed left files behind that are older than this and half written."""


def save(state: str, root: str, tree: Tree) -> None:
    """Keep an index for later processes. OSError."""
    packed = zstd.ZstdCompressor(LEVEL)
    head = json_bytes({"v": VERSION, "root": root, "ignoring": tree.ignore_files})
    data = [packed.compress(head[:-1] + b',"folders":{')]
    for at, (folder, listing) in enumerate(tree.listings.items()):
        # Folder by folder: while one call makes a JSON text, no other thread of a daemon answers.
        entries = [listing.stamp, listing.files, listing.folders, listing.hidden]
        data.append(
            packed.compress(b"," * bool(at) + json_bytes(folder) + b":" + json_bytes(entries))
        )
    data += [packed.compress(b"}}"), packed.flush()]
    keep(state, TREE, b"".join(data))


def load(state: str, root: str) -> Tree:
    """Return the kept index of this root; NO_TREE where none can be read."""
    try:
        kept = json.loads(zstd.decompress(read_kept(state, TREE)))
        if (kept["v"], kept["root"]) != (VERSION, root):
            return NO_TREE
        listings = {
            folder: Listing(tuple(stamp), files, tuple(folders), hidden)
            for folder, (stamp, files, folders, hidden) in kept["folders"].items()
        }
        stamps = {file: stamp and tuple(stamp) for file, stamp in kept["ignoring"].items()}
    except (
        OSError,
        zstd.ZstdError,
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        RecursionError,
    ):
        return NO_TREE
    return Tree(listings, stamps)


def keep(state: str, name: str, data: bytes) -> None:
    """Replace a cache file of the state folder as a whole. OSError."""
    make_folder(state)
    aside = os.path.join(state, f"{name}.{os.getpid()}-{get_ident()}")
    try:
        with open(aside, "wb", opener=partial(os.open, mode=0o600)) as file:
            file.write(data)
        os.replace(aside, os.path.join(state, name))
    except BaseException:
        with suppress(OSError):  # it was not made, and the first error is the one to report
            os.unlink(aside)
        raise
    for other in os.listdir(state):
        if other.startswith(f"{name}."):
            abandoned = os.path.join(state, other)
            with suppress(FileNotFoundError):  # another process finished it meanwhile
                if os.lstat(abandoned).st_mtime < time() - ABANDONED_S:
                    os.unlink(abandoned)


def read_kept(state: str, name: str) -> bytes:
    """Return the bytes of a cache file. OSError."""
    with open(os.path.join(state, name), "rb") as file:
        return file.read()
