"""Many paths made ready to be looked up by names that are only almost right."""

from __future__ import annotations

from heapq import nlargest
from itertools import islice, pairwise

from sightline.core.finding.guessing.across import folders_in, joined, tails
from sightline.core.finding.guessing.distance import slips, slips_allowed
from sightline.core.finding.guessing.spelling import (
    INDEXES,
    SEPARATORS,
    folded,
    folder_key,
    keys,
    name_of,
    numbers,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sightline.core.finding.guessing.spelling import Asked

CROWD = 100
"""Paths of one name that are compared in full; of more, those whose folders fit best."""

CROWD_MAX = 10_000
"""Paths of one name whose folders are looked at; of more, those below the folder asked for."""

NEAR_MAX = 400
"""Paths that are compared in full, of all names."""

LINES_MAX = 800
"""Names that share a piece with the one asked for and are compared with it."""

CLOSE_MAX = 40
"""Names a few slips away that are looked up."""

SHARED_MAX = 100
"""Names that hold a word of the one asked for."""


class Names:
    """The names of paths, by their keys and as one text that is searched for pieces of a key."""

    def __init__(self, paths: Sequence[str]) -> None:
        self._paths = paths
        self._by_key: dict[str, list[int]] = {}
        written = [path[path.rfind("/") + 1 :] for path in paths]
        text = "\n".join(written)
        if text.count("\n") >= max(len(written), 1):
            text = "\n".join([name.replace("\n", " ") for name in written])
        self._file(keys(folded(text)) if written else [])
        self._text = "\n" + "\n".join(self._by_key) + "\n"
        self._long = _by_length(self._by_key)

    def _file(self, keys: Sequence[str]) -> None:
        """Put each path under its key, and an index file under that of its folder too."""
        by_key = self._by_key
        for at, key in enumerate(keys):
            if key in by_key:
                by_key[key].append(at)
            else:
                by_key[key] = [at]
        for index in INDEXES:
            for at in tuple(by_key.get(index.strip("_"), ())):
                folders = self._paths[at].split("/")
                if len(folders) > 1:
                    by_key.setdefault(folder_key(folders[-2]), []).append(at)

    def near(self, asked: Asked) -> list[str]:
        """The paths worth a comparison, at most some hundreds: the likeliest keys go first."""
        found = dict.fromkeys(self._across(asked))
        for key, most in self._keys(asked):
            found |= dict.fromkeys(self._under(key, asked, most))
            if len(found) >= NEAR_MAX:
                break
        return list(found)

    def _across(self, asked: Asked) -> list[str]:
        """The paths whose words stand on the other sides of a slash than those of the guess."""
        by_key, paths, whole = self._by_key, self._paths, asked.name.key
        found = [paths[at] for key in joined(asked) for at in by_key.get(key, ())[:CROWD]]
        among = ((key, at) for key in tails(whole) for at in by_key.get(key, ()))
        parted = (
            paths[at]
            for key, at in islice(among, CROWD_MAX)
            # of the folder, which may also stand for its index file
            if _letter(paths[at]) in (whole[-len(key) - 1], whole[-1])
            and _made_of(whole, paths[at])
        )
        return [*found, *islice(parted, CROWD)]

    def _keys(self, asked: Asked) -> Iterator[tuple[str, int]]:
        """Keys like the one asked for, and how many paths of each are of interest."""
        wanted = [asked.name.key]
        if asked.name.index and asked.folders:
            wanted.append(asked.folder_keys[-1])
        for key in wanted:
            yield from ((other, CROWD) for other in (key, *numbers(key)))
        for key in wanted:
            yield from ((other, CROWD // 3) for other in self._slipped(key))
        yield from ((other, CROWD // 10) for other in self._sharing(asked))

    def _under(self, key: str, asked: Asked, most: int) -> list[str]:
        """The paths of one key; of a crowd, those that hold the most of the asked folders."""
        paths = [self._paths[at] for at in self._by_key.get(key, ())]
        if len(paths) <= most:
            return paths
        if len(paths) > CROWD_MAX:
            last = f"{asked.folders[-1]}/" if asked.folders else ""
            paths = ([path for path in paths if last in path] or paths)[:CROWD_MAX]
        sought = [f"/{part}/".lower() for part in asked.folders[-4:]]

        def fits(path: str) -> tuple[int, int]:
            lying = f"/{path}".lower()
            return sum([part in lying for part in sought]), -len(lying)

        return nlargest(most, paths, key=fits)

    def _slipped(self, key: str) -> list[str]:
        """The keys a few slips away, nearest first: all of them share a piece with this one."""
        most = slips_allowed(len(key))
        if not most:
            return []
        counted = {line: slips(key, line, most) for line in self._lines(key, most)}
        close = [line for line, count in counted.items() if 0 < count <= most]
        return sorted(close, key=counted.__getitem__)[:CLOSE_MAX]

    def _lines(self, key: str, most: int) -> dict[str, None]:
        """The keys of about this length that hold a piece of this one, the rarest pieces first."""
        lengths = range(len(key) - most, len(key) + most + 1)
        text = "".join([self._long[length] for length in lengths if length in self._long])
        found: dict[str, None] = {}
        for piece in sorted(_pieces(key, most + 2), key=text.count):
            for line in _holding(piece, text):
                found[line] = None
                if len(found) >= LINES_MAX:
                    return found
        return found

    def _sharing(self, asked: Asked) -> list[str]:
        """The keys that hold the longest word of the one asked for, or all of it."""
        found: dict[str, None] = {}
        for word in sorted({*asked.words, asked.name.key}, key=len, reverse=True)[:3]:
            if len(word) < 4:
                break
            for line in _holding(word, self._text):
                found[line] = None
                if len(found) >= SHARED_MAX:
                    return list(found)
        return list(found)


def _letter(path: str) -> str:
    """The last letter of the folder that a path is in."""
    return path[: max(path.rfind("/"), 0)].rstrip(SEPARATORS)[-1:].lower()


def _made_of(key: str, path: str) -> bool:
    *folders, written = path.split("/")
    return bool(folders_in(key, folders, name_of(written)))


def _by_length(keys: Iterable[str]) -> dict[int, str]:
    """Keys of one length as one text, each between line ends."""
    sorted_out: dict[int, list[str]] = {}
    for key in keys:
        sorted_out.setdefault(len(key), [""]).append(key)
    return {length: "\n".join([*lines, ""]) for length, lines in sorted_out.items()}


def _holding(piece: str, text: str) -> Iterator[str]:
    """The lines of a text that hold a piece."""
    at = 0
    while (at := text.find(piece, at)) >= 0:
        start = text.rfind("\n", 0, at) + 1
        at = text.find("\n", at)
        yield text[start:at]


def _pieces(key: str, count: int) -> list[str]:
    """A key in so many parts, as equal as can be: a few slips leave one of them whole."""
    count = min(count, len(key))
    cuts = [len(key) * at // count for at in range(count + 1)]
    return list({key[a:b]: None for a, b in pairwise(cuts)})
