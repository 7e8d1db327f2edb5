"""DiskWorkspace: a directory tree on the disk of this machine."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from operator import itemgetter, length_hint
from stat import S_ISREG
from threading import Lock
from time import monotonic, time_ns

from sightline.errors import PathRefused, Unverifiable
from sightline.filesystem import tree_index
from sightline.filesystem.deadline import DeadlinePassed, within, within_own
from sightline.filesystem.file_state import (
    FileState,
    HiddenByGit,
    Pieces,
    RefusedFile,
    Replacement,
    ResolvedPath,
)
from sightline.filesystem.folder import emptied, make_folders, remove_folders
from sightline.filesystem.git.repository import Repository, repository
from sightline.filesystem.git_control import git_top
from sightline.filesystem.ignore.agent_ignores import agents_rules
from sightline.filesystem.ignore.rules import IgnoreRules, RuleSet, encodes, git_rules
from sightline.filesystem.lock import Locked
from sightline.filesystem.path_list import PathList, sorted_names
from sightline.filesystem.read import CountedPieces, read, signature_of
from sightline.filesystem.replace import clean, move_if, replace_each, set_mode
from sightline.filesystem.scan import scan, unanswered
from sightline.filesystem.submodules import Submodules
from sightline.filesystem.system_calls import Calls
from sightline.filesystem.temp_file import temp_names
from sightline.filesystem.tree_index import (
    CLOSED,
    IGNORED,
    MODE,
    NO_TREE,
    Changed,
    Row,
    Tree,
    look,
    signature_of_row,
)
from sightline.filesystem.watch.watcher import Watcher
from sightline.model.path import (
    Flavour,
    canonical,
    composed,
    flavour_of,
    folders_above,
    key,
    quoted,
)
from sightline.model.revision import Revision, Stamp, StatSignature

CONTROL = frozenset((".git", ".hg"))
"""Folders of version control: only their own programs write to them."""

LINKS_MAX = 40
"""Symlinks that are followed one after the other, as many as Linux follows."""

PATIENCE_S = 30.0
"""How long a write waits for another process's write of the same path."""


