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
from functools import cached_property
from operator import itemgetter
from typing import Any

import tree_sitter_rust
from msgspec import Struct
from tree_sitter import Node

from sightline.codegraph.grammars import Grammar
from sightline.codegraph.language import (
    LONGEST,
    Affected,
    Kind,
    Reference,
    SettingsReader,
    below,
    entry,
    first,
    first_in,
    joined,
    once,
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
# (?!) never matches. Before Python 3.11.5, a possessive repeat goes on from where its last, failed try
# got to; (?!) as the last choice fails where the try began.
_PATH = re.compile(rb"(?:crate|super|self)(?:\s*+::\s*+%b|(?!))++" % _NAME)
_PARTS = re.compile(_NAME.replace(rb"\#", b"#"))
_INCLUDE = re.compile(rb'include(?:_str|_bytes)?\s*+!\s*+[(\[{]\s*+"([^"\\\n]++)"')
_CRATE = re.compile(rb"extern\s+crate\s+(%b)(?:\s+as\s+(%b))?" % (_NAME, _NAME))


class Scope(Struct, frozen=True):
    """The outermost module of a source.

    modules: names of those it declares; called: paths that it brings in, by the name they get; whole:
    modules of which it brings in all, both as a Reference begins.
    """

    modules: frozenset[str]
    called: dict[str, tuple[int, Names]]
    whole: tuple[tuple[int, Names], ...]


def references(source: bytes, _path: str = "") -> Iterator[Reference]:
    """Read the references of a source, each module once, at the line of its first name.

    level: 1 for a path from the module itself, one more for each `super`; 0 where the path begins
    with a crate. Of kind include, `module` is a path from the folder of the file.
    """
    return _Source(source).references()


def scope(source: bytes) -> Scope:
    """Read what a source has in its outermost module."""
    read = _Source(source)
    own = frozenset(path[0] for path in read.declared if len(path) == 1)
    return Scope(own, read.called, tuple(read.whole))


class _Source:
    """The references of one source. declared: the paths of its modules, in the file or out of it."""

    def __init__(self, source: bytes) -> None:
        syntax = GRAMMAR.parse(source)
        self._source = syntax.source
        self._names: dict[Key, dict[str, None]] = {}
        self._lines: dict[Key, int] = {}
        self.declared: set[Names] = set()
        self.called: dict[str, tuple[int, Names]] = {}
        self.whole: list[tuple[int, Names]] = []
        nodes = ((kind, node) for match in syntax.matches for kind, [node] in match.items())
        placed = list(self._place_nodes(nodes))
        used = 0
        for kind, node, inside in placed:
            at, line = node.start_byte, node.start_point.row + 1
            if kind == "mod":
                self._keep((1, (*inside, self._name(node)), "mod"), line)
            elif kind == "crate":
                if (crate := _CRATE.match(self._source, at, node.end_byte)) is not None:
                    crate_name = _plain(crate[1])
                    if crate[2]:
                        self.called[_plain(crate[2])] = (0, (crate_name,))
                    if crate_name != "self":
                        self._keep((0, (crate_name,), "import"), line)
            elif kind == "macro":
                if (included := _INCLUDE.match(self._source, at)) is not None:
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
        for key, line in sorted(self._lines.items(), key=itemgetter(1)):
            level, path, kind = key
            if not level and kind == "import":
                if path[:1] in self.declared:
                    level = 1
                else:  # a path whose first name another `use` may have brought in
                    above, before = self.called.get(path[0], (0, path[:1]))
                    if before[:1] != path[:1]:
                        level, path = above, (*before, *path[1:])
            yield Reference("::".join(path), line, level, tuple(self._names[key]), kind)

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
        names = self._names.setdefault(key, {})
        if name:
            names[name] = None


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
    return Affected(every=True) if any(changed) else None


class Rust:
    """The Resolver of Rust. read: the bytes of its settings files, and of sources that paths go on
    through; scope: what a source has."""

    def __init__(self, paths: Iterable[str], read: SettingsReader) -> None:
        self._files = frozenset(paths)
        self._read = read
        self._crates = Crates(self._files, read)
        self._onwards: dict[tuple[str, Names], str | None] = {}

    def targets(self, path: str, reference: Reference) -> tuple[str, ...]:
        """Return the files that a reference leads to; see Resolver.targets."""
        if len(reference.module) > LONGEST:
            return ()
        folder, _, file_name = path.rpartition("/")
        names = tuple(reference.module.split("::")) if reference.module else ()
        files: list[str | None] = []
        if reference.kind == "include":
            included = joined(folder, reference.module)
            files = [included] if included in self._files else []
        elif reference.kind == "mod":  # an included file declares modules beside itself
            is_outer = file_name == "mod.rs" or self._crates.place(path).root == path
            inside = folder if is_outer else path.removesuffix(".rs")
            files = [self._module(inside, names) or self._module(folder, names)]
        elif (start := self._start(path, reference.level, names)) is not None:
            place, above = start
            files = [self._file(place, (*above, name), 0) for name in reference.names or ("*",)]
        return tuple(dict.fromkeys(file for file in files if file and file != path))

    def _start(self, path: str, level: int, names: Names) -> Start | None:
        """Return the crate of a path written in a file, and the path from the crate's root."""
        place = self._crates.place(path)
        if level:
            kept = len(place.modules) - (level - 1)
            return (place, (*place.modules[:kept], *names)) if kept >= 0 else None
        if names[:1] == ("crate",):
            return place, names[1:]
        names = names[names[:1] == ("",) :]
        if not names:
            return None
        library = self._crates.named(place.package, names[0])
        return None if library is None else (library, names[1:])

    def _file(self, place: Place, names: Names, deep: int) -> str | None:
        """Return the file of the longest beginning of a path, by where files lie; where the path goes
        on through a further module, what that file has under the module's name."""
        for count in range(len(names), -1, -1):
            file = self._module(place.folder, names[:count]) if count else place.root
            if file is not None:
                rest = names[count:]
                is_modular = len(rest) > 1 and not rest[0][:1].isupper()
                return (self._onward(file, rest, deep) if is_modular else None) or file
        return None

    def _onward(self, file: str, rest: Names, deep: int) -> str | None:
        """Return the file that names lead to from a file's own module; None where the module has no
        such name."""
        key = file, rest
        if key not in self._onwards and deep < FOLLOWED_MAX:
            self._onwards[key] = None  # what a circle finds
            scope = self._scope(file)
            self._onwards[key] = None if scope is None else self._had(scope, file, rest, deep)
        return self._onwards.get(key)

    def _had(self, scope: Scope, file: str, rest: Names, deep: int) -> str | None:
        name = rest[0]
        if name in scope.modules:
            return file
        if name in scope.called:
            level, names = scope.called[name]
            level = level or int(names[0] in scope.modules)
            start = self._start(file, level, (*names, *rest[1:]))
            return None if start is None else self._file(*start, deep + 1)
        for level, names in scope.whole[:WHOLE_MOST]:
            start = self._start(file, level or int(not scope.modules.isdisjoint(names[:1])), names)
            if start is not None and (target := self._among(*start, rest, deep)) is not None:
                return target
        return None

    def _among(self, place: Place, names: Names, rest: Names, deep: int) -> str | None:
        """Return the file that names lead to among all that a module has."""
        if self._module(place.folder, (*names, rest[0])) is not None:
            return self._file(place, (*names, *rest), deep + 1)
        file = self._file(place, (*names, "*"), deep + 1)
        return None if file is None else self._onward(file, rest, deep + 1)

    @once
    def _scope(self, file: str) -> Scope | None:
        source = self._read(file)
        return None if source is None else scope(source)

    def _module(self, folder: str, names: Names) -> str | None:
        path = below(folder, "/".join(names))
        return first_in(self._files, (f"{path}.rs", f"{path}/mod.rs"))


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

    def __init__(self, paths: Iterable[str], read: SettingsReader) -> None:
        self._read = read
        self._files = frozenset(path for path in paths if path.endswith((".rs", MANIFEST)))

    @once
    def place(self, path: str) -> Place:
        """Return the place of a file in its crate, by the nearest root above it."""
        folder = path.rpartition("/")[0]
        package = self._package(folder)
        roots = self._rooted(package)
        if path in roots.get(folder, ()):
            return Place(folder, path, (), package)
        for above in upwards(folder):
            if above in roots:
                return Place(above, _best(roots[above]), _modules(path, above), package)
        return Place(folder, None, _modules(path, folder), package)

    def named(self, package: str | None, name: str) -> Place | None:
        """Return the library that a package's sources call by a name; None where it is none of the
        tree."""
        folder = None if package is None else self._dependencies(package).get(name)
        if folder is None:
            return None
        named = self._table(folder, "lib").get("path")
        root = joined(folder, named) if isinstance(named, str) else below(folder, "src/lib.rs")
        if root is None or root not in self._files:
            return None
        return Place(root.rpartition("/")[0], root, (), folder)

    @once
    def _package(self, folder: str) -> str | None:
        """Return the folder of the package that a folder belongs to."""
        if self._table(folder, "package"):
            return folder
        return self._package(folder.rpartition("/")[0]) if folder else None

    @once
    def _rooted(self, package: str | None) -> dict[str, list[str]]:
        """Return the roots of a package's crates by their folders: the roots that its manifest names,
        and the conventional ones."""
        manifest = {} if package is None else self._manifest(package)
        tables = [manifest.get("lib")]
        for kind in _KINDS:
            tables += entry(manifest, kind, list)
        names = [entry(table, "path", str) for table in tables]
        names.append(entry(entry(manifest, "package", dict), "build", str))
        paths = [joined(package or "", name) for name in names if name]
        for path in self._sources.get(package, ()):
            name = path.rpartition("/")[2] if package is None else path.removeprefix(f"{package}/")
            if name in _BEST if package is None else _FOUND.fullmatch(name):
                paths.append(path)
        roots: dict[str, list[str]] = {}
        for root in dict.fromkeys(paths):
            if root is not None and root in self._files:
                roots.setdefault(root.rpartition("/")[0], []).append(root)
        return roots

    @cached_property
    def _sources(self) -> dict[str | None, list[str]]:
        """The sources of each package, in order."""
        sources: dict[str | None, list[str]] = {}
        for path in sorted(self._files):
            if path.endswith(".rs"):
                sources.setdefault(self._package(path.rpartition("/")[0]), []).append(path)
        return sources

    def _library_name(self, package: str) -> str:
        tables = (self._table(package, "lib"), self._table(package, "package"))
        name = next((table["name"] for table in tables if table.get("name")), "")
        return name.replace("-", "_") if isinstance(name, str) else ""

    @once
    def _dependencies(self, package: str) -> dict[str, str]:
        """Return the names of crates in the sources of a package, its own too, and their folders."""
        manifest, folders = self._manifest(package), {}
        for table in (manifest, *entry(manifest, "target", dict).values()):
            for kind in ("dependencies", "dev-dependencies", "build-dependencies"):
                for name, value in entry(table, kind, dict).items():
                    folder = self._folder(package, name, value)
                    if folder is not None and below(folder, MANIFEST) in self._files:
                        is_renamed = isinstance(value, dict) and "package" in value
                        own = name.replace("-", "_") if is_renamed else self._library_name(folder)
                        folders[own] = folder
        return folders | {self._library_name(package): package}

    def _folder(self, package: str, name: str, value: Any) -> str | None:
        """Return the folder of a dependency, by its own path, its workspace's, or a patch's."""
        root = self._workspace(package)
        table = value if isinstance(value, dict) else {}
        if table.get("workspace") is True and root is not None:
            shared = entry(self._table(root, "workspace"), "dependencies", dict)
            package, table = root, entry(shared, name, dict)
        path = table.get("path")
        if path is None and root is not None:
            real, package = entry(table, "package", str) or name, root
            sources = self._table(root, "patch").values()
            patches = [entry(source, real, dict) for source in sources]
            path = next((patch.get("path") for patch in reversed(patches) if patch), None)
        return joined(package, path) if isinstance(path, str) else None

    @once
    def _workspace(self, package: str) -> str | None:
        """Return the folder of a package's workspace."""
        return first(above for above in upwards(package) if "workspace" in self._manifest(above))

    def _table(self, folder: str, name: str) -> dict[str, Any]:
        return entry(self._manifest(folder), name, dict)

    @once
    def _manifest(self, folder: str) -> dict[str, Any]:
        path = below(folder, MANIFEST)
        source = self._read(path) or b"" if path in self._files else b""
        if any(line.count(b".") > LINE_DOTS_MOST for line in source.split(b"\n")):
            return {}
        try:
            return tomllib.loads(source.decode("utf-8-sig", "replace"))
        except (ValueError, RecursionError):
            return {}


def _best(roots: list[str]) -> str | None:
    """Return the one of several roots that the files beside them belong to; None where unknown."""
    if len(roots) == 1:
        return roots[0]
    named = {root.rpartition("/")[2]: root for root in roots}
    return first(map(named.get, _BEST))


def _modules(path: str, folder: str) -> tuple[str, ...]:
    """Return the names of the modules from a crate's root to a file."""
    names = path[len(folder) + 1 if folder else 0 :].removesuffix(".rs").split("/")
    return tuple(names[:-1] if names[-1] == "mod" else names)
