""".clineignore files: a line may include the patterns of another file."""

from __future__ import annotations

import os

from sightline.errors import Unverifiable
from sightline.filesystem.ignore.gitignore import PatternSet, lines_of
from sightline.filesystem.ignore.rules import IgnoreRules, bounded, contents

INCLUDE = "!include "
"""The beginning of a line that names another file. In an included file it is a pattern like any
other, as it is to Cline, so included files include nothing."""

INCLUDE_BYTES = 1_000_000
"""The limit of one included file."""

INCLUDED_BYTES = 10_000_000
"""The limit of all included files of a tree together; each include counts."""

INCLUDES_MAX = 1_000
"""The limit of lines in one tree that include a file."""


class Cline(IgnoreRules):
    """The rules of a tree's .clineignore files. Unverifiable past the limits."""

    def __init__(self, root: str, name: str = ".clineignore") -> None:
        super().__init__(root, name)
        self._root = root
        self._included: dict[str, None] = {}
        self._whole: dict[str, tuple[PatternSet, PatternSet]] = {}
        self._sizes: dict[str, list[int]] = {}

    def above(self) -> list[str]:
        """Return the files for the root, and all files that were included so far."""
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
        lines = lines_of(contents(file, INCLUDE_BYTES))
        if not any(line.startswith(INCLUDE) for line in lines):
            return plain
        self._sizes[file] = []
        patterns: list[str] = []
        for line in lines:
            patterns += self._include(file, line) if line.startswith(INCLUDE) else [line]
        return bounded(file, patterns)

    def _include(self, file: str, line: str) -> list[str]:
        """Return the patterns of a named file; none where it is absent or outside the root."""
        name = line.removeprefix(INCLUDE).strip()
        path = "" if "\0" in name else os.path.realpath(os.path.join(os.path.dirname(file), name))
        inside = path.startswith(os.path.join(self._root, ""))
        if inside:
            self._included[path] = None
        data = contents(path, INCLUDE_BYTES) if inside and os.path.isfile(path) else b""
        self._sizes[file].append(len(data))
        sizes = [size for each in self._sizes.values() for size in each]
        if len(sizes) > INCLUDES_MAX or sum(sizes) > INCLUDED_BYTES:
            words = f"{file} is where this tree's {self.name} files come to include more than"
            words += f" {INCLUDES_MAX:,} files or {INCLUDED_BYTES:,} bytes."
            raise Unverifiable(file, words, "Include less, or write the patterns into one file.")
        return lines_of(data)
