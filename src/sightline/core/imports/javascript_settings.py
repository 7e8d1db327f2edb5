"""The settings that decide what an import of JavaScript or TypeScript means, as far as they do.

tsconfig.json and jsconfig.json, with all that they extend: `baseUrl`, `paths` and `rootDirs`. A file
of the name that is not there says nothing; one that cannot be read is told by `problems`.
"""

from __future__ import annotations

import json
import re

from sightline.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from collections.abc import Set as AbstractSet
    from typing import Any

    from sightline.core.imports.javascript_packages import Packages
    from sightline.core.imports.reference import Reader

LONGEST = 1024
"""Characters of a name that is looked up; no path of a tree that people import is longer."""

SETTINGS_MOST = 4 * 1024 * 1024
"""Bytes of a settings file that is read."""

DEEPEST = 32
"""How many settings may extend one another."""

_NAMES = ("tsconfig.json", "jsconfig.json")
_EXTRAS = re.compile(
    r"""("(?:[^"\\]|\\.)*+"?)|//[^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/)?|,(?=(?:\s|//[^\n]*+|/\*(?:[^*]|\*(?!/))*+\*/)*+[\]}])"""
)


def below(folder: str, name: str) -> str:
    """The path of a name in a folder; "" is the root."""
    return f"{folder}/{name}" if folder else name


def joined(folder: str, name: str) -> str | None:
    """The canonical path that a relative name means from a folder; None above the root."""
    parts = folder.split("/") if folder else []
    for part in name.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def upwards(folder: str) -> Iterator[str]:
    """A folder and all above it."""
    while folder:
        yield folder
        folder = folder.rpartition("/")[0]
    yield ""


def texts(value: Any) -> list[str]:
    """The strings of a value that may be one or a list of them."""
    several = value if isinstance(value, list) else [value]
    return [each for each in several if isinstance(each, str) and len(each) <= LONGEST]


def starred(patterns: Iterable[str], name: str) -> tuple[str, str] | None:
    """The pattern that fits a name with the longest beginning, and what its * stands for."""
    fitting = []
    for pattern in patterns:
        head, star, tail = pattern.partition("*")
        long_enough = bool(star) and len(name) >= len(head) + len(tail)
        if long_enough and name.startswith(head) and name.endswith(tail):
            fitting.append((len(head), pattern, name[len(head) : len(name) - len(tail)]))
    return max(fitting, key=lambda each: each[0])[1:] if fitting else None


class Documents:
    """Settings files, each read once. problems: what could not be read, in sentences."""

    def __init__(self, files: AbstractSet[str], read: Reader) -> None:
        self.files = files
        self.problems: list[str] = []
        self._read = read
        self._known: dict[str, dict[str, Any]] = {}

    def text(self, path: str) -> str:
        """A file's text; "" where there is none."""
        source = self._read(path) or b""
        if len(source) > SETTINGS_MOST:
            self.problems.append(f"{path} is too large to be settings: imports do without it.")
            return ""
        return source.decode("utf-8-sig", "replace")

    def mapping(self, path: str) -> dict[str, Any]:
        """A JSON file's mapping, comments and trailing commas allowed; empty where there is none."""
        if path not in self._known:
            self._known[path] = self._mapping(path)
        return self._known[path]

    def _mapping(self, path: str) -> dict[str, Any]:
        text = self.text(path)
        if not text.strip():
            return {}
        try:
            value = _loaded(text)
        except (ValueError, RecursionError) as problem:
            self.problems.append(f"{path} is not JSON ({problem}): imports do without it.")
            return {}
        return value if isinstance(value, dict) else {}


def _loaded(text: str) -> Any:
    """JSON as settings have it; plain first, because most of it is."""
    try:
        return json.loads(text)
    except ValueError:
        return json.loads(_EXTRAS.sub(lambda extra: extra[1] or " ", text))


PATTERNS_MOST = 500
"""Of one file of settings with a star: each import is held against all of them."""


class Paths(Value):
    """What names stand for: of whole names, and of patterns with a star, so many of them."""

    names: dict[str, tuple[str, ...]]
    patterns: dict[str, tuple[str, ...]]


