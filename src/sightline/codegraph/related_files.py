"""Values: the files related to one file."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec import Struct

Counted = Callable[[int, int], object]
"""Called with the number of sources that were read so far, and the number of all sources."""


class RelatedFile(Struct, frozen=True):
    """A file that belongs to another. why: sentences without their end, the weightiest first;
    score: higher belongs closer; size: in bytes.

    path: from the workspace's root; tokens_estimate: of its text.
    """

    path: str
    why: tuple[str, ...]
    score: float
    size: int
    tokens_estimate: int


class RelatedView(Struct, frozen=True):
    """The related files as JSON has them: see Related."""

    path: str
    files: tuple[RelatedFile, ...]
    left_out: int
    complete: bool
    sources: int
    unread: int
    unreadable: int
    too_large: int
    unkept: str


class Related(list[RelatedFile]):
    """Related files, the closest first, and what the limits left out. left_out: files that are
    related, too; sources: number of sources in the workspace; unread: number of those that there was no
    time to read, whose imports are not known until a later question; unreadable: number of those that the disk
    did not give; too_large: number of those that are never read; unkept: why the next process has to read
    all of them again, "" where it has not."""

    def __init__(
        self,
        path: str,
        files: Iterable[RelatedFile] = (),
        *,
        left_out: int = 0,
        sources: int = 0,
        unread: int = 0,
        unreadable: int = 0,
        too_large: int = 0,
        unkept: str = "",
    ) -> None:
        super().__init__(files)
        self.path = path
        self.left_out = left_out
        self.sources = sources
        self.unread = unread
        self.unreadable = unreadable
        self.too_large = too_large
        self.unkept = unkept

    @property
    def complete(self) -> bool:
        """Return whether there was time to read every source; else ask again to go on."""
        return not self.unread

    def as_view(self) -> RelatedView:
        """Return the list and its counts as one value."""
        counts = (self.left_out, self.complete, self.sources, self.unread, self.unreadable)
        return RelatedView(self.path, tuple(self), *counts, self.too_large, self.unkept)
