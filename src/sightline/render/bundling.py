"""Words for a bundle: the files that belong to what was edited, for the model."""

from __future__ import annotations

from sightline.render.numbered import numbered, short
from sightline.render.views import count, one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Protocol

    class BundledFile(Protocol):
        """A file of a bundle, as services.bundling tells it."""

        @property
        def path(self) -> str: ...
        @property
        def why(self) -> Sequence[str]: ...
        @property
        def text(self) -> str | None: ...
        @property
        def lines(self) -> int: ...
        @property
        def revision(self) -> str: ...

    class Bundle(Protocol):
        """A bundle, as services.bundling tells it."""

        @property
        def edited(self) -> Sequence[str]: ...
        @property
        def files(self) -> Sequence[BundledFile]: ...
        @property
        def left_out(self) -> int: ...
        @property
        def unread(self) -> int: ...


NAMED = 3
"""Edited files, and reasons of one file, that are named."""


def reason(edited: str, why: str) -> str:
    """Why a file belongs to an edited one."""
    return f"{why} ({edited})"


def bundle(told: Bundle) -> str:
    """All of it."""
    return "\n".join(_lines(told))


def _lines(told: Bundle) -> Iterator[str]:
    yield f"Files that belong to what you edited ({_named(told.edited)}), which you have not read as they are now:"
    for each in told.files:
        why = "; ".join(map(one_line, each.why[:NAMED]))
        yield f"{one_line(each.path)}, {count(each.lines, 'line')}, revision {short(each.revision)}: {why}"
        yield from numbered(each.text) if each.text is not None else ()
    if told.left_out:
        yield f"({count(told.left_out, 'more file')} left out.)"
    if told.unread:
        yield f"({count(told.unread, 'source')} not looked at yet for imports.)"


def _named(paths: Sequence[str]) -> str:
    named = ", ".join(map(one_line, paths[:NAMED]))
    more = len(paths) - NAMED
    return f"{named} and {more} more" if more > 0 else named
