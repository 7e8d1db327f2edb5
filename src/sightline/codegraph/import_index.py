"""The imports of a workspace, both ways: an index that follows the disk and outlives a process.

A look costs a stat per file, and the reading and resolving of sources that it does not vouch for.
An import is resolved again when its source names something else, and when a file that came or went,
or a settings file, may have changed its target. Sources are read, resolved and written in batches, so
a look without time for all of them loses nothing, and processes at work at once share the batches.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from math import inf
from random import SystemRandom
from stat import S_ISREG
from threading import Lock
from time import monotonic, time_ns
from weakref import WeakKeyDictionary

from msgspec import structs

from sightline.codegraph.import_tables import (
    Edge,
    ImportTables,
    Known,
    Source,
    as_signature,
    row_signature,
    signature_text,
)
from sightline.codegraph.language_table import edition, language, language_name, language_of
from sightline.codegraph.reference import Affected, Reference, Resolver
from sightline.codegraph.related_files import Counted
from sightline.codegraph.test_names import Tests
from sightline.errors import PathError
from sightline.filesystem.deadline import DeadlinePassed
from sightline.filesystem.port import Workspace
from sightline.filesystem.scan import settled, tick_of
from sightline.filesystem.tree_index import CONTENT, LOOKED_AT, NO_TREE, Listing, Row
from sightline.model.revision import Revision, Stamp, compare, revision_of

BATCH = 100
"""Sources that are read and resolved, and then written in one transaction."""

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

EVERY = Affected(every=True)


class ImportIndex:
    """The index of one workspace. Hold its lock, and refresh it, before asking.

    paths: all files, in order; sizes: of files that a look saw, in bytes; unread: sources whose content
    at this moment is not known; unreadable: those that the disk did not give; unkept: why the tables
    could not be written for later processes, "" where they were.
    """

    def __init__(self) -> None:
        self.lock = Lock()
        self.paths: Sequence[str] = ()
        self.sizes: dict[str, int] = {}
        self.unread: set[str] = set()
        self.unreadable: set[str] = set()
        self.unkept = ""
        self._tables: ImportTables | None = None
        self._epoch = -1
        self._known: set[str] = set()
        self._sources: set[str] = set()
        self._tests: Tests | None = None
        self._tree = NO_TREE
        self._seen: dict[str, Listing] = {}
        self._resolvers: dict[str, Resolver] = {}
        self._asked: list[tuple[str, str, Stamp | None]] = []
        self._progress: Counted | None = None

    @property
    def tests(self) -> Tests:
        """The tests among the files."""
        if self._tests is None:
            self._tests = Tests(self.paths)
        return self._tests

    @property
    def tables(self) -> ImportTables:
        """The tables, which refresh() opens."""
        assert self._tables is not None
        return self._tables

    def imports(self, path: str) -> tuple[Edge, ...]:
        """Return what a file imports of the workspace, in the order of its lines."""
        return () if path in self.unread else self.tables.imports(path)

    def incoming(self, path: str) -> list[tuple[Edge, int]]:
        """Return the files that import a file, in order; see ImportTables.incoming."""
        incoming = self.tables.incoming(path)
        return [(edge, count) for edge, count in incoming if edge.path not in self.unread]

    def importers(self, path: str) -> tuple[str, ...]:
        """Return the paths of the files that import a file, in order."""
        return tuple([edge.path for edge, _ in self.incoming(path)])

    def source_count(self) -> int:
        """Count the sources."""
        return len(self._sources)

    def pending_count(self) -> int:
        """Count the sources that are not read or not resolved yet, without the unreadable ones."""
        pending = self.unread.union(self.tables.unresolved()) - self.unreadable
        return len(pending & self._sources)

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
        self._progress = progress
        try:
            self._refresh_until(workspace, first, until)
        except sqlite3.Error as error:
            self.unkept = str(error)
            self._tables, self._epoch = ImportTables("", ""), -1
            self._refresh_until(workspace, first, until)
        finally:
            self._progress = None

    def _refresh_until(self, workspace: Workspace, first: Sequence[str], until: float) -> None:
        """Look again where another process changed the list of files meanwhile, if there is time."""
        while not self._refresh(workspace, first, until) and monotonic() <= until:
            continue

    def _refresh(self, workspace: Workspace, first: Sequence[str], until: float) -> bool:
        """Return whether no other process changed the list of files, or settings, meanwhile."""
        if self._tables is None:
            self._tables = ImportTables(workspace.cache_folder(), f"{workspace.root} {edition()}")
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
            never_read = sorted(self._sources - self.tables.read_paths())
            rows = ((path, _stat(workspace, path)) for path in never_read)
            return self._resolve(workspace, first, until) and self._read(workspace, rows, until)
        self._tree = tree
        workspace.remember(tree, lasting=False)
        adopted = {path: name for path in first if (name := self._ignored_language(path))}
        for path, name in adopted.items():
            self.tables.adopt(path, name)
        self.unread |= adopted.keys()
        changed = self._changed(workspace)
        near = [each for path in first for each in (path, *self.tests.tests_of(path))]
        waiting = {path: changed.pop(path, None) for path in near if path in changed}
        many = len(waiting) + len(changed)
        is_same = (
            self._read(workspace, waiting.items(), until)
            and self._resolve(workspace, near, until)
            and self._read(workspace, _shuffled(changed), until)
        )
        if many > REMEMBERED:
            workspace.remember(tree)
        return is_same

    def _ignored_language(self, path: str) -> str | None:
        """Return the language of a source that is not listed; None for any other file."""
        return None if path in self._known else language_name(path)

    def _follow_list(self, paths: Sequence[str]) -> None:
        """Take over another list of files, and doubt the imports that this may lead elsewhere."""
        if self.tables.epoch() == self._epoch and paths == self.paths:
            return
        known = set(paths)
        with self.tables.writing():
            if self.tables.epoch() != self._epoch:  # another process changed the list, or settings
                self._resolvers.clear()
                listed = self.tables.paths()
            else:
                listed = self._known
            changed = listed ^ known
            if changed:
                languages = self.tables.languages() | self._resolvers.keys()
                came = [(path, language_name(path)) for path in paths if path not in listed]
                self.tables.list_files(came, listed - known)
                for name in languages:
                    affected = language(name).affected(changed)
                    if affected is not None:
                        self._resolvers.pop(name, None)
                        self.tables.unresolve(name, affected)
            epoch = self.tables.epoch()
        self.paths, self._known, self._tests, self._epoch = paths, known, None, epoch
        self._sources = {path for path in paths if language_name(path)}
        self.unread = self._sources - self.tables.read_paths()
        self._seen.clear()

    def _follow_settings(self, workspace: Workspace) -> None:
        """Mark all imports of each language whose settings changed."""
        changed = set()
        for name, path, stamp in self.tables.settings():
            now = _setting_stamp(workspace, path, stamp)
            if (now and now.revision) != (stamp and stamp.revision):
                changed.add(name)
            elif now != stamp:
                self.tables.put_setting(name, path, now)
        if changed:
            with self.tables.writing():
                for name in changed:
                    self._resolvers.pop(name, None)
                    self.tables.drop_settings(name)
                    self.tables.unresolve(name, EVERY)
                self._epoch += len(changed)

    def _changed(self, workspace: Workspace) -> dict[str, Row | None]:
        """Return the sources whose content is not known, with their rows; None where no row vouches for them."""
        rows: dict[str, Row | None] = {}
        found = set()
        every = self.tables.every_known() if not self._seen else None
        for folder, listing in self._tree.listings.items():
            if self._seen.get(folder) is listing:
                continue
            for name, row in listing.files.items():
                path = folder + name
                self.sizes[path] = int(row[0])
                if path in self._sources:
                    found.add(path)
                    known = self.tables.known(path) if every is None else every.get(path)
                    if not self._vouches(path, row, known):
                        rows[path] = row
        beside = self.unread - found
        beside.update(path for path in self._sources if self._tree.row(path) is None)
        for path in beside:
            stands = self._tree.row(path) or _stat(workspace, path)
            if stands is None or not self._vouches(path, stands, self.tables.known(path)):
                rows[path] = stands
        self.unread |= rows.keys()
        self._seen = dict(self._tree.listings)
        return rows

    def _vouches(self, path: str, row: Row, known: Known | None) -> bool:
        """Return whether the content that was read of a source is that of a row."""
        if known is None:
            return False
        revision, signature, read_at_ns = known
        if row[CONTENT] != revision:
            is_same = signature == row_signature(row)
            if not is_same or not settled(int(row[1]), int(row[2]), read_at_ns):
                return False
            if S_ISREG(int(row[5])):
                row[CONTENT] = revision
        self.unread.discard(path)
        return True

    def _read(
        self, workspace: Workspace, rows: Iterable[tuple[str, Row | None]], until: float
    ) -> bool:
        """Read and resolve sources as long as there is time, one at least, and write them.

        Return False, and stop, where another process changed the list of files, or settings.
        """
        waiting = iter(rows)
        while batch := dict(islice(waiting, BATCH)):
            batch = {
                path: row
                for path, row in batch.items()
                # another process may have read it since
                if row is None or not self._vouches(path, row, self.tables.known(path))
            }
            sources = []
            edges = []
            for source in self._read_batch(workspace, batch, until):
                sources.append(source)
                if source.references is not None:
                    found = self._edges(workspace, source.path, source.references)
                    edges.append((source.path, source.revision, found))
            is_same = self._write(sources, edges)
            self.unread.difference_update(source.path for source in sources)
            self._count()
            if not is_same or monotonic() > until:
                return is_same
        return True

    def _write(
        self, sources: Iterable[Source], edges: Iterable[tuple[str, Revision, list[Edge]]]
    ) -> bool:
        """Write sources, and what they import unless another process changed the list of files, or
        settings; return False then."""
        with self.tables.writing():
            is_same = self.tables.epoch() == self._epoch
            self.tables.put_sources(sources)
            if is_same:
                for setting in self._asked:
                    self.tables.put_setting(*setting)
                for each in edges:
                    self.tables.put_edges(*each)
        if is_same:
            self._asked.clear()
        return is_same

    def _count(self) -> None:
        if self._progress is not None:
            count = self.source_count()
            self._progress(count - self.pending_count(), count)

    def _read_batch(
        self, workspace: Workspace, batch: dict[str, Row | None], until: float
    ) -> Iterator[Source]:
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
                stamp = revision, row_signature(row), int(row[LOOKED_AT])
                yield self._source(path, stamp, data)
            if monotonic() > until:
                return
        for path in batch.keys() - read:
            source = self._read_file(workspace, path)
            if source is not None:
                yield source
            else:
                self.unreadable.add(path)
            if monotonic() > until:
                return

    def _read_file(self, workspace: Workspace, path: str) -> Source | None:
        """Read a file that has no row, or no longer stands as its row says."""
        state = workspace.read(path, limit=SOURCE_BYTES, deadline_s=ASK_S)
        if state.kind == "unreadable":
            return None
        signature = "" if state.signature is None else signature_text(state.signature)
        stamp = state.revision, signature, state.read_at_ns
        return self._source(path, stamp, state.data or b"", too_large=state.why == "too_large")

    def _source(
        self, path: str, stamp: tuple[Revision, str, int], data: bytes, *, too_large: bool = False
    ) -> Source:
        """Read the references of a source; its known ones stand for an unchanged revision."""
        known = self.tables.known(path)
        references = None
        if known is None or known[0] != stamp[0]:
            named = language_of(path).references(data, path)
            references = tuple(islice(named, REFERENCES_MOST))
        return Source(path, *stamp, references, too_large)

    def _look_near(self, workspace: Workspace, first: Sequence[str]) -> None:
        """Look at files and at their known importers, and at nothing else."""
        self.unread = set(self._sources)
        self._seen.clear()
        for path in first:
            name = language_name(path)
            if name is not None:
                self.tables.adopt(path, name)
                self._read(workspace, [(path, None)], 0)
        self._resolve(workspace, first, 0)  # one, however late it is
        stamps = {}
        importers = chain.from_iterable(map(self.tables.incoming, first))
        for edge, _ in islice(importers, NEAR_MOST):
            known = self.tables.known(edge.path)
            if known is not None and known[1]:
                stamps[edge.path] = Stamp(as_signature(known[1]), known[0], known[2])
        doubtful = workspace.scan(stamps, deadline_s=ASK_S)
        other = {state.path for state in doubtful if state.revision != stamps[state.path].revision}
        self.unread -= stamps.keys() - other

    def _resolve(self, workspace: Workspace, order: Sequence[str], until: float) -> bool:
        """Find the targets of sources that were read, as long as there is time, and write them.

        order: those that come first. Return as _read does.
        """
        pending = self.tables.unresolved()
        pending.sort(key=lambda path: (path not in order, path in self.unread))
        waiting = iter(pending)
        while batch := list(islice(waiting, BATCH)):
            edges = []
            for path in batch:
                revision, references = self.tables.references(path)
                edges.append((path, revision, self._edges(workspace, path, references)))
                if monotonic() > until:
                    break
            is_same = self._write([], edges)
            self._count()
            if not is_same or monotonic() > until:
                return is_same
        return True

    def _edges(
        self, workspace: Workspace, path: str, references: Iterable[Reference]
    ) -> list[Edge]:
        """Return where the references of a source lead, each file once."""
        resolver = self._resolver(workspace, language_of(path).name)
        edges: dict[str, Edge] = {}
        for reference in references:
            for number, target in enumerate(resolver.targets(path, reference)):
                direct = number == 0 or target[target.rfind("/") + 1 :] not in PACKAGES
                share = 1 / (1 + number) if reference.kind == "package" else 1.0
                known = edges.get(target)
                is_better = known is None or (known.direct, known.share) < (direct, share)
                if target != path and is_better:
                    edges[target] = Edge(target, reference.line, direct, share)
        return list(edges.values())

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
            self._asked.append((name, path, stamp))
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
    return [*map(int, structs.astuple(signature)), "", at_ns]


def _shuffled(rows: dict[str, Row | None]) -> Iterator[tuple[str, Row | None]]:
    """Return rows in batches of random order, so that processes at work at once read different ones."""
    waiting = iter(rows.items())
    batches = list(iter(lambda: list(islice(waiting, BATCH)), []))
    SystemRandom().shuffle(batches)
    return chain.from_iterable(batches)


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

    Where another thread holds it for longer than there is time, ask the tables as they are, by an
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
_OF_PARENTS: list[ImportIndex] = []
"""Indexes of the process that forked this one: closing their tables here would harm it."""


def _begin_child() -> None:
    """Begin without the indexes of the parent process, whose threads may hold them."""
    _OF_PARENTS.extend(_KEPT.values())
    _KEPT.clear()
    _LOCK.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_LOCK.acquire, after_in_parent=_LOCK.release, after_in_child=_begin_child
    )
