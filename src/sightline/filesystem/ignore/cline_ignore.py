""".clineignore files, where a line may name a file whose patterns stand in its place."""

from __future__ import annotations

import os

from sightline.errors import Unverifiable
from sightline.filesystem.ignore.gitignore import PatternSet, lines_of
from sightline.filesystem.ignore.rules import IgnoreRules, bounded, contents

INCLUDE = "!include "
"""How a line begins that names another file. In that file it is a pattern like any other, as it
is to Cline: so nothing is included by what is included, and no circle is possible."""

INCLUDE_BYTES = 1_000_000
"""The most of such a file that is read."""

INCLUDED_BYTES = 10_000_000
"""The most that the lines of one tree may include, what is named several times counted each time."""

INCLUDES_MAX = 1_000
"""Lines of one tree that name a file."""


class Cline(IgnoreRules):
    """The rules of a tree's .clineignore files. Unverifiable for what is past the limits."""

    def __init__(self, root: str, name: str = ".clineignore") -> None:
        super().__init__(root, name)
        self._root = root
        self._included: dict[str, None] = {}
        self._whole: dict[str, tuple[PatternSet, PatternSet]] = {}
        self._lines = 0
        self._bytes = 0

    def above(self) -> list[str]:
        """As for any other, and all that lines have named so far."""
        return [*super().above(), *self._included]

    def _load(self, file: str) -> PatternSet:
        plain = super()._load(file)
        if not plain:
            return plain
        known = self._whole.get(file)
        if known is None or known[0] is not plain:
            known = self._whole[file] = (plain, self._with_included(file, plain))
        return known[1]

    def _with_included(self, file: str, plain: PatternSet) -> PatternSet:
        """The patterns of a file with those of all that it names."""
        lines = lines_of(contents(file, INCLUDE_BYTES))
        if not any(line.startswith(INCLUDE) for line in lines):
            return plain
        folder = os.path.dirname(file)
        return bounded(
            file,
            (
                pattern
                for line in lines
                for pattern in (self._named(folder, line) if line.startswith(INCLUDE) else [line])
            ),
        )

    def _named(self, folder: str, line: str) -> list[str]:
        """The patterns of a named file; none where it is not there, or not inside the root."""
        name = line.removeprefix(INCLUDE).strip()
        self._lines += 1
        file = "" if "\0" in name else os.path.realpath(os.path.join(folder, name))
        inside = file.startswith(os.path.join(self._root, ""))
        if inside:
            self._included[file] = None
        data = contents(file, INCLUDE_BYTES) if inside and os.path.isfile(file) else b""
        self._bytes += len(data)
        if self._lines > INCLUDES_MAX or self._bytes > INCLUDED_BYTES:
            raise self._too_much(folder)
        return lines_of(data)

    def _too_much(self, folder: str) -> Unverifiable:
        file = f"{folder}/{self.name}"
        words = f"{file} is where this tree's {self.name} files come to include more than"
        words += f" {INCLUDES_MAX:,} files or {INCLUDED_BYTES:,} bytes."
        return Unverifiable(file, words, "Include less, or write the patterns into one file.")
