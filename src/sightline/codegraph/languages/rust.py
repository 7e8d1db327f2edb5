"""Paths in Rust sources, and the files of the modules they name by where modules lie in a crate.

Paths stand in `mod`, `use`, `extern crate` and `crate::a::b`, in calls of macros too, as `cfg_if!`
wraps modules; the definitions of macros are left out. A path names an item: its file is that of the
longest beginning that is a module with a file of its own, else the crate's root. Every file is a
module where its path says so, declared by `mod` or not. Where a path goes on through a module without
a file, the resolver reads the source before it for what it has under that name: a module inside it,
one that it brings in from elsewhere, or one of another file.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from typing import Any

import tree_sitter_rust
from msgspec import Struct
from tree_sitter import Node

from sightline.codegraph.grammars import Grammar
from sightline.codegraph.reference import (
    LONGEST,
    Affected,
    Kind,
    Reader,
    Reference,
    below,
    joined,
    upwards,
)

Names = tuple[str, ...]

Key = tuple[int, Names, Kind]
"""How many modules up (1: here), the path from there, and the kind of a reference."""

NESTED_MOST = 64
"""Brackets inside of one another in a `use`, and names in one path."""

USED_MOST = 20_000
"""Names of one `use`."""

GRAMMAR = Grammar(
    tree_sitter_rust.language(),
    """
    "use" @use
    [(crate) (super) (self)] @path
    (mod_item name: (identifier) @mod)
    (token_tree "mod" . (identifier) @mod)
    (extern_crate_declaration) @crate
    (macro_definition) @definition
    (macro_invocation) @macro
    """,
)
_NAME = rb"(?:r\#)?[A-Za-z_\x80-\xff][\w\x80-\xff]*+"
_GAP = rb"(?:\s|//[^\n]*+|/\*(?s:.*?)(?:\*/|\Z))*+"
_PIECE = re.compile(
    rb"%(gap)b(?:(?P<name>%(name)b|\*)(?:%(gap)bas\s%(gap)b(?P<called>%(name)b))?|(?P<sign>::|[{},;]))"
    % {b"gap": _GAP, b"name": _NAME}
)
_BOUND = re.compile(_GAP + rb"[<|(]")
_PATH = re.compile(rb"(?:crate|super|self)(?:\s*+::\s*+%b)++" % _NAME)
_PARTS = re.compile(_NAME.replace(rb"\#", b"#"))
_CRATE = re.compile(rb"extern\s+crate\s+(%b)(?:\s+as\s+(%b))?" % (_NAME, _NAME))
_ATTRIBUTES = re.compile(
    rb"(?:\#\s*+\[[^\]\n]*+\]\s*+|//[^\n]*+\s*+)+(?:pub\b(?:\s*+\([^)\n]*+\))?\s*+)?mod\s++\Z"
)
_FILE = re.compile(rb'\bpath\s*+=\s*+"([^"\\\n]++)"\s*+\)?\s*+\]')
_INCLUDE = re.compile(rb'include(?:_str|_bytes)?\s*+!\s*+[(\[{]\s*+"([^"\\\n]++)"')


class Scope(Struct, frozen=True):
    """The outermost module of a source.

    modules: names of those it declares; called: paths that it brings in, by the name they get; whole:
    modules of which it brings in all, both as a Reference begins; files: of modules whose path it
    gives.
    """

    modules: frozenset[str]
    called: dict[str, tuple[int, Names]]
    whole: tuple[tuple[int, Names], ...]
    files: dict[str, str]


def references(source: bytes, _path: str = "") -> Iterator[Reference]:
    """Read the references of a source, each module once, at the line of its first name.

    level: 1 for a path from the module itself, one more for each `super`; 0 where the path begins
    with a crate or with what an older Rust takes for one. Of kind include, `module` is a path from
    the folder of the file (level 0) or of the module (1).
    """
    return _Source(source).references()


def scope(source: bytes) -> Scope:
    """Read what a source has in its outermost module."""
    read = _Source(source)
    own = frozenset(path[0] for path in read.declared if len(path) == 1)
    return Scope(own, read.called, tuple(read.whole), read.files)


class _Source:
    """The references of one source. declared: the paths of its modules, in the file or out of it."""

    def __init__(self, source: bytes) -> None:
        syntax = GRAMMAR.parse(source)
        self._source = syntax.source
        self._found: dict[Key, dict[str, None]] = {}
        self._lines: dict[Key, int] = {}
        self.declared: set[Names] = set()
        self.called: dict[str, tuple[int, Names]] = {}
        self.whole: list[tuple[int, Names]] = []
        self.files: dict[str, str] = {}
        nodes = ((kind, node) for match in syntax.matches for kind, [node] in match.items())
        placed = list(self._place_nodes(nodes))
        used = 0
        for kind, node, inside in placed:
            at, line = node.start_byte, node.start_point.row + 1
            if kind == "mod":
                self._module(node, inside)
            elif kind == "crate":
                self._crate(self._source[at : node.end_byte], line)
            elif kind == "macro":
                included = _INCLUDE.match(self._source, at)
                if included is not None:
                    self._keep((0, (_plain(included[1]),), "include"), line)
            elif kind == "use":
                if not _BOUND.match(self._source, node.end_byte):
                    used = self._use(node.end_byte, line, inside)
            elif (
                at >= used
                and self._source[at - 1 : at] != b"$"
                and (path := _PATH.match(self._source, at)) is not None
            ):
                used = path.end()
                self._refer(tuple(map(_plain, _PARTS.findall(path[0]))), inside, line)

    def references(self) -> Iterator[Reference]:
        """Return the references, in the order of their lines."""
        for key, line in sorted(self._lines.items(), key=lambda each: each[1]):
            level, path, kind = key
            if not level and kind == "import":
                level, path = self._expanded(path)
            yield Reference("::".join(path), line, level, tuple(self._found[key]), kind)

    def _place_nodes(self, nodes: Iterable[tuple[str, Node]]) -> Iterator[tuple[str, Node, Names]]:
        """Collect the modules that are declared; yield each other node with the modules around it."""
        around: list[tuple[int, str]] = []
        skipped = 0
        for kind, node in nodes:
            if node.start_byte < skipped:
                continue
            while around and around[-1][0] <= node.start_byte:
                around.pop()
            inside = tuple([name for _, name in around])
            if kind == "definition":
                skipped = node.end_byte
            elif kind == "mod":
                name, body = self._name(node), node.next_sibling
                self.declared.add((*inside, name))
                if body is None or body.type not in ("declaration_list", "token_tree"):
                    yield kind, node, inside
                elif len(around) < NESTED_MOST:
                    around.append((body.end_byte, name))
                else:
                    skipped = body.end_byte
            else:
                yield kind, node, inside

    def _name(self, node: Node) -> str:
        return _plain(self._source[node.start_byte : node.end_byte])

    def _module(self, node: Node, inside: Names) -> None:
        """Keep a module that is declared elsewhere, and the files that its attributes give it."""
        name, line = self._name(node), node.start_point.row + 1
        before = _ATTRIBUTES.search(self._source, max(0, node.start_byte - 1000), node.start_byte)
        paths = [_plain(path) for path in _FILE.findall(before[0])] if before else []
        for path in paths:
            self._keep((int(bool(inside)), ("/".join((*inside, path)),), "include"), line)
        if paths and not inside:
            self.files.setdefault(name, paths[0])
        self._keep((1, (*inside, name), "mod"), line)

    def _crate(self, text: bytes, line: int) -> None:
        found = _CRATE.match(text)
        if found is None:
            return
        name = _plain(found[1])
        if found[2]:
            self.called[_plain(found[2])] = (0, (name,))
        if name != "self":
            self._keep((0, (name,), "import"), line)

    def _use(self, start: int, line: int, inside: Names) -> int:
        """Keep the paths that a `use` brings in; return where it ends."""
        leaves, end = _leaves(self._source, start)
        for at, path, called in leaves:
            level, names = self._refer(path, inside, line + self._source.count(b"\n", start, at))
            if called == "*" and not inside:
                self.whole.append((level, names[:-1]))
            elif called != "_" and not inside:
                self.called.setdefault(called, (level, names))
        return end

    def _refer(self, path: Names, inside: Names, line: int) -> tuple[int, Names]:
        """Keep a path; return it as it is from the file's own module."""
        level, names = 0, path
        if path[0] in ("self", "super"):
            ups = path.count("super")
            level = max(1, 1 + ups - len(inside))
            names = (*inside[: max(0, len(inside) - ups)], *path[ups + (path[0] == "self") :])
        elif (*inside, path[0]) in self.declared:
            level, names = 1, (*inside, *path)
        if not level and (len(names) == 1 or names[:-1] == ("",)):
            self._keep((0, names, "import"), line)
        else:
            self._keep((level, names[:-1], "import"), line, *names[-1:])
        return level, names

    def _keep(self, key: Key, line: int, name: str = "") -> None:
        self._lines.setdefault(key, line)
        taken = self._found.setdefault(key, {})
        if name:
            taken[name] = None

    def _expanded(self, path: Names) -> tuple[int, Names]:
        """Return a path whose first name is a module of the file, or another `use` brought in."""
        if path[:1] in self.declared:
            return 1, path
        level, before = self.called.get(path[0], (0, path[:1]))
        return (0, path) if before[:1] == path[:1] else (level, (*before, *path[1:]))


