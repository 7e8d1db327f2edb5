"""The imports of a workspace, both ways: an index that follows the disk, and is kept for later processes.

A look costs a stat per file, and the reading and resolving of sources that it does not vouch for.
An import is resolved again when its source names something else, and when a file that came or went,
or a settings file, may have changed its target. A look without time for all sources keeps what it
has read, and the next one goes on. Where two processes read at once, the index of the last one stays.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from math import inf
from stat import S_ISREG
from threading import Lock
from time import monotonic, time_ns
from weakref import WeakKeyDictionary

from msgspec import MsgspecError, Struct, msgpack, structs

from sightline.codegraph.language import Affected, Reference, Resolver
from sightline.codegraph.language_table import edition, language, language_name, language_of
from sightline.codegraph.related_files import Counted
from sightline.codegraph.test_names import Tests
from sightline.errors import PathError
from sightline.filesystem.deadline import DeadlinePassed
from sightline.filesystem.port import Workspace
from sightline.filesystem.scan import settled, tick_of
from sightline.filesystem.tree_index import (
    CONTENT,
    LOOKED_AT,
    NO_TREE,
    Listing,
    Row,
    keep,
    read_kept,
)
from sightline.model.revision import Revision, Stamp, StatSignature, compare, revision_of

NAME = "imports"
"""The file that is kept in the state folder of a workspace."""

BATCH = 100
"""Sources that are read and resolved before progress is told."""

KEPT_SHARE = 100
"""An index is kept when one source of so many is new in it."""

REMEMBERED = 500
"""Sources that a look has to read so that it keeps the tree for later processes."""

NEAR_MOST = 200
"""Importers that are looked at by themselves where there is no time for a look at the tree."""

SOURCE_BYTES, SETTINGS_BYTES = 8_000_000, 4_000_000
"""Larger sources and settings files are not read."""

REFERENCES_MOST = 20_000
"""References of one source that are kept; people write fewer."""

ASK_S = 1.0
"""How long the disk may take to answer for one file."""

PACKAGES = ("__init__.py", "__init__.pyi")
"""Names of files that an import of something else in their folder runs on the way."""

WORDS_MOST = 16
"""Words that references are searched for; for more, all imports of the language count as affected."""

EVERY = Affected(every=True)


class Edge(Struct, frozen=True, array_like=True, gc=False):
    """One file that another one imports.

    direct: not only as a package on the way; share: of the import's weight, less than 1 where the
    import means several files alike.
    """

    path: str
    line: int
    direct: bool
    share: float = 1.0


class Source(Struct, frozen=True, array_like=True, gc=False):
    """A source as it was read. signature: the signature in its row, when it was read; references: in
    msgpack; edges: what they lead to, None where that is not known."""

    revision: Revision
    signature: str
    read_at_ns: int
    references: bytes
    too_large: bool
    edges: tuple[Edge, ...] | None = None


class KeptIndex(Struct, array_like=True):
    """The file of an index. edition: of root and readers; paths: all files; settings: the settings files that
    resolvers asked for, by language and path, with their stamps, None where there was none."""

    edition: str
    paths: list[str]
    settings: list[tuple[str, str, Stamp | None]]
    sources: dict[str, Source]


_KEPT_FILE = msgpack.Decoder(KeptIndex)
_REFERENCES = msgpack.Decoder(tuple[Reference, ...])


class ImportIndex:
    """The index of one workspace. Hold its lock, and refresh it, before asking.

    paths: all files, in order; sizes: of files that a look saw, in bytes; unread: sources whose content
    at this moment is not known; unreadable: those that the disk did not give; unkept: why the index
    could not be kept for later processes, "" where it was.
    """

    def __init__(self) -> None:
        self.lock = Lock()
        self.paths: Sequence[str] = ()
        self.sizes: dict[str, int] = {}
        self.unread: set[str] = set()
        self.unreadable: set[str] = set()
        self.unkept = ""
        self._known: dict[str, Source] | None = None
        self._importers: dict[str, set[str]] = {}
        self._unresolved: set[str] = set()
        self._listed: set[str] = set()
        self._sources: set[str] = set()
        self._settings: dict[tuple[str, str], Stamp | None] = {}
        self._news = 0
        self._tests: Tests | None = None
        self._tree = NO_TREE
        self._seen: dict[str, Listing] = {}
        self._resolvers: dict[str, Resolver] = {}
        self._progress: Counted | None = None

    @property
    def tests(self) -> Tests:
        """The tests among the files."""
        if self._tests is None:
            self._tests = Tests(self.paths)
        return self._tests

    @property
    def known(self) -> dict[str, Source]:
        """The sources that were read, which refresh() loads."""
        assert self._known is not None
        return self._known

    def imports(self, path: str) -> tuple[Edge, ...]:
        """Return what a file imports of the workspace, in the order of its lines."""
        source = self.known.get(path)
        return () if source is None or path in self.unread else source.edges or ()

    def incoming(self, path: str) -> list[tuple[Edge, int]]:
        """Return the listed sources that import a file, in order, as edges that name the source,
        each with the number of files that this source imports."""
        found: list[tuple[Edge, int]] = []
        for importer in sorted(self._importers.get(path, ())):
            if importer in self._sources and importer not in self.unread:
                edges = self.known[importer].edges or ()
                edge = next(each for each in edges if each.path == path)
                found.append((structs.replace(edge, path=importer), len(edges)))
        return found

    def importers(self, path: str) -> tuple[str, ...]:
        """Return the paths of the files that import a file, in order."""
        return tuple([edge.path for edge, _ in self.incoming(path)])

    def importer_count(self, path: str) -> int:
        """Count the listed sources that import a file."""
        return len(self._importers.get(path, set()) & self._sources)

    def source_count(self) -> int:
        """Count the sources."""
        return len(self._sources)

    def pending_count(self) -> int:
        """Count the sources that are not read or not resolved yet, without the unreadable ones."""
        pending = self.unread.union(self._unresolved) - self.unreadable
        return len(pending & self._sources)

    def too_large_count(self) -> int:
        """Count the sources that are too large to be read."""
        return sum(path in self._sources for path, each in self.known.items() if each.too_large)

    def refresh(
        self,
        workspace: Workspace,
        *first: str,
        within_s: float | None = None,
        progress: Counted | None = None,
    ) -> None:
        """Follow the disk, the files `first` and their tests before all others.

        within_s: how long to look, read and resolve; None for no limit. Where there is no time for a
        look at the tree, look at `first` and their known importers by themselves. Unverifiable where
        the tree cannot be looked at.
        """
        until = inf if within_s is None else monotonic() + within_s
        if self._known is None:
            self._load(workspace)
        self._progress = progress
        try:
            self._refresh(workspace, first, until)
        finally:
            self._progress = None
            if self._news * KEPT_SHARE > len(self.known) or (self._news and self.pending_count()):
                self._keep(workspace)

    def _load(self, workspace: Workspace) -> None:
        """Take over the index that an earlier process kept, if it had the same readers."""
        self._known = {}
        folder = workspace.cache_folder()
        try:
            kept = _KEPT_FILE.decode(read_kept(folder, NAME)) if folder else None
        except (OSError, MsgspecError, RecursionError):
            return
        if kept is None or kept.edition != f"{workspace.root} {edition()}":
            return
        self._known, self._listed = kept.sources, set(kept.paths)
        self._settings = {(name, path): stamp for name, path, stamp in kept.settings}
        for path, source in kept.sources.items():
            self._link(path, source)

    def _keep(self, workspace: Workspace) -> None:
        """Keep the index for later processes."""
        folder = workspace.cache_folder()
        if not folder:
            return
        settings = [(name, path, stamp) for (name, path), stamp in self._settings.items()]
        words = f"{workspace.root} {edition()}"
        kept = KeptIndex(words, sorted(self._listed), settings, self.known)
        try:
            keep(folder, NAME, msgpack.encode(kept))
        except OSError as error:
            self.unkept = error.strerror or type(error).__name__
        else:
            self.unkept, self._news = "", 0

    def _link(self, path: str, source: Source) -> None:
        if source.edges is None:
            self._unresolved.add(path)
        for edge in source.edges or ():
            self._importers.setdefault(edge.path, set()).add(path)

    def _put(self, path: str, source: Source | None) -> None:
        """Put a source in place of the one known of a path. source: None for a file that is gone."""
        last = self.known.pop(path, None)
        self._unresolved.discard(path)
        for edge in last.edges or () if last is not None else ():
            self._importers.get(edge.path, set()).discard(path)
        if source is not None:
            self.known[path] = source
            self._link(path, source)
        self._news += 1

    def _refresh(self, workspace: Workspace, first: Sequence[str], until: float) -> None:
        self._follow_list(workspace.paths())
        self._follow_settings(workspace)
        self.unreadable.clear()
        last = workspace.remembered()
        try:
            half = None if until == inf else (monotonic() + until) / 2
            tree = workspace.tree(last, until=half)
        except DeadlinePassed:
            self._tree = last
            self._look_near(workspace, first)
            never_read = sorted(self._sources - self.known.keys())
            rows = ((path, _stat(workspace, path)) for path in never_read)
            self._resolve(workspace, first, until)
            self._read(workspace, rows, until)
            return
        self._tree = tree
        workspace.remember(tree, lasting=False)
        self.unread |= {path for path in first if self._is_ignored_source(path)}
        changed = self._changed(workspace)
        near = [each for path in first for each in (path, *self.tests.tests_of(path))]
        waiting = {path: changed.pop(path, None) for path in near if path in changed}
        many = len(waiting) + len(changed)
        self._read(workspace, waiting.items(), until)
        self._resolve(workspace, near, until)
        self._read(workspace, changed.items(), until)
        if many > REMEMBERED:
            workspace.remember(tree)

    def _is_ignored_source(self, path: str) -> bool:
        return path not in self._listed and language_name(path) is not None

    def _follow_list(self, paths: Sequence[str]) -> None:
        """Take over another list of files, and doubt the imports that this may lead elsewhere."""
        if paths == self.paths:
            return
        listed = set(paths)
        changed = self._listed ^ listed
        for path in [path for path in self.known if path not in listed]:
            self._put(path, None)
        for path in changed - listed:
            self._unresolve(self._importers.pop(path, set()))
        if changed:
            for name in {*map(language_name, self.known), *self._resolvers} - {None}:
                affected = language(str(name)).affected(changed)
                if affected is not None:
                    self._resolvers.pop(str(name), None)
                    self._doubt(str(name), affected)
        self.paths, self._listed, self._tests = paths, listed, None
        self._sources = {path for path in paths if language_name(path)}
        self.unread = self._sources - self.known.keys()
        self._seen.clear()

    def _follow_settings(self, workspace: Workspace) -> None:
        """Doubt all imports of each language whose settings changed."""
        changed = set()
        for (name, path), stamp in self._settings.items():
            now = _setting_stamp(workspace, path, stamp)
            if (now and now.revision) != (stamp and stamp.revision):
                changed.add(name)
            else:
                self._settings[name, path] = now
        for name in changed:
            self._resolvers.pop(name, None)
            self._doubt(name, EVERY)
        self._settings = {
            key: each for key, each in self._settings.items() if key[0] not in changed
        }

    def _doubt(self, name: str, affected: Affected) -> None:
        """Forget where the imports of a language lead that may lead elsewhere."""
        words = [word.encode("utf-8", "surrogatepass") for word in affected.words]
        is_every = affected.every or len(words) > WORDS_MOST
        self._unresolve(
            [
                path
                for path, source in self.known.items()
                if language_name(path) == name
                and (
                    is_every
                    or path.startswith(affected.folders)
                    or any(word in source.references for word in words)
                )
            ]
        )

    def _unresolve(self, paths: Iterable[str]) -> None:
        for path in list(paths):
            if (source := self.known.get(path)) is not None and source.edges is not None:
                self._put(path, structs.replace(source, edges=None))

    def _changed(self, workspace: Workspace) -> dict[str, Row | None]:
        """Return the sources whose content is not known, with their rows; None where no row vouches for them."""
        rows: dict[str, Row | None] = {}
        found = set()
        for folder, listing in self._tree.listings.items():
            if self._seen.get(folder) is listing:
                continue
            for name, row in listing.files.items():
                path = folder + name
                self.sizes[path] = int(row[0])
                if path in self._sources:
                    found.add(path)
                    if not self._vouches(path, row):
                        rows[path] = row
        beside = self.unread - found
        beside.update(path for path in self._sources if self._tree.row(path) is None)
        for path in beside:
            stands = self._tree.row(path) or _stat(workspace, path)
            if stands is None or not self._vouches(path, stands):
                rows[path] = stands
        self.unread |= rows.keys()
        self._seen = dict(self._tree.listings)
        return rows

    def _vouches(self, path: str, row: Row) -> bool:
        """Return whether the content that was read of a source is that of a row."""
        known = self.known.get(path)
        if known is None:
            return False
        if row[CONTENT] != known.revision:
            is_same = known.signature == _signature_text(row)
            if not is_same or not settled(int(row[1]), int(row[2]), known.read_at_ns):
                return False
            if S_ISREG(int(row[5])):
                row[CONTENT] = known.revision
        self.unread.discard(path)
        return True

    def _read(
        self, workspace: Workspace, rows: Iterable[tuple[str, Row | None]], until: float
    ) -> None:
        """Read and resolve sources as long as there is time, one at least."""
        waiting = iter(rows)
        while batch := dict(islice(waiting, BATCH)):
            for path, source in self._read_batch(workspace, batch, until):
                if source.edges is None:
                    source = structs.replace(source, edges=self._edges(workspace, path, source))
                self._put(path, source)
                self.unread.discard(path)
            self._count()
            if monotonic() > until:
                return

    def _count(self) -> None:
        if self._progress is not None:
            count = self.source_count()
            self._progress(count - self.pending_count(), count)

    def _read_batch(
        self, workspace: Workspace, batch: dict[str, Row | None], until: float
    ) -> Iterator[tuple[str, Source]]:
        quick = (
            (path, row)
            for path, row in batch.items()
            if row is not None and S_ISREG(int(row[5])) and int(row[0]) <= SOURCE_BYTES
        )
        read = set()
        for path, row, data in workspace.contents(quick):
            if data is not None:
                row[CONTENT] = revision = revision_of(data)
                read.add(path)
                stamp = revision, _signature_text(row), int(row[LOOKED_AT])
                yield path, self._source(path, stamp, data)
            if monotonic() > until:
                return
        for path in batch.keys() - read:
            source = self._read_file(workspace, path)
            if source is not None:
                yield path, source
            else:
                self.unreadable.add(path)
            if monotonic() > until:
                return

    def _read_file(self, workspace: Workspace, path: str) -> Source | None:
        """Read a file that has no row, or no longer stands as its row says."""
        state = workspace.read(path, limit=SOURCE_BYTES, deadline_s=ASK_S)
        if state.kind == "unreadable":
            return None
        signature = _signature_text(_row(state.signature)) if state.signature else ""
        stamp = state.revision, signature, state.read_at_ns
        return self._source(path, stamp, state.data or b"", too_large=state.why == "too_large")

    def _source(
        self, path: str, stamp: tuple[Revision, str, int], data: bytes, *, too_large: bool = False
    ) -> Source:
        """Read the references of a source; its known ones stand for an unchanged revision."""
        known = self.known.get(path)
        if known is not None and known.revision == stamp[0]:
            return Source(*stamp, known.references, too_large, known.edges)
        named = language_of(path).references(data, path)
        references = tuple(islice(named, REFERENCES_MOST))
        return Source(*stamp, msgpack.encode(references), too_large)

    def _look_near(self, workspace: Workspace, first: Sequence[str]) -> None:
        """Look at files and at their known importers, and at nothing else."""
        self.unread = set(self._sources)
        self._seen.clear()
        for path in first:
            if language_name(path) is not None:
                self._read(workspace, [(path, None)], 0)
        self._resolve(workspace, first, 0)  # one, however late it is
        importers = (each for path in first for each in sorted(self._importers.get(path, ())))
        stamps = {
            path: Stamp(_as_signature(known.signature), known.revision, known.read_at_ns)
            for path in islice(importers, NEAR_MOST)
            if (known := self.known[path]).signature
        }
        doubtful = workspace.scan(stamps, deadline_s=ASK_S)
        other = {state.path for state in doubtful if state.revision != stamps[state.path].revision}
        self.unread -= stamps.keys() - other

    def _resolve(self, workspace: Workspace, order: Sequence[str], until: float) -> None:
        """Find the targets of sources that were read, as long as there is time. order: those that come
        first."""
        waiting = sorted(
            self._unresolved, key=lambda path: (path not in order, path in self.unread, path)
        )
        for number, path in enumerate(waiting, 1):
            source = self.known[path]
            edges = self._edges(workspace, path, source)
            self._put(path, structs.replace(source, edges=edges))
            if number % BATCH == 0 or number == len(waiting):
                self._count()
            if monotonic() > until:
                return

    def _edges(self, workspace: Workspace, path: str, source: Source) -> tuple[Edge, ...]:
        """Return where the references of a source lead, each file once."""
        resolver = self._resolver(workspace, language_of(path).name)
        edges: dict[str, Edge] = {}
        for reference in _REFERENCES.decode(source.references):
            for number, target in enumerate(resolver.targets(path, reference)):
                direct = number == 0 or target[target.rfind("/") + 1 :] not in PACKAGES
                share = 1 / (1 + number) if reference.kind == "package" else 1.0
                known = edges.get(target)
                is_better = known is None or (known.direct, known.share) < (direct, share)
                if target != path and is_better:
                    edges[target] = Edge(target, reference.line, direct, share)
        return tuple(edges.values())

    def _resolver(self, workspace: Workspace, name: str) -> Resolver:
        """Return the resolver of a language, for this list of files and these settings."""

        def read(path: str) -> bytes | None:
            """Read a settings file and note its stamp."""
            try:
                workspace.locate(path)
            except (PathError, OSError):
                return None  # settings may name what no file can be called
            state = workspace.read(path, limit=SETTINGS_BYTES, deadline_s=ASK_S)
            signature = None if state.kind == "missing" else state.signature or workspace.stat(path)
            stamp = Stamp(signature, state.revision, state.read_at_ns) if signature else None
            self._settings.setdefault((name, path), stamp)  # the next look sees a change since
            return state.data

        if name not in self._resolvers:
            self._resolvers[name] = language(name).resolver(self.paths, read)
        return self._resolvers[name]


def _setting_stamp(workspace: Workspace, path: str, last: Stamp | None) -> Stamp | None:
    """Return how a settings file stands, None for none; the last stamp where nothing changed."""
    now = workspace.stat(path)
    if now is None or (last is not None and compare(last, now, tick_of(now)) == "same"):
        return None if now is None else last
    state = workspace.read(path, limit=0, deadline_s=ASK_S)
    if state.kind == "missing":
        return None
    return Stamp(state.signature or now, state.revision, state.read_at_ns)


def _stat(workspace: Workspace, path: str) -> Row | None:
    """Return a file's row, as in a tree."""
    at_ns, signature = time_ns(), workspace.stat(path)
    if signature is None:
        return None
    return [*_row(signature), "", at_ns]


