"""Who imports whom in a workspace: an index that is kept in memory and follows the disk.

A look costs a stat per file. What is read again is what a stat no longer vouches for; what is
resolved again is that, and what a file that came or went, or a settings file, may have changed.
"""

from __future__ import annotations

from _thread import allocate_lock
from stat import S_ISREG
from time import monotonic
from weakref import WeakKeyDictionary

from sightline.core.imports.testing_names import Tests
from sightline.core.revision import compare, revision_of
from sightline.core.value import Value
from sightline.errors import PathError
from sightline.services.ground import stamp_of
from sightline.services.languages import LANGUAGES, NAMED, ending
from sightline.workspace.tree import CONTENT, NO_TREE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sightline.core.imports.python import Affected
    from sightline.core.imports.reference import Reader, Reference, Resolver
    from sightline.core.revision import Revision, Stamp
    from sightline.services.languages import Language
    from sightline.workspace import Workspace
    from sightline.workspace.tree import Listing, Row, Tree

INDEX_S = 20.0
"""How long one look reads and resolves; what it left is told, and is done by the next."""

SOURCE_BYTES = 8_000_000
"""A larger source is not read for what it imports."""

TICK_NS = 20_000_000


class Edge(Value):
    """One file that another one imports. line: where; direct: not only as a package on the way;
    share: of the import's weight, less than all where it means several files alike."""

    path: str
    line: int
    direct: bool
    share: float = 1.0


