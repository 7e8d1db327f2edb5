"""Guess the paths that a wrong path may have meant, the likeliest first.

rapidfuzz compares the guess with every path, without spelling: the ending, the case of letters,
separators of words and the name of an index file count for little. The likeliest paths are compared
again in full. A guess may also be an old path that git renamed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice
from unicodedata import normalize

from msgspec import Struct
from rapidfuzz import fuzz, process

from sightline.model.path import quoted

LEAST = 0.45
"""Least score of a candidate; a lower one would only mislead."""

NAME_LEAST = 55.0
"""Least similarity of names, of 100, wherever the file lies."""

ALIKE = 70.0
"""Similarity of 100 above which two names may be the same."""

CONTAINS = 70.0
"""Similarity of 100 for a name that contains the whole name asked for."""

RENAMED = 0.995
"""Score of a path that git renamed: above every similarity except identity."""

SEEN = 0.04
"""Bonus for a path that this session read."""

LENGTH_MAX = 300
"""Characters of a guess that are compared, from its end. Few paths are longer."""

NEAR_MAX = 40
"""Paths compared in full because the whole path is similar."""

NAMES_MAX = 10
"""Names looked up because they are similar, and as many because they contain the name asked for."""

CROWD = 50
"""Paths with the same name compared in full."""

_OF_FILES = (
    "bash bat c cc cfg cjs cpp cs css csv cts cxx env gif go gradle graphql h hh hpp htm html hxx ini"
    " inl ipynb j2 java jinja jpg js json jsx kt kts less lock log lua m md mdx mjs mm mts pdf php pl"
    " png proto ps1 py pyi pyx r rb rs rst sass scala scss sh sql svelte svg swift toml ts tsx txt"
    " vue xml yaml yml zsh"
)
ENDINGS = frozenset(f".{ending}" for ending in _OF_FILES.split())
"""Endings of files. A dotted name with one of them is no module."""

_ENDING = re.compile(r"(?<=[^/\n])(?:\.d(?=\.[cm]?ts$))?\.[^./\n]*$", re.MULTILINE)
_INDEX = re.compile(r"/(?:index|__init__|mod)$", re.MULTILINE | re.IGNORECASE)
_SPELLING = str.maketrans("", "", "_-. ~+@$[]()")
_BETWEEN = str.maketrans("_-.", "   ")
_PLACE = re.compile(r":\d+(?:[:-]\d+)*$|#L\d+(?:-L?\d+)?$")
_DRIVE = re.compile(r"^[A-Za-z]:(?=/)")


class Candidate(Struct, frozen=True):
    """A guessed path. score: 0 to 1; reason: its difference from the wrong path."""

    path: str
    score: float
    reason: str


class Guesser:
    """A list of paths, prepared once for many guesses."""

    def __init__(self, paths: Sequence[str]) -> None:
        self._paths = paths
        self._existing = frozenset(paths)
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
        """Return the paths that a wrong path may have meant, the likeliest first. seen: paths that this
        session read; renamed: old path -> new path. A guess of any length takes bounded time."""
        best: dict[str, Candidate] = {}
        for guess in _readings(_plain(asked)):
            for candidate in self._similar(guess, seen):
                known = best.get(candidate.path)
                if known is None or known.score < candidate.score:
                    best[candidate.path] = candidate
            for path, old in moved(guess.split("/"), renamed or {}, self._existing):
                if path != guess:
                    best[path] = Candidate(path, RENAMED, f"renamed from {old} by git")
        ranked = sorted(best.values(), key=lambda each: (-each.score, len(each.path), each.path))
        return ranked[:limit]

    def _similar(self, guess: str, seen: Collection[str]) -> Iterator[Candidate]:
        (key,) = _keys([guess])
        for at in self._near(key):
            path = self._paths[at]
            score = _score(guess, key, path, self._keys[at])
            if score < LEAST:
                continue
            reason = _reason(guess, key, path, self._keys[at])
            if path in seen and path != guess:
                score, reason = min(score + SEEN, RENAMED), f"{reason}, this session read it"
            yield Candidate(path, round(score, 4), reason)

    def _near(self, key: str) -> set[int]:
        """Return the places of the paths to compare in full: those with a similar whole, slashes or
        not, and those with a similar name."""
        flat, name = key.replace("/", ""), key[key.rfind("/") + 1 :]
        near = {
            at for _, _, at in process.extract(flat, self._flat, scorer=fuzz.ratio, limit=NEAR_MAX)
        }
        similar = process.extract(
            name, list(self._names), scorer=fuzz.ratio, limit=NAMES_MAX, score_cutoff=ALIKE
        )
        longer = (other for other in self._names if _contains(other, name))
        for other in {*islice(longer, NAMES_MAX), *(other for other, _, _ in similar)}:
            places = self._names[other]
            if len(places) > CROWD:
                keys = {at: self._keys[at] for at in places}
                crowd = process.extract(key, keys, scorer=fuzz.ratio, limit=CROWD)
                places = [at for _, _, at in crowd]
            near.update(places)
        return near


def _plain(written: str) -> str:
    """Return a guess as a path, without the signs around paths in prose, commands and tool output."""
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
    """Yield the paths that a guess may mean: "a.b.load" may be the module a/b/load; "a.b.py", a/b.py."""
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


def _contains(name: str, part: str) -> bool:
    return len(part) > 3 and part in name


def _score(guess: str, key: str, path: str, found: str) -> float:
    """Return a score from 0 to 1. key, found: the keys of the guess and of the path."""
    asked, parts = key.split("/"), found.split("/")
    whole = fuzz.ratio("".join(asked), "".join(parts))
    if _ends_as(asked, parts) or _ends_as(parts, asked):
        name = folders = 100.0
    else:
        name = max(_name_similarity(asked, parts), _word_similarity(guess, path))
        folders = fuzz.ratio(asked, parts)
    if name < NAME_LEAST:
        return 0.0
    place = 0.25 * whole + 0.1 * folders + 0.15 * fuzz.ratio(guess, path)
    return name * (50 + place) / 10_000


def _name_similarity(asked: list[str], parts: list[str]) -> float:
    """Return 0 to 100. The last folder may be written as part of the name."""
    name, other = asked[-1], parts[-1]
    return max(
        CONTAINS if _contains(other, name) else 0.0,
        fuzz.ratio(name, other),
        fuzz.ratio(name, "".join(parts[-2:]), score_cutoff=ALIKE),
        fuzz.ratio("".join(asked[-2:]), other, score_cutoff=ALIKE),
    )


def _word_similarity(guess: str, path: str) -> float:
    """Return 0 to 100 for the words of two names, in any order."""
    names = (_ENDING.sub("", full[full.rfind("/") + 1 :]).lower() for full in (guess, path))
    return 0.95 * fuzz.token_sort_ratio(*(name.translate(_BETWEEN) for name in names))


def _ends_as(long: list[str], short: list[str]) -> bool:
    """Return whether the long path ends with the whole short one, wherever slashes stand."""
    whole = "".join(short)
    return any("".join(long[at:]) == whole for at in range(len(long)))


def _reason(guess: str, key: str, path: str, found: str) -> str:
    """Return the difference between a path and a guess, in words."""
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
    where = f"in {quoted(folder)}" if folder else "in the top folder"
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


FOLDERS_MAX = 64
"""Renamed folders that are tried for one guess."""


def moved(
    asked: Sequence[str], renamed: Mapping[str, str], existing: Collection[str]
) -> Iterator[tuple[str, str]]:
    """Yield (current path, old path) for a guess that git renamed. The guess may begin with folders
    above the workspace."""
    if not renamed:
        return
    tails = ["/".join(asked[at:]) for at in range(len(asked))]
    for tail in tails:
        if renamed.get(tail) in existing:
            yield renamed[tail], tail
            return
    starts = tuple({f"{part}/" for part in asked[:-1]})
    folders = _moved_folders({old: new for old, new in renamed.items() if old.startswith(starts)})
    for tail in tails:
        for old, new in folders.items():
            if tail.startswith(f"{old}/"):
                path = f"{new}{tail[len(old) :]}".lstrip("/")
                if path in existing:
                    yield path, old


def _moved_folders(renamed: Mapping[str, str]) -> dict[str, str]:
    """Return old folder -> new folder for files that kept their names, by falling number of files."""
    counts: Counter[tuple[str, str]] = Counter()
    for old, new in renamed.items():
        before, after = old.split("/"), new.split("/")
        if before[-1] == after[-1]:
            while before and after and before[-1] == after[-1]:
                before, after = before[:-1], after[:-1]
            if before:
                counts["/".join(before), "/".join(after)] += 1
    folders: dict[str, str] = {}
    for (old, new), _ in counts.most_common():
        folders.setdefault(old, new)
    return dict(islice(folders.items(), FOLDERS_MAX))
