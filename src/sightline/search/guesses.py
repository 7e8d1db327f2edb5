"""Paths that a wrong path may have meant, the likeliest first.

rapidfuzz compares the guess with every path, without spelling: an ending, the case of letters, what
separates words and the name of an index file count for little. The likeliest are compared again in
full. A guess may also be an old name: git knows what was renamed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice
from unicodedata import normalize

from msgspec import Struct
from rapidfuzz import fuzz, process

WORTH_SAYING = 0.45
"""A path that is less alike would only mislead."""

NAME_LEAST = 55.0
"""Of 100. A file whose name is less alike was not meant, wherever it lies."""

ALIKE = 70.0
"""Of 100: the likeness from which on a name is taken for another one."""

HELD = 70.0
"""Of 100: the likeness of a name that holds all of the name asked for."""

RENAMED = 0.995
"""The score of what git renamed: above every likeness but the path itself."""

SEEN = 0.04
"""What a path gains that this session read."""

LENGTH_MAX = 300
"""Characters of a guess that are compared: its end. Few paths are longer."""

NEAR_MAX = 40
"""Paths that are compared in full because they are alike as a whole."""

NAMES_MAX = 10
"""Names that are looked up because they are alike, and as many because they hold the name asked for."""

CROWD = 50
"""Paths of one name that are compared in full."""

_OF_FILES = (
    "bash bat c cc cfg cjs cpp cs css csv cts cxx env gif go gradle graphql h hh hpp htm html hxx ini"
    " inl ipynb j2 java jinja jpg js json jsx kt kts less lock log lua m md mdx mjs mm mts pdf php pl"
    " png proto ps1 py pyi pyx r rb rs rst sass scala scss sh sql svelte svg swift toml ts tsx txt"
    " vue xml yaml yml zsh"
)
ENDINGS = frozenset(f".{ending}" for ending in _OF_FILES.split())
"""Of files: a name that has one is no module's with dots."""

_ENDING = re.compile(r"(?<=[^/\n])(?:\.d(?=\.[cm]?ts$))?\.[^./\n]*$", re.MULTILINE)
_INDEX = re.compile(r"/(?:index|__init__|mod)$", re.MULTILINE | re.IGNORECASE)
_SPELLING = str.maketrans("", "", "_-. ~+@$[]()")
_BETWEEN = str.maketrans("_-.", "   ")
_PLACE = re.compile(r":\d+(?:[:-]\d+)*$|#L\d+(?:-L?\d+)?$")
_DRIVE = re.compile(r"^[A-Za-z]:(?=/)")


class Candidate(Struct, frozen=True):
    """A path that may have been meant. score: 0 to 1; reason: how it differs from the guess."""

    path: str
    score: float
    reason: str


class Guesser:
    """A list of paths, made ready once for many guesses."""

    def __init__(self, paths: Sequence[str]) -> None:
        self._paths = paths
        self._there = frozenset(paths)
        self._keys = _keys(paths)
        self._flat = [key.replace("/", "") for key in self._keys]
        self._names: dict[str, list[int]] = {}
        for at, key in enumerate(self._keys):
            self._names.setdefault(key[key.rfind("/") + 1 :], []).append(at)

    def candidates(
        self,
        asked: str,
        *,
        seen: Collection[str] = (),
        renamed: Mapping[str, str] | None = None,
        limit: int = 5,
    ) -> list[Candidate]:
        """Return the paths that a guess may have meant, the likeliest first. seen: what this session
        read; renamed: old paths and their new ones. A guess of any length takes a bounded time."""
        best: dict[str, Candidate] = {}
        for guess in _readings(_plain(asked)):
            for each in self._alike(guess, seen):
                if each.path not in best or best[each.path].score < each.score:
                    best[each.path] = each
            for path, old in moved(guess.split("/"), renamed or {}, self._there):
                if path != guess:
                    best[path] = Candidate(path, RENAMED, f"renamed from {old} by git")
        return sorted(best.values(), key=_order)[:limit]

    def _alike(self, guess: str, seen: Collection[str]) -> Iterator[Candidate]:
        (key,) = _keys([guess])
        for at in self._near(key):
            path = self._paths[at]
            score = _likeness(guess, key, path, self._keys[at])
            if score < WORTH_SAYING:
                continue
            reason = _reason(guess, key, path, self._keys[at])
            if path in seen and path != guess:
                score, reason = min(score + SEEN, RENAMED), f"{reason}, this session read it"
            yield Candidate(path, round(score, 4), reason)

    def _near(self, key: str) -> set[int]:
        """Return where the paths stand that are compared in full: those alike as a whole, slashes
        or not, and those whose name is alike."""
        flat, name = key.replace("/", ""), key[key.rfind("/") + 1 :]
        near = {
            at for _, _, at in process.extract(flat, self._flat, scorer=fuzz.ratio, limit=NEAR_MAX)
        }
        alike = process.extract(
            name, list(self._names), scorer=fuzz.ratio, limit=NAMES_MAX, score_cutoff=ALIKE
        )
        longer = (each for each in self._names if _holds(each, name))
        for each in {*islice(longer, NAMES_MAX), *(each for each, _, _ in alike)}:
            places = self._names[each]
            if len(places) > CROWD:
                keys = {at: self._keys[at] for at in places}
                crowd = process.extract(key, keys, scorer=fuzz.ratio, limit=CROWD)
                places = [at for _, _, at in crowd]
            near.update(places)
        return near


