"""Finding files by a chain of patterns, and what to do where none is found."""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from time import monotonic
from typing import Any

from msgspec import structs

from sightline.changes.session_context import SessionContext
from sightline.errors import PathError, PathRefused, StoreError
from sightline.model import validation
from sightline.model.events import FilesSought
from sightline.search import words
from sightline.search.cache import Shelf, shelf_of
from sightline.search.chains import Fallback, FindResult, Request, checked, requests_of
from sightline.search.glob_braces import expand
from sightline.search.guesses import Candidate
from sightline.search.path_index import OutOfTime
from sightline.search.patterns import PATTERN_MAX, LeadsOut, absolute, pattern

Progress = Callable[[int, int, str], object]
"""Told the number of the pattern that is tried next, of how many, and the pattern."""

LIMIT_MAX = 10_000
"""Matches of an answer."""


def find(
    ground: SessionContext,
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
            f"Give a pattern or a list of 1 to 5 patterns, not {validation.shown(patterns)}."
        )
    chain = tuple(patterns)
    for each in chain:
        if not isinstance(each, str):
            raise TypeError(f"A pattern is a text such as **/*.py, not {validation.shown(each)}.")
    return chain


def find_each(
    ground: SessionContext,
    asked: Any,
    *,
    limit: int = 100,
    deadline_s: float = 2.0,
    progress: Progress | None = None,
) -> tuple[FindResult, ...]:
    """The same of every request that a host was given (search.chains.requests_of), in
    order; the deadline is of all of them together."""
    return tuple(_find(ground, requests_of(asked), limit, deadline_s, progress))


def _find(
    ground: SessionContext,
    requests: Sequence[Request],
    limit: int,
    deadline_s: float,
    progress: Progress | None,
) -> list[FindResult]:
    limit = validation.number("limit", limit, 1, LIMIT_MAX)
    asked = [_here(ground, request) for request in requests]
    shelf = shelf_of(ground.workspace)
    until = monotonic() + deadline_s
    found = [_answer(ground, each, shelf, limit, until, progress) for each in asked]
    _record(ground, found)
    return found


def _record(ground: SessionContext, found: Sequence[FindResult]) -> None:
    """Count the searches, for `stats`. An answer is not held back because it cannot be counted:
    whatever has to be recorded next says what is wrong with the store."""
    with suppress(StoreError):
        ground.append([_sought(each) for each in found])


def _sought(found: FindResult) -> FilesSought:
    patterns = tuple([text[:PATTERN_MAX] for text in found.request.patterns])
    offered = tuple([each.path for each in found.candidates])
    won = found.tried if found.matches else 0
    return FilesSought(patterns, won, found.tried, found.total, offered)


def _here(ground: SessionContext, request: Request) -> Request:
    """A request by patterns from the workspace's root, as far as they are about it."""
    root = ground.workspace.root.rstrip("/\\")
    inside = tuple([_relative(text, root) for text in request.patterns])
    try:
        return checked(structs.replace(request, patterns=inside))
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
    ground: SessionContext,
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


CANDIDATES = 5


def nothing(
    ground: SessionContext, request: Request, shelf: Shelf, tried: int, until: float
) -> FindResult:
    """Where no pattern matched: what may have been meant, and what to do."""
    named = [text for text in map(_literal, request.patterns) if text is not None]
    there = list(_there(ground, shelf, named))
    late = monotonic() > until
    guessed = [] if late else _guessed(ground, request, shelf, until)
    kept = {each.path: each for each in [*guessed, *there]}
    best = sorted(kept.values(), key=lambda each: -each.score)[:CANDIDATES]
    timed_out = late or tried < len(request.patterns)
    fallback, create = request.fallback, None
    if fallback == "create_new":
        create = None if there or timed_out else next(_creatable(ground, named), None)
        fallback = "ask_user" if create is None else fallback
    result = FindResult(
        (), None, tried, fallback, tuple(best), create=create, timed_out=timed_out, request=request
    )
    return (
        structs.replace(result, question=words.question(result))
        if fallback == "ask_user"
        else result
    )


def _literal(text: str) -> str | None:
    """The one path or name that a pattern can be."""
    return None if absolute(text) else pattern(text).meaning.literal


def _there(ground: SessionContext, shelf: Shelf, named: list[str]) -> Iterator[Candidate]:
    """What stands at a path that was named, though no list has it."""
    for path in named:
        try:
            located = ground.workspace.locate(path)
            found = ground.workspace.stat(located.path)
        except (PathError, OSError):
            continue  # not for this session to know, or to be told now
        if found is None or stat.S_ISLNK(found.mode):
            continue  # a link that leads nowhere is no file
        if located.path in shelf.index:
            yield Candidate(located.path, 1.0, words.LINKED)
        else:
            folder = stat.S_ISDIR(found.mode)
            yield Candidate(path, 1.0, words.FOLDER if folder else words.HIDDEN)


def _creatable(ground: SessionContext, named: list[str]) -> Iterator[str]:
    """Those of the named paths at which this session may create a file, and nothing stands."""
    for path in named:
        try:
            located = ground.workspace.locate(path)
            if located.name is None and _free(ground, located.path):
                yield located.path
        except (PathError, OSError):
            continue


def _free(ground: SessionContext, path: str) -> bool:
    """Whether nothing stands at a path, and none but folders above it."""
    above = path
    while above := above.rpartition("/")[0]:
        found = ground.workspace.stat(above)
        if found is not None and not stat.S_ISDIR(found.mode):
            return False
    return ground.workspace.stat(path) is None


def _guessed(
    ground: SessionContext, request: Request, shelf: Shelf, until: float
) -> list[Candidate]:
    """What may have been meant by the two most exact patterns, each path once."""
    seen = ground.store.known(ground.session)
    guesser = shelf.guesser
    renamed = shelf.renamed(until - monotonic())
    best: dict[str, Candidate] = {}
    for asked in dict.fromkeys(map(_guess, request.patterns[:2])):
        for each in guesser.candidates(asked, seen=seen, renamed=renamed):
            if each.path not in best or best[each.path].score < each.score:
                best[each.path] = each
    return list(best.values())


def _guess(text: str) -> str:
    """A pattern as a path that somebody may have had in mind: its magic left out."""
    literal = _literal(text)
    if literal is not None or absolute(text):
        return literal or text
    parts = [part.replace("*", "").replace("?", "") for part in expand(text)[0].split("/")]
    return "/".join(part for part in parts if part)
