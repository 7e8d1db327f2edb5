"""The whole tree at one look: what stands where, what is left out and why, and what must be read.

A folder whose times vouch for it has the entries that it had, and a file whose times vouch for it
has the bytes that it had; so a second look is a stat each, without listing a folder or asking a
rule. What vouches is judged as in scan: never a time that is younger than two ticks.
"""

from __future__ import annotations

import os
from contextlib import ExitStack, closing, suppress
from operator import attrgetter
from stat import S_ISDIR, S_ISLNK, S_ISREG
from time import monotonic, time_ns

from sightline.core.value import Value
from sightline.workspace.deadline import DeadlinePassed
from sightline.workspace.descent import Descent
from sightline.workspace.folder import HELD
from sightline.workspace.rules import ignored
from sightline.workspace.scan import SECOND_NS, TICK_NS, encodes, settled, unlisted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Generator, Iterator, Sequence

    from sightline.workspace.rules import Chain, IgnoreRules

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


class Listing(Value):
    """What one folder holds. stamp: dev, ino, mtime_ns, ctime_ns, looked_at_ns of the folder;
    hidden: name (a folder's ends in "/") -> why it is left out; "" for all that is in it."""

    stamp: tuple[int, ...]
    files: dict[str, Row]
    folders: tuple[str, ...]
    hidden: dict[str, str]


class Tree(Value):
    """Folder ("" or ending in "/") -> what it holds. ignoring: ignore file -> what a stat said of
    it when it was asked, None where there was none."""

    listings: dict[str, Listing]
    ignoring: dict[str, tuple[int, ...] | None]

    def folders(self) -> Looking:
        """Folder after folder, as of a look that goes on."""
        yield from self.listings.items()
        return self

    def files(self) -> Iterator[tuple[str, Row]]:
        """Every file and symlink that is not left out, in no order."""
        for folder, listing in self.listings.items():
            for name, row in listing.files.items():
                yield folder + name, row


NO_TREE = Tree({}, {})

NAME = attrgetter("name")

DEEP = 100
"""Folders in one another at most that are held open, of the thousand files a process may have."""


def look(
    root: str, rules: Sequence[IgnoreRules], last: Tree = NO_TREE, until: float | None = None
) -> Tree:
    """How the tree stands. last: what an earlier look answered, with the contents that were
    learned since. until: by time.monotonic(). Unverifiable when an ignore file cannot be read,
    DeadlinePassed when time is up."""
    return _ended(folders(root, rules, last, until))


def folders(
    root: str, rules: Sequence[IgnoreRules], last: Tree = NO_TREE, until: float | None = None
) -> Looking:
    """The same, each folder as soon as it is known that it stands so."""
    ignoring = {file: _stamp(file) for file in _speaking(root, rules, last)}
    if ignoring == last.ignoring:
        tree = _ended(_Looking(root, rules, last, until, trusted=True).look())
        if tree.ignoring == last.ignoring:  # else an ignore file came or went
            return (yield from tree.folders())
    return (yield from _Looking(root, rules, last, until, trusted=False).look())


def _ended(looking: Looking) -> Tree:
    while True:
        try:
            next(looking)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]


class _Looking:
    """One look. trusted: folders that did not change need not be listed."""

    def __init__(
        self,
        root: str,
        rules: Sequence[IgnoreRules],
        last: Tree,
        until: float | None,
        *,
        trusted: bool,
    ) -> None:
        self.trusted = trusted
        self._until = until
        self._root = root
        self._rules = rules
        self._last = last.listings
        self._chains: dict[str, tuple[Chain, ...]] = {}
        self._descent: Descent | None = None

    def look(self) -> Looking:
        listings: dict[str, Listing] = {}
        waiting = [""]
        with ExitStack() as stack:
            if HELD:
                with suppress(OSError):  # then no folder is held open
                    self._descent = stack.enter_context(closing(Descent(os.open, self._root)))
            while waiting:
                folder = waiting.pop()
                if self._until is not None and monotonic() > self._until:
                    raise DeadlinePassed
                listing = self._listing(folder)
                if listing is not None:
                    listings[folder] = listing
                    yield folder, listing
                    waiting += [f"{folder}{name}/" for name in listing.folders]
        tree = Tree(listings, {})
        files = _speaking(self._root, self._rules, tree)
        return tree.replace(ignoring={file: _stamp(file) for file in files})

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
        rows = _rows(fd, self._full(folder), was.files, was.files)
        return was if rows is was.files else was.replace(files=rows)

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
        rows = _rows(fd, self._full(folder), files, known)
        return Listing(stamp, rows, tuple(folders), hidden)

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


def _rows(
    fd: int | None, full: str, names: Sequence[str] | dict[str, Row], known: dict[str, Row]
) -> dict[str, Row]:
    """What a stat says of these entries of a folder, with the contents that known rows vouch for.
    Those that are gone are left out. The known rows themselves where nothing else is to be said.
    fd: the folder, where it is open; full: its name."""
    lstat, second, racy = os.lstat, SECOND_NS, 2 * TICK_NS
    before = "" if fd is not None else full
    other: dict[str, Row | None] = {}
    at_ns = time_ns()
    rows = known.items() if names is known else [(name, known.get(name)) for name in names]
    for name, row in rows:
        try:
            now = lstat(before + name, dir_fd=fd)
        except OSError:
            other[name] = None
            continue
        if row is not None:
            # core.revision.compare in place, as in scan: a call per file would double the cost.
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
        return known
    found = ((name, other.get(name, row)) for name, row in rows)
    return {name: row for name, row in found if row is not None}


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
