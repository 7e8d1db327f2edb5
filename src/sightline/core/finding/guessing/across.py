"""Names whose words stand on both sides of a slash: httpServer.py and http/server.py."""

from __future__ import annotations

from sightline.core.finding.guessing.spelling import folder_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sightline.core.finding.guessing.spelling import Asked, Name

FOLDERS_MAX = 3
"""Folders whose names are part of one name."""

TAIL_MAX = 64
"""Characters at the end of a name that may be another's whole name."""


def folders_in(key: str, folders: Sequence[str], name: Name) -> int:
    """How many of the last folders the name of this key is made of, with the name in them; 0 where it
    is not. An index file adds nothing to its folders."""
    left = key
    if not name.index:
        if not name.key or not left.endswith(name.key):
            return 0
        left = left[: -len(name.key)]
    for count, folder in enumerate(folders[: -FOLDERS_MAX - 1 : -1], 1):
        part = folder_key(folder)
        if not part or not left.endswith(part):
            return 0
        left = left[: -len(part)]
        if not left:
            return count if count > name.index else 0
    return 0


def tails(key: str) -> Iterator[str]:
    """The ends of a key that may be the name of a file in the folders that the rest is."""
    return (key[at:] for at in range(max(1, len(key) - TAIL_MAX), len(key)))


def joined(asked: Asked) -> Iterator[str]:
    """The keys that a guess has when its last folders are written as part of its name."""
    key = "" if asked.name.index else asked.name.key
    for count, part in enumerate(asked.folder_keys[: -FOLDERS_MAX - 1 : -1], 1):
        key = part + key
        if count > asked.name.index:
            yield key
