"""Match tests and the files they test, by how both are named."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache

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
        """The tests of a file, the nearest first."""
        named = _named(path)
        if named is None or named[2]:
            return ()
        return _nearest(path, self._tests.get(named[:2], ()))

    def tested_by(self, path: str) -> tuple[str, ...]:
        """The files that a test is named after, the nearest first."""
        named = _named(path)
        if named is None or not named[2]:
            return ()
        return _nearest(path, self._others.get(named[:2], ()))

    def halves(self, path: str, joined: Collection[str] = ()) -> tuple[str, ...]:
        """A header's sources, or a source's headers, by their names, as no line of a header leads
        to its source: those of the joined ones (one includes the other), else the nearest."""
        named = _named(path)
        if named is None or named[0] != "c":
            return ()
        among = (self._tests if named[2] else self._others).get(named[:2], ())
        header = is_header(path)
        halves = [each for each in among if is_header(each) != header]
        return tuple(sorted({*joined}.intersection(halves)))[:MOST] or _nearest(path, halves)


def tests_of(path: str, paths: Iterable[str]) -> tuple[str, ...]:
    """The tests of a file among these paths. Who asks often keeps a Tests."""
    return Tests(paths).tests_of(path)


def tested_by(path: str, paths: Iterable[str]) -> tuple[str, ...]:
    """The files among these paths that a test is named after."""
    return Tests(paths).tested_by(path)


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
        found = sign.fullmatch(stem)
        if found is not None:
            return family, _bare(next(name for name in found.groups() if name)), True
    among = folder.rpartition("/")[2] in ("__tests__", "__test__")
    among = among or (family == "rust" and folder.rpartition("/")[2] == "tests")
    return family, _bare(stem), among


def _bare(name: str) -> str:
    return name.strip("_").lower() or name


def _nearest(path: str, found: Sequence[str]) -> tuple[str, ...]:
    """Return the files whose folders agree best with the folders of a path, at least in part."""
    rated = [(_nearness(path, each), each) for each in found if each != path]
    best = max((rating for rating, _ in rated), default=0)
    if not best:
        return ()
    return tuple(sorted(each for rating, each in rated if rating == best))[:MOST]


def _nearness(path: str, other: str) -> int:
    """Rate how well the folders of a file and of a test agree; 0 where they disagree.

    Folders that only mark a test or a source do not count.
    """
    mine, theirs = _places(path), _places(other)
    if mine == theirs:
        return 1_000
    ends = _common(mine[::-1], theirs[::-1])
    begins = _common(mine, theirs)
    shorter = min(len(mine), len(theirs))
    if ends < shorter and begins < shorter:
        return 0
    return 1 + 10 * max(ends, begins)


@lru_cache(maxsize=4_096)
def _places(path: str) -> tuple[str, ...]:
    folders = path.split("/")[:-1]
    return tuple(name for name in folders if name not in _TESTING and name not in _PLAIN)


def _common(left: Sequence[str], right: Sequence[str]) -> int:
    count = 0
    for one, other in zip(left, right, strict=False):
        if one != other:
            break
        count += 1
    return count
