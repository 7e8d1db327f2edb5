"""Which of the files that were named hold recorded sessions."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from sightline.errors import FileMissing

ENDS = (".jsonl", ".json", ".md", ".ndjson", ".traj")
"""How names of recordings end; other files of a folder are none."""


def files(paths: Sequence[str]) -> list[str]:
    """The files named, and those in folders named that may be recordings, each once, in order.
    FileMissing for a path where nothing is."""
    found: dict[str, None] = {}
    for path in paths:
        if not os.path.exists(path):
            raise FileMissing(
                path, f"Nothing is at {path}.", "Name recordings, or folders of them."
            )
        found |= dict.fromkeys(_inside(path) if os.path.isdir(path) else [path])
    return list(found)


def _inside(folder: str) -> Iterator[str]:
    for here, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            if name.endswith(ENDS):
                yield os.path.join(here, name)
