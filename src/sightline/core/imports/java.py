"""Which files the types that a Java source names are declared in.

A type's file is called as its outermost type and lies in folders called as its package, so the list
of paths tells both; where the packages begin, it mostly tells, too.
"""

from __future__ import annotations

from sightline.core.imports.distance import distance
from sightline.core.imports.python import Affected

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from sightline.core.imports.reference import Reader, Reference

SOURCE = ".java"

LONGEST = 1_024
"""Characters of a name that is looked up."""

NESTED_MOST = 32
"""Names that one may have between its dots."""

SURE = 3
"""A package of so many names is the package of every folder that ends so."""

_ROOTS = frozenset(
    [
        "src",
        "source",
        "sources",
        "main",
        "test",
        "tests",
        "java",
        "javatests",
        "classes",
        "gen",
        "generated",
    ]
)
_DOMAINS = frozenset(
    [
        "com",
        "org",
        "net",
        "edu",
        "gov",
        "io",
        "dev",
        "de",
        "uk",
        "fr",
        "ch",
        "jp",
        "cn",
        "me",
        "app",
    ]
)
"""What packages begin with. Such a folder begins one unless it is of the roots."""


def affected(changed: Iterable[str]) -> Affected | None:
    """Whose names may mean other files when these came or went."""
    names = (path[path.rfind("/") + 1 :] for path in changed if path.endswith(SOURCE))
    words = frozenset(name[: -len(SOURCE)] for name in names)
    return Affected(every=False, words=words, folders=()) if words else None


class Java:
    """The Resolver of Java."""

    def __init__(self, paths: Iterable[str], read: Reader | None = None) -> None:
        self._files: dict[str, list[str]] = {}
        """By the last folder and the name: the paths that end so."""
        self._all = frozenset(path for path in paths if path.endswith(SOURCE))
        for path in self._all:
            folder = path.rfind("/", 0, max(path.rfind("/"), 0))
            self._files.setdefault(path[folder + 1 :], []).append(path)

    def targets(self, path: str, reference: Reference) -> tuple[str, ...]:
        """As Resolver.targets. Where several modules have the type, it is the nearest."""
        name = reference.module
        if not name or len(name) > LONGEST or name.count(".") > NESTED_MOST:
            return ()
        if reference.kind == "type" and "." not in name:
            found = self._simple(path, name, reference.names)
        else:
            found = self._full(path, name)
        return () if found is None or found == path else (found,)

    def _simple(self, path: str, name: str, packages: Iterable[str]) -> str | None:
        """A type of the file's own folder, of its package elsewhere, or of one it imports from."""
        beside = path[: path.rfind("/") + 1] + name + SOURCE
        if beside in self._all:
            return beside
        found = (self._in(path, package, name) for package in packages if package)
        return next((each for each in found if each is not None), None)

    def _full(self, path: str, name: str) -> str | None:
        """A type by its package; of a nested one, the outermost."""
        package, _, last = name.rpartition(".")
        while last:
            found = self._in(path, package, last)
            if found is not None:
                return found
            package, _, last = package.rpartition(".")
        return None

    def _in(self, path: str, package: str, name: str) -> str | None:
        """The file of a package's type that is nearest to another file."""
        ending = f"{package.replace('.', '/')}/{name}{SOURCE}" if package else name + SOURCE
        last = ending[ending.rfind("/", 0, max(ending.rfind("/"), 0)) + 1 :]
        found = [
            each
            for each in self._files.get(last, ())
            if each == ending or (each.endswith(f"/{ending}") and _begins(each, ending))
        ]
        return min(found, key=lambda each: distance(path, each), default=None)


def _begins(path: str, ending: str) -> bool:
    """Whether a path's package may be all that the ending says, and no more."""
    folders = path[: -len(ending) - 1].split("/")
    if ending.count("/") >= SURE:
        return True
    for folder in reversed(folders):
        if folder in _ROOTS:
            return True
        if folder in _DOMAINS:
            return False
    return True
