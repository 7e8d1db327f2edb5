"""Many paths made ready to be looked up by names that are only almost right."""

from __future__ import annotations

from heapq import nlargest
from itertools import pairwise

from sightline.core.finding.guessing.distance import slips, slips_allowed
from sightline.core.finding.guessing.spelling import INDEXES, folded, folder_key, keys, numbers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sightline.core.finding.guessing.spelling import Asked

CROWD = 150
"""Paths of one name that are compared in full; of more, those whose folders fit best."""

LINES_MAX = 1_500
"""Names that share a piece with the one asked for and are compared with it."""

SHARED_MAX = 150
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
        """The paths worth a comparison, at most some hundreds."""
        wanted = [asked.name.key]
        if asked.name.index and asked.folders:
            wanted.append(asked.folder_keys[-1])
        found: dict[str, None] = {}
        for key in wanted:
            for other in (key, *numbers(key), *self._slipped(key)):
                found |= dict.fromkeys(self._under(other, asked))
        for other in self._sharing(asked):
            found |= dict.fromkeys(self._under(other, asked, CROWD // 10))
        return list(found)

    def _under(self, key: str, asked: Asked, most: int = CROWD) -> list[str]:
        """The paths of one key; of a crowd, those that hold the most of the asked folders."""
        paths = [self._paths[at] for at in self._by_key.get(key, ())]
        if len(paths) <= most:
            return paths
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
        counted = {
            line: slips(key, line, most) for line in self._lines(_pieces(key, most + 2), len(key))
        }
        return sorted(
            (line for line, count in counted.items() if 0 < count <= most), key=counted.__getitem__
        )[:CROWD]

    def _lines(self, pieces: Sequence[str], length: int) -> set[str]:
        found: set[str] = set()
        for piece in pieces:
            for line in self._holding(piece):
                if abs(len(line) - length) <= 3:
                    found.add(line)
                    if len(found) >= LINES_MAX:
                        return found
        return found

    def _sharing(self, asked: Asked) -> list[str]:
        """The keys that hold the longest word of the one asked for, or all of it."""
        found: dict[str, None] = {}
        for word in sorted({*asked.words, asked.name.key}, key=len, reverse=True)[:3]:
            if len(word) < 4:
                break
            for line in self._holding(word):
                found[line] = None
                if len(found) >= SHARED_MAX:
                    return list(found)
        return list(found)

    def _holding(self, piece: str) -> Iterator[str]:
        """The keys that hold a piece of text."""
        text, at = self._text, 0
        while (at := text.find(piece, at)) >= 0:
            start = text.rfind("\n", 0, at) + 1
            at = text.find("\n", at)
            yield text[start:at]


def _pieces(key: str, count: int) -> list[str]:
    """A key in so many parts, as equal as can be: a few slips leave one of them whole."""
    count = min(count, len(key))
    cuts = [len(key) * at // count for at in range(count + 1)]
    return sorted({key[a:b] for a, b in pairwise(cuts)}, key=len, reverse=True)
