"""What the files and folders of a workspace are called, to tell a word from a path in a text.

"@alice", "@pytest.fixture" and "@angular/core" are no files that went missing, unless something
here is called so.
"""

from __future__ import annotations

import re
from functools import cached_property

from sightline.core.finding.guessing.distance import slips, slips_allowed
from sightline.core.finding.guessing.likeness import FAMILIES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from sightline.core.finding.index import Index

OTHERS = (
    *(".go", ".rs", ".rb", ".php", ".cs", ".swift", ".scala", ".sql", ".xml", ".svg", ".png"),
    *(".jpg", ".pdf", ".csv", ".env", ".lock", ".log", ".proto", ".graphql", ".ps1", ".bat"),
)
ENDINGS = frozenset(ending for family in (*FAMILIES, OTHERS) for ending in family)
"""Of files anywhere. What ends in one is a path, though no file here does."""

CALL = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*\((?:.*\)|[^)]*)", re.DOTALL)
"""A decorator with its arguments, as far as they came along. No file is called so."""


class Called:
    """The names in a list of paths. Made once, for all that a text mentions."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._inside: dict[str, set[str]] = {}

    def word(self, value: str) -> bool:
        """Whether what stands behind an @, and is no path, may never have been meant as one: a
        person, a decorator, a package with its scope."""
        if CALL.fullmatch(value):
            return True
        name = value.casefold()
        if name.startswith((".", "/")) or "\\" in name or " " in name:
            return False
        scope, slash, rest = name.partition("/")
        last = rest.rpartition("/")[2] if slash else name
        if "." in last and self._ending(last):
            return False
        if slash:
            return not self._holds(scope, _stem(last))
        if "." in name:
            return name not in self._stems and not self._module(name)
        return name not in self._first and name not in self._folders

    def _module(self, dotted: str) -> bool:
        """Whether there is a folder as the name begins, and a file as it ends: a.b.c for a/b/c.py."""
        parts = dotted.split(".")
        return parts[0] in self._folders and parts[-1] in self._first

    def _ending(self, name: str) -> bool:
        """Whether files end as this name does."""
        ending = name[name.rindex(".") :]
        return ending in ENDINGS or ending in self._endings

    def _holds(self, scope: str, stem: str) -> bool:
        """Whether there is such a folder on top, or one further down with a file almost so named."""
        if scope in self._top:
            return True
        if scope not in self._folders:
            return False
        most = slips_allowed(len(stem))
        return any(slips(stem, other, most) <= most for other in self._below(scope))

    def _below(self, scope: str) -> Collection[str]:
        """The stems of what is in the folders of a name, at any depth."""
        if scope not in self._inside:
            within = [each for each in self._paths if f"/{scope}/" in each]
            parts = {part for each in within for part in each.split(f"/{scope}/", 1)[1].split("/")}
            self._inside[scope] = {_stem(part) for part in parts}
        return self._inside[scope]

    @cached_property
    def _paths(self) -> list[str]:
        return [path.casefold() for path in self._index.paths]

    @cached_property
    def _names(self) -> set[str]:
        return {path[path.rfind("/") + 1 :] for path in self._paths}

    @cached_property
    def _first(self) -> set[str]:
        """Names up to their first dot."""
        return {_stem(name) for name in self._names}

    @cached_property
    def _stems(self) -> set[str]:
        """Names without their ending: "user.service" of user.service.ts."""
        return {name.rpartition(".")[0] for name in self._names}

    @cached_property
    def _endings(self) -> set[str]:
        return {name[name.rfind(".") :] for name in self._names if "." in name}

    @cached_property
    def _top(self) -> set[str]:
        return {path.partition("/")[0] for path in self._paths if "/" in path}

    @cached_property
    def _folders(self) -> set[str]:
        """Names of folders, wherever they are."""
        return {folder[folder.rfind("/") + 1 :].casefold() for folder in self._index.folders}


def _stem(name: str) -> str:
    return name.partition(".")[0]
