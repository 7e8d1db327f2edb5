"""Which files a Rust path means: those of the modules that it names, by where modules lie in a crate.

A path names an item; its file is that of the longest beginning that is a module with a file of its own,
else the crate's root. Every file is a module where its path says so: what `mod` declares is not asked.
"""

from __future__ import annotations

from sightline.core.imports.javascript_settings import below, joined
from sightline.core.imports.python import Affected
from sightline.core.imports.rust_crates import Crates

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sightline.core.imports.reference import Reader, Reference
    from sightline.core.imports.rust_crates import Place

LONGEST = 1024
"""Characters of a path that is looked up."""


def affected(changed: Iterable[str]) -> Affected | None:
    """Whose paths may lead elsewhere when these files came or went: a source may include any file."""
    return Affected(every=True, words=frozenset(), folders=()) if any(changed) else None


class Rust:
    """The Resolver of Rust. read: the bytes of its settings files."""

    def __init__(self, paths: Iterable[str], read: Reader | None = None) -> None:
        self._files = frozenset(paths)
        self._crates = Crates(self._files, read or (lambda _path: None))
        self._places: dict[str, Place] = {}

    @property
    def problems(self) -> tuple[str, ...]:
        """What kept settings from being read so far, in sentences; paths did without them."""
        return tuple(self._crates.problems)

    def targets(self, path: str, reference: Reference) -> tuple[str, ...]:
        """As Resolver.targets."""
        if len(reference.module) > LONGEST:
            return ()
        if reference.kind == "include":
            folder = self._inside(path) if reference.level else path.rpartition("/")[0]
            included = joined(folder, reference.module)
            found: Iterator[str | None]
            found = iter([included] if included in self._files else ())
        elif reference.kind == "mod":
            found = self._declared(path, tuple(reference.module.split("::")))
        else:
            found = self._meant(path, reference)
        return tuple(dict.fromkeys(each for each in found if each and each != path))

    def _declared(self, path: str, names: tuple[str, ...]) -> Iterator[str | None]:
        """The file of a module that a file declares. One that was included declares beside itself."""
        yield self._module(self._inside(path), names) or self._module(
            path.rpartition("/")[0], names
        )

    def _inside(self, path: str) -> str:
        """The folder in which a file's modules are."""
        folder, _, name = path.rpartition("/")
        if name == "mod.rs" or self._place(path).root == path:
            return folder
        return path.removesuffix(".rs")

    def _meant(self, path: str, reference: Reference) -> Iterator[str | None]:
        start = self._start(path, reference)
        if start is None:
            return
        place, names = start
        for name in reference.names or ("*",):
            yield self._longest(place, names if name == "*" else (*names, name))

    def _start(self, path: str, reference: Reference) -> tuple[Place, tuple[str, ...]] | None:
        """The crate that a path leads to, and the names of modules from its root."""
        place = self._place(path)
        names = tuple(reference.module.split("::")) if reference.module else ()
        if reference.level:
            ups = reference.level - 1
            if ups > len(place.modules):
                return None
            return place, (*place.modules[: len(place.modules) - ups], *names)
        if names[:1] == ("crate",):
            return place, names[1:]
        if names[:1] == ("",):
            names = names[1:]
        if not names:
            return None
        old = self._crates.old(place.package)
        if old and self._module(place.folder, names[:1]) is not None:
            return place, names
        library = self._crates.named(place.package, names[0])
        return None if library is None else (library, names[1:])

    def _longest(self, place: Place, names: tuple[str, ...]) -> str | None:
        for count in range(len(names), 0, -1):
            found = self._module(place.folder, names[:count])
            if found is not None:
                return found
        return place.root

    def _module(self, folder: str, names: tuple[str, ...]) -> str | None:
        path = below(folder, "/".join(names))
        for file in (f"{path}.rs", f"{path}/mod.rs"):
            if file in self._files:
                return file
        return None

    def _place(self, path: str) -> Place:
        if path not in self._places:
            self._places[path] = self._crates.place(path)
        return self._places[path]