class DiskWorkspace:
    """See Workspace. state: a private folder on a local disk for lock files and caches, made when
    needed; everybody who writes to this tree has to give the same one. deadline_s: the time that a
    locate may take (None: as long as the disk does). agents_refuse: the ignore files of agents' products refuse, too."""

    def __init__(
        self,
        root: str,
        state: str,
        *,
        deadline_s: float | None = None,
        calls: Calls | None = None,
        flavour: Flavour | None = None,
        agents_refuse: bool = False,
    ) -> None:
        self.root = os.path.realpath(root)
        self._given = os.path.abspath(root)
        self._locks = os.path.join(state, "locks")
        self._calls = calls or Calls()
        self._flavour = flavour or flavour_of(sys.platform)
        agents = agents_rules(self.root) if agents_refuse else []
        self._refusing_rules = [IgnoreRules(self.root, ".sightlineignore"), *agents]
        self._refusing = RuleSet(self._refusing_rules)
        self._deadline_s = deadline_s
        self._state = state
        self._git_top = git_top(self.root)
        self._ignore_rules = RuleSet((*self._refusing_rules, git_rules(self.root, by_index=True)))
        self._tree: Tree | None = None
        self._is_loaded = False
        self._events: Changed | None = None
        self._looking = Lock()
        self._names = NO_TREE
        self._all_names = NO_TREE
        self._path_list = PathList(self.root, self._refusing)
        refusing = [rule.name for rule in self._refusing_rules]
        self._submodules = Submodules(self.root, refusing, state)

    def locate(self, name: str | os.PathLike[str]) -> ResolvedPath:
        name = os.fspath(name)
        if self._deadline_s is None:
            return self._locate(name)
        try:
            return within(self._deadline_s, lambda: self._locate(name))
        except DeadlinePassed:
            why = f"the disk did not answer within {self._deadline_s:g} s"
        except OSError as error:
            why = error.strerror or str(error)
        shown = self._shown(name)
        raise Unverifiable(
            shown,
            f"{quoted(shown)} cannot be resolved: {why}.",
            "Try again when the disk answers.",
        )

    def _shown(self, name: str) -> str:
        """Return a name as words give it: an absolute one from the root on, where it is inside."""
        return name.removeprefix(f"{self.root}/") or name

    def _locate(self, name: str) -> ResolvedPath:
        asked = self._spelling(self._canonical(name))
        name = self._shown(name)
        self._refuse(name, asked)
        path = self._resolve(name, asked)
        if path == asked:
            return ResolvedPath(path)
        located = ResolvedPath(path, asked, self._names_between(asked, path))
        for named in (path, *located.links):
            self._refuse(name, named)
        return located

    def read(
        self,
        path: str,
        *,
        limit: int | None = None,
        deadline_s: float | None = None,
        beyond: Pieces | None = None,
    ) -> FileState:
        counted = None if beyond is None else CountedPieces(beyond)
        if deadline_s is None:
            return read(self._calls, self.root, path, limit, counted)
        started_ns = time_ns()
        try:
            if counted is None:
                return within(deadline_s, lambda: read(self._calls, self.root, path, limit))
            return within_own(
                deadline_s,
                lambda: read(self._calls, self.root, path, limit, counted),
                lambda: counted.count,
            )
        except DeadlinePassed:
            return unanswered(path, started_ns)

    def stat(self, path: str) -> StatSignature | None:
        try:
            return signature_of(self._calls.lstat(f"{self.root}/{path}"))
        except (FileNotFoundError, NotADirectoryError):
            return None

    def linked(self, path: str) -> StatSignature | None:
        def look() -> os.stat_result:
            return self._calls.lstat(f"{self.root}/{path}")

        try:
            found = look() if self._deadline_s is None else within(self._deadline_s, look)
        except (OSError, DeadlinePassed):
            return None
        return signature_of(found) if S_ISREG(found.st_mode) and found.st_nlink > 1 else None

    def lock(self, *paths: str) -> AbstractContextManager[None]:
        keys = [self._key(path) for path in paths]
        return Locked(self._locks, keys, PATIENCE_S)

    def asides(self, path: str, token: str) -> tuple[str, ...]:
        return temp_names(path, token)

    def replace_each(self, wanted: Sequence[Replacement]) -> list[FileState | Unverifiable]:
        return replace_each(self._calls, self.root, wanted)

    def move_if(self, src: str, dst: str, expected: Revision) -> FileState:
        return move_if(self._calls, self.root, src, dst, expected)

    def emptied(self, folder: str, without: Collection[str]) -> tuple[str, ...] | None:
        return emptied(self.root, folder, without)

    def remove_folders(self, folders: Iterable[str]) -> tuple[str, ...]:
        return remove_folders(self._calls, self.root, folders)

    def make_folders(self, folders: Iterable[str]) -> tuple[str, ...]:
        return make_folders(self._calls, self.root, folders)

    def set_mode(self, path: str, expected: int, mode: int) -> FileState:
        return set_mode(self._calls, self.root, path, expected, mode)

    def clean(
        self,
        path: str,
        asides: Iterable[str],
        *,
        before: Revision | None = None,
        after: Revision | None = None,
    ) -> None:
        clean(self._calls, self.root, path, asides, before, after)

    def scan(
        self, stamps: Mapping[str, Stamp], *, deadline_s: float | None = None
    ) -> Iterator[FileState]:
        asked = iter(list(stamps.items()))
        if deadline_s is None:
            yield from scan(self._calls, self.root, asked)
            return
        found: list[FileState] = []

        def look() -> None:
            for there in scan(self._calls, self.root, asked):
                found.append(there)  # noqa: PERF402  what is there counts when time is up

        try:
            within(deadline_s, look)
        except DeadlinePassed:
            left = list(stamps)[-1 - length_hint(asked) :]  # with the one that does not answer
            late, now_ns = set(left), time_ns()
            yield from [there for there in found if there.path not in late]
            yield from [unanswered(path, now_ns) for path in left]
        else:
            yield from found

    def walk(self, under: str = "") -> Iterator[tuple[str, StatSignature]]:
        tree = look(self.root, self._rules(), under=under) if under else self.tree()
        found = [
            (path, signature_of_row(row)) for path, row in tree.files() if S_ISREG(int(row[MODE]))
        ]
        for folder, listing in tree.listings.items():
            if listing.hidden.get("") == CLOSED:
                signature = signature_of(os.lstat(f"{self.root}/{folder}"))
                found.append((folder.rstrip("/") or ".", signature))
        yield from sorted(found, key=itemgetter(0))

    def tree(self, last: Tree | None = None, *, until: float | None = None) -> Tree:
        return self._submodules.join(self._own_tree(last, until), until)

    def _own_tree(self, last: Tree | None = None, until: float | None = None) -> Tree:
        """Return the tree without those of its submodules. last, until: as in tree()."""
        if last is not None and (own := last.own or last) is not self._tree:
            return look(self.root, self._rules(), own, until)
        if self._events is None:  # no lock that Ctrl-C could leave held
            tree = self._tree = look(self.root, self._rules(), self._tree or NO_TREE, until)
            return tree
        patience_s = -1 if until is None else max(until - monotonic(), 0)
        if not self._looking.acquire(timeout=patience_s):
            raise DeadlinePassed
        try:
            last = self._tree or NO_TREE
            tree = look(self.root, self._rules(), last, until, changed=self._events)
            self._tree = tree
            self._events.settle(tree)
            return tree
        finally:
            self._looking.release()

    def listen(self) -> None:
        from sightline.filesystem.tree_events import tree_events  # a single look needs none

        if self._events is None:
            self._events = tree_events(self.root)

    def contents(self, asked: Iterable[tuple[str, Row]]) -> Iterator[tuple[str, Row, bytes | None]]:
        return tree_index.read_files(self._calls, self.root, asked)

    def remember(self, tree: Tree, *, lasting: bool = True) -> None:
        self._tree, self._is_loaded = tree.own or tree, True
        if lasting:
            tree_index.save(self._state, self.root, self._tree)
            self._submodules.keep()

    def remembered(self) -> Tree:
        if not self._is_loaded:
            self._is_loaded = True
            loaded = tree_index.load(self._state, self.root)
            self._tree = loaded if loaded.listings else self._tree
        return self._submodules.joined(self._tree or NO_TREE)

    def cache_folder(self) -> str:
        return self._state

    def paths(self) -> tuple[str, ...]:
        rules = self._rules()
        if self._tree is None:
            self._names = look(self.root, rules, self._names, names_only=True)
        else:
            self._names = look(self.root, rules, self._tree, names_only=True)
            if self._names is not self._tree:
                self._names = self._own_tree()
        return self._path_list.paths(self._names)

    def names(self, folder: str) -> tuple[str, ...]:
        try:
            return sorted_names(os.listdir(f"{self.root}/{folder}"))
        except OSError as error:
            raise tree_index.not_listed(folder, error) from error

    def git_at_work(self) -> bool:
        found = self.repository("")
        return found is not None and found.busy()

    def repository(self, path: str) -> Repository | None:
        return repository(self.root, path)

    def refused(self, paths: Iterable[str]) -> set[str]:
        asked = list(paths)
        folders = {"", *(folder for path in asked for folder in folders_above(path))}
        if not any(
            os.path.lexists(f"{self.root}/{folder}{name}")
            for folder in folders
            for name in self._refusing.names
        ):
            return set()
        return {path for path in asked if self._refusing.refuses(path)}

    def refused_below(self, folder: str, *, until: float) -> Iterator[RefusedFile]:
        if not self._may_refuse(folder):
            return
        rules, under = self._refusing, folder
        try:
            tree = self._all_names = look(
                self.root, rules, self._all_names, until, under=under, names_only=True
            )
        except DeadlinePassed:
            tree = self.remembered()
        if under and rules.refuses(under[:-1], is_folder=True):
            entries = [under]
        else:
            entries = [
                place + name
                for place, listing in tree.listings.items()
                for name, why in listing.hidden.items()
                if why == IGNORED and f"{place}{name}".startswith(under)
            ]
        self._rules()  # it looks where the tree of git begins
        git = git_rules(self.root) if self._git_top is not None else None
        if git is not None and under and git.refuses(under[:-1], folder=True):
            git = None  # whoever names an ignored folder, means the files in it
        for entry in sorted(entries):
            is_folder = entry.endswith("/")
            names = [
                each.name
                for each in self._refusing_rules
                if each.refuses(entry.rstrip("/"), folder=is_folder)
            ]
            for path in self._files_in(entry) if names else ():
                hidden = git is not None and git.refuses(path)
                above = os.path.dirname(path)
                by_folder = hidden and git is not None and git.refuses(above, folder=True)
                how: HiddenByGit = "folder" if by_folder else "file" if hidden else ""
                yield RefusedFile(path, entry, names[0], how)

    def _may_refuse(self, folder: str) -> bool:
        """Return whether there is an ignore file that refuses: in a folder, above it, or in the
        remembered tree."""
        names = self._refusing.names
        asked = (f"{self.root}/{at}{n}" for at in ("", *folders_above(folder)) for n in names)
        return any(map(os.path.lexists, asked)) or any(
            not names.isdisjoint(listing.files) or not names.isdisjoint(listing.hidden)
            for listing in self.remembered().listings.values()
        )

    def _files_in(self, entry: str) -> Iterator[str]:
        """Yield the files of an entry: itself, or all below a folder."""
        if not entry.endswith("/"):
            yield entry
            return
        for folder, _, names in os.walk(f"{self.root}/{entry}"):
            inner = os.path.relpath(folder, self.root).replace(os.sep, "/")
            yield from (f"{inner}/{name}" for name in sorted(names) if encodes(name))

    def left_out(self) -> tuple[str, ...]:
        return (*self._ignore_rules.left_out(), *self._path_list.left_out)

    def listed(self, path: str) -> bool:
        return not self._rules().refuses(path)

    def watch(self, *, polling_s: float = 0.5) -> Watcher:
        """See Workspace. polling_s: the shortest time between two polls of paths without events."""
        from sightline.filesystem.watch.choose import watch  # the watcher of this system

        return watch(self.root, self._rules(), polling_s=polling_s)

    def _rules(self) -> RuleSet:
        """Return the rules of all ignore files. Git's begin at the top of its tree, which may change."""
        top = git_top(self.root)
        if top != self._git_top:
            self._git_top = top
            git = git_rules(self.root, by_index=True)
            self._ignore_rules = RuleSet((*self._refusing_rules, git))
        return self._ignore_rules

    def _canonical(self, name: str) -> str:
        """Return a name as a canonical path. An absolute name may name the root through a symlink."""
        try:
            return canonical(name, self.root, self._flavour)
        except PathRefused as refused:
            if refused.reason != "outside" or not os.path.isabs(name):
                raise
        try:
            return canonical(name, self._given, self._flavour)
        except PathRefused:
            above = os.path.normpath(name)
            while above != (above := os.path.dirname(above)):
                if os.path.realpath(above) == self.root:
                    return canonical(os.path.relpath(name, above), self.root, self._flavour)
            return canonical(os.path.realpath(name), self.root, self._flavour)

    def _key(self, path: str) -> str:
        """Return what two spellings of one file have in common."""
        return key(path, self._flavour) if self._flavour.folds else path

    def _spelling(self, path: str) -> str:
        """Return the path as the disk spells it: where several spellings open the same file, and where
        a name that does not exist has exactly one equivalent in another Unicode form."""
        if not self._flavour.folds and (path.isascii() or os.path.lexists(f"{self.root}/{path}")):
            return path
        parts: list[str] = []
        for part in path.split("/"):
            folder = "/".join([self.root, *parts])
            try:
                names = os.listdir(folder)
            except OSError:  # no folder, or a closed one: the name stays as it is spelled
                names = []
            parts.append(part if part in names else self._equivalent(part, names))
        return "/".join(parts)

    def _equivalent(self, part: str, names: Sequence[str]) -> str:
        """Return the name in a folder that stands for a part of a path; the part itself where there is
        none, or where two names of a system that tells them apart would do."""
        if self._flavour.folds:
            return next((name for name in names if self._key(name) == self._key(part)), part)
        wanted = composed(part)
        same = [name for name in names if composed(name) == wanted]
        return same[0] if len(same) == 1 else part

    def _resolve(self, name: str, path: str) -> str:
        """Return the path of the bytes: symlinks are followed, and a dangling symlink is its own path."""
        full = f"{self.root}/{path}"
        real = os.path.realpath(full)
        if real != self.root and not real.startswith(os.path.join(self.root, "")):
            raise PathRefused(
                path,
                "outside",
                f"{quoted(name)} leads out of the workspace, to {quoted(real)}.",
                "Use a path inside the workspace, or open the other folder as its own workspace.",
            )
        if os.path.islink(full) and not os.path.exists(full):
            real = f"{os.path.realpath(os.path.dirname(full))}/{os.path.basename(full)}"
        return os.path.relpath(real, self.root).replace(os.sep, "/")

    def _names_between(self, name: str, path: str) -> tuple[str, ...]:
        """Return the further names that a name has on its way to `path`, one for each symlink."""
        names: list[str] = []
        folder, parts = self.root, name.split("/")
        links = 0
        while parts and links <= LINKS_MAX:
            part = parts.pop(0)
            if part in ("", ".", ".."):
                folder = os.path.dirname(folder) if part == ".." else folder
                continue
            full = os.path.join(folder, part)
            if not os.path.islink(full):
                folder = full
                continue
            links += 1
            target = os.readlink(full)
            folder = os.sep if os.path.isabs(target) else folder
            parts = [*target.split(os.sep), *parts]
            reached = os.path.normpath(os.path.join(folder, *parts))
            if reached.startswith(os.path.join(self.root, "")):
                names.append(os.path.relpath(reached, self.root).replace(os.sep, "/"))
        return tuple(dict.fromkeys(each for each in names if each not in (name, path)))

    def _refuse(self, name: str, path: str) -> None:
        parts = [folder if (folder := self._key(p)) in CONTROL else p for p in path.split("/")]
        for part in parts:
            if part in CONTROL:
                raise PathRefused(
                    name,
                    "ignored",
                    f"{quoted(name)} is inside {part}, which belongs to version control.",
                    "Use the version control program itself.",
                    control="/".join(parts),
                )
        for rules in self._refusing_rules:
            if rules.refuses(path):
                raise PathRefused(
                    name,
                    "ignored",
                    f"{quoted(name)} is refused by {rules.name}.",
                    f"Work without it, or ask the user to change {rules.name}.",
                )
