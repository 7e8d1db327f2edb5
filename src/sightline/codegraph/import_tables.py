"""The import index of one workspace as SQLite tables, kept in its state folder for later processes.

A cache: a file that is damaged, of another version or of other readers is begun anew.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable
from contextlib import AbstractContextManager

from msgspec import Struct, structs

from sightline.codegraph.reference import Affected, Reference
from sightline.filesystem.private_files import make_folder
from sightline.filesystem.tree_index import CONTENT, Row
from sightline.model.revision import Revision, Stamp, StatSignature

NAME = "imports.sqlite"

OUTDATED = "imports.z"
"""The cache of an earlier version."""

SCHEMA = os.path.join(os.path.dirname(__file__), "import_tables.sql")

VERSION = 1

BUSY_S = 5.0
"""How long a statement waits for another process, whose transactions take a part of a second."""

WORDS_MOST = 16
"""Words that references are searched for; for more, all imports of the language count as affected."""

Known = tuple[Revision, str, int]
"""The revision of a source that was read, the signature of its file, and when."""

_IMPORTERS = (
    "FROM file AS target JOIN edge ON edge.target = target.id"
    " JOIN file AS source ON edge.source = source.id"
    " WHERE target.path = ? AND source.resolved AND source.listed"
)


class Edge(Struct, frozen=True):
    """One file that another one imports.

    direct: not only as a package on the way; share: of the import's weight, less than 1 where the
    import means several files alike.
    """

    path: str
    line: int
    direct: bool
    share: float = 1.0


class Source(Struct, frozen=True):
    """A source as it was read, and its references."""

    path: str
    revision: Revision
    signature: str
    read_at_ns: int
    references: tuple[Reference, ...] | None = None
    """None: as they were, because the content is the same."""
    too_large: bool = False


class ImportTables:
    """A connection to the tables. Methods raise sqlite3.Error."""

    def __init__(self, folder: str, edition: str) -> None:
        """Open the tables in a folder; "" keeps them in memory."""
        self._file = os.path.join(folder, NAME) if folder else ":memory:"
        if folder:
            _remove(os.path.join(folder, OUTDATED))
        try:
            self._db = self._opened(edition)
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):
                raise
            _remove(self._file)
            self._db = self._opened(edition)

    def _opened(self, edition: str) -> sqlite3.Connection:
        if self._file != ":memory:":
            try:
                make_folder(os.path.dirname(self._file))
                os.close(os.open(self._file, os.O_CREAT | os.O_RDWR, 0o600))
            except OSError as error:
                raise sqlite3.OperationalError(error.strerror or type(error).__name__) from None
        db = sqlite3.connect(
            self._file, timeout=BUSY_S, isolation_level=None, check_same_thread=False
        )
        try:
            db.execute("PRAGMA foreign_keys=ON")
            if not _is_of(db, edition):
                _begin(db, edition)
        except BaseException:
            db.close()
            raise
        return db

    def epoch(self) -> int:
        """Return the number of changes of the list of files or of settings so far."""
        [(epoch,)] = self._db.execute("SELECT epoch FROM state")
        return int(epoch)

    def writing(self) -> AbstractContextManager[object]:
        """Write in one transaction; roll it back on an exception."""
        if self._db.in_transaction:  # an interrupt came before the `with` of an earlier one
            self._db.rollback()
        self._db.execute("BEGIN IMMEDIATE")
        return self._db

    def paths(self) -> set[str]:
        """Return the listed files."""
        return {path for (path,) in self._db.execute("SELECT path FROM file WHERE listed")}

    def languages(self) -> set[str]:
        """Return the languages of the sources."""
        return {name for (name,) in self._db.execute("SELECT DISTINCT language FROM file")} - {None}

    def list_files(self, came: Iterable[tuple[str, str | None]], gone: Iterable[str]) -> None:
        """Take over a changed list of files. came: with their languages; inside writing()."""
        self._db.execute("DELETE FROM file WHERE NOT listed")
        self._db.executemany("DELETE FROM file WHERE path = ?", [(path,) for path in gone])
        self._db.executemany("INSERT INTO file (path, language, listed) VALUES (?, ?, 1)", came)
        self._db.execute("UPDATE state SET epoch = epoch + 1")

    def adopt(self, path: str, language: str) -> None:
        """Add a source that is not listed, as an ignored one."""
        self._db.execute(
            "INSERT OR IGNORE INTO file (path, language, listed) VALUES (?, ?, 0)", (path, language)
        )

    def every_known(self) -> dict[str, Known]:
        """Return known() of every source that was read."""
        query = "SELECT path, revision, signature, read_at_ns FROM file WHERE revision NOT NULL"
        return {path: (rev, text, at_ns) for path, rev, text, at_ns in self._db.execute(query)}

    def known(self, path: str) -> Known | None:
        """Return the revision, signature and time of a source that was read."""
        query = (
            "SELECT revision, signature, read_at_ns FROM file WHERE path = ? AND revision NOT NULL"
        )
        row: Known | None = self._db.execute(query, (path,)).fetchone()
        return row

    def read_paths(self) -> set[str]:
        """Return the sources that were read."""
        return {
            path for (path,) in self._db.execute("SELECT path FROM file WHERE revision NOT NULL")
        }

    def too_large(self) -> int:
        """Count the listed sources that are too large to be read."""
        [(count,)] = self._db.execute("SELECT count(*) FROM file WHERE listed AND too_large")
        return int(count)

    def unresolved(self) -> list[str]:
        """Return the sources that were read and whose targets are not known, in order."""
        query = "SELECT path FROM file WHERE revision NOT NULL AND NOT resolved ORDER BY path"
        return [path for (path,) in self._db.execute(query)]

    def put_sources(self, sources: Iterable[Source]) -> None:
        """Write what was read; inside writing()."""
        for source in sources:
            stamp = (source.signature, source.read_at_ns)
            if source.references is None:
                self._db.execute(
                    "UPDATE file SET signature = ?, read_at_ns = ? WHERE path = ? AND revision = ?",
                    (*stamp, source.path, source.revision),
                )
                continue
            numbers = self._db.execute(
                "UPDATE file SET revision = ?, signature = ?, read_at_ns = ?, too_large = ?,"
                " resolved = 0 WHERE path = ? RETURNING id",
                (source.revision, *stamp, source.too_large, source.path),
            ).fetchall()
            for (number,) in numbers:
                self._db.execute("DELETE FROM reference WHERE source = ?", (number,))
                self._db.executemany(
                    "INSERT INTO reference VALUES (?, ?, ?, ?, ?, ?)",
                    [
                        (number, ref.module, ref.line, ref.level, names, ref.kind)
                        for ref in source.references
                        for names in [json.dumps(ref.names, ensure_ascii=False)]
                    ],
                )

    def references(self, path: str) -> tuple[Revision, list[Reference]]:
        """Return the revision of a source and its references, in its order."""
        rows = self._db.execute(
            "SELECT revision, module, line, level, names, kind FROM file"
            " LEFT JOIN reference ON source = id WHERE path = ? ORDER BY reference.rowid",
            (path,),
        ).fetchall()
        references = [
            Reference(module, line, level, tuple(json.loads(names)), kind)
            for _, module, line, level, names, kind in rows
            if module is not None
        ]
        return rows[0][0] if rows else "", references

    def put_edges(self, path: str, revision: Revision, edges: Iterable[Edge]) -> None:
        """Write where the references of a revision lead; inside writing()."""
        numbers = self._db.execute(
            "UPDATE file SET resolved = 1 WHERE path = ? AND revision = ? RETURNING id",
            (path, revision),
        ).fetchall()
        for (number,) in numbers:
            self._db.execute("DELETE FROM edge WHERE source = ?", (number,))
            self._db.executemany(
                "INSERT INTO edge SELECT ?, id, ?, ?, ? FROM file WHERE path = ?",
                [(number, edge.line, edge.direct, edge.share, edge.path) for edge in edges],
            )

    def unresolve(self, language: str, affected: Affected) -> None:
        """Mark sources of a language whose imports may lead elsewhere; inside writing()."""
        update = "UPDATE file SET resolved = 0 WHERE language = ?"
        if affected.every or len(affected.words) > WORDS_MOST:
            self._db.execute(update, (language,))
            return
        for folder in affected.folders:
            self._db.execute(f"{update} AND instr(path, ?) = 1", (language, folder))
        naming = "SELECT source FROM reference WHERE instr(module, ?) OR instr(names, ?)"
        for word in affected.words:
            self._db.execute(f"{update} AND id IN ({naming})", (language, word, word))

    def imports(self, path: str) -> tuple[Edge, ...]:
        """Return what a source imports, in the order of its lines."""
        rows = self._db.execute(
            "SELECT target.path, line, direct, share FROM file AS source"
            " JOIN edge ON edge.source = source.id JOIN file AS target ON edge.target = target.id"
            " WHERE source.path = ? AND source.resolved ORDER BY edge.rowid",
            (path,),
        )
        return tuple(
            [Edge(other, line, bool(direct), share) for other, line, direct, share in rows]
        )

    def incoming(self, path: str) -> list[tuple[Edge, int]]:
        """Return the listed sources that import a file, in order, as edges that name the source,
        each with the number of files that this source imports."""
        rows = self._db.execute(
            "SELECT source.path, line, direct, share,"  # noqa: S608  all ours
            " (SELECT count(*) FROM edge AS other WHERE other.source = source.id)"
            f" {_IMPORTERS} ORDER BY source.path",
            (path,),
        )
        return [
            (Edge(other, line, bool(direct), share), imports)
            for other, line, direct, share, imports in rows
        ]

    def importer_count(self, path: str) -> int:
        """Count the listed sources that import a file."""
        [(count,)] = self._db.execute(f"SELECT count(*) {_IMPORTERS}", (path,))
        return int(count)

    def settings(self) -> list[tuple[str, str, Stamp | None]]:
        """Return the settings files that resolvers asked for: language, path, stamp or None."""
        settings: list[tuple[str, str, Stamp | None]] = []
        for language, path, revision, text, at_ns in self._db.execute("SELECT * FROM setting"):
            stamp = None if revision is None else Stamp(as_signature(text), revision, at_ns)
            settings.append((language, path, stamp))
        return settings

    def put_setting(self, language: str, path: str, stamp: Stamp | None) -> None:
        """Note a settings file; a note of other content stays, and tells the next look of a change."""
        values: tuple[str | None, str | None, int | None] = (None, None, None)
        if stamp is not None:
            values = stamp.revision, signature_text(stamp.signature), stamp.read_at_ns
        self._db.execute(
            "INSERT INTO setting VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET"
            " signature = excluded.signature, read_at_ns = excluded.read_at_ns"
            " WHERE revision IS excluded.revision",
            (language, path, *values),
        )

    def drop_settings(self, language: str) -> None:
        """Forget the settings files of a language; inside writing()."""
        self._db.execute("DELETE FROM setting WHERE language = ?", (language,))
        self._db.execute("UPDATE state SET epoch = epoch + 1")


def signature_text(signature: StatSignature) -> str:
    """Return a signature as a row of a tree spells it."""
    return row_signature([*map(int, structs.astuple(signature))])


def row_signature(row: Row) -> str:
    """Return the signature in a row of a tree; inode numbers do not fit SQLite's integers."""
    return str(row[:CONTENT])