def _row(signature: StatSignature) -> Row:
    return [*map(int, structs.astuple(signature))]


def _signature_text(row: Row) -> str:
    """Return the signature in a row of a tree; inode numbers do not fit msgpack's integers."""
    return str(row[:CONTENT])


def _as_signature(text: str) -> StatSignature:
    return StatSignature(*json.loads(text))


def index_of(workspace: Workspace) -> ImportIndex:
    """Return the one index of a workspace in this process."""
    with _LOCK:
        return _KEPT.setdefault(workspace, ImportIndex())


@contextmanager
def hold_index(
    workspace: Workspace,
    *first: str,
    within_s: float | None = None,
    progress: Counted | None = None,
) -> Iterator[ImportIndex]:
    """Refresh the index and hold it; see ImportIndex.refresh.

    Where another thread holds it for longer than there is time, ask the kept index as it is, by an
    index of one's own.
    """
    index = index_of(workspace)
    if not index.lock.acquire(timeout=-1 if within_s is None else max(within_s, 0)):
        index = ImportIndex()
        index.lock.acquire()
        within_s = 0
    try:
        index.refresh(workspace, *first, within_s=within_s, progress=progress)
        yield index
    finally:
        index.lock.release()


_KEPT: WeakKeyDictionary[Workspace, ImportIndex] = WeakKeyDictionary()
_LOCK = Lock()


def _begin_child() -> None:
    """Begin without the indexes of the parent process, whose threads may hold them."""
    _KEPT.clear()
    _LOCK.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_LOCK.acquire, after_in_parent=_LOCK.release, after_in_child=_begin_child
    )
