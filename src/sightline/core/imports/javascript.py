"""Which files the imports of JavaScript and TypeScript mean, by the rules of their tools.

The order is TypeScript's: a name's own ending, the endings it may have left out, the folder of the
name. A bare name is looked for by the settings of the compiler, then among the packages of the tree.
"""

from __future__ import annotations

from sightline.core.imports.javascript_packages import MANIFEST, Packages
from sightline.core.imports.javascript_settings import (
    LONGEST,
    Compilers,
    Documents,
    below,
    joined,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from sightline.core.imports.reference import Reader, Reference

    Ends = tuple[str, ...]

_TYPED = (".ts", ".tsx", ".mts", ".cts", ".vue", ".svelte")
OF_TYPESCRIPT = (".ts", ".tsx", ".d.ts", ".js", ".jsx")
OF_JAVASCRIPT = (".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".json", ".d.ts")
"""Endings that may be left out, in the order in which they are tried."""

_RARE = (".mjs", ".mts", ".cjs", ".cts", ".json", ".vue", ".svelte", ".d.mts", ".d.cts")
"""Endings that some tools let one leave out: tried when nothing else is there."""

_WRITTEN = {
    ".js": (".ts", ".tsx", ".d.ts", ".js", ".jsx"),
    ".jsx": (".tsx", ".ts", ".d.ts", ".jsx", ".js"),
    ".mjs": (".mts", ".d.mts", ".mjs"),
    ".cjs": (".cts", ".d.cts", ".cjs"),
}
"""What the ending of a program may stand for in its source."""


class JavaScript:
    """The Resolver of JavaScript and TypeScript. read: the bytes of its settings files."""

    def __init__(self, paths: Iterable[str], read: Reader | None = None) -> None:
        self._files = frozenset(paths)
        self._documents = Documents(self._files, read or (lambda _path: None))
        self._packages = Packages(self._documents)
        self._compilers = Compilers(self._documents, self._packages)

    @property
    def problems(self) -> tuple[str, ...]:
        """What kept settings from being read so far, in sentences; imports did without them."""
        return tuple(self._documents.problems)

    def targets(self, path: str, reference: Reference) -> tuple[str, ...]:
        """As Resolver.targets."""
        name, folder = reference.module, path.rpartition("/")[0]
        if not name or len(name) > LONGEST:
            return ()
        if reference.kind == "include":
            included = joined(folder, name)
            return (included,) if included in self._files else ()
        ends = OF_TYPESCRIPT if path.endswith(_TYPED) else OF_JAVASCRIPT
        found = self._meant(folder, name, ends)
        if found is None and _plain(name) != name:
            found = self._meant(folder, _plain(name), ends)
        return () if found is None or found == path else (found,)

    def _meant(self, folder: str, name: str, ends: Ends) -> str | None:
        if name.startswith(("./", "../")) or name in (".", ".."):
            return self._relative(folder, name, ends)
        options = self._compilers.of(folder)
        candidates = options.candidates(name)
        if candidates is None and options.base is not None:
            place = joined(options.base, name)
            candidates = [] if place is None else [place]
        for candidate in candidates or ():
            found = self._load(candidate, ends)
            if found is not None:
                return found
        if name.startswith("#"):
            return self._internal(folder, name, ends)
        return self._packaged(folder, name, ends)

    def _relative(self, folder: str, name: str, ends: Ends) -> str | None:
        path = joined(folder, name)
        if path is None:
            return None
        if name.endswith(("/", "/.", "/..")) or name in (".", ".."):
            return self._folder(path, ends)
        found = self._load(path, ends)
        return self._elsewhere(folder, path, ends) if found is None else found

    def _elsewhere(self, folder: str, path: str, ends: Ends) -> str | None:
        """A relative name in another of the folders that count as one."""
        roots = self._compilers.of(folder).roots
        inside = [root for root in roots if path.startswith(f"{root}/" if root else "")]
        if not inside:
            return None
        rest = path[len(max(inside, key=len)) :].lstrip("/")
        found = (self._load(below(root, rest), ends) for root in roots)
        return next((each for each in found if each is not None), None)

    def _internal(self, folder: str, name: str, ends: Ends) -> str | None:
        package, names = self._packages.internal(name, folder, typed=ends is OF_TYPESCRIPT)
        for each in names:
            if each.startswith("."):
                path = joined(package, each)
                found = None if path is None else self._exact(path, ends)
            else:
                found = None if each.startswith("#") else self._packaged(folder, each, ends)
            if found is not None:
                return found
        return None

    def _packaged(self, folder: str, name: str, ends: Ends) -> str | None:
        """A bare name, in the packages of the tree."""
        package, rest = self._packages.of_name(name, folder)
        if package is None:
            return None
        entries = self._packages.entries(package, rest, typed=ends is OF_TYPESCRIPT)
        if entries is None:
            return self._load(below(package, rest), ends) if rest else self._folder(package, ends)
        found = (self._exact(entry, ends) for entry in entries)
        return next((each for each in found if each is not None), None)

    def _load(self, path: str, ends: Ends) -> str | None:
        """A path as a file, then as a folder."""
        found = self._exact(path, ends) or self._ended(path, ends) or self._folder(path, ends)
        if found is not None:
            return found
        if path in self._files:
            return path
        return next((path + end for end in _RARE if path + end in self._files), None)

    def _exact(self, path: str, ends: Ends) -> str | None:
        """A path with its ending, or with the ending of its source."""
        dot = path.rfind(".", path.rfind("/") + 1)
        if dot < 0:
            return None
        if ends is OF_JAVASCRIPT and path in self._files:
            return path
        for end in _WRITTEN.get(path[dot:], ()):
            if path[:dot] + end in self._files:
                return path[:dot] + end
        return path if path in self._files else None

    def _ended(self, path: str, ends: Ends) -> str | None:
        return next((path + end for end in ends if path + end in self._files), None)

    def _folder(self, path: str, ends: Ends) -> str | None:
        """What a folder stands for: what its manifest names, or its index."""
        if below(path, MANIFEST) in self._files:
            for main in self._packages.mains(path, typed=ends is OF_TYPESCRIPT):
                found = self._exact(main, ends) or self._ended(main, ends)
                found = found or self._ended(below(main, "index"), ends)
                if found is not None:
                    return found
        index = below(path, "index")
        found = self._ended(index, ends)
        return found or next((index + end for end in _RARE if index + end in self._files), None)


def _plain(name: str) -> str:
    """A name without the loaders before it and the query after it."""
    return name.rpartition("!")[2].partition("?")[0]
