"""Finding files by a chain of patterns, and what to do where none is found."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from time import monotonic

from sightline.core import given
from sightline.core.events import FilesSought
from sightline.core.finding.chains import FindResult, Request, checked, requests_of
from sightline.core.finding.index import OutOfTime
from sightline.core.finding.patterns import PATTERN_MAX, LeadsOut, absolute, pattern
from sightline.errors import PathRefused, StoreError
from sightline.services.shelves import shelf_of
from sightline.services.unfound import nothing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from sightline.core.finding.chains import Fallback
    from sightline.services.ground import Ground
    from sightline.services.shelves import Shelf

    Progress = Callable[[int, int, str], object]
    """Told the number of the pattern that is tried next, of how many, and the pattern."""

LIMIT_MAX = 10_000
"""Matches of an answer."""


def find(
    ground: Ground,
    patterns: str | Sequence[str] | Request,
    *,
    required: bool = False,
    fallback: Fallback = "skip",
    name: str = "",
    reason: str = "",
    limit: int = 100,
    deadline_s: float = 2.0,
    progress: Progress | None = None,
) -> FindResult:
    """The files of the first pattern that matches any.

    Where none does: what may have been meant, and the fallback. Nothing is created here, and
    nobody is asked; what is required is not skipped but asked about. The deadline is of the
    patterns and the guesses: the list of files takes what it takes, and a first path is looked up.
    git is asked what was renamed once for each commit, within what is left of it.
    An absolute path in the workspace is taken for what it is there; one elsewhere matches nothing.
    ValueError for what is no chain and for a limit below 1, PathRefused for a way out of the
    workspace.
    """
    if isinstance(patterns, Request):
        request = patterns
    else:
        request = Request(_chain(patterns), name, reason, required, fallback)
    return _find(ground, [request], limit, deadline_s, progress)[0]


def _chain(patterns: Any) -> tuple[str, ...]:
    """Patterns as a chain holds them; what has no order is none."""
    if isinstance(patterns, str):
        return (patterns,)
    if not isinstance(patterns, Iterable) or isinstance(patterns, bytes | dict | set | frozenset):
        raise TypeError(
            f"Give a pattern or a list of 1 to 5 patterns, not {given.shown(patterns)}."
        )
    chain = tuple(patterns)
    for each in chain:
        if not isinstance(each, str):
            raise TypeError(f"A pattern is a text such as **/*.py, not {given.shown(each)}.")
    return chain


def find_each(
    ground: Ground,
    asked: Any,
    *,
    limit: int = 100,
    deadline_s: float = 2.0,
    progress: Progress | None = None,
) -> tuple[FindResult, ...]:
    """The same of every request that a host was given (core.finding.chains.requests_of), in
    order; the deadline is of all of them together."""
    return tuple(_find(ground, requests_of(asked), limit, deadline_s, progress))


def _find(
    ground: Ground,
    requests: Sequence[Request],
    limit: int,
    deadline_s: float,
    progress: Progress | None,
) -> list[FindResult]:
    limit = given.number("limit", limit, 1, LIMIT_MAX)
    asked = [_here(ground, request) for request in requests]
    shelf = shelf_of(ground.workspace)
    until = monotonic() + deadline_s
    found = [_answer(ground, each, shelf, limit, until, progress) for each in asked]
    _record(ground, found)
    return found


def _record(ground: Ground, found: Sequence[FindResult]) -> None:
    """Count the searches, for `stats`. An answer is not held back because it cannot be counted:
    whatever has to be recorded next says what is wrong with the store."""
    with suppress(StoreError):
        ground.append([_sought(each) for each in found])


def _sought(found: FindResult) -> FilesSought:
    patterns = tuple([text[:PATTERN_MAX] for text in found.request.patterns])
    offered = tuple([each.path for each in found.candidates])
    won = found.tried if found.matches else 0
    return FilesSought(patterns, won, found.tried, found.total, offered)


def _here(ground: Ground, request: Request) -> Request:
    """A request by patterns from the workspace's root, as far as they are about it."""
    root = ground.workspace.root.rstrip("/\\")
    inside = tuple([_relative(text, root) for text in request.patterns])
    try:
        return checked(request.replace(patterns=inside))
    except LeadsOut as error:
        raise PathRefused(
            ", ".join(map(str, request.patterns)),
            "outside",
            str(error),
            "Only files of the workspace are found.",
        ) from None


def _relative(text: Any, root: str) -> Any:
    if isinstance(text, str) and text.startswith((f"{root}/", f"{root}\\")):
        return text[len(root) + 1 :]
    return text


def _answer(
    ground: Ground,
    request: Request,
    shelf: Shelf,
    limit: int,
    until: float,
    progress: Progress | None,
) -> FindResult:
    patterns = request.patterns

    def late() -> bool:
        return monotonic() > until

    for number, text in enumerate(patterns, 1):
        if number > 1 and late():
            return nothing(ground, request, shelf, number - 1, until)
        if progress is not None:
            progress(number, len(patterns), text)
        try:
            found = [] if absolute(text) else shelf.index.matching(pattern(text), stop=late)
        except OutOfTime:
            return nothing(ground, request, shelf, number - 1, until)
        if found:
            return FindResult(
                tuple(found[:limit]),
                text,
                number,
                truncated=len(found) > limit,
                total=len(found),
                request=request,
            )
    return nothing(ground, request, shelf, len(patterns), until)