def _leaves(text: bytes, at: int) -> tuple[list[tuple[int, Names, str]], int]:
    """Read the names that a `use` brings in, each with its place, path and name here; and its end.

    `*` is a name as others are; a path that begins with `::` begins with "". Any other sign ends it.
    """
    leaves: list[tuple[int, Names, str]] = []
    above: list[Names] = []
    path: Names = ()
    last: re.Match[bytes] | None = None
    while (piece := _PIECE.match(text, at)) is not None and len(leaves) < USED_MOST:
        at, sign = piece.end(), piece["sign"]
        if piece["name"]:
            path, last = (*path, _plain(piece["name"])), piece
        elif sign == b"::":
            path = path or ("",)
        elif sign == b"{":
            above.append(path)
            last = None
        else:
            leaves += _leaf(path, last)
            above = above[:-1] if sign == b"}" else above
            path, last = (above[-1] if above else ()), None
            if sign == b";" or (sign == b"}" and not above):
                break
        if max(len(path), len(above)) > NESTED_MOST:
            break
    return [*leaves, *_leaf(path, last)], at


def _leaf(path: Names, last: re.Match[bytes] | None) -> Iterator[tuple[int, Names, str]]:
    """Return the name that ends a path, if any: its place, full path and name here."""
    if last is not None:
        full = path[:-1] if path[-1] == "self" and len(path) > 1 else path
        yield last.start("name"), full, _plain(last["called"]) if last["called"] else full[-1]


