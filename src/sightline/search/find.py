"""Find files by a chain of patterns, and decide what to do when nothing is found."""

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
from sightline.search.chains import Fallback, FindResult, Request, validate
from sightline.search.guesses import Candidate
from sightline.search.path_index import OutOfTime
from sightline.search.patterns import PATTERN_MAX, LeadsOut, absolute, expand, pattern

Progress = Callable[[int, int, str], object]
"""Called with the number of the next pattern, the number of patterns, and the pattern."""

LIMIT, LIMIT_MAX = 100, 10_000
"""Matches of an answer: by default, and at most."""

CANDIDATES = 5
"""Guesses of an answer."""


def find(
    context: SessionContext,
    patterns: str | Sequence[str],
    *,
    required: bool = False,
    fallback: Fallback = "skip",
    name: str = "",
    reason: str = "",
    limit: int = LIMIT,
    deadline_s: float = 2.0,
    progress: Progress | None = None,
) -> FindResult:
    """Return the files of the first pattern that matches any.

    Without a match: guesses, and the fallback. Nothing is created and nobody is asked here; a
    required request is not skipped but asks the user. The deadline covers the patterns, the guesses
    and git's renames, not the list of files; the first pattern is looked up in any case. An absolute
    path in the workspace counts as its relative path; one outside matches nothing. ValueError for an
    invalid chain and for a limit below 1, PathRefused for a way out of the workspace.
    """
    request = Request(_chain(patterns), name, reason, required, fallback)
    return _find(context, [request], limit, deadline_s, progress)[0]


def _chain(patterns: Any) -> tuple[str, ...]:
    if isinstance(patterns, str):
        return (patterns,)
    if not isinstance(patterns, Iterable) or isinstance(patterns, bytes | dict | set | frozenset):
        raise TypeError(
            f"Give a pattern or a list of 1 to 5 patterns, not {validation.shown(patterns)}."
        )
    chain = tuple(patterns)
    for text in chain:
        if not isinstance(text, str):
            raise TypeError(f"A pattern is a text such as **/*.py, not {validation.shown(text)}.")
    return chain


def find_each(
    context: SessionContext,
    requests: Sequence[Request],
    *,
    deadline_s: float = 2.0,
    progress: Progress | None = None,
) -> tuple[FindResult, ...]:
    """Answer each request, in order, as find() does. The deadline covers all of them together."""
    return tuple(_find(context, requests, LIMIT, deadline_s, progress))


def _find(
    context: SessionContext,
    requests: Sequence[Request],
    limit: int,
    deadline_s: float,
    progress: Progress | None,
) -> list[FindResult]:
    limit = validation.number("limit", limit, 1, LIMIT_MAX)
    relative = [relative_request(context, request) for request in requests]
    search = _Search(context, limit, monotonic() + deadline_s, progress)
    results = [search.answer(request) for request in relative]
    with suppress(StoreError):  # only the statistics suffer; the next fact reports the store
        context.append([_sought(result) for result in results])
    return results


def _sought(result: FindResult) -> FilesSought:
    patterns = tuple([text[:PATTERN_MAX] for text in result.request.patterns])
    offered = tuple([candidate.path for candidate in result.candidates])
    won = result.tried if result.matches else 0
    return FilesSought(patterns, won, result.tried, result.total, offered)


def relative_request(context: SessionContext, request: Request) -> Request:
    """Return a valid request with its patterns relative to the workspace's root. PathRefused for a way
    out of it, ValueError."""
    root = context.workspace.root.rstrip("/\\")
    patterns = tuple(
        text[len(root) + 1 :] if text.startswith((f"{root}/", f"{root}\\")) else text
        for text in request.patterns
    )
    try:
        return validate(structs.replace(request, patterns=patterns))
    except LeadsOut as error:
        raise PathRefused(
            ", ".join(map(str, request.patterns)),
            "outside",
            str(error),
            "Only files of the workspace are found.",
        ) from None


