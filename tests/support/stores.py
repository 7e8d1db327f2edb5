"""Empty stores as copies of one that the real code made: the schema costs most of a small test."""

from __future__ import annotations

from pathlib import Path

from sightline.store import sqlite_file

_write_schema = sqlite_file._write_schema
_made: list[bytes] = []


def copy_schema(file: str) -> None:
    """Write the bytes of an empty store; the real code makes them once."""
    if not _made:
        _write_schema(file)
        _made.append(Path(file).read_bytes())
        return
    with open(file, "rb+") as empty:
        empty.write(_made[0])


def share_schema() -> None:
    """Have this process copy the schema of every further store."""
    sqlite_file._write_schema = copy_schema
