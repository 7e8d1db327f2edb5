"""Whether a folder is on a network: SQLite's log needs memory shared by all who have it open."""

from __future__ import annotations

import os

from sightline.errors import StoreError
from sightline.filesystem.mounts import NETWORK, TABLE, file_system


def refuse_network(file: str, table: str | None = None) -> None:
    """StoreError when the store would stand on a network file system. table: the text of
    /proc/self/mounts, read when not given; systems without it are told by the path alone."""
    kind = file_system(os.path.realpath(file), _mounts() if table is None else table)
    if kind in NETWORK or file.startswith(("\\\\", "//")):
        raise StoreError(
            f"The store {file} would be on a network file system ({kind or 'a network share'}),"
            " where its log could be torn.",
            "Set SIGHTLINE_HOME to a folder on a local disk.",
        )


def _mounts() -> str:
    try:
        with open(TABLE, encoding="utf-8", errors="surrogateescape") as file:
            return file.read()
    except FileNotFoundError:  # not Linux
        return ""
