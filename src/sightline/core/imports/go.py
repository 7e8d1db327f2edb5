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

    Ranked = tuple[float, str, str]
    """How well a file fits whatever is taken, its name without signs, and its path."""

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
        self._ranked: dict[str, list[Ranked]] = {}
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
            if folder in self._packages:
                files = self._ordered(folder, reference.names)
                return tuple([file for file in files if file != path][:MOST])
        return ()

    def _ordered(self, folder: str, names: tuple[str, ...]) -> list[str]:
        """The files of a package, those first that are named like what is taken from it."""
        if folder not in self._ranked:
            self._ranked[folder] = _ranked(folder, self._packages[folder])
        ranked = self._ranked[folder]
        if names and len(ranked) > 1:
            wanted = [name.lower() for name in names]
            ranked = sorted(ranked, key=lambda each: -_fit(each, wanted))
        return [file for _, _, file in ranked]

    def _folders(self, folder: str, module: str) -> Iterable[str]:
        if module.startswith(("./", "../")):
            place = joined(folder, module)
            return () if place is None else (place,)
        return self._modules.folders(folder, module)


def _counts(path: str) -> bool:
    """Whether Go takes a file for a part of its package."""
    name = path[path.rfind("/") + 1 :]
    return not name.startswith(("_", ".")) and not name.endswith("_test.go")


def _ranked(folder: str, files: list[str]) -> list[Ranked]:
    """A package's files as they come where nothing is known of what is taken: the one that bears
    its name first, what was generated last."""
    package = folder.rpartition("/")[2].lower()
    ranked = []
    for file in files:
        stem = file[file.rfind("/") + 1 : -len(SOURCE)].lower()
        plain = "".join(_WORD.findall(stem))
        fit = -1.0 if stem.startswith(_MADE_OF) else 0.5 * (plain == package)
        ranked.append((fit, plain if fit >= 0 else "", file))
    return sorted(ranked, key=lambda each: (-each[0], each[2]))


def _fit(ranked: Ranked, wanted: list[str]) -> float:
    """How well a file's name goes with the names that are taken from its package."""
    fit, plain, _ = ranked
    if len(plain) < _SHORTEST:
        return fit
    return fit + sum(2 * len(plain) / len(name) for name in wanted if plain in name)