class Options(Value):
    """What settings say, with all that they extend. base: the folder of `baseUrl`. paths: what names
    stand for, from the folder `origin`. roots: folders that count as one."""

    base: str | None = None
    paths: Paths | None = None
    origin: str = ""
    roots: tuple[str, ...] = ()

    def candidates(self, name: str) -> list[str] | None:
        """The paths that a name may stand for by `paths`; None where no pattern is its own."""
        if self.paths is None:
            return None
        whole = self.paths.names.get(name)
        if whole is not None:
            return self._placed(whole, "")
        fitting = starred(self.paths.patterns, name)
        if fitting is None:
            return None
        return self._placed(self.paths.patterns[fitting[0]], fitting[1])

    def _placed(self, places: tuple[str, ...], star: str) -> list[str]:
        folder = self.origin if self.base is None else self.base
        made = [joined(folder, place.replace("*", star, 1)) for place in places]
        return [path for path in made if path is not None]


class Compilers:
    """The settings of TypeScript for every folder."""

    def __init__(self, documents: Documents, packages: Packages) -> None:
        self._documents = documents
        self._packages = packages
        self._nearest: dict[str, Options] = {}
        self._known: dict[str, Options] = {}

    def of(self, folder: str) -> Options:
        """What the nearest settings say of the files in a folder."""
        if folder not in self._nearest:
            self._nearest[folder] = self._of(folder)
        return self._nearest[folder]

    def _of(self, folder: str) -> Options:
        for above in upwards(folder):
            for name in _NAMES:
                path = below(above, name)
                if path in self._documents.files:
                    return self._whole(path, above)
        return Options()

    def _whole(self, path: str, folder: str) -> Options:
        """The settings, or of several projects under one name the first that says anything."""
        said = self._options(path, 0)
        if said.base is not None or said.paths is not None:
            return said
        projects = self._documents.mapping(path).get("references")
        for project in projects if isinstance(projects, list) else []:
            for name in texts(project.get("path")) if isinstance(project, dict) else []:
                place = joined(folder, name) or ""
                part = place if place.endswith(".json") else below(place, _NAMES[0])
                one = self._options(part, 0)
                if one.base is not None or one.paths is not None:
                    return one
        return said

    def _options(self, path: str, depth: int) -> Options:
        if path not in self._known and depth < DEEPEST:
            self._known[path] = Options()  # what a circle of settings finds
            self._known[path] = self._read(path, depth)
        return self._known.get(path, Options())

    def _read(self, path: str, depth: int) -> Options:
        mapping, folder = self._documents.mapping(path), path.rpartition("/")[0]
        options = Options()
        for name in texts(mapping.get("extends")):
            parent = self._options(self._extended(folder, name), depth + 1)
            options = _over(options, parent)
        own = mapping.get("compilerOptions")
        return _over(options, _own(own, folder)) if isinstance(own, dict) else options

    def _extended(self, folder: str, name: str) -> str:
        """The path of settings that others extend: relative, or in a package of the tree."""
        if name.startswith("."):
            path = joined(folder, name) or ""
        else:
            package, rest = self._packages.of_name(name, folder)
            path = below(package, rest or _NAMES[0]) if package is not None else ""
        return path if path.endswith(".json") or not path else f"{path}.json"


def _over(low: Options, high: Options) -> Options:
    paths = high if high.paths is not None else low
    base = low.base if high.base is None else high.base
    return Options(base, paths.paths, paths.origin, high.roots or low.roots)


def _own(options: dict[str, Any], folder: str) -> Options:
    """The options of one file, which are meant from its folder."""
    base = [joined(folder, _here(name)) for name in texts(options.get("baseUrl"))[:1]]
    roots = [joined(folder, _here(name)) for name in texts(options.get("rootDirs"))]
    paths = options.get("paths")
    said = _paths(paths) if isinstance(paths, dict) else None
    there = tuple([root for root in roots if root is not None])
    return Options(base[0] if base else None, said, folder, there)


def _paths(paths: dict[str, Any]) -> Paths:
    said = {name: tuple(map(_here, texts(places))) for name, places in paths.items()}
    patterns = [name for name in said if "*" in name][:PATTERNS_MOST]
    names = {name: places for name, places in said.items() if "*" not in name}
    return Paths(names, {name: said[name] for name in patterns})


def _here(name: str) -> str:
    """A name without the variable for the folder of the settings."""
    return name.removeprefix("${configDir}/")