def candidates(
    asked: str,
    paths: Sequence[str],
    *,
    seen: Collection[str] = (),
    renamed: Mapping[str, str] | None = None,
    limit: int = 5,
) -> list[Candidate]:
    """Return the paths that a guess may have meant, the likeliest first. For many guesses at one
    list, make one Guesser."""
    return Guesser(paths).candidates(asked, seen=seen, renamed=renamed, limit=limit)


def _plain(written: str) -> str:
    """Return a guess as a path: without what surrounds a path in prose, in commands and in the
    answers of tools."""
    text = written[-LENGTH_MAX:].strip().strip("\"'`<>,;").removeprefix("file://")
    text = text.replace("\\", "/").replace("\n", "").replace("\r", "").replace("\0", "")
    parts: list[str] = []
    for part in _DRIVE.sub("", _PLACE.sub("", text)).split("/"):
        if part == "..":
            parts = parts[:-1]
        elif part.strip() not in ("", ".", "~"):
            parts.append(part.strip())
    return "/".join(parts)


def _readings(guess: str) -> Iterator[str]:
    """Yield what a guess may mean as a path: "a.b.load" may be the module a/b/load; "a.b.py", a/b.py."""
    if guess:
        yield guess
    if "/" not in guess and not guess.startswith("."):
        stem, dot, ending = guess.rpartition(".")
        if dot and f".{ending.lower()}" not in ENDINGS:
            yield guess.replace(".", "/")
        elif "." in stem:
            yield f"{stem.replace('.', '/')}.{ending}"


def _keys(paths: Sequence[str]) -> list[str]:
    """Return each path without its spelling: small letters, no separators of words, no ending, and
    the folder for its index file."""
    text = "\n".join([path.replace("\n", " ") for path in paths])
    if not text.isascii():
        text = normalize("NFC", text)
    text = _INDEX.sub("", _ENDING.sub("", text)).lower().translate(_SPELLING)
    return text.split("\n") if paths else []


def _holds(name: str, part: str) -> bool:
    return len(part) > 3 and part in name


def _likeness(guess: str, key: str, path: str, found: str) -> float:
    """From 0 to 1; the keys are those of the guess and of the path."""
    asked, parts = key.split("/"), found.split("/")
    whole = fuzz.ratio("".join(asked), "".join(parts))
    if _ends_as(asked, parts) or _ends_as(parts, asked):
        name = folders = 100.0
    else:
        name = max(_likeness_of_names(asked, parts), _likeness_of_words(guess, path))
        folders = fuzz.ratio(asked, parts)
    if name < NAME_LEAST:
        return 0.0
    place = 0.25 * whole + 0.1 * folders + 0.15 * fuzz.ratio(guess, path)
    return name * (50 + place) / 10_000


def _likeness_of_names(asked: list[str], parts: list[str]) -> float:
    """From 0 to 100. The last folder may be written as part of a name."""
    one, other = asked[-1], parts[-1]
    return max(
        HELD if _holds(other, one) else 0.0,
        fuzz.ratio(one, other),
        fuzz.ratio(one, "".join(parts[-2:]), score_cutoff=ALIKE),
        fuzz.ratio("".join(asked[-2:]), other, score_cutoff=ALIKE),
    )


def _likeness_of_words(guess: str, path: str) -> float:
    """From 0 to 100, in whatever order a name has its words."""
    one, other = (_ENDING.sub("", each[each.rfind("/") + 1 :]).lower() for each in (guess, path))
    return 0.95 * fuzz.token_sort_ratio(one.translate(_BETWEEN), other.translate(_BETWEEN))


def _ends_as(long: list[str], short: list[str]) -> bool:
    """Return whether one path ends as the whole of the other, wherever slashes stand."""
    whole = "".join(short)
    return any("".join(long[at:]) == whole for at in range(len(long)))


def _reason(guess: str, key: str, path: str, found: str) -> str:
    """Return how a path differs from a guess, in words."""
    if path == guess:
        return "the path itself"
    if path.lower() == guess.lower():
        return "other case"
    folder, _, name = path.rpartition("/")
    above, _, asked = guess.rpartition("/")
    if above and path.endswith(f"/{guess}"):
        return f"below {path.removesuffix(guess)}"
    if guess.endswith(f"/{path}"):
        return f"without {guess.removesuffix(path)}"
    where = f"in {folder}" if folder else "in the top folder"
    if name == asked:
        return f"the same name {where}"
    if key.replace("/", "") != found.replace("/", ""):
        return "a similar name" if folder == above else f"a similar name {where}"
    stem, written = _ENDING.sub("", path), _ENDING.sub("", guess)
    if stem == written:
        ending = path.removeprefix(stem)
        return f"with its ending {ending}" if stem == guess else f"other ending {ending}"
    if key != found:
        return "a slash at another place"
    if _INDEX.search(stem) and not _INDEX.search(written):
        return "the index file of that folder"
    return "a file, not a folder" if _INDEX.search(written) else "another spelling"


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