def _plain(name: bytes) -> str:
    """Return a name without the sign that makes it no keyword."""
    return name.removeprefix(b"r#").decode("utf-8", "replace")


FOLLOWED_MAX = 4
"""How often a path is followed to what a source brings in."""

WHOLE_MOST = 8
"""Modules of which a source brings in all, and that are asked for a name."""


def affected(changed: Iterable[str]) -> Affected | None:
    """Return the paths that may lead elsewhere: all, because a source may include any file."""
    return Affected(every=True, words=frozenset(), folders=()) if any(changed) else None


class Rust:
    """The Resolver of Rust. read: the bytes of its settings files, and of sources that paths go on
    through; scope: what a source has."""

    def __init__(
        self,
        paths: Iterable[str],
        read: Reader | None = None,
    ) -> None:
        self._files = frozenset(paths)
        self._read = read or (lambda _path: None)
        self._crates = Crates(self._files, self._read)
        self._places: dict[str, Place] = {}
        self._scopes: dict[str, Scope | None] = {}
        self._onwards: dict[tuple[str, Names], str | None] = {}

    def targets(self, path: str, reference: Reference) -> tuple[str, ...]:
        """Return the files that a reference leads to; see Resolver.targets."""
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
        """Return the folder of a file's modules."""
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
        """Return the crate of a path written in a file, and the path from the crate's root."""
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
        if key not in self._onwards and deep < FOLLOWED_MAX:
            self._onwards[key] = None  # what a circle finds
            scope = self._scope(file)
            self._onwards[key] = None if scope is None else self._had(scope, file, rest, deep)
        return self._onwards.get(key)

    def _had(self, scope: Scope, file: str, rest: Names, deep: int) -> str | None:
        name = rest[0]
        if name in scope.files:
            return self._given_file(file, scope.files[name], rest[1:])
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

    def _given_file(self, file: str, path: str, rest: Names) -> str | None:
        """Return the file of a module with a given path, or of a module below it, which lies beside."""
        whole = joined(file.rpartition("/")[0], path)
        if whole not in self._files or whole is None:
            return None
        folder = whole.rpartition("/")[0]
        inside = (self._module(folder, rest[:count]) for count in range(len(rest), 0, -1))
        return next((each for each in inside if each is not None), whole)

    def _scope(self, file: str) -> Scope | None:
        if file not in self._scopes:
            source = self._read(file)
            self._scopes[file] = None if source is None else scope(source)
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


MANIFEST = "Cargo.toml"
LINE_DOTS_MOST = 200
"""tomllib takes time by the square of a key's parts: 17 s for 32,000."""

_KINDS = ("bin", "test", "example", "bench")
_FOUND = re.compile(
    r"(?:src/(?:lib|main)|build|(?:src/bin|tests|examples|benches)/[^/]+(?:/main)?)\.rs"
)
"""The files that Cargo takes for roots of crates where a manifest does not say otherwise."""

_BEST = ("lib.rs", "main.rs")


class Place(Struct, frozen=True):
    """The place of a file in its crate.

    folder: of the crate's root; root: that file, None where several crates may have this one; modules:
    names from the root to the file; package: its folder.
    """

    folder: str
    root: str | None
    modules: tuple[str, ...]
    package: str | None


Start = tuple[Place, Names]
"""A crate, and names of modules from its root."""


class Crates:
    """The crates of a tree."""

    def __init__(self, paths: Iterable[str], read: Reader) -> None:
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
        """Return the place of a file in its crate, by the nearest root above it."""
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
        """Return true where paths of a package begin at the crate's root, as before 2018."""
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
            said = self._named_roots(package) if package is not None else []
            found = self._roots[key] = {}
            for path in dict.fromkeys((*said, *self._conventional_roots(package))):
                found.setdefault(path.rpartition("/")[0], []).append(path)
        return self._roots[key]

    def _conventional_roots(self, package: str | None) -> Iterator[str]:
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

    def _named_roots(self, package: str) -> list[str]:
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
        """Return the names of other crates in the sources of a package, and their folders."""
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
        """Return a table of the package's workspace."""
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
        source = self._read(path) or b""
        if any(line.count(b".") > LINE_DOTS_MOST for line in source.split(b"\n")):
            return {}
        try:
            return tomllib.loads(source.decode("utf-8-sig", "replace"))
        except (ValueError, RecursionError):
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
