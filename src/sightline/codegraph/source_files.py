"""The sources of a workspace, and what each of them names: followed by a stat per file.

What is read again is what a stat no longer vouches for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from stat import S_ISREG
from time import monotonic, time_ns

from msgspec import structs

from sightline.changes.session_context import stamp_of
from sightline.codegraph.import_cache import ASK_S, Keeper, State
from sightline.codegraph.language_table import LANGUAGES, ending
from sightline.codegraph.reference_packing import References, packed
from sightline.codegraph.test_names import Tests
from sightline.filesystem.port import Workspace
from sightline.filesystem.scan import settled, tick_of
from sightline.filesystem.tree_index import CONTENT, LOOKED_AT, Listing, Row, Tree
from sightline.model.revision import UNKNOWN, Revision, Stamp, StatSignature, compare, revision_of

SOURCE_BYTES = 8_000_000
"""A larger source is not read for what it imports."""


REFERENCES_MOST = 20_000
"""References of one source that are kept; people write fewer."""


class Sources:
    """Knows the list of files, which of them are sources, how each stands and what it names; not
    where that leads. renewed: is told of each source that names something else than it did.

    paths, known: the files, in order and as a set; unread: sources of which it is not known what
    they name now; too_large: those of which it never will be; sizes: of files, in bytes;
    revisions: of what was read; references: what such a text names; beside: stamps of sources
    that the tree does not tell of; rows: of sources, as they were read."""

    def __init__(self, keeper: Keeper, renewed: Callable[[str], None]) -> None:
        self.paths: Sequence[str] = ()
        self.known: set[str] = set()
        self.unread: set[str] = set()
        self.too_large: set[str] = set()
        self.sizes: dict[str, int] = {}
        self.revisions: dict[str, Revision] = {}
        self.references = References()
        self.beside: dict[str, Stamp] = {}
        self.rows: dict[str, Row] = {}
        self._keeper = keeper
        self._renewed = renewed
        self._sources: set[str] = set()
        self._seen: dict[str, Listing] = {}
        self._tests: Tests | None = None

    @property
    def tests(self) -> Tests:
        """The tests among the files."""
        if self._tests is None:
            self._tests = Tests(self.paths)
        return self._tests

    def text(self, path: str) -> str:
        """What a source that was read names, packed."""
        return self.references.text((ending(path), self.revisions[path]))

    def begin(self, state: State) -> None:
        """Start with what an earlier process kept; none of it is vouched for yet."""
        self.paths, self.revisions, self.references = (
            state.paths,
            state.revisions,
            state.references,
        )
        self.beside, self.too_large, self.rows = state.beside, state.too_large, state.rows
        self.known = set(self.paths)
        self._sources = {path for path in self.paths if ending(path) in LANGUAGES}
        self.unread = set(self._sources)

    def listed(self, paths: tuple[str, ...]) -> tuple[set[str], set[str]]:
        """Take over another list of files: those that came or went, and the sources that were
        read and are none any more."""
        other = self.known.symmetric_difference(paths)
        self.paths, self.known, self._tests = paths, set(paths), None
        self._sources = sources = {path for path in paths if ending(path) in LANGUAGES}
        gone = self.revisions.keys() - sources
        for path in gone:
            del self.revisions[path]
        self.unread = (self.unread & sources) | (sources - self.revisions.keys())
        self.too_large &= sources
        self.beside = {path: v for path, v in self.beside.items() if path in sources}
        self.references.only({(ending(path), each) for path, each in self.revisions.items()})
        self._seen.clear()  # what a folder holds may be found now and was not
        return other, gone

    def before(self, first: str) -> list[str]:
        """What is read before all others where a file is asked about: it and its tests."""
        return [path for path in (first, *self.tests.of(first)) if path in self._sources]

    def adopt(self, path: str) -> bool:
        """Take up a source that is not in the list, as an ignored one; whether it is a new one."""
        if path in self.known or path in self.revisions or ending(path) not in LANGUAGES:
            return False
        self.unread.add(path)
        return True

    def changed(self, workspace: Workspace, tree: Tree) -> dict[str, Row | None]:
        """The sources that have to be read, with their rows in the tree; None where they have
        none, as what is tracked though it is ignored."""
        rows: dict[str, Row | None] = {}
        for folder, listing in tree.listings.items():
            if self._seen.get(folder) is listing:
                continue
            for name, row in listing.files.items():
                path = folder + name
                self.sizes[path] = int(row[0])
                if path in self._sources and not self._vouched(path, row):
                    rows[path] = row
        for path in self.unread - rows.keys():
            found = _row(tree, path)
            if found is not None or path not in self.beside:
                rows[path] = found
        rows.update(dict.fromkeys(self._moved(workspace)))
        self.unread |= rows.keys()
        self._seen = dict(tree.listings)
        return rows

    def doubt(self) -> None:
        """Hold nothing to be as it was."""
        self.unread = set(self._sources)
        self._seen.clear()

    def ask(self, workspace: Workspace, paths: Iterable[str], last: Tree) -> None:
        """Look whether these stand as they were read, and at nothing else. last: the tree that
        was looked at last."""
        stamps = {}
        for path in paths:
            row = self.rows.get(path) or _row(last, path)
            if row is not None and row[CONTENT] == self.revisions.get(path):
                signature = StatSignature(*row[:CONTENT])  # type: ignore[arg-type]
                stamps[path] = Stamp(signature, self.revisions[path], int(row[LOOKED_AT]))
        looked = workspace.scan(stamps, deadline_s=ASK_S)
        other = {found.path for found in looked if found.revision != stamps[found.path].revision}
        self.unread -= stamps.keys() - other

    def read(self, workspace: Workspace, waiting: dict[str, Row | None], until: float) -> None:
        """Learn what these name, as long as there is time."""
        self._gather(workspace, ((path, row) for path, row in waiting.items() if row), until)
        for path in [path for path in waiting if path in self.unread]:
            if monotonic() > until:
                return
            self.look(workspace, path)

    def read_new(self, workspace: Workspace, until: float) -> None:
        """Learn what those name that were never read, as long as there is time."""
        self._gather(workspace, _stats(workspace, self._sources - self.revisions.keys()), until)

    def look(self, workspace: Workspace, path: str) -> None:
        """A file that takes a closer look, or has no row."""
        found = workspace.read(path, limit=SOURCE_BYTES, deadline_s=ASK_S)
        stamp = stamp_of(found)
        if found.signature is not None:
            self.sizes[path] = found.signature.size
        if stamp is not None:
            self.beside[path] = stamp
        if found.kind == "unreadable":
            return
        self._learn(path, found.revision, found.data or b"")
        if found.why == "too_large":
            self.too_large.add(path)

    def _vouched(self, path: str, row: Row) -> bool:
        """Whether it is known what a source names that stands so."""
        if not S_ISREG(int(row[5])):
            content = UNKNOWN  # a symlink, which names nothing itself
        elif row[CONTENT] or self._was_read(path, row):
            content = str(row[CONTENT])
        else:
            return False
        if self.revisions.get(path) != content:
            if (ending(path), content) not in self.references:
                return False
            self._take(path, content)
        self.unread.discard(path)
        return True

    def _was_read(self, path: str, row: Row) -> bool:
        """Whether an earlier process read it as it stands; its row is told then."""
        was = self.rows.get(path)
        if was is None or was[:CONTENT] != row[:CONTENT]:
            return False
        if not settled(int(row[1]), int(row[2]), int(was[LOOKED_AT])):
            return False
        row[CONTENT] = was[CONTENT]
        return True

    def _moved(self, workspace: Workspace) -> Iterator[str]:
        """Those beside the tree that a stat no longer vouches for."""
        for path, stamp in list(self.beside.items()):
            now = workspace.stat(path)
            if now is None or compare(stamp, now, tick_of(now)) != "same":
                yield path
            else:
                self.unread.discard(path)

    def _gather(self, workspace: Workspace, rows: Iterable[tuple[str, Row]], until: float) -> None:
        """Learn what those name that stand as their rows say, as long as there is time."""
        quick = ((path, row) for path, row in rows if int(row[0]) <= SOURCE_BYTES)
        for path, row, data in workspace.contents(quick):
            if data is not None:
                row[CONTENT] = revision = revision_of(data)
                self._learn(path, revision, data)
                self.rows[path] = row
            if monotonic() > until:
                return

    def _learn(self, path: str, revision: Revision, data: bytes) -> None:
        """What a source names, told by its bytes."""
        key = ending(path), revision
        if key not in self.references:
            language = LANGUAGES[ending(path)]()
            self.references.put(
                key, packed(islice(language.references(data, path), REFERENCES_MOST))
            )
        self._take(path, revision)
        self._keeper.learned(path)
        self.unread.discard(path)

    def _take(self, path: str, revision: Revision) -> None:
        """What a source names, which is known of such a text."""
        self.too_large.discard(path)
        if self.revisions.get(path) != revision:
            self.revisions[path] = revision
            self._renewed(path)


def _stats(workspace: Workspace, paths: Iterable[str]) -> Iterator[tuple[str, Row]]:
    """Rows of files, as of a tree, by a look at each."""
    for path in sorted(paths):
        at_ns, found = time_ns(), workspace.stat(path)
        if found is not None and S_ISREG(found.mode):
            yield path, [*map(int, structs.astuple(found)), "", at_ns]


def _row(tree: Tree, path: str) -> Row | None:
    """A file's row in a tree."""
    cut = path.rfind("/") + 1
    listing = tree.listings.get(path[:cut])
    return listing.files.get(path[cut:]) if listing is not None else None