class _Search:
    """Answers requests within one deadline."""

    def __init__(
        self, context: SessionContext, limit: int, until: float, progress: Progress | None
    ) -> None:
        self._context = context
        self._shelf: Shelf = shelf_of(context.workspace)
        self._limit = limit
        self._until = until
        self._progress = progress

    def _late(self) -> bool:
        return monotonic() > self._until

    def answer(self, request: Request) -> FindResult:
        patterns, limit = request.patterns, self._limit
        for number, text in enumerate(patterns, 1):
            if number > 1 and self._late():
                return self._no_match(request, number - 1)
            if self._progress is not None:
                self._progress(number, len(patterns), text)
            if absolute(text):
                continue
            try:
                found = self._shelf.index.matching(pattern(text), stop=self._late)
            except OutOfTime:
                return self._no_match(request, number - 1)
            if found:
                total = len(found)
                matches = tuple(found[:limit])
                cut = total > limit
                return FindResult(
                    matches, text, number, truncated=cut, total=total, request=request
                )
        return self._no_match(request, len(patterns))

    def _no_match(self, request: Request, tried: int) -> FindResult:
        literals = [text for text in map(_literal, request.patterns) if text is not None]
        existing = list(self._unlisted(literals))
        late = self._late()
        guessed = [] if late else self._guess(request)
        unique = {candidate.path: candidate for candidate in [*guessed, *existing]}
        best = sorted(unique.values(), key=lambda candidate: -candidate.score)[:CANDIDATES]
        timed_out = late or tried < len(request.patterns)
        fallback, create = request.fallback, None
        if fallback == "create_new":
            if not existing and not timed_out:
                create = next(self._creatable(literals), None)
            fallback = "ask_user" if create is None else fallback
        result = FindResult(
            (),
            None,
            tried,
            fallback,
            tuple(best),
            create=create,
            timed_out=timed_out,
            request=request,
        )
        if fallback == "ask_user":
            return structs.replace(result, question=words.question(result))
        return result

    def _unlisted(self, literals: list[str]) -> Iterator[Candidate]:
        """Yield the named paths that exist although the list of files does not have them."""
        workspace = self._context.workspace
        for path in literals:
            try:
                located = workspace.locate(path)
                found = workspace.stat(located.path)
            except (PathError, OSError):
                continue  # refused to this session, or unreadable now
            if found is None or stat.S_ISLNK(found.mode):
                continue  # a dangling link is no file
            if located.path in self._shelf.index:
                yield Candidate(located.path, 1.0, words.LINKED)
            else:
                folder = stat.S_ISDIR(found.mode)
                yield Candidate(path, 1.0, words.FOLDER if folder else words.HIDDEN)

    def _creatable(self, literals: list[str]) -> Iterator[str]:
        """Yield the literal paths of new files that this session may create."""
        workspace = self._context.workspace
        for name in literals:
            try:
                located = workspace.locate(name)
                path = above = located.path
                if located.name is not None or workspace.stat(path) is not None:
                    continue
                while above := above.rpartition("/")[0]:
                    found = workspace.stat(above)
                    if found is not None and not stat.S_ISDIR(found.mode):
                        break
                else:
                    yield path
            except (PathError, OSError):
                continue

    def _guess(self, request: Request) -> list[Candidate]:
        """Return guesses for the two most exact patterns, the likeliest last."""
        seen = self._context.store.known(self._context.session)
        renamed = self._shelf.renamed(self._until - monotonic())
        guesses = dict.fromkeys(map(_without_magic, request.patterns[:2]))
        candidates = [
            candidate
            for guess in guesses
            for candidate in self._shelf.guesser.candidates(guess, seen=seen, renamed=renamed)
        ]
        return sorted(candidates, key=lambda candidate: candidate.score)


def _literal(text: str) -> str | None:
    return None if absolute(text) else pattern(text).literal


def _without_magic(text: str) -> str:
    """Return a pattern as a plain path: the first choice of its braces, without wildcards."""
    literal = _literal(text)
    if literal is not None or absolute(text):
        return literal or text
    parts = [part.replace("*", "").replace("?", "") for part in expand(text)[0].split("/")]
    return "/".join(part for part in parts if part)
