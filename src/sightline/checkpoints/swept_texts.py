"""The result of `gc`."""

from __future__ import annotations

from msgspec import Struct

from sightline.store.retention import Going


class Swept(Struct, frozen=True):
    """The texts that gc forgot, or with dry_run would forget. gone: those texts, oldest first; kept,
    kept_size: the number of texts that stay, and their bytes; over: the bytes by which needed texts
    exceed the room; returned: the bytes by which the store shrank on disk; dropped: the ids of the
    checkpoints that were dropped to make room."""

    gone: tuple[Going, ...]
    kept: int
    kept_size: int
    over: int = 0
    returned: int = 0
    dry_run: bool = False
    dropped: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """Return the bytes of the forgotten texts."""
        return sum(each.size for each in self.gone)
