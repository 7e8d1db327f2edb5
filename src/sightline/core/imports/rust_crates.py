"""The packages of Rust in a tree, by Cargo.toml: their crates' roots, and the crates that they name."""

from __future__ import annotations

import re

from sightline.core.imports.javascript_settings import below, joined, upwards
from sightline.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from collections.abc import Set as AbstractSet
    from typing import Any

    from sightline.core.imports.reference import Reader

MANIFEST = "Cargo.toml"
SETTINGS_MOST = 4 * 1024 * 1024
"""Bytes of a settings file that is read."""

LINE_DOTS_MOST = 200
"""tomllib takes time by the square of a key's parts: 17 s for 32,000."""

_KINDS = ("bin", "test", "example", "bench")
_FOUND = re.compile(
    r"(?:src/(?:lib|main)|build|(?:src/bin|tests|examples|benches)/[^/]+(?:/main)?)\.rs"
)
"""The files that Cargo takes for roots of crates where a manifest does not say otherwise."""

_BEST = ("lib.rs", "main.rs")


class Place(Value):
    """Where a file is in its crate. folder: of the crate's root; root: that file, None where several
    crates may have this one; modules: the names on the way to it; package: its folder."""

    folder: str
    root: str | None
    modules: tuple[str, ...]
    package: str | None


