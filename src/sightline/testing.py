"""Fakes with the real contract, for tests of programs that use Sightline, and for our own tests.

make_session() opens a real session over a workspace and a store in memory.
"""

from __future__ import annotations

import stat
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike, fspath
from pathlib import Path
from threading import Condition, Lock, get_ident
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

from msgspec import Struct, structs

from sightline.api.opening import start
from sightline.api.session import Session
from sightline.config.settings import Settings
from sightline.errors import PathRefused, Unverifiable
from sightline.filesystem.file_state import (
    FileCopy,
    FileState,
    Kind,
    Link,
    Pieces,
    RefusedFile,
    Replacement,
    ResolvedPath,
)
from sightline.filesystem.ignore.gitignore import PatternSet
from sightline.filesystem.tree_index import CONTENT, IGNORED, NO_TREE, Listing, Row, Tree
from sightline.filesystem.watch.watcher import Eyes, Hints
from sightline.model.path import canonical, quoted
from sightline.model.revision import (
    MISSING,
    UNKNOWN,
    Revision,
    Stamp,
    StatSignature,
    compare,
    revision_of,
)
from sightline.store.memory import MemoryStore


class MemoryWatcher:
    """See Watcher."""

    def __init__(self) -> None:
        self._paths: set[str] = set()
        self._followed: frozenset[str] = frozenset()
        self._woken = False
        self._changed = Condition()

    def touched(self, paths: Iterable[str]) -> None:
        """Name these paths in the next answer."""
        with self._changed:
            self._paths.update(paths)
            self._changed.notify_all()

    def wait(self, timeout_s: float | None) -> Hints | None:
        with self._changed:
            self._changed.wait_for(lambda: self._paths or self._woken, timeout_s)
            paths, self._paths, self._woken = frozenset(self._paths), set(), False
        return Hints(paths) if paths else None

    def fileno(self) -> int | None:
        return None

    def wake(self) -> None:
        with self._changed:
            self._woken = True
            self._changed.notify_all()

    def eyes(self) -> Eyes:
        return Eyes("events", followed=len(self._followed))

    def follow(self, paths: Iterable[str]) -> None:
        self._followed = frozenset(paths)

    def close(self) -> None:
        """Do nothing: there is nothing to close."""


_MODES = {
    "file": stat.S_IFREG | 0o644,
    "symlink": stat.S_IFLNK | 0o777,
    "special": stat.S_IFIFO | 0o644,
    "directory": stat.S_IFDIR | 0o755,
    "unreadable": stat.S_IFREG,
}


def make_session(
    files: Mapping[str, str | bytes] | MemoryWorkspace | None = None,
    *,
    settings: Settings | None = None,
    **options: Any,
) -> Session:
    """A session whose workspace and store are in memory: no disk, no settings of anybody's.

    files: path -> content, or a MemoryWorkspace, to change files behind the session's back.
    Sessions over one MemoryWorkspace share its timeline, as those of one folder do. settings: the
    built-in defaults unless given. options: id, agent, parent, clock and approve, as
    sightline.open_session takes them.
    """
    workspace = files if isinstance(files, MemoryWorkspace) else MemoryWorkspace(files)
    store = _STORES.setdefault(workspace, MemoryStore())
    return start(store, workspace, settings or Settings("/state"), **options)


class FixedClock:
    """A clock that stands still until a test advances it: open_session(clock=FixedClock()).

    Called, it answers UTC microseconds since 1970; it begins with the year 2026.
    """

    def __init__(self, now_us: int = 1_767_225_600_000_000) -> None:
        self._now_us = now_us

    def __call__(self) -> int:
        return self._now_us

    def advance(self, *, seconds: float = 0, us: int = 0) -> None:
        """Let time pass; a negative time sets the clock back."""
        self._now_us += us + round(seconds * 1_000_000)


class _Entry(Struct, frozen=True):
    kind: Kind
    data: bytes
    signature: StatSignature
    target: str = ""
    why: str = ""


