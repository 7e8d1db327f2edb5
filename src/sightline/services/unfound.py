"""Where no pattern of a chain matched: what may have been meant, and what to do now."""

from __future__ import annotations

import stat
from time import monotonic

from sightline.core.finding.braces import expand
from sightline.core.finding.chains import FindResult
from sightline.core.finding.patterns import absolute, pattern
from sightline.errors import PathError
from sightline.render import finding as words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from sightline.core.finding.chains import Request
    from sightline.core.finding.guesses import Candidate
    from sightline.services.ground import Ground
    from sightline.services.shelves import Shelf

CANDIDATES = 5


def nothing(ground: Ground, request: Request, shelf: Shelf, tried: int, until: float) -> FindResult:
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
    return result.replace(question=words.question(result)) if fallback == "ask_user" else result


def _literal(text: str) -> str | None:
    """The one path or name that a pattern can be."""
    return None if absolute(text) else pattern(text).meaning.literal


def _there(ground: Ground, shelf: Shelf, named: list[str]) -> Iterator[Candidate]:
    """What stands at a path that was named, though no list has it."""
    from sightline.core.finding.guesses import Candidate

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


def _creatable(ground: Ground, named: list[str]) -> Iterator[str]:
    """Those of the named paths at which this session may create a file, and nothing stands."""
    for path in named:
        try:
            located = ground.workspace.locate(path)
            if located.name is None and _free(ground, located.path):
                yield located.path
        except (PathError, OSError):
            continue


def _free(ground: Ground, path: str) -> bool:
    """Whether nothing stands at a path, and none but folders above it."""
    above = path
    while above := above.rpartition("/")[0]:
        found = ground.workspace.stat(above)
        if found is not None and not stat.S_ISDIR(found.mode):
            return False
    return ground.workspace.stat(path) is None


def _guessed(ground: Ground, request: Request, shelf: Shelf, until: float) -> list[Candidate]:
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
