"""The folders along which a compiler looks for what sources include, by compile_commands.json.

It names folders of the machine it was made on. Which of them is the tree's own is told by the sources
it lists: what stands before the longest end of their paths that is in the tree.
"""

from __future__ import annotations

import json
import re
from collections import Counter

from sightline.core.imports.distance import shared

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from typing import Any

    from sightline.core.imports.reference import Reader

    Places = tuple[str, ...]

NAME = "compile_commands.json"

MADE = (NAME, f"build/{NAME}")
"""Where it mostly is. The second is asked for though git ignores it."""

ENTRIES_MOST, FILES_MOST = 50_000, 8
"""Sources of one file of commands that are looked at, and such files in a tree."""

FOLDERS_MOST = 300
"""In which one source's includes are looked for."""

_FLAG = re.compile(r"-(?:I|iquote|isystem|idirafter)")
_WORDS = re.compile(r"""(?:[^\s"'\\]|\\.|"(?:[^"\\]|\\.)*"|'[^']*')+""")
_QUOTES = re.compile(r"""\\(.)|["']""")


class Commands:
    """The folders for every source of a tree; they are read when the first is asked for."""

    def __init__(self, files: Collection[str], read: Reader) -> None:
        self._files = files
        self._read = read
        self._places: dict[str, Places] | None = None
        self._common: Places = ()
        self._near: dict[str, Places] = {}

    def places(self, path: str) -> Places:
        """Where a source's includes are looked for. Of a file that is not compiled by itself, as
        headers are, wherever those of the others are, the nearest first, then the most frequent."""
        if self._places is None:
            self._places = dict(self._listed())
            counted = Counter(place for each in self._places.values() for place in each)
            self._common = tuple(place for place, _ in counted.most_common())
        if path in self._places or not self._common:
            return self._places.get(path, ())
        folder = path.rpartition("/")[0]
        if folder not in self._near:
            near = sorted(self._common, key=lambda place: -shared(path, f"{place}/"))
            self._near[folder] = tuple(near[:FOLDERS_MOST])
        return self._near[folder]

    def _listed(self) -> Iterator[tuple[str, Places]]:
        inside = (path for path in self._files if path.endswith(f"/{NAME}"))
        named = dict.fromkeys((*MADE, *sorted(inside)[:FILES_MOST]))
        for path in named:
            entries = _entries(self._read(path))
            sources = [_absolute(str(e.get("directory", "")), str(e["file"])) for e in entries]
            root = self._root(sources)
            if root is None:
                continue
            for entry, source in zip(entries, sources, strict=True):
                inner = _inside(root, source)
                if inner is not None and inner in self._files:
                    yield inner, tuple(_folders(entry, root))

    def _root(self, sources: Iterable[str]) -> str | None:
        """The folder that the tree was in."""
        roots = Counter(root for each in sources if (root := self._before(each)) is not None)
        return roots.most_common(1)[0][0] if roots else None

    def _before(self, source: str) -> str | None:
        at = source.find("/")
        while at >= 0:
            if source[at + 1 :] in self._files:
                return source[:at]
            at = source.find("/", at + 1)
        return None


def _entries(data: bytes | None) -> list[dict[str, Any]]:
    try:
        said = json.loads(data or b"[]")
    except (ValueError, RecursionError):
        return []
    every = said[:ENTRIES_MOST] if isinstance(said, list) else []
    return [each for each in every if isinstance(each, dict) and "file" in each]


def _folders(entry: dict[str, Any], root: str) -> Iterator[str]:
    """The folders of the tree that a command names, in its order."""
    given = entry.get("arguments")
    words = [str(each) for each in given] if isinstance(given, list) else _split(entry)
    directory = str(entry.get("directory", ""))
    met: dict[str, None] = {}
    flagged = False
    for word in words:
        flag = None if flagged else _FLAG.match(word)
        folder = word if flagged else word[flag.end() :] if flag else ""
        flagged = flag is not None and not folder
        inside = _inside(root, _absolute(directory, folder)) if folder else None
        if inside is not None and len(met) < FOLDERS_MOST:
            met[inside] = None
    yield from met


def _split(entry: dict[str, Any]) -> list[str]:
    command = str(entry.get("command", ""))
    return [_QUOTES.sub(lambda found: found[1] or "", word) for word in _WORDS.findall(command)]


def _absolute(directory: str, name: str) -> str:
    """A path of the machine it was made on, without dots."""
    name = name.replace("\\", "/")
    whole = name if name[:1] == "/" or name[1:2] == ":" else f"{directory}/{name}"
    parts: list[str] = []
    for part in whole.replace("\\", "/").split("/"):
        if part == "..":
            parts[-1:] = []
        elif part not in ("", "."):
            parts.append(part)
    return f"/{'/'.join(parts)}"


def _inside(root: str, path: str) -> str | None:
    """A path of the tree; None where it is none."""
    if path == root:
        return ""
    return path[len(root) + 1 :] if path.startswith(f"{root}/") else None