def as_signature(text: str) -> StatSignature:
    """Return the signature that a text spells."""
    return StatSignature(*json.loads(text))


def _is_of(db: sqlite3.Connection, edition: str) -> bool:
    """Return whether the tables are of this version and of these readers."""
    [(version,)] = db.execute("PRAGMA user_version")
    return version == VERSION and list(db.execute("SELECT edition FROM state")) == [(edition,)]


def _begin(db: sqlite3.Connection, edition: str) -> None:
    """Make new tables in the place of all others."""
    db.execute("PRAGMA foreign_keys=OFF")
    db.execute("BEGIN IMMEDIATE")
    if not _is_of(db, edition):  # another process may have begun a moment ago
        tables = "SELECT name FROM sqlite_master WHERE type = 'table'"
        drops = [f'DROP TABLE "{name}"' for (name,) in db.execute(tables).fetchall()]
        with open(SCHEMA, encoding="ascii") as schema:
            creates = schema.read().split(";\n")
        for statement in (*drops, *creates, f"PRAGMA user_version={VERSION}"):
            db.execute(statement)
        db.execute("INSERT INTO state VALUES (?, 0)", (edition,))
    db.execute("COMMIT")
    db.execute("PRAGMA foreign_keys=ON")


def _remove(file: str) -> None:
    try:
        os.unlink(file)
    except OSError:
        return  # nothing stands there, or opening it tells what does
