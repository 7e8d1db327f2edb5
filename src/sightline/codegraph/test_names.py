"""Match tests and the files they test, by how both are named."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache

from sightline.codegraph.language import common

Named = tuple[str, str, bool]
"""A language's family, a name in lower case without signs of a test, and whether it had any."""

MOST = 5
"""Files that are answered; where more fit equally well, the name says too little."""

_FAMILIES = {
    "python": "py pyi",
    "script": "js jsx mjs cjs ts tsx mts cts vue svelte",
    "java": "java kt scala groovy",
    "go": "go",
    "ruby": "rb",
    "rust": "rs",
    "php": "php",
    "dotnet": "cs fs vb",
    "c": "c cc cpp cxx c++ h hh hpp hxx h++ m mm cu cuh",
    "swift": "swift",
    "dart": "dart",
    "elixir": "ex exs",
    "lua": "lua",
}
FAMILY = {ending: family for family, endings in _FAMILIES.items() for ending in endings.split()}

_SNAKE = re.compile(r"test_(?P<a>.+)|(?P<b>.+?)_(?:tests?|unittest|spec)")
_DOTTED = re.compile(r"(?P<a>.+?)[._-](?:tests?|spec|cy|e2e|unit)")
_CAMEL = re.compile(r"Test(?P<a>[A-Z].*)|(?P<b>.+?)(?:Tests?|TestCase|Spec|IT|ITCase)")
_DASHED = re.compile(r"test-(?P<a>.+)|(?P<b>.+?)-(?:tests?|unittest)")
_SIGNS = {
    "python": (_SNAKE,),
    "script": (_DOTTED,),
    "java": (_CAMEL,),
    "go": (re.compile(r"(?P<a>.+)_test"),),
    "php": (_CAMEL,),
    "dotnet": (_CAMEL,),
    "swift": (_CAMEL,),
    "c": (_SNAKE, _CAMEL, _DASHED),
}
_TEST_FOLDERS = "test tests testing spec specs __tests__ __test__ unit integration e2e unittests"
_TESTING = frozenset(_TEST_FOLDERS.split())
_SOURCE_FOLDERS = "src main lib source java kotlin scala groovy python app internal include"
_PLAIN = frozenset(_SOURCE_FOLDERS.split())
_WHOLE = {"__init__": "python", "index": "script", "mod": "rust", "lib": "rust", "main": "rust"}
"""Names of files that stand for their folder."""

_HEADERS = (".h", ".hh", ".hpp", ".hxx", ".h++", ".cuh")


class Tests:
    """The tests among a list of paths, with the names that they share with other files."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._tests: dict[tuple[str, str], list[str]] = {}
        self._others: dict[tuple[str, str], list[str]] = {}
        for path in paths:
            named = _named(path)
            if named is not None:
                family, name, testing = named
                into = self._tests if testing else self._others
                into.setdefault((family, name), []).append(path)

    def tests_of(self, path: str) -> tuple[str, ...]:
        """Return the tests of a file, the nearest first."""
        named = _named(path)
        if named is None or named[2]:
            return ()
        others = self._others.get(named[:2], ())
        mirrors = [file for file in others if _is_mirror(file, path)]
        return _nearest(path, [*self._tests.get(named[:2], ()), *mirrors])

    def tested_by(self, path: str) -> tuple[str, ...]:
        """Return the files that a test is named after, the nearest first."""
        named = _named(path)
        if named is None:
            return ()
        others = self._others.get(named[:2], ())
        if not named[2]:
            others = [file for file in others if _is_mirror(path, file)]
        return _nearest(path, others)

    def halves(self, path: str, joined: Collection[str] = ()) -> tuple[str, ...]:
        """Return a header's sources, or a source's headers, by their names, because no line of a
        header leads to its source: those among `joined` (one includes the other), else the nearest."""
        named = _named(path)
        if named is None or named[0] != "c":
            return ()
        namesakes = (self._tests if named[2] else self._others).get(named[:2], ())
        halves = [file for file in namesakes if is_header(file) != is_header(path)]
        return tuple(sorted({*joined}.intersection(halves)))[:MOST] or _nearest(path, halves)


def is_header(path: str) -> bool:
    """Return true for a file that declares names which files of its own name define."""
    return path.lower().endswith(_HEADERS)


def is_test(path: str) -> bool:
    """Return true for a file whose name or folder marks it as a test."""
    named = _named(path)
    return named is not None and (named[2] or not _TESTING.isdisjoint(path.split("/")[:-1]))


def _named(path: str) -> Named | None:
    folder, _, file = path.rpartition("/")
    stem, _, ending = file.rpartition(".")
    family = FAMILY.get(ending.lower())
    if family is None or not stem:
        return None
    if family == "script" and stem.endswith(".d"):
        stem = stem.removesuffix(".d")
    if _WHOLE.get(stem) == family:
        above, _, stem = folder.rpartition("/")
        folder = above if family == "rust" else folder
    if family == "rust" and stem in ("test", "tests") and folder:
        return family, _bare(folder.rpartition("/")[2]), True  # of the module that it is in
    for sign in _SIGNS.get(family, (_SNAKE, _CAMEL)):
        if (match := sign.fullmatch(stem)) is not None:
            return family, _bare(next(filter(None, match.groups()))), True
    above = folder.rpartition("/")[2]
    is_among_tests = above in ("__tests__", "__test__") or (family, above) == ("rust", "tests")
    return family, _bare(stem), is_among_tests


def _is_mirror(test: str, path: str) -> bool:
    """Return whether a file below a folder of tests has the place and the name of another file:
    tests/utils/x.ts mirrors src/utils/x.ts."""
    folders, others = set(test.split("/")[:-1]), set(path.split("/")[:-1])
    is_below_tests = not _TESTING.isdisjoint(folders) and _TESTING.isdisjoint(others)
    return is_below_tests and _places(test) == _places(path)


def _bare(name: str) -> str:
    return name.strip("_").lower() or name


def _nearest(path: str, files: Sequence[str]) -> tuple[str, ...]:
    """Return the files whose folders agree best with the folders of a path, at least in part."""
    rated = [(_nearness(path, file), file) for file in files if file != path]
    best = max((rating for rating, _ in rated), default=0)
    return tuple(sorted(file for rating, file in rated if rating == best and best))[:MOST]


def _nearness(path: str, other: str) -> int:
    """Rate how well the folders of a file and of a test agree; 0 where they disagree.

    Folders that only mark a test or a source do not count.
    """
    mine, theirs = _places(path), _places(other)
    if mine == theirs:
        return 1_000
    ends = common(mine[::-1], theirs[::-1])
    begins = common(mine, theirs)
    shorter = min(len(mine), len(theirs))
    if ends < shorter and begins < shorter:
        return 0
    return 1 + 10 * max(ends, begins)


@lru_cache(maxsize=4_096)
def _places(path: str) -> tuple[str, ...]:
    folders = path.split("/")[:-1]
    return tuple(name for name in folders if name not in _TESTING and name not in _PLAIN)
