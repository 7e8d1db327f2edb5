"""Finding files by a chain of patterns, and what to do where none is found."""

from __future__ import annotations

import stat
from _thread import allocate_lock
from time import monotonic
from weakref import WeakKeyDictionary

from sightline.core.finding.chains import FindResult, Request, checked, requests_of
from sightline.core.finding.index import Index
from sightline.core.finding.patterns import LeadsOut, absolute, pattern
from sightline.errors import PathError, PathRefused
from sightline.render import finding as words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from sightline.core.finding.chains import Fallback
    from sightline.core.finding.guesses import Candidate, Guesser
    from sightline.services.ground import Ground
    from sightline.workspace import Workspace

    Progress = Callable[[int, int, str], object]
    """Told the number of the pattern that is tried next, of how many, and the pattern."""

LIMIT_MAX = 10_000
"""Matches of an answer."""

CANDIDATES = 5


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
    patterns and the guesses: once the list of files is there, the first pattern is always tried.
    An absolute path in the workspace is taken for what it is there; one elsewhere matches nothing.
    ValueError for what is no chain, PathRefused for a way out of the workspace.
    """
    if isinstance(patterns, Request):
        request = patterns
    else:
        chain = (patterns,) if isinstance(patterns, str) else tuple(patterns)
        request = Request(chain, name, reason, required, fallback)
    return _find(ground, [request], limit, deadline_s, progress)[0]


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
    if not 1 <= limit <= LIMIT_MAX:
        raise ValueError(f"limit is 1 to {LIMIT_MAX:,}, not {limit}.")
    asked = [_here(ground, request) for request in requests]
    shelf = shelf_of(ground.workspace)
    until = monotonic() + deadline_s
    return [_answer(ground, each, shelf, limit, until, progress) for each in asked]


class Shelf:
    """The files of a workspace as they were listed, and what was made of the list."""

    def __init__(self, paths: tuple[str, ...], root: str) -> None:
        self.paths = paths
        self.index = Index(paths)
        self._root = root
        self._guesser: Guesser | None = None
        self._renamed: dict[str, str] | None = None

    @property
    def guesser(self) -> Guesser:
        """What guesses are made with."""
        if self._guesser is None:
            from sightline.core.finding.guesses import Guesser  # only for what is not found

            self._guesser = Guesser(self.paths)
        return self._guesser

    @property
    def renamed(self) -> dict[str, str]:
        """What git says was renamed, while the list of files was this one."""
        if self._renamed is None:
            from sightline.workspace.renames import renames  # starts a process

            self._renamed = renames(self._root)
        return self._renamed


def shelf_of(workspace: Workspace) -> Shelf:
    """What a workspace's list of files is asked by. It is made anew when the list is another."""
    paths = workspace.paths()
    with _LOCK:
        shelf = _SHELVES.get(workspace)
        if shelf is None or shelf.paths != paths:
            shelf = _SHELVES[workspace] = Shelf(paths, workspace.root)
    return shelf


_SHELVES: WeakKeyDictionary[Workspace, Shelf] = WeakKeyDictionary()
_LOCK = allocate_lock()


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
    for number, text in enumerate(patterns, 1):
        if number > 1 and monotonic() > until:
            return _nothing(ground, request, shelf, number - 1, until)
        if progress is not None:
            progress(number, len(patterns), text)
        found = [] if absolute(text) else shelf.index.matching(pattern(text))
        if found:
            return FindResult(
                tuple(found[:limit]),
                text,
                number,
                truncated=len(found) > limit,
                total=len(found),
                request=request,
            )
    return _nothing(ground, request, shelf, len(patterns), until)


def _nothing(
    ground: Ground, request: Request, shelf: Shelf, tried: int, until: float
) -> FindResult:
    """Where no pattern matched: what may have been meant, and what to do."""
    named = [text for text in map(_literal, request.patterns) if text is not None]
    there = list(_there(ground, named))
    late = monotonic() > until
    guessed = [] if late else _guessed(ground, request, shelf)
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
    return result.replace(question=words.question(result)) if fallback == "ask_user" else result


def _literal(text: str) -> str | None:
    """The one path or name that a pattern can be."""
    return None if absolute(text) else pattern(text).meaning.literal


def _there(ground: Ground, named: list[str]) -> Iterator[Candidate]:
    """What stands at a path that was named, though no list has it."""
    from sightline.core.finding.guesses import Candidate

    for path in named:
        try:
            found = ground.workspace.stat(ground.workspace.locate(path).path)
        except (PathError, OSError):
            continue  # not for this session to know, or to be told now
        if found is not None:
            folder = stat.S_ISDIR(found.mode)
            yield Candidate(path, 1.0, words.FOLDER if folder else words.HIDDEN)


def _creatable(ground: Ground, named: list[str]) -> Iterator[str]:
    """Those of the named paths at which this session may create a file, and nothing stands."""
    for path in named:
        try:
            located = ground.workspace.locate(path)
            if located.name is None and ground.workspace.stat(located.path) is None:
                yield located.path
        except (PathError, OSError):
            continue


def _guessed(ground: Ground, request: Request, shelf: Shelf) -> list[Candidate]:
    """What may have been meant by the two most exact patterns, each path once."""
    seen = ground.store.known(ground.session)
    best: dict[str, Candidate] = {}
    for asked in dict.fromkeys(map(_guess, request.patterns[:2])):
        for each in shelf.guesser.candidates(asked, seen=seen, renamed=shelf.renamed):
            if each.path not in best or best[each.path].score < each.score:
                best[each.path] = each
    return list(best.values())


def _guess(text: str) -> str:
    """A pattern as a path that somebody may have had in mind: its magic left out."""
    literal = _literal(text)
    if literal is not None or absolute(text):
        return literal or text
    parts = [part.strip("*?") for part in text.split("/")]
    return "/".join(part for part in parts if part)
