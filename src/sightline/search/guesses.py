"""What an agent may have meant that asked for a path that is not there."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from sightline.model.value import Value
from sightline.search.fuzzy import WORTH_SAYING, Asked, Names, likeness

RENAMED = 0.995
"""What git says outweighs every likeness but the path itself."""

SEEN = 0.04
"""What it adds that this session read the file."""


_OF_FILES = (
    "bat c cc cfg cjs cpp cs css csv cts cxx go gradle h hh hpp htm html ini ipynb java js json jsx"
    " kt lock lua md mdx mjs mts php pl proto ps1 py pyi r rb rs rst scala scss sh sql svelte svg swift"
    " toml ts tsx txt vue xml yaml yml"
)
ENDINGS = frozenset(_OF_FILES.split())
"""Of files: a name that has one is no module's with dots."""


class Candidate(Value):
    """A path that may have been meant. score: 0 to 1; reason: how it differs from the guess."""

    path: str
    score: float
    reason: str


CHANGED_MAX = 1_000
"""Paths that came or went since all were made ready; after more all are made ready again."""


class Ready(Value):
    """Names made ready, and the paths that they are of."""

    paths: frozenset[str]
    names: Names


class Guesser:
    """A list of paths, made ready once for many guesses. ready: what was made ready for a list
    that this one may differ little from; then only the paths that came since are."""

    def __init__(self, paths: Sequence[str], ready: Ready | None = None) -> None:
        self._there = frozenset(paths)
        if ready is None or len(self._there ^ ready.paths) > CHANGED_MAX:
            ready = Ready(self._there, Names(paths))
        self.ready = ready
        new = self._there - ready.paths
        self._layers = [ready.names, *([Names(sorted(new))] if new else [])]

    def _near(self, asked: Asked) -> Iterator[str]:
        there = self._there
        return (path for names in self._layers for path in names.near(asked) if path in there)

    def candidates(
        self,
        asked: str,
        *,
        seen: Collection[str] = (),
        renamed: Mapping[str, str] | None = None,
        limit: int = 5,
    ) -> list[Candidate]:
        """The paths that a guess may have meant, the likeliest first. seen: what this session read;
        renamed: old paths and their new ones. A guess of any length takes a bounded time."""
        found: dict[str, Candidate] = {}
        for guess in _readings(asked):
            for made in self._of(guess, seen, renamed or {}):
                if made.score >= max(
                    WORTH_SAYING, found[made.path].score if made.path in found else 0
                ):
                    found[made.path] = made
        return sorted(found.values(), key=_order)[:limit]

    def _of(
        self, asked: Asked, seen: Collection[str], renamed: Mapping[str, str]
    ) -> Iterator[Candidate]:
        for path in self._near(asked):
            score, differs = likeness(asked, path)
            if path in seen:
                score, differs = min(score + SEEN, 1.0), [*differs, "this session read it"]
            yield Candidate(path, round(score, 4), ", ".join(differs) or "the path itself")
        for path, old in moved(asked.parts, renamed, self._there):
            yield Candidate(path, RENAMED, f"renamed from {old} by git")


def candidates(
    asked: str,
    paths: Sequence[str],
    *,
    seen: Collection[str] = (),
    renamed: Mapping[str, str] | None = None,
    limit: int = 5,
) -> list[Candidate]:
    """The paths that a guess may have meant, the likeliest first; for many guesses at one list, a
    Guesser is made once."""
    return Guesser(paths).candidates(asked, seen=seen, renamed=renamed, limit=limit)


def _readings(asked: str) -> Iterator[Asked]:
    """What a guess may mean as a path: "a.b.load" may be the module a/b/load; "a.b.py", a/b.py."""
    guess = Asked(asked)
    if guess.parts:
        yield guess
    if len(guess.parts) == 1 and not guess.path.startswith("."):
        stem, dot, ending = guess.path.rpartition(".")
        if dot and ending.lower() not in ENDINGS:
            yield Asked(guess.path.replace(".", "/"))
        elif "." in stem:
            yield Asked(f"{stem.replace('.', '/')}.{ending}")


def _order(made: Candidate) -> tuple[float, int, str]:
    return -made.score, len(made.path), made.path


FOLDERS_MAX = 64
"""Renamed folders that one guess is tried with."""


def moved(
    asked: Sequence[str], renamed: Mapping[str, str], there: Collection[str]
) -> Iterator[tuple[str, str]]:
    """The paths that a guess has now, each with the old path that git knows. A guess may begin with
    folders that lie above the workspace."""
    if not renamed:
        return
    tails = ["/".join(asked[at:]) for at in range(len(asked))]
    for tail in tails:
        if renamed.get(tail) in there:
            yield renamed[tail], tail
            return
    begins = tuple({f"{part}/" for part in asked[:-1]})
    folders = _folders({old: new for old, new in renamed.items() if old.startswith(begins)})
    for tail in tails:
        for old, new in folders.items():
            if tail.startswith(f"{old}/"):
                found = f"{new}{tail[len(old) :]}".lstrip("/")
                if found in there:
                    yield found, old


def _folders(renamed: Mapping[str, str]) -> dict[str, str]:
    """The folders that files which kept their names were moved out of, and where to; those with
    the most files come first."""
    counted: dict[tuple[str, str], int] = {}
    for old, new in renamed.items():
        pair = _differing(old, new)
        if pair[0]:
            counted[pair] = counted.get(pair, 0) + 1
    best = sorted(counted, key=lambda pair: -counted[pair])
    found: dict[str, str] = {}
    for old, new in best:
        found.setdefault(old, new)
    return dict(list(found.items())[:FOLDERS_MAX])


def _differing(old: str, new: str) -> tuple[str, str]:
    """Two paths without the end that they share; ("", "") where the file itself was renamed."""
    one, other = old.split("/"), new.split("/")
    if one[-1] != other[-1]:
        return "", ""
    while one and other and one[-1] == other[-1]:
        one, other = one[:-1], other[:-1]
    return "/".join(one), "/".join(other)
