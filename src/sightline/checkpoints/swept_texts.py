"""The value that `gc` answers: the texts it forgot."""

from __future__ import annotations

from msgspec import Struct

from sightline.store.retention import Going


class Swept(Struct, frozen=True):
    """The texts that gc forgot, or would forget. gone: those texts, oldest first; kept, kept_size: the
    number of texts that stay, and their bytes; over: the bytes by which texts that are needed
    exceed the room; returned: the bytes by which the store shrank on disk; dropped: checkpoints
    that went to make room."""

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
