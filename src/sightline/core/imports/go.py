"""Which files a Go import means: those of its package's folder, by the rules of modules.

An import names a package, and a package is a folder. Its files come in the order in which the names that
the source takes seem to be in them; tests are no part of it.
"""

from __future__ import annotations

import re

from sightline.core.imports.go_modules import Modules
from sightline.core.imports.javascript_settings import joined
from sightline.core.imports.python import Affected

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from sightline.core.imports.reference import Reader, Reference

SOURCE = ".go"
SETTINGS = ("go.mod", "go.work", "modules.txt")

MOST = 12
"""Files of one package that are answered: those that fit best."""

LONGEST = 1024
"""Characters of an import that is looked up."""

_SHORTEST = 3
_MADE_OF = ("zz_generated", "doc")
"""Beginnings of files in which nobody looks for what they use."""

_WORD = re.compile(r"[a-z0-9]+")


def affected(changed: Iterable[str]) -> Affected | None:
    """Whose imports may lead elsewhere when these files came or went: a source makes a folder a
    package, and settings say which names folders have."""
    mine = any(path.endswith(SOURCE) or path.endswith(SETTINGS) for path in changed)
    return Affected(every=True, words=frozenset(), folders=()) if mine else None


class Go:
    """The Resolver of Go. read: the bytes of its settings files."""

    def __init__(self, paths: Iterable[str], read: Reader | None = None) -> None:
        listed = list(paths)
        self._packages: dict[str, list[str]] = {}
        for path in listed:
            if path.endswith(SOURCE) and _counts(path):
                self._packages.setdefault(path.rpartition("/")[0], []).append(path)
        self._modules = Modules(listed, read or (lambda _path: None))

    @property
    def problems(self) -> tuple[str, ...]:
        """What kept settings from being read so far, in sentences; imports did without them."""
        return tuple(self._modules.problems)

    def targets(self, path: str, reference: Reference) -> tuple[str, ...]:
        """As Resolver.targets."""
        module = reference.module
        if not module or len(module) > LONGEST:
            return ()
        for folder in self._folders(path.rpartition("/")[0], module):
            files = [file for file in self._packages.get(folder, ()) if file != path]
            if files:
                return _ordered(files, reference.names)
        return ()

    def _folders(self, folder: str, module: str) -> Iterable[str]:
        if module.startswith(("./", "../")):
            place = joined(folder, module)
            return () if place is None else (place,)
        return self._modules.folders(folder, module)


def _counts(path: str) -> bool:
    """Whether Go takes a file for a part of its package."""
    name = path[path.rfind("/") + 1 :]
    return not name.startswith(("_", ".")) and not name.endswith("_test.go")


def _ordered(files: list[str], names: Iterable[str]) -> tuple[str, ...]:
    """The files of a package, those first that are named like what is taken from it, then the one
    that bears the package's name."""
    if len(files) == 1:
        return (files[0],)
    wanted = [name.lower() for name in names]
    package = files[0].rpartition("/")[0].rpartition("/")[2]
    return tuple(sorted(files, key=lambda file: (-_fit(file, wanted, package), file))[:MOST])


def _fit(file: str, wanted: list[str], package: str) -> float:
    stem = file[file.rfind("/") + 1 : -len(SOURCE)].lower()
    words = _WORD.findall(stem)
    joined = "".join(words)
    if stem.startswith(_MADE_OF):
        return -1
    fit = 0.5 if joined == package.lower() else 0.0
    for name in wanted:
        if len(joined) >= _SHORTEST and joined in name:
            fit += 2 * len(joined) / len(name)
    return fit
