"""What sources of C and C++ include, judged by clang's preprocessor.

    python bench/imports_c.py [--only NAME]... [--seen N]

Fetches clang's library by pip and packages that carry their sources by npm, into a folder of its own;
they are judged with the folders that their own build files name. Directives that the preprocessor passed by are not judged. Exits 1 below the
promised figures.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

if not __package__:  # started as a script, where only this folder is on the path
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.judged import Row, fetched, listing, printed, some, source_of

from sightline.codegraph.language_table import language_name
from sightline.codegraph.languages.c import C, references

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    Unit = tuple[str, list[str]]
    """A source by its full path, and what its compiler is told."""

Place = tuple[str, int]
"""A source, and the line of a directive in it."""

PACKAGES = {
    "re2@1.24.0": {"vendor/": ["vendor/re2", "vendor/abseil-cpp"]},
    "rocksdb@5.2.1": {
        "deps/rocksdb/": ["deps/rocksdb/rocksdb", "deps/rocksdb/rocksdb/include"],
        "deps/snappy/": ["deps/snappy/linux", "deps/snappy/snappy-1.1.7"],
        "binding.cc": ["deps/rocksdb/rocksdb/include"],
    },
    "nodegit@0.27.0": {
        "vendor/libgit2/src/": [
            *("vendor/libgit2/include", "vendor/libgit2/src", "vendor/libssh2/include"),
            *("vendor/http_parser", "vendor/libgit2/deps/ntlmclient", "vendor/libgit2/deps/pcre"),
        ],
        "vendor/libssh2/src/": ["vendor/libssh2/include"],
        "vendor/http_parser/": ["vendor/http_parser"],
    },
}
"""Packages, and by how the paths of their sources begin, the folders that their build names."""

COMPILED = (".c", ".cc", ".cpp", ".cxx")
UNITS = 150
"""Sources of a tree that are compiled, at even distances; the headers they reach are judged, too."""

OPTIONS = 0x1 | 0x2 | 0x40 | 0x200
"""Keep all directives, go on after errors, and skip what functions do."""

RULE = re.compile(rb'(?m)^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"')


def main() -> int:
    """Run and print; the exit status."""
    options = arguments()
    rows = []
    with tempfile.TemporaryDirectory() as room:
        judge = Judge(room)
        for package, folders in PACKAGES.items():
            if not options.only or package.startswith(tuple(options.only)):
                tree = os.path.realpath(fetched(package, os.path.join(room, package)))
                rows += measured(judge, tree, list(by_folders(tree, folders)), options.seen)
    return printed(rows)


def arguments() -> argparse.Namespace:
    """Return the parsed command line."""
    parser = argparse.ArgumentParser(description="Includes against clang's preprocessor.")
    parser.add_argument("--only", action="append", help="how the packages' names begin")
    parser.add_argument("--seen", type=int, default=0, help="print so many differences")
    return parser.parse_args()


def by_folders(tree: str, folders: dict[str, list[str]]) -> Iterator[Unit]:
    """The sources whose build names folders."""
    for path in listing(tree):
        told = next((each for begin, each in folders.items() if path.startswith(begin)), None)
        if told is not None and path.endswith(COMPILED):
            yield os.path.join(tree, path), [f"-I{os.path.join(tree, each)}" for each in told]


class Judge:
    """clang's preprocessor, as a library. The system's headers are kept from it: what leads there
    leads out of the tree, and to read them takes minutes."""

    def __init__(self, room: str) -> None:
        pip = [sys.executable, "-m", "pip", "install", "-q", "--target", room, "libclang==18.1.1"]
        subprocess.run(pip, check=True)
        sys.path.insert(0, room)
        from clang import cindex  # type: ignore[import-not-found,unused-ignore]

        self._clang: Any = cindex
        self._own = ["-nostdinc", "-nostdinc++", "-ferror-limit=0"]

    def included(self, tree: str, units: Iterable[Unit]) -> dict[Place, set[str | None]]:
        """Return what each directive that was met led to; None out of the tree, or to nothing."""
        index = self._clang.Index.create()
        met: dict[Place, set[str | None]] = {}
        for source, told in units:
            plain = ["-std=gnu11"] if source.endswith(".c") else ["-std=c++17"]
            standard = [] if any(each.startswith("-std") for each in told) else plain
            unit = index.parse(source, args=[*told, *standard, *self._own], options=OPTIONS)
            for each in unit.cursor.get_children():
                if each.kind == self._clang.CursorKind.INCLUSION_DIRECTIVE:
                    path = inside(tree, each.location.file.name)
                    if path is not None:
                        place = path, each.location.line
                        met.setdefault(place, set()).add(self._target(tree, each))
        return met

    def _target(self, tree: str, directive: object) -> str | None:
        try:
            found = self._clang.conf.lib.clang_getIncludedFile(directive)
        except AssertionError:  # nothing was found
            return None
        return inside(tree, found.name) if found else None


def inside(tree: str, place: str) -> str | None:
    """A path of the tree; None of elsewhere."""
    real = os.path.realpath(place)
    return real[len(tree) + 1 :] if real.startswith(f"{tree}/") else None


def measured(judge: Judge, tree: str, units: list[Unit], seen: int) -> list[Row]:
    """The rows of a tree: ours, and by the rule of old."""
    name = os.path.relpath(tree, os.path.dirname(os.path.dirname(tree))).removesuffix("/package")
    name = name.rpartition("/")[2]
    met = judge.included(tree, units[:: max(1, len(units) // UNITS)])
    return [ours(name, tree, met, seen), old_rule(name, tree, met)]


def ours(name: str, tree: str, met: dict[Place, set[str | None]], seen: int) -> Row:
    """Return what Sightline answers for the directives that were met."""
    paths = listing(tree)
    resolver = C(paths, lambda _: None)
    times, given = [], dict[Place, str]()
    for path in paths:
        if language_name(path) != "c":
            continue
        source = source_of(tree, path)
        began = perf_counter()
        pairs = [(e, file) for e in references(source, path) for file in resolver.targets(path, e)]
        times.append((perf_counter() - began) * 1e3)
        given |= {(path, each.line): file for each, file in pairs if (path, each.line) in met}
    right = sum(file in met[place] for place, file in given.items())
    wrong = [(*place, given.get(place), met[place]) for place in met if not fits(place, given, met)]
    for each in some(wrong, seen):
        print(each)
    return Row(name, "ours", right, len(given), wanted(met), tuple(times))


def fits(place: Place, given: dict[Place, str], met: dict[Place, set[str | None]]) -> bool:
    """Return whether the answer for a directive is one of the judge's."""
    return given.get(place) in met[place]


def wanted(met: dict[Place, set[str | None]]) -> int:
    """Return how many directives lead to a file of the tree."""
    return sum(bool(found - {None}) for found in met.values())


def old_rule(name: str, tree: str, met: dict[Place, set[str | None]]) -> Row:
    """Names in quotes, by an expression over raw text, beside the file."""
    paths = set(listing(tree))
    right = given = 0
    for path in {place[0] for place in met}:
        source = source_of(tree, path)
        for found in RULE.finditer(source):
            place = path, source.count(b"\n", 0, found.start(1)) + 1
            beside = os.path.join(os.path.dirname(path), found[1].decode(errors="replace"))
            target = os.path.normpath(beside)
            if place in met and target in paths:
                given += 1
                right += target in met[place]
    return Row(name, "old rule", right, given, wanted(met))


if __name__ == "__main__":
    sys.exit(main())
