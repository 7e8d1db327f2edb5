"""Which files an `#include` of C, C++ or Objective-C means.

Beside the file, then along the folders that `compile_commands.json` names for it. What is not there is
looked for where projects keep their headers, from the file's folder upwards, and last by its name: a
path that ends so, the nearest of several.
"""

from __future__ import annotations

from itertools import islice

from sightline.core.imports.c_commands import NAME as COMMANDS
from sightline.core.imports.c_commands import Commands
from sightline.core.imports.c_standard import is_standard
from sightline.core.imports.distance import distance
from sightline.core.imports.javascript_settings import LONGEST, below, joined, upwards
from sightline.core.imports.python import Affected

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sightline.core.imports.reference import Reader, Reference

_INCLUDED = (
    *(".h", ".hh", ".hpp", ".hxx", ".h++", ".inl", ".ipp", ".tcc", ".tpp", ".cuh", ".inc", ".def"),
    *(".c", ".cc", ".cpp", ".cxx", ".m", ".mm", ".cu"),
)
"""Endings of what is looked for by its name alone."""

_BELOW = ("", "include", "src", "inc", "lib", "source")
"""Where a project keeps headers, below its folder."""

HIGHEST = 40
"""So many folders above a file are looked into."""

ALIKE_MOST = 500
"""Where more files have a name, it tells too little to find one by it alone."""

_MADE = frozenset(["config.h", "autoconf.h", "acconfig.h"])
"""What a build makes: one that lies in another folder belongs to another program."""


_OTHER = (
    ".py",
    ".pyi",
    ".java",
    ".go",
    ".rs",
    ".js",
    ".jsx",
    ".ts",
    ".tsx",
    ".md",
    ".html",
    ".css",
)
"""Endings of what nobody includes."""


def affected(changed: Iterable[str]) -> Affected | None:
    """Whose includes may lead elsewhere when these files came or went."""
    names = [path[path.rfind("/") + 1 :] for path in changed if not path.endswith(_OTHER)]
    return Affected(COMMANDS in names, frozenset(names), ()) if names else None


class C:
    """The Resolver of C and its kin. read: the bytes of compile_commands.json."""

    def __init__(self, paths: Iterable[str], read: Reader | None = None) -> None:
        self._files = frozenset(paths)
        self._named: dict[str, list[str]] = {}
        for path in self._files:
            if path.lower().endswith(_INCLUDED):
                self._named.setdefault(path[path.rfind("/") + 1 :], []).append(path)
        self._commands = Commands(self._files, read or (lambda _path: None))
        self._homes: dict[str, tuple[str, ...]] = {}

    def targets(self, path: str, reference: Reference) -> tuple[str, ...]:
        """As Resolver.targets."""
        name = reference.module
        if not name or len(name) > LONGEST or name.startswith("/"):
            return ()
        found = self._found(path, name, beside=reference.level == 1)
        return () if found is None or found == path else (found,)

    def _found(self, path: str, name: str, *, beside: bool) -> str | None:
        folder = path.rpartition("/")[0]
        if beside:
            found = self._in(folder, name)
            if found is not None:
                return found
        for place in self._commands.places(path):
            found = self._in(place, name)
            if found is not None and found != path:
                return found
        if not beside and is_standard(name):
            return None
        return self._inferred(path, folder, name)

    def _in(self, folder: str, name: str) -> str | None:
        found = joined(folder, name)
        return found if found in self._files else None

    def _inferred(self, path: str, folder: str, name: str) -> str | None:
        """Without settings: upwards, then by its name."""
        last = name[name.rfind("/") + 1 :]
        if last not in self._named and not last.endswith(_INCLUDED):
            return self._upwards(path, folder, name)
        if last not in self._named:
            return None
        found = self._upwards(path, folder, name)
        if found is not None or name in _MADE:
            return found
        return self._ending(path, name)

    def _upwards(self, path: str, folder: str, name: str) -> str | None:
        for home in self._homes_of(folder):
            found = self._in(home, name)
            if found is not None and found != path:
                return found
        return None

    def _homes_of(self, folder: str) -> tuple[str, ...]:
        if folder not in self._homes:
            above = islice(upwards(folder), HIGHEST)
            every = (below(up, each) if each else up for up in above for each in _BELOW)
            self._homes[folder] = tuple(dict.fromkeys(every))
        return self._homes[folder]

    def _ending(self, path: str, name: str) -> str | None:
        """The nearest of the paths that end so."""
        parts = name.split("/")
        while parts and parts[0] in ("..", "."):
            del parts[0]
        ending = "/".join(parts)
        found = [each for each in self._candidates(ending) if each != path]
        return min(found, key=lambda each: distance(path, each), default=None)

    def _candidates(self, ending: str) -> Iterator[str]:
        alike = self._named.get(ending[ending.rfind("/") + 1 :], ())
        for each in alike if len(alike) <= ALIKE_MOST else ():
            if each == ending or each.endswith(f"/{ending}"):
                yield each