class Importing:
    """One workspace's index. All of it is to be asked under its lock, after refresh()."""

    def __init__(self) -> None:
        self.lock = allocate_lock()
        self.paths: tuple[str, ...] = ()
        self.tests = Tests(())
        self.unread: set[str] = set()
        self.too_large: set[str] = set()
        self.sizes: dict[str, int] = {}
        self._tree: Tree = NO_TREE
        self._seen: dict[str, Listing] = {}
        self._beside: dict[str, Stamp] = {}
        self._revisions: dict[str, Revision] = {}
        self._references: dict[tuple[str, Revision], tuple[Reference, ...]] = {}
        self._languages: set[str] = set()
        self._resolvers: dict[str, Resolver] = {}
        self._settings: dict[tuple[str, str], Stamp | None] = {}
        self._words: dict[tuple[str, Revision], frozenset[str]] = {}
        self._known: set[str] = set()
        self._edges: dict[str, tuple[Edge, ...]] = {}
        self._importers: dict[str, set[str]] = {}

    def imports(self, path: str) -> tuple[Edge, ...]:
        """What a file imports of the workspace, in the order of its lines."""
        return self._edges.get(path, ())

    def importers(self, path: str) -> tuple[str, ...]:
        """The files that import a file."""
        return tuple(sorted(self._importers.get(path, ())))

    def left(self) -> int:
        """How many sources could not be read or were not come to."""
        return len(self.unread) + len(self._revisions.keys() - self._edges.keys())

    def refresh(
        self, workspace: Workspace, first: str = "", *, within_s: float | None = None
    ) -> None:
        """Follow the disk, `first` before all others. within_s: how long that reads and resolves.
        Unverifiable where the tree cannot be looked at."""
        until = monotonic() + (INDEX_S if within_s is None else within_s)
        paths = workspace.paths()
        self._tree = workspace.tree(self._tree)
        if paths != self.paths:
            self._listed(paths)
        waiting = self._changed(workspace)
        self._reset(workspace)
        if first not in self._known and first not in self._revisions and ending(first) in LANGUAGES:
            waiting[first] = None  # an ignored file: it imports others, and is not answered itself
        if first in waiting:
            waiting = {first: waiting.pop(first), **waiting}
        self._read(workspace, waiting, until)
        self._resolve(workspace, first, until)

    def _listed(self, paths: tuple[str, ...]) -> None:
        """Take over another list of files."""
        changed = self._known.symmetric_difference(paths)
        self.paths, self._known = paths, set(paths)
        self.tests = Tests(paths)
        sources = {path for path in paths if ending(path) in LANGUAGES}
        for gone in self._revisions.keys() - sources:
            del self._revisions[gone]
            self._forget(gone)
        self.unread = sources - self._revisions.keys()
        self.too_large &= sources
        self._beside = {path: v for path, v in self._beside.items() if path in sources}
        used = set(self._revisions.values())
        self._references = {key: v for key, v in self._references.items() if key[1] in used}
        self._words = {key: v for key, v in self._words.items() if key in self._references}
        for name in self._languages:
            language = NAMED[name]()
            concerned = language.affected(changed)
            if concerned is not None:
                self._unresolve(language, concerned)
        self._seen.clear()  # what a folder holds may be found now and was not

    def _unresolve(self, language: Language, concerned: Affected | None) -> None:
        """Forget where imports lead that may lead elsewhere now; None: all of the language."""
        self._resolvers.pop(language.name, None)
        for path, revision in self._revisions.items():
            if path in self._edges and LANGUAGES[ending(path)]() is language:
                words = self._words[ending(path), revision]
                if concerned is None or _concerns(concerned, path, words):
                    self._forget(path)

    def _changed(self, workspace: Workspace) -> dict[str, Row | None]:
        """The sources that have to be read, with their rows in the tree; None where they have
        none, as what is tracked though it is ignored."""
        rows: dict[str, Row | None] = {}
        listings, known, revisions = self._tree.listings, self._known, self._revisions
        for folder, listing in listings.items():
            if self._seen.get(folder) is listing:
                continue
            for name, row in listing.files.items():
                path = folder + name
                self.sizes[path] = int(row[0])
                source = ending(name) in LANGUAGES and S_ISREG(int(row[5])) and path in known
                if source and (not row[CONTENT] or row[CONTENT] != revisions.get(path)):
                    rows[path] = row
        for path in self.unread - rows.keys():
            folder, _, name = path.rpartition("/")
            found = listings.get(f"{folder}/" if folder else "")
            rows[path] = found.files.get(name) if found else None
        rows.update(dict.fromkeys(self._moved(workspace)))
        self._seen = dict(listings)
        return rows

    def _moved(self, workspace: Workspace) -> Iterator[str]:
        """Those beside the tree that a stat no longer vouches for."""
        for path, stamp in list(self._beside.items()):
            now = workspace.stat(path)
            if now is None or compare(stamp, now, TICK_NS) != "same":
                yield path

    def _read(self, workspace: Workspace, waiting: dict[str, Row | None], until: float) -> None:
        """Learn what these name, as long as there is time."""
        self.unread |= waiting.keys()
        quick = (
            (path, row) for path, row in waiting.items() if row and int(row[0]) <= SOURCE_BYTES
        )
        for path, row, data in workspace.contents(quick):
            if data is not None:
                row[CONTENT] = revision = revision_of(data)
                self._learn(path, revision, data)
            if monotonic() > until:
                return
        for path in sorted(self.unread & waiting.keys()):
            self._look(workspace, path)
            if monotonic() > until:
                return

    def _look(self, workspace: Workspace, path: str) -> None:
        """A file that takes a closer look, or has no row."""
        found = workspace.read(path, limit=SOURCE_BYTES, deadline_s=1.0)
        stamp = stamp_of(found)
        if found.signature is not None:
            self.sizes[path] = found.signature.size
        if stamp is not None:
            self._beside[path] = stamp
        if found.kind == "unreadable":
            return
        self._learn(path, found.revision, found.data or b"")
        if found.why == "too_large":
            self.too_large.add(path)

    def _learn(self, path: str, revision: Revision, data: bytes) -> None:
        self.unread.discard(path)
        self.too_large.discard(path)
        if self._revisions.get(path) == revision:
            return
        language = LANGUAGES[ending(path)]()
        self._languages.add(language.name)
        key = ending(path), revision
        if key not in self._references:
            self._references[key] = found = language.references(data, path)
            self._words[key] = frozenset(word for each in found for word in _words(each))
        self._revisions[path] = revision
        self._forget(path)

    def _forget(self, path: str) -> None:
        for edge in self._edges.pop(path, ()):
            self._importers.get(edge.path, set()).discard(path)

    def _reset(self, workspace: Workspace) -> None:
        """Resolve anew by resolvers one of whose settings files is another one now."""
        for name in {
            name for (name, path), was in self._settings.items() if _other(workspace, path, was)
        }:
            self._unresolve(NAMED[name](), None)
            self._settings = {key: v for key, v in self._settings.items() if key[0] != name}

    def _resolve(self, workspace: Workspace, first: str, until: float) -> None:
        """Find the files that all sources name, where that was not done."""
        missing = [path for path in self._revisions if path not in self._edges]
        for path in sorted(missing, key=lambda path: path != first):
            self._edges[path] = edges = tuple(self._edges_of(workspace, path))
            for edge in edges if path in self._known else ():
                self._importers.setdefault(edge.path, set()).add(path)
            if monotonic() > until:
                return

    def _edges_of(self, workspace: Workspace, path: str) -> Iterator[Edge]:
        language = LANGUAGES[ending(path)]()
        resolver = self._resolvers.get(language.name)
        if resolver is None:
            reader = self._reader(workspace, language.name)
            resolver = language.resolver(self.paths, reader)
            self._resolvers[language.name] = resolver
        met: dict[str, Edge] = {}
        for reference in self._references[ending(path), self._revisions[path]]:
            for number, target in enumerate(resolver.targets(path, reference)):
                direct = number == 0 or not target.endswith(("/__init__.py", "/__init__.pyi"))
                share = 1 / (1 + number) if reference.kind == "package" else 1.0
                edge = Edge(target, reference.line, direct, share)
                known = met.get(target)
                if known is None or (known.direct, known.share) < (direct, share):
                    met[target] = edge
        yield from met.values()

    def _reader(self, workspace: Workspace, name: str) -> Reader:
        def read(path: str) -> bytes | None:
            try:
                workspace.locate(path)
            except (PathError, OSError):
                return None  # settings may name what no file can be called
            found = workspace.read(path, limit=SOURCE_BYTES, deadline_s=1.0)
            self._settings[name, path] = stamp_of(found)
            return found.data

        return read


def _words(reference: Reference) -> Iterable[str]:
    """What a reference may find a file by."""
    return (*reference.module.split("."), *reference.names)


def _concerns(concerned: Affected, path: str, words: frozenset[str]) -> bool:
    named = not concerned.words.isdisjoint(words)
    return concerned.every or named or path.startswith(concerned.folders)


def _other(workspace: Workspace, path: str, was: Stamp | None) -> bool:
    now = workspace.stat(path)
    if now is None or was is None:
        return now is not None or was is not None
    if compare(was, now, TICK_NS) == "same":
        return False
    return workspace.read(path, limit=SOURCE_BYTES, deadline_s=1.0).revision != was.revision


def index_of(workspace: Workspace) -> Importing:
    """The one index of a workspace."""
    with _LOCK:
        return _KEPT.setdefault(workspace, Importing())


_KEPT: WeakKeyDictionary[Workspace, Importing] = WeakKeyDictionary()
_LOCK = allocate_lock()
