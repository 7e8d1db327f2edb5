"""Attempts of an agent on one file, as values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from sightline.model.patches import PatchHunk
from sightline.model.text import normal, split

EDIT_MAX = 64 << 20
"""Bytes of the largest file that is edited and set back, where max_file_bytes is not larger: such an edit
holds the file several times in memory, and the store keeps both texts."""


class Attempt(Struct, frozen=True):
    """Base of all attempts."""


class Replace(Attempt, frozen=True):
    """Put `new` where `old` stands. count: how often it must occur; None: all, at least once."""

    old: str
    new: str
    count: int | None = 1


class ReplaceLines(Attempt, frozen=True):
    """Put `new` in place of lines first..last of the text as last seen (last = first - 1 inserts
    before `first`)."""

    first: int
    last: int
    new: str


class Patch(Attempt, frozen=True):
    """Put each hunk's new block where its old one stands."""

    hunks: tuple[PatchHunk, ...]


class WriteWhole(Attempt, frozen=True):
    """The file's whole new content. raw: these very characters, not the file's line ends."""

    content: str
    raw: bool = False


class Create(Attempt, frozen=True):
    """A new file at a free path."""

    content: str


class Delete(Attempt, frozen=True):
    """Delete the file."""


class Move(Attempt, frozen=True):
    """Move the file to the path `target`, which must be free."""

    target: str


class Several(Attempt, frozen=True):
    """Attempts on one file, each on the result of the one before; all of them or none."""

    parts: tuple[Attempt, ...]


class CellEdit(Attempt, frozen=True):
    """A change of one cell of a notebook, by a host's own tool. cell: its id, or "cell-N" by number; None:
    before all cells. mode: replace, delete or insert (behind the cell). source: the new source."""

    cell: str | None
    mode: str
    source: str


def lines_of_attempt(attempt: Attempt) -> Iterator[Sequence[str]]:
    """Yield the lines of each text that an attempt has, old and new ones. The first and the last line of
    a text may be parts of lines."""
    if isinstance(attempt, Several):
        for part in attempt.parts:
            yield from lines_of_attempt(part)
    elif isinstance(attempt, Patch):
        for hunk in attempt.hunks:
            yield from (hunk.old, hunk.new)
    elif isinstance(attempt, Replace):
        yield split(normal(attempt.old))
        yield split(normal(attempt.new))
    elif isinstance(attempt, ReplaceLines):
        yield split(normal(attempt.new))
    elif isinstance(attempt, (WriteWhole, Create)):
        yield split(normal(attempt.content))