class Crates:
    """The crates of a tree. problems: what could not be read, in sentences."""

    def __init__(self, paths: Iterable[str], read: Reader) -> None:
        self.problems: list[str] = []
        self._read = read
        listed = [path for path in paths if path.endswith((".rs", MANIFEST))]
        self._files: AbstractSet[str] = frozenset(listed)
        self._manifests: dict[str, dict[str, Any]] = {}
        self._packages: dict[str, str | None] = {}
        self._dependencies: dict[str, dict[str, str]] = {}
        self._workspaces: dict[str, str | None] = {}
        self._roots: dict[str, dict[str, list[str]]] = {}
        self._sources: dict[str | None, list[str]] | None = None

    def place(self, path: str) -> Place:
        """Where a file is in its crate, by the nearest root above it."""
        package = self._package(path.rpartition("/")[0])
        roots = self._rooted(package)
        folder = path.rpartition("/")[0]
        if path in roots.get(folder, ()):
            return Place(folder, path, (), package)
        for above in upwards(folder):
            if above in roots:
                return Place(above, _best(roots[above]), _modules(path, above), package)
        return Place(folder, None, _modules(path, folder), package)

    def named(self, package: str | None, name: str) -> Place | None:
        """The library that a package's sources call by a name; None where it is none of the tree."""
        if package is None:
            return None
        if package not in self._dependencies:
            self._dependencies[package] = dict(self._needed(package))
        folder = self._dependencies[package].get(name)
        root = None if folder is None else self._library(folder)
        return None if root is None else Place(root.rpartition("/")[0], root, (), folder)

    def old(self, package: str | None) -> bool:
        """Whether a package's paths begin at the root of the crate, as they did before 2018."""
        if package is None:
            return False
        edition = self._table(package, "package").get("edition", "2015")
        if isinstance(edition, dict):
            edition = self._shared(package, "package").get("edition", "2015")
        return bool(edition == "2015")

    def _package(self, folder: str) -> str | None:
        """The folder of the package that a folder belongs to."""
        if folder not in self._packages:
            if below(folder, MANIFEST) in self._files and self._table(folder, "package"):
                self._packages[folder] = folder
            else:
                above = folder.rpartition("/")[0]
                self._packages[folder] = self._package(above) if folder else None
        return self._packages[folder]

    def _rooted(self, package: str | None) -> dict[str, list[str]]:
        """The roots of a package's crates, by their folders."""
        key = "/" if package is None else package
        if key not in self._roots:
            said = self._said(package) if package is not None else []
            found = self._roots[key] = {}
            for path in dict.fromkeys((*said, *self._found(package))):
                found.setdefault(path.rpartition("/")[0], []).append(path)
        return self._roots[key]

    def _found(self, package: str | None) -> Iterator[str]:
        if self._sources is None:
            self._sources = {}
            for path in sorted(self._files):
                if path.endswith(".rs"):
                    home = self._package(path.rpartition("/")[0])
                    self._sources.setdefault(home, []).append(path)
        for path in self._sources.get(package, ()):
            if package is None:
                rooted = path.rpartition("/")[2] in _BEST
            else:
                rooted = bool(_FOUND.fullmatch(path[len(package) + 1 :] if package else path))
            if rooted:
                yield path

    def _said(self, package: str) -> list[str]:
        """The roots that a manifest names."""
        manifest = self._manifest(package)
        tables = [manifest.get("lib"), *(each for kind in _KINDS for each in _list(manifest, kind))]
        names = [table.get("path") for table in tables if isinstance(table, dict)]
        names.append(self._table(package, "package").get("build"))
        paths = [joined(package, name) for name in names if isinstance(name, str)]
        return [path for path in paths if path in self._files and path is not None]

    def _library(self, package: str) -> str | None:
        said = self._table(package, "lib").get("path")
        path = joined(package, said) if isinstance(said, str) else below(package, "src/lib.rs")
        return path if path in self._files else None

    def _library_name(self, package: str) -> str:
        table = self._table(package, "lib")
        name = table.get("name") or self._table(package, "package").get("name")
        return _spelled(name) if isinstance(name, str) else ""

    def _needed(self, package: str) -> Iterator[tuple[str, str]]:
        """What the sources of a package call other crates of the tree, and their folders."""
        for name, said in _tables(self._manifest(package)):
            folder = self._folder(package, name, said)
            if folder is not None and below(folder, MANIFEST) in self._files:
                renamed = isinstance(said, dict) and "package" in said
                yield (_spelled(name) if renamed else self._library_name(folder)), folder
        yield self._library_name(package), package

    def _folder(self, package: str, name: str, said: Any) -> str | None:
        """The folder of a dependency, by its own path, the workspace's, or one that replaces it."""
        root = self._workspace(package)
        if isinstance(said, dict) and said.get("workspace") is True and root is not None:
            package, said = root, _under(self._shared(package, "dependencies"), name)
        path = said.get("path") if isinstance(said, dict) else None
        if path is None and root is not None:
            real = said.get("package", name) if isinstance(said, dict) else name
            package, path = root, self._patched(root).get(real)
        return joined(package, path) if isinstance(path, str) else None

    def _patched(self, root: str) -> dict[str, Any]:
        sources = self._table(root, "patch").values()
        named = [each for source in sources if isinstance(source, dict) for each in source.items()]
        return {name: said.get("path") for name, said in named if isinstance(said, dict)}

    def _workspace(self, package: str) -> str | None:
        """The folder of a package's workspace."""
        if package not in self._workspaces:
            said = self._table(package, "package").get("workspace")
            places = [joined(package, said)] if isinstance(said, str) else upwards(package)
            found = (each for each in places if each is not None)
            self._workspaces[package] = next(
                (each for each in found if "workspace" in self._manifest(each)), None
            )
        return self._workspaces[package]

    def _shared(self, package: str, name: str) -> dict[str, Any]:
        """What a package's workspace says for all."""
        root = self._workspace(package)
        return {} if root is None else _under(self._table(root, "workspace"), name)

    def _table(self, folder: str, name: str) -> dict[str, Any]:
        return _under(self._manifest(folder), name)

    def _manifest(self, folder: str) -> dict[str, Any]:
        if folder not in self._manifests:
            path = below(folder, MANIFEST)
            self._manifests[folder] = self._parsed(path) if path in self._files else {}
        return self._manifests[folder]

    def _parsed(self, path: str) -> dict[str, Any]:
        import tomllib

        source = self._read(path) or b""
        if len(source) > SETTINGS_MOST:
            self.problems.append(f"{path} is too large to be settings: imports do without it.")
            return {}
        if any(line.count(b".") > LINE_DOTS_MOST for line in source.split(b"\n")):
            self.problems.append(f"{path} has a line of too many dots: imports do without it.")
            return {}
        try:
            return tomllib.loads(source.decode("utf-8-sig", "replace"))
        except (ValueError, RecursionError) as problem:
            self.problems.append(f"{path} is not TOML ({problem}): imports do without it.")
            return {}


def _tables(manifest: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Every dependency that a manifest names."""
    targets = [each for each in _under(manifest, "target").values() if isinstance(each, dict)]
    for table in (manifest, *targets):
        for name in ("dependencies", "dev-dependencies", "build-dependencies"):
            yield from _under(table, name).items()


def _under(table: dict[str, Any], name: str) -> dict[str, Any]:
    found = table.get(name)
    return found if isinstance(found, dict) else {}


def _list(table: dict[str, Any], name: str) -> list[Any]:
    found = table.get(name)
    return found if isinstance(found, list) else []


def _spelled(name: str) -> str:
    return name.replace("-", "_")


def _best(roots: list[str]) -> str | None:
    """The one of several roots that the files beside them belong to, as far as one can tell."""
    if len(roots) == 1:
        return roots[0]
    named = {root.rpartition("/")[2]: root for root in roots}
    return next((named[name] for name in _BEST if name in named), None)


def _modules(path: str, folder: str) -> tuple[str, ...]:
    """The names of the modules from a crate's root to a file."""
    names = path[len(folder) + 1 if folder else 0 :].removesuffix(".rs").split("/")
    return tuple(names[:-1] if names[-1] == "mod" else names)
