"""Which files a Rust path means: those of the modules that it names, by where modules lie in a crate.

A path names an item; its file is that of the longest beginning that is a module with a file of its own,
else the crate's root. Every file is a module where its path says so: what `mod` declares is not asked.
Where a path goes on through a module that lies nowhere, the source before it is read for what it has
under that name: a module inside it, one that it brings in from elsewhere, or one of another file.
"""

from __future__ import annotations

from sightline.core.imports.javascript_settings import below, joined
from sightline.core.imports.python import Affected
from sightline.core.imports.rust_crates import Crates
from sightline.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from sightline.core.imports.reference import Reader, Reference
    from sightline.core.imports.rust_crates import Place

    Names = tuple[str, ...]

    Start = tuple[Place, Names]
    """A crate, and names of modules from its root."""

LONGEST = 1024
"""Characters of a path that is looked up."""

DEEPEST = 4
"""How often a path is followed to what a source brings in."""

WHOLE_MOST = 8
"""Modules of which a source brings in all, and that are asked for a name."""


class Scope(Value):
    """What a source has in its outermost module. modules: those it declares; called: paths that it
    brings in, by the name they get; whole: modules of which it brings in all, both as a Reference
    begins; files: of modules whose path is given."""

    modules: frozenset[str]
    called: dict[str, tuple[int, Names]]
    whole: tuple[tuple[int, Names], ...]
    files: dict[str, str]


def affected(changed: Iterable[str]) -> Affected | None:
    """Whose paths may lead elsewhere when these files came or went: a source may include any file."""
    return Affected(every=True, words=frozenset(), folders=()) if any(changed) else None


class Rust:
    """The Resolver of Rust. read: the bytes of its settings files, and of sources that paths go on
    through; scope: what a source has."""

    def __init__(
        self,
        paths: Iterable[str],
        read: Reader | None = None,
        scope: Callable[[bytes], Scope] | None = None,
    ) -> None:
        self._files = frozenset(paths)
        self._read = read or (lambda _path: None)
        self._scope_of = scope
        self._crates = Crates(self._files, self._read)
        self._places: dict[str, Place] = {}
        self._scopes: dict[str, Scope | None] = {}
        self._onwards: dict[tuple[str, Names], str | None] = {}

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
        names = tuple(reference.module.split("::")) if reference.module else ()
        start = self._start(path, reference.level, names)
        if start is not None:
            for name in reference.names or ("*",):
                yield self._file(start[0], (*start[1], name), 0)

    def _start(self, path: str, level: int, names: Names) -> Start | None:
        """Where a path begins that is written in a file."""
        place = self._place(path)
        if level:
            kept = len(place.modules) - (level - 1)
            return (place, (*place.modules[:kept], *names)) if kept >= 0 else None
        if names[:1] == ("crate",):
            return place, names[1:]
        names = names[names[:1] == ("",) :]
        if not names:
            return None
        old = self._crates.old(place.package)
        if old and self._module(place.folder, names[:1]) is not None:
            return place, names
        library = self._crates.named(place.package, names[0])
        return None if library is None else (library, names[1:])

    def _file(self, place: Place, names: Names, deep: int) -> str | None:
        """The file of the longest beginning of a path, by where files lie; where the path goes on
        through a further module, what that file has under its name."""
        for count in range(len(names), -1, -1):
            file = self._module(place.folder, names[:count]) if count else place.root
            if file is not None:
                rest = names[count:]
                modular = len(rest) > 1 and not rest[0][:1].isupper()
                return (self._onward(file, rest, deep) if modular else None) or file
        return None

    def _onward(self, file: str, rest: Names, deep: int) -> str | None:
        """The file that names lead to from a file's own module; None where it has no such name."""
        key = file, rest
        if key not in self._onwards and deep < DEEPEST:
            self._onwards[key] = None  # what a circle finds
            scope = self._scope(file)
            self._onwards[key] = None if scope is None else self._had(scope, file, rest, deep)
        return self._onwards.get(key)

    def _had(self, scope: Scope, file: str, rest: Names, deep: int) -> str | None:
        name = rest[0]
        if name in scope.files:
            return self._given(file, scope.files[name], rest[1:])
        if name in scope.modules:
            return file
        if name in scope.called:
            level, names = scope.called[name]
            level = level or int(names[0] in scope.modules)
            start = self._start(file, level, (*names, *rest[1:]))
            return None if start is None else self._file(*start, deep + 1)
        for level, names in scope.whole[:WHOLE_MOST]:
            start = self._start(file, level or int(not scope.modules.isdisjoint(names[:1])), names)
            found = None if start is None else self._among(*start, rest, deep)
            if found is not None:
                return found
        return None

    def _among(self, place: Place, names: Names, rest: Names, deep: int) -> str | None:
        """The file that names lead to among all that a module has."""
        if self._module(place.folder, (*names, rest[0])) is not None:
            return self._file(place, (*names, *rest), deep + 1)
        file = self._file(place, (*names, "*"), deep + 1)
        return None if file is None else self._onward(file, rest, deep + 1)

    def _given(self, file: str, path: str, rest: Names) -> str | None:
        """The file of a module whose path is given, or of one in it: they lie beside it."""
        whole = joined(file.rpartition("/")[0], path)
        if whole not in self._files or whole is None:
            return None
        folder = whole.rpartition("/")[0]
        inside = (self._module(folder, rest[:count]) for count in range(len(rest), 0, -1))
        return next((each for each in inside if each is not None), whole)

    def _scope(self, file: str) -> Scope | None:
        if file not in self._scopes:
            source, scope = self._read(file), self._scope_of
            self._scopes[file] = None if source is None or scope is None else scope(source)
        return self._scopes[file]

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
