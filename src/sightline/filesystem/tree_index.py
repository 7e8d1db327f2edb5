"""The whole tree at one look: what stands where, what is left out and why, and what must be read.

A folder whose times vouch for it has the entries that it had, and a file whose times vouch for it
has the bytes that it had; so a second look is a stat each, without listing a folder or asking a
rule. What vouches is judged as in scan: never a time that is younger than two ticks. Where the
system told what happened since (filesystem.change_journal), it is a stat of that alone.

Reading many files of which a look said a moment ago how they stand: four system calls each.

The stat of the look is the one before the bytes were read, and one after them has to say the same. A
file of which it does not is read by itself (filesystem.read), as is one that cannot be opened.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import (
    Callable,
    Container,
    Generator,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import ExitStack, closing, suppress
from operator import attrgetter
from stat import S_ISDIR, S_ISLNK, S_ISREG
from threading import get_ident
from time import monotonic, time, time_ns

from msgspec import Struct, structs

from sightline.filesystem.deadline import DeadlinePassed
from sightline.filesystem.folder import HELD, SEARCH
from sightline.filesystem.ignore.rules import Chain, IgnoreRules, ignored
from sightline.filesystem.scan import SECOND_NS, TICK_NS, encodes, settled, unlisted
from sightline.filesystem.system_calls import READ, Calls
from sightline.model.json_text import compact_json

Row = list[int | str]
"""size, mtime_ns, ctime_ns, dev, ino, mode, content, looked_at_ns. content: the revision of a
file, where a symlink leads, "" for a file that has to be read."""

Looking = Generator[tuple[str, "Listing"], None, "Tree"]
"""A look that goes on: folder after folder, and all of them when it ends."""

CONTENT, LOOKED_AT = 6, 7

NESTED = "a repository of its own"
CLOSED = "the folder may not be listed"
IGNORED = "ignored"
SPECIAL = "neither a file nor a symlink"
NO_UNICODE = "its name is no Unicode"


class Listing(Struct, frozen=True):
    """What one folder holds. stamp: dev, ino, mtime_ns, ctime_ns, looked_at_ns of the folder;
    hidden: name (a folder's ends in "/") -> why it is left out; "" for all that is in it. linked:
    files that had more names than this: a write by another name is told of nowhere."""

    stamp: tuple[int, ...]
    files: dict[str, Row]
    folders: tuple[str, ...]
    hidden: dict[str, str]
    linked: frozenset[str] = frozenset()


class Tree(Struct, frozen=True):
    """Folder ("" or ending in "/") -> what it holds. ignoring: ignore file -> what a stat said of
    it when it was asked, None where there was none. heard: the moment of the vigil that it is as
    of, 0 for none."""

    listings: dict[str, Listing]
    ignoring: dict[str, tuple[int, ...] | None]
    heard: int = 0

    def count(self) -> int:
        """How many files and symlinks are not left out."""
        return sum([len(listing.files) for listing in self.listings.values()])

    def folders(self) -> Looking:
        """Folder after folder, as of a look that goes on."""
        yield from self.listings.items()
        return self

    def files(self) -> Iterator[tuple[str, Row]]:
        """Every file and symlink that is not left out, in no order."""
        for folder, listing in self.listings.items():
            for name, row in listing.files.items():
                yield folder + name, row


class Doubts(Struct, frozen=True):
    """What may stand otherwise than a tree says. moment: a look that goes by this is as of then
    (Tree.heard), 0 where nobody listens; everything: all of it may; names: folder ("" or ending in
    "/") -> its entries that may; below: folders of which all may."""

    moment: int = 0
    everything: bool = True
    names: Mapping[str, set[str]] = {}
    below: frozenset[str] = frozenset()


NO_TREE = Tree({}, {})

ALL = Doubts()

NAME = attrgetter("name")

DEEP = 100
"""Folders in one another at most that are held open, of the thousand files a process may have."""


def look(
    root: str,
    rules: Sequence[IgnoreRules],
    last: Tree = NO_TREE,
    until: float | None = None,
    doubts: Doubts = ALL,
) -> Tree:
    """How the tree stands. last: what an earlier look answered, with the contents that were
    learned since. until: by time.monotonic(). doubts: what may have changed since that look, asked
    for just now. Unverifiable when an ignore file cannot be read, DeadlinePassed when time is up."""
    return _ended(folders(root, rules, last, until, doubts))


def folders(
    root: str,
    rules: Sequence[IgnoreRules],
    last: Tree = NO_TREE,
    until: float | None = None,
    doubts: Doubts = ALL,
) -> Looking:
    """The same, each folder as soon as it is known that it stands so."""
    ignoring = {file: _stamp(file) for file in _speaking(root, rules, last)}
    if ignoring == last.ignoring:
        tree = _ended(_Looking(root, rules, last, until, doubts, trusted=True).look())
        if not doubts.everything and _got_names(tree, last):
            doubts = structs.replace(doubts, everything=True)
            tree = _ended(_Looking(root, rules, last, until, doubts, trusted=True).look())
        if tree.ignoring == last.ignoring:  # else an ignore file came or went
            return (yield from tree.folders())
    return (yield from _Looking(root, rules, last, until, doubts, trusted=False).look())


def _got_names(tree: Tree, last: Tree) -> bool:
    """Whether files have several names that had one: nothing tells which others are theirs."""
    for folder, listing in tree.listings.items():
        was = last.listings.get(folder)
        if listing is not was and listing.linked - (was.linked if was else frozenset()):
            return True
    return False


def _ended(looking: Looking) -> Tree:
    while True:
        try:
            next(looking)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]


class _Looking:
    """One look. trusted: folders that did not change need not be listed, and what is not among
    the doubts not be asked for."""

    def __init__(
        self,
        root: str,
        rules: Sequence[IgnoreRules],
        last: Tree,
        until: float | None,
        doubts: Doubts,
        *,
        trusted: bool,
    ) -> None:
        self.trusted = trusted
        self._doubts = doubts
        self._until = until
        self._root = root
        self._rules = rules
        self._last = last.listings
        self._chains: dict[str, tuple[Chain, ...]] = {}
        self._descent: Descent | None = None

    def look(self) -> Looking:
        listings: dict[str, Listing] = {}
        doubts = self._doubts
        waiting = [("", doubts.everything or not self.trusted)]
        with ExitStack() as stack:
            if HELD:
                with suppress(OSError):  # then no folder is held open
                    self._descent = stack.enter_context(closing(Descent(os.open, self._root)))
            while waiting:
                folder, doubtful = waiting.pop()
                if self._until is not None and monotonic() > self._until:
                    raise DeadlinePassed
                doubtful = doubtful or folder in doubts.below
                listing = None if doubtful else self._sure(folder)
                listing = listing or self._listing(folder)
                if listing is not None:
                    listings[folder] = listing
                    yield folder, listing
                    waiting += [(f"{folder}{name}/", doubtful) for name in listing.folders]
        tree = Tree(listings, {}, doubts.moment)
        files = _speaking(self._root, self._rules, tree)
        return structs.replace(tree, ignoring={file: _stamp(file) for file in files})

    def _sure(self, folder: str) -> Listing | None:
        """A folder of which only some entries are asked for, as it stands; None where it has to be
        looked at, because others than the files that were known came or went."""
        was = self._last.get(folder)
        names = self._doubts.names.get(folder, set())
        if was is None or not (names or was.linked):
            return was
        asked = {name: was.files[name] for name in names | was.linked if name in was.files}
        rows, linked = rows_of(self._held(folder), self._full(folder), asked, asked)
        for name in names - rows.keys():
            if name in was.folders or name in was.hidden or f"{name}/" in was.hidden:
                return None
            if os.path.lexists(self._full(folder) + name):
                return None
        files = was.files if rows is asked else renewed(was.files, asked, rows)
        linked |= was.linked - asked.keys()
        if files is was.files and linked == was.linked:
            return was
        return structs.replace(was, files=files, linked=linked)

    def _listing(self, folder: str) -> Listing | None:
        """A folder as it stands; None when it is gone since it was listed."""
        fd = self._held(folder)
        at_ns = time_ns()
        try:
            found = os.fstat(fd) if fd is not None else os.lstat(self._full(folder).rstrip("/"))
        except OSError:
            return None
        if not S_ISDIR(found.st_mode):
            return None
        stamp = (found.st_dev, found.st_ino, found.st_mtime_ns, found.st_ctime_ns, at_ns)
        was = self._last.get(folder)
        if was is None or not self.trusted or not _vouched(was.stamp, stamp):
            return self._listed(folder, fd, stamp, was)
        rows, linked = rows_of(fd, self._full(folder), was.files, was.files)
        if rows is was.files and linked == was.linked:
            return was
        return structs.replace(was, files=rows, linked=linked)

    def _full(self, folder: str) -> str:
        return f"{self._root}/{folder}"

    def _held(self, folder: str) -> int | None:
        """The folder, held open until the next is asked for, so that names are looked up in it
        alone; None where that cannot be, and its own name tells why."""
        if self._descent is None or folder.count("/") > DEEP:
            return None
        try:
            return self._descent.to(folder)
        except OSError:
            return None

    def _listed(
        self, folder: str, fd: int | None, stamp: tuple[int, ...], was: Listing | None
    ) -> Listing | None:
        try:
            with os.scandir(self._full(folder)) as entries:
                listed = sorted(entries, key=NAME)
        except PermissionError:
            return Listing(stamp, {}, (), {"": CLOSED})
        except (FileNotFoundError, NotADirectoryError):
            return None
        dotted = {entry.name.lower() for entry in listed if entry.name.startswith(".")}
        if folder and ".git" in dotted and any(entry.name == ".git" for entry in listed):
            return Listing(stamp, {}, (), {"": NESTED})
        known = was.files if was is not None else {}
        same = known if self.trusted else {}
        files, folders, hidden = self._sorted(folder, listed, same, dotted)
        rows, linked = rows_of(fd, self._full(folder), files, known)
        return Listing(stamp, rows, tuple(folders), hidden, linked)

    def _sorted(
        self,
        folder: str,
        listed: Sequence[os.DirEntry[str]],
        let_through: Container[str],
        dotted: Container[str],
    ) -> tuple[list[str], list[str], dict[str, str]]:
        """The files of a folder, its folders, and what is left out. let_through: files that the
        rules let through, which are the same; dotted: names that begin with a dot, in lower case,
        as those of all ignore files do."""
        files: list[str] = []
        folders: list[str] = []
        hidden: dict[str, str] = {}
        saying = None
        for entry in listed:
            if entry.name in let_through and entry.is_file(follow_symlinks=False):
                files.append(entry.name)
                continue
            if saying is None:
                saying = self._saying(folder, dotted)
            below = entry.is_dir(follow_symlinks=False)
            why = _left_out(folder, entry, saying, below=below)
            if why:
                hidden[_spoken(entry.name) + "/" * below] = why
            elif why is None:
                (folders if below else files).append(entry.name)
        return files, folders, hidden

    def _saying(self, folder: str, names: Container[str]) -> list[tuple[IgnoreRules, Chain]]:
        """The rules that say anything of a folder's entries."""
        chains = self._chain(folder, names)
        return [pair for pair in zip(self._rules, chains, strict=True) if pair[1]]

    def _chain(self, folder: str, names: Container[str] | None = None) -> tuple[Chain, ...]:
        """What the rules say of a folder's entries. names: those with a dot before them, in lower
        case, where they were listed."""
        if folder not in self._chains:
            self._chains[folder] = self._extended(folder, names)
        return self._chains[folder]

    def _extended(self, folder: str, names: Container[str] | None) -> tuple[Chain, ...]:
        if not folder:
            return tuple(rule.chain() for rule in self._rules)
        above = self._chain(folder[: folder.rfind("/", 0, -1) + 1])
        pairs = zip(self._rules, above, strict=True)
        return tuple(
            rule.extend(chain, rule.full(folder)) if names is None or rule.name in names else chain
            for rule, chain in pairs
        )


def _left_out(
    folder: str,
    entry: os.DirEntry[str],
    saying: Sequence[tuple[IgnoreRules, Chain]],
    *,
    below: bool,
) -> str | None:
    """Why an entry is left out; "" without a word, None when it is not. saying: the rules that say
    anything of this folder's entries."""
    name = entry.name
    if not encodes(name):
        return NO_UNICODE
    if unlisted(name):
        return ""
    for rule, chain in saying:
        if ignored(chain, rule.full(folder + name), folder=below):
            return IGNORED
    usual = below or entry.is_file(follow_symlinks=False) or entry.is_symlink()
    return None if usual else SPECIAL


def _vouched(was: tuple[int, ...], now: tuple[int, ...]) -> bool:
    """Whether a folder has the entries that it had when it was looked at."""
    return was[:4] == now[:4] and settled(*was[2:])


def _speaking(root: str, rules: Sequence[IgnoreRules], tree: Tree) -> set[str]:
    """Every ignore file that has a say: those for the root, and those in the tree's folders."""
    names = {rule.name for rule in rules}
    return {file for rule in rules for file in rule.above()} | {
        f"{root}/{folder}{name}"
        for folder, listing in tree.listings.items()
        for name in names
        if name in listing.files or name in listing.hidden
    }


def _stamp(file: str) -> tuple[int, ...] | None:
    try:
        found = os.lstat(file)
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_dev, found.st_ino


def _spoken(name: str) -> str:
    """A name as it can be put into an answer."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def rows_of(
    fd: int | None, full: str, names: Sequence[str] | dict[str, Row], known: dict[str, Row]
) -> tuple[dict[str, Row], frozenset[str]]:
    """What a stat says of these entries of a folder, with the contents that known rows vouch for;
    and those that have several names. Those that are gone are left out. The known rows themselves
    where nothing else is to be said. fd: the folder, where it is open; full: its name."""
    lstat, second, racy = os.lstat, SECOND_NS, 2 * TICK_NS
    before = "" if fd is not None else full
    other: dict[str, Row | None] = {}
    linked: list[str] = []
    at_ns = time_ns()
    rows = known.items() if names is known else [(name, known.get(name)) for name in names]
    for name, row in rows:
        try:
            now = lstat(before + name, dir_fd=fd)
        except OSError:
            other[name] = None
            continue
        if now.st_nlink > 1:
            linked.append(name)
        if row is not None:
            # model.revision.compare in place, as in scan: a call per file would double the cost.
            size, modified, changed, device, inode, mode, _, read_at_ns = row
            if (
                changed == now.st_ctime_ns
                and modified == now.st_mtime_ns
                and size == now.st_size
                and inode == now.st_ino
                and mode == now.st_mode
                and device == now.st_dev
                and changed < (settled_ns := read_at_ns - racy)  # type: ignore[operator]
                and modified < settled_ns
                and changed % second
            ):
                continue
        other[name] = _row(before + name, fd, now, at_ns)
    if not other and len(rows) == len(known):
        return known, frozenset(linked)
    found = ((name, other.get(name, row)) for name, row in rows)
    return {name: row for name, row in found if row is not None}, frozenset(linked)


def renewed(
    files: dict[str, Row], asked: Mapping[str, Row], rows: Mapping[str, Row]
) -> dict[str, Row]:
    """All files of a folder, where those that were asked for have these rows, or are gone."""
    gone = asked.keys() - rows.keys()
    return {name: rows.get(name, row) for name, row in files.items() if name not in gone}


def _row(name: str, fd: int | None, now: os.stat_result, at_ns: int) -> Row | None:
    """What a stat says of an entry; None for what is neither a file nor a symlink."""
    mode = now.st_mode
    if not (S_ISLNK(mode) or S_ISREG(mode)):
        return None
    content = _target(name, fd) if S_ISLNK(mode) else ""
    times = now.st_mtime_ns, now.st_ctime_ns
    return [now.st_size, *times, now.st_dev, now.st_ino, mode, content, at_ns]


def _target(name: str, fd: int | None) -> str:
    try:
        return os.readlink(name, dir_fd=fd)
    except OSError:
        return ""


class Descent:
    """The folder of one path after the other, held open with those above it, so that only what
    differs is opened. As in Folder, no step down follows a symlink."""

    def __init__(self, open_: Callable[..., int], root: str) -> None:
        self._open = open_
        self._folder = ""
        self._parts: list[str] = []
        self._held = [open_(root, SEARCH & ~os.O_NOFOLLOW)]

    def to(self, folder: str) -> int:
        """A descriptor of a folder below the root, "" or ending in "/". OSError when it is not
        there any more."""
        if folder != self._folder:
            self._folder = "?"  # where it fails, none
            self._go(folder.split("/")[:-1])
            self._folder = folder
        return self._held[-1]

    def close(self) -> None:
        """Let go of all of them."""
        self._up(0)
        os.close(self._held.pop())

    def _go(self, parts: Sequence[str]) -> None:
        same = 0
        while same < len(self._parts) and self._parts[same : same + 1] == parts[same : same + 1]:
            same += 1
        self._up(same)
        for part in parts[same:]:
            self._held.append(self._open(part, SEARCH, dir_fd=self._held[-1]))
            self._parts.append(part)

    def _up(self, depth: int) -> None:
        while len(self._parts) > depth:
            self._parts.pop()
            os.close(self._held.pop())


def gather(
    calls: Calls, root: str, asked: Iterable[tuple[str, Row]]
) -> Iterator[tuple[str, Row, bytes | None]]:
    """Each file with its bytes, where it stands as its row says; None where it does not, or cannot
    be read. It is quickest where files of one folder come one after the other."""
    if not HELD:
        yield from ((path, row, None) for path, row in asked)
        return
    with closing(Descent(calls.open, root)) as descent:
        for path, row in asked:
            try:
                data = _bytes(calls, descent, path, row)
            except OSError:
                data = None
            yield path, row, data


def _bytes(calls: Calls, descent: Descent, path: str, row: Row) -> bytes | None:
    cut = path.rfind("/") + 1
    fd = calls.open(path[cut:], READ, dir_fd=descent.to(path[:cut]))
    try:
        data = calls.read(fd, row[0] + 1)  # type: ignore[operator]
        now = calls.fstat(fd)
    finally:
        os.close(fd)
    same = (
        len(data) == row[0] == now.st_size
        and now.st_mtime_ns == row[1]
        and now.st_ctime_ns == row[2]
        and now.st_dev == row[3]
        and now.st_ino == row[4]
        and now.st_mode == row[5]
    )
    return data if same else None


VERSION = 1

TREE = "tree.z"

LEVEL = 1
"""Of zlib: a look is waited for, and the next one writes the file anew."""

ABANDONED_S = 3600
"""What is older was left half written by a process that was killed."""


def save(state: str, root: str, tree: Tree) -> None:
    """Keep it. OSError."""
    folders = {
        folder: [listing.stamp, listing.files, listing.folders, listing.hidden]
        for folder, listing in tree.listings.items()
    }
    told = {"v": VERSION, "root": root, "folders": folders, "ignoring": tree.ignoring}
    keep(state, TREE, zlib.compress(compact_json(told).encode(), LEVEL))


def load(state: str, root: str) -> Tree:
    """What was kept of this root; nothing where that cannot be read: then all is looked at anew."""
    try:
        told = json.loads(zlib.decompress(kept(state, TREE)))
        if (told["v"], told["root"]) != (VERSION, root):
            return NO_TREE
        listings = {
            folder: Listing(tuple(stamp), files, tuple(folders), hidden)
            for folder, (stamp, files, folders, hidden) in told["folders"].items()
        }
        ignoring = {file: stamp and tuple(stamp) for file, stamp in told["ignoring"].items()}
    except (OSError, zlib.error, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return NO_TREE
    return Tree(listings, ignoring)


def keep(state: str, name: str, data: bytes) -> None:
    """Put a cache in the place of the last one, whole. OSError."""
    os.makedirs(state, mode=0o700, exist_ok=True)
    aside = os.path.join(state, f"{name}.{os.getpid()}-{get_ident()}")
    try:
        with open(aside, "wb", opener=_private) as file:
            file.write(data)
        os.replace(aside, os.path.join(state, name))
    except BaseException:
        _remove(aside)
        raise
    _sweep(state, f"{name}.")


def add(state: str, name: str, data: bytes, after: bytes) -> bool:
    """Put more behind a cache that begins so; whether that was done. It is one write, and a reader
    has to tell by itself whether all of it is there. OSError."""
    fd = os.open(os.path.join(state, name), os.O_RDWR | os.O_APPEND | _BINARY)
    try:
        return os.read(fd, len(after)) == after and os.write(fd, data) == len(data)
    finally:
        os.close(fd)


def kept(state: str, name: str) -> bytes:
    """The bytes of a cache. OSError."""
    with open(os.path.join(state, name), "rb") as file:
        return file.read()


_BINARY = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


def _sweep(state: str, beginning: str) -> None:
    """Remove what others began to write, and were killed."""
    for name in os.listdir(state):
        if name.startswith(beginning):
            aside = os.path.join(state, name)
            try:
                if os.lstat(aside).st_mtime < time() - ABANDONED_S:
                    os.unlink(aside)
            except FileNotFoundError:
                continue  # it was being written, and is in its place now


def _remove(aside: str) -> None:
    try:
        os.unlink(aside)
    except OSError:
        return  # it was not made, and the first error is the one to tell


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