class MemoryWorkspace:
    """A Workspace whose files are in memory. Its time goes on by itself, a step per touch.

    ignored and refused are patterns as in a .gitignore and a .sightlineignore at the root.
    """

    def __init__(
        self,
        files: Mapping[str, str | bytes] | None = None,
        *,
        root: str = "/workspace",
        ignored: Iterable[str] = (),
        refused: Iterable[str] = (),
    ) -> None:
        self.root = root
        self._entries: dict[str, _Entry] = {}
        self._ignored = PatternSet(ignored)
        self._refused = PatternSet(refused)
        self._time_ns = 0
        self._watchers: WeakSet[MemoryWatcher] = WeakSet()
        self._lock = Lock()
        self._holder: int | None = None
        self._tree = NO_TREE
        for path, content in (files or {}).items():
            self.put(path, content)

    def put(self, path: str, content: str | bytes) -> None:
        """Save a file as a program of the user would: no lock, no comparison."""
        data = content.encode() if isinstance(content, str) else content
        self._set(path, "file", data)

    def put_kind(self, path: str, kind: Kind, *, target: str = "", why: str = "refused") -> None:
        """Let something other than a plain file stand there: "symlink" (to a canonical path),
        "special", "directory", or "unreadable" (`why`), which refuses writes, too."""
        self._set(path, kind, b"", target=target, why=why)

    def remove(self, path: str) -> None:
        """Remove what stands there, as a program of the user would."""
        del self._entries[path]
        self._tell(path)

    def locate(self, name: str | PathLike[str]) -> ResolvedPath:
        name = fspath(name)
        asked = canonical(name, self.root)
        path = self._resolved(name, asked)
        for each in {asked, path}:
            control = each if not {".git", ".hg"}.isdisjoint(each.split("/")) else ""
            if control or self._refused.matches(each):
                words = f"{name} is refused.", "Work without it."
                raise PathRefused(name, "ignored", *words, control=control)
        return ResolvedPath(path, None if path == asked else asked)

    def read(
        self,
        path: str,
        *,
        limit: int | None = None,
        deadline_s: float | None = None,
        beyond: Pieces | None = None,
    ) -> FileState:
        at_ns = self._tick()
        entry = self._standing(path)
        if entry is None:
            return FileState(path, "missing", MISSING, read_at_ns=at_ns)
        signature = entry.signature
        if entry.kind != "file":
            why = entry.why or None
            target = entry.target if entry.kind == "symlink" else None
            return FileState(path, entry.kind, UNKNOWN, None, signature, at_ns, why, target)
        fits = limit is None or len(entry.data) <= limit
        data, why = (entry.data, None) if fits else (None, "too_large")
        if beyond is not None and not fits:
            beyond.begin()
            for piece in (entry.data, b""):
                beyond.take(piece)
        return FileState(path, "file", revision_of(entry.data), data, signature, at_ns, why)

    def stat(self, path: str) -> StatSignature | None:
        entry = self._standing(path)
        return entry.signature if entry else None

    def linked(self, path: str) -> StatSignature | None:
        """Return None: no file in memory has several names."""
        return None

    @contextmanager
    def lock(self, *paths: str) -> Iterator[None]:
        if self._holder == get_ident():
            raise RuntimeError("this thread holds a workspace lock already: lock all paths at once")
        with self._lock:
            self._holder = get_ident()
            try:
                yield
            finally:
                self._holder = None

    def asides(self, path: str, token: str) -> tuple[str, ...]:
        return ()

    def _replace(
        self, path: str, expected: Revision, new: bytes | Link | FileCopy | None
    ) -> FileState:
        found = self.read(path)
        if found.content != expected or found.kind not in ("file", "missing", "symlink"):
            return found
        self._check_folders(path)
        if isinstance(new, Link):
            self.put_kind(path, "symlink", target=new.target)
        elif isinstance(new, FileCopy):
            self.put(path, Path(new.source).read_bytes())
        elif new is not None:
            self.put(path, new)
        elif expected != MISSING:
            self.remove(path)
        return self.read(path)

    def replace_each(self, wanted: Sequence[Replacement]) -> list[FileState | Unverifiable]:
        states: list[FileState | Unverifiable] = []
        for each in wanted:
            try:
                states.append(self._replace(each.path, each.expected, each.new))
            except Unverifiable as error:
                states.append(error)
        return states

    def move_if(self, src: str, dst: str, expected: Revision) -> FileState:
        standing = self.read(dst)
        if standing.kind == "missing" and self.read(src).revision == expected != MISSING:
            self._check_folders(dst)
            self._entries[dst] = self._entries.pop(src)
            self._tell(src, dst)
        return self.read(dst)

    def emptied(self, folder: str, without: Collection[str]) -> tuple[str, ...] | None:
        below = {
            path: each for path, each in self._entries.items() if path.startswith(f"{folder}/")
        }
        if any(each.kind != "directory" and path not in without for path, each in below.items()):
            return None
        standing = self._standing(folder)
        if standing is None or standing.kind != "directory":
            return None
        return (folder, *(path for path, each in below.items() if each.kind == "directory"))

    def remove_folders(self, folders: Iterable[str]) -> tuple[str, ...]:
        removed: list[str] = []
        for path in sorted(folders, reverse=True):
            entry = self._entries.get(path)
            if entry is not None and entry.kind == "directory" and not self._is_folder(path):
                self.remove(path)
                removed.append(path)
        return tuple(removed)

    def make_folders(self, folders: Iterable[str]) -> tuple[str, ...]:
        missing = [path for path in folders if self._standing(path) is None]
        for path in missing:
            self.put_kind(path, "directory")
        return tuple(missing)

    def set_mode(self, path: str, expected: int, mode: int) -> FileState:
        entry = self._entries[path]
        now = entry.signature.mode
        if entry.kind == "file" and stat.S_IMODE(now) == expected:
            signature = structs.replace(
                entry.signature, mode=stat.S_IFMT(now) | mode, ctime_ns=self._tick()
            )
            self._entries[path] = structs.replace(entry, signature=signature)
            self._tell(path)
        return self.read(path)

    def clean(
        self,
        path: str,
        asides: Iterable[str],
        *,
        before: Revision | None = None,
        after: Revision | None = None,
    ) -> None:
        """Nothing is ever left beside a file in memory."""

    def scan(
        self, stamps: Mapping[str, Stamp], *, deadline_s: float | None = None
    ) -> Iterator[FileState]:
        for path, stamp in stamps.items():
            now = self.stat(path)
            if now is None or compare(stamp, now, 0) != "same":
                yield structs.replace(self.read(path), data=None)

    def walk(self, under: str = "") -> Iterator[tuple[str, StatSignature]]:
        for path, entry in sorted(self._entries.items()):
            if entry.kind == "file" and path.startswith(under) and self.listed(path):
                yield path, entry.signature

    def tree(self, last: Tree | None = None, *, until: float | None = None) -> Tree:
        known = dict(last.files()) if last else {}
        rows: dict[str, Row] = {}
        for path, entry in sorted(self._entries.items()):
            if entry.kind in ("file", "symlink", "unreadable") and self.listed(path):
                now = list(structs.astuple(entry.signature))
                new: Row = [*now, entry.target, self._tick()]
                rows[path] = known[path] if known.get(path, [])[:CONTENT] == now else new
        hidden = {path: IGNORED for path in self._entries if self._ignored.matches(path)}
        return Tree({"": Listing((), rows, (), hidden)}, {})

    def listen(self) -> None:
        """There is nothing to listen to: a look at memory takes no time."""

    def contents(self, asked: Iterable[tuple[str, Row]]) -> Iterator[tuple[str, Row, bytes | None]]:
        for path, row in asked:
            found = self.read(path)
            stands = found.signature and list(structs.astuple(found.signature))
            yield path, row, found.data if stands == row[:CONTENT] else None

    def remember(self, tree: Tree, *, lasting: bool = True) -> None:
        self._tree = tree

    def remembered(self) -> Tree:
        return self._tree

    def cache_folder(self) -> str:
        return ""

    def watch(self) -> MemoryWatcher:
        watcher = MemoryWatcher()
        self._watchers.add(watcher)
        return watcher

    def paths(self) -> tuple[str, ...]:
        files = {path for path, _ in self.walk()}
        links = [path for path, entry in self._entries.items() if entry.kind == "symlink"]
        leading = (path for path in links if self.listed(path))
        return tuple(sorted(files.union(x for x in leading if self._resolved(x, x) in files)))

    def names(self, folder: str) -> tuple[str, ...]:
        below = (path[len(folder) :] for path in self._entries if path.startswith(folder))
        names = {name.partition("/")[0] for name in below} - {"", ".git", ".hg"}
        if not names and self.stat(folder.rstrip("/") or ".") is None:
            raise Unverifiable(folder, f"{quoted(folder)} could not be listed: it is not there.")
        return tuple(sorted(names))

    def git_at_work(self) -> bool:
        return False  # there is no git in memory

    def repository(self, path: str) -> None:
        """There is no git in memory."""

    def refused(self, paths: Iterable[str]) -> set[str]:
        return {path for path in paths if self._refused.matches(path)}

    def refused_below(self, folder: str, *, until: float) -> Iterator[RefusedFile]:
        for path in sorted(self._entries):
            if path.startswith(folder) and self._refused.matches(path):
                hidden = self._ignored.matches(path)
                yield RefusedFile(path, path, ".sightlineignore", "file" if hidden else "")

    def left_out(self) -> tuple[str, ...]:
        return ()

    def listed(self, path: str) -> bool:
        control = not {".git", ".hg"}.isdisjoint(path.split("/"))
        return not (control or self._ignored.matches(path) or self._refused.matches(path))

    def _tick(self) -> int:
        self._time_ns += 1
        return self._time_ns

    def _set(self, path: str, kind: Kind, data: bytes, *, target: str = "", why: str = "") -> None:
        now = self._tick()
        old = self._entries.get(path)
        inode = old.signature.ino if old else now
        signature = StatSignature(len(data), now, now, 1, inode, _MODES[kind])
        told = why if kind == "unreadable" else ""
        self._entries[path] = _Entry(kind, data, signature, target, told)
        self._tell(path)

    def _tell(self, *paths: str) -> None:
        for watcher in list(self._watchers):
            watcher.touched(paths)

    def _standing(self, path: str) -> _Entry | None:
        entry = self._entries.get(path)
        if entry is None and (path == "." or self._is_folder(path)):
            signature = StatSignature(0, 0, 0, 1, 0, _MODES["directory"])
            return _Entry("directory", b"", signature)
        return entry

    def _is_folder(self, path: str) -> bool:
        return any(known.startswith(f"{path}/") for known in self._entries)

    def _check_folders(self, path: str) -> None:
        above = path.rpartition("/")[0]
        while above:
            entry = self._entries.get(above)
            if entry is not None and entry.kind != "directory":
                raise Unverifiable(
                    path, f"{quoted(path)} could not be written: {above} is no folder."
                )
            above = above.rpartition("/")[0]

    def _resolved(self, name: str, path: str) -> str:
        seen: set[str] = set()
        while path not in seen:
            seen.add(path)
            entry = self._entries.get(path)
            if entry is None or entry.kind != "symlink":
                break
            target = canonical(entry.target, self.root) if entry.target else path
            if self._standing(target) is None:
                break
            path = target
        return path


_STORES: WeakKeyDictionary[MemoryWorkspace, MemoryStore] = WeakKeyDictionary()
