"""Turn errors of SQLite and of the operating system into StoreError, with the file and a hint.

A store that cannot be read stays exactly as it is: Sightline never resets it, and never makes another
in its place.
"""

from __future__ import annotations

import sqlite3
from errno import EDQUOT, ENOSPC

from sightline.errors import Hint, StoreError, StoreFault
from sightline.store.codec import ANOTHER

ASIDE = Hint("Move the file away to begin a new one, or name another with ", *ANOTHER)
SAVE = Hint("Copy the file (with its -wal) to a safe place. ", ASIDE)

WORDS: dict[int, tuple[StoreFault, str, str | Hint]] = {
    sqlite3.SQLITE_NOTADB: ("not_a_store", "is not a Sightline store", ASIDE),
    sqlite3.SQLITE_CORRUPT: ("damaged", "is damaged or was cut short", SAVE),
    sqlite3.SQLITE_FULL: (
        "full",
        "cannot grow: the disk is full",
        "Free some space and try again.",
    ),
    sqlite3.SQLITE_READONLY: (
        "read_only",
        "cannot be written: the file or its folder is read-only",
        "Give yourself write permission, or move the store with SIGHTLINE_HOME.",
    ),
    sqlite3.SQLITE_CANTOPEN: (
        "unreachable",
        "cannot be opened",
        "Check that its folder is there and may be read and written.",
    ),
    sqlite3.SQLITE_PERM: (
        "unreachable",
        "may not be opened",
        "Check the permissions of the file and of its folder.",
    ),
    sqlite3.SQLITE_IOERR: (
        "unreachable",
        "cannot be read or written: the disk answers with an error",
        "Check the disk and its free space, then try again.",
    ),
    sqlite3.SQLITE_TOOBIG: (
        "too_large",
        "cannot keep a text of more than a gigabyte",
        "Leave such files to other tools, or name them in .sightlineignore.",
    ),
    sqlite3.SQLITE_BUSY: (
        "locked",
        "is held by another process",
        "A sightline process or a database tool is in the middle of a write: let it finish, or end it.",
    ),
}
WORDS[sqlite3.SQLITE_LOCKED] = WORDS[sqlite3.SQLITE_BUSY]


def fault(error: sqlite3.Error, file: str) -> StoreError:
    """Return the StoreError for an error that SQLite raised for a file."""
    kind, words, hint = WORDS.get(primary(error), ("other", "cannot be used", SAVE))
    return StoreError(f"The store {file} {words} ({error}).", hint, kind, unchanged=True)


def primary(error: sqlite3.Error) -> int:
    """Return SQLite's primary result code; 0 when the error has none."""
    return int(getattr(error, "sqlite_errorcode", 0) or 0) & 0xFF


def busy(error: sqlite3.Error) -> bool:
    """Return whether another process is in the way, so that trying again can help."""
    return primary(error) == sqlite3.SQLITE_BUSY


def os_fault(error: OSError, file: str) -> StoreError:
    """Return the StoreError for an error that the operating system raised for a file or folder."""
    return StoreError(
        f"The store cannot use {error.filename or file} ({error.strerror or error}).",
        "Check its permissions and the free space, or move the store with SIGHTLINE_HOME.",
        "full" if error.errno in (ENOSPC, EDQUOT) else "unreachable",
    )
