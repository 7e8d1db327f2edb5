"""Values: the files related to one file."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct


class RelatedFile(Struct, frozen=True):
    """A file that belongs to another. why: sentences without their end, the weightiest first;
    score: higher belongs closer; size: in bytes."""

    path: str
    why: tuple[str, ...]
    score: float
    size: int
    tokens_estimate: int


class Related(list[RelatedFile]):
    """Related files, the closest first, and what the limits left out. left_out: files that are
    related, too; unread: sources of the workspace that are not in the index yet, whose imports
    are not known; too_large: those that never will be; unkept: why the next process has to read all
    of them again, "" where it has not."""

    def __init__(
        self,
        path: str,
        files: Iterable[RelatedFile] = (),
        *,
        left_out: int = 0,
        unread: int = 0,
        too_large: int = 0,
        unkept: str = "",
    ) -> None:
        super().__init__(files)
        self.path = path
        self.left_out = left_out
        self.unread = unread
        self.too_large = too_large
        self.unkept = unkept
