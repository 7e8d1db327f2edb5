"""What a Rust source refers to, told from its text: `mod`, `use`, `extern crate`, `crate::a::b`.

One walk over the bytes passes strings and comments by and reads the words that begin a reference.
It reads what macros wrap, too, as `cfg_if!` does modules, where a grammar sees tokens alone; what
`macro_rules!` defines is left out. Every step goes forward, so time is linear.

Which files a Rust path means: those of the modules that it names, by where modules lie in a crate.

A path names an item; its file is that of the longest beginning that is a module with a file of its own,
else the crate's root. Every file is a module where its path says so: what `mod` declares is not asked.
Where a path goes on through a module that lies nowhere, the source before it is read for what it has
under that name: a module inside it, one that it brings in from elsewhere, or one of another file.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from typing import Any

from msgspec import Struct

from sightline.codegraph.languages.javascript_resolve import below, joined, upwards
from sightline.codegraph.reference import Affected, Kind, Reader, Reference

Path = tuple[str, ...]

Leaf = tuple[int, Path, str]
"""Where a name stands, its path, and what it is called here."""

Key = tuple[int, Path, Kind]
"""How many modules up (1: here), the path from there, and the kind of a reference."""

Names = tuple[str, ...]

NAME = rb"(?:r\#)?[A-Za-z_\x80-\xff][\w\x80-\xff]*+"

USE_DEPTH_MAX = 64
"""Brackets inside of one another, and names in one path; nobody writes as many."""

USE_NAMES_MAX = 20_000
"""Names of one tree."""

_PIECE = re.compile(
    rb"(?:\s|//[^\n]*+|/\*(?s:.*?)(?:\*/|\Z))*+(?:(?P<name>%b)|(?P<sign>::|[{},*;]))" % NAME
)


def leaves(text: bytes, at: int) -> tuple[list[Leaf], int]:
    """The names that a tree brings in, and where it ends.

    `*` is a name as others are; a path that begins with `::` begins with "". What is no tree ends it.
    """
    tree = _Tree()
    while (piece := _PIECE.match(text, at)) is not None and len(tree.found) < USE_NAMES_MAX:
        at = piece.end()
        sign = piece["sign"] or b"name"
        if sign == b";" or len(tree.path) > USE_DEPTH_MAX or len(tree.above) > USE_DEPTH_MAX:
            break
        if sign in (b",", b"}"):
            tree.end()
        tree.take(sign, piece)
        if sign == b"}" and not tree.above:
            break
    tree.end()
    return tree.found, at


class _Tree:
    """Where a walk along a tree is. above: for each open bracket the path before it."""

    def __init__(self) -> None:
        self.above: list[Path] = []
        self.path: Path = ()
        self.where = -1
        self.called: str | None = None
        self.found: list[Leaf] = []

    def take(self, sign: bytes, piece: re.Match[bytes]) -> None:
        if sign == b"name":
            self._name(plain(piece["name"]), piece.start("name"))
        elif sign == b"*":
            self._name("*", piece.start("sign"))
        elif sign == b"::":
            self.path = self.path or ("",)
        elif sign == b"{":
            self.above.append(self.path)
            self.where = -1
        else:
            if sign == b"}" and self.above:
                self.above.pop()
            self.path = self.above[-1] if self.above else ()

    def _name(self, name: str, at: int) -> None:
        if name == "as" and self.called is None:
            self.called = ""
        elif self.called == "":
            self.called = name
        else:
            self.path, self.where = (*self.path, name), at

    def end(self) -> None:
        """Keep the leaf that the walk has come to the end of, if there is one."""
        path, where, called = self.path, self.where, self.called
        self.where, self.called = -1, None
        if where >= 0:
            if path[-1] == "self" and len(path) > 1:
                path = path[:-1]
            self.found.append((where, path, called or path[-1]))


def plain(name: bytes) -> str:
    """A name without the sign that makes it no keyword."""
    return name.removeprefix(b"r#").decode("utf-8", "replace")


READ_MOST = 8_000_000
"""Bytes of a source that are read."""

MOST = 20_000
"""References of one source; nobody wrote as many."""

DEEPEST = 64
"""Modules inside of one another in one source."""

_GAP = rb"(?:\s|//[^\n]*+|/\*(?s:.*?)(?:\*/|\Z))*+"
_TOKENS = rb"""
    (?P<note>//[^\n]*+|/\*)
  | (?P<raw>\b(?:br|cr|r)\#*+")
  | "(?:[^"\\]|\\(?s:.))*+"?
  | '(?:[^'\\\n\x80-\xff]|[\xc0-\xff][\x80-\xbf]{1,3}|\\[^\n][^'\n]{0,8})'
  | \bpath\s*+=\s*+"(?P<path>[^"\\\n]++)"\s*+\)?\s*+\]
  | \binclude(?:_str|_bytes)?\s*+!\s*+[(\[{]\s*+"(?P<include>[^"\\\n]++)"
  | (?<![\w\#$.'\x80-\xff])(?:
      mod\b%(gap)b(?P<mod>%(name)b)%(gap)b(?P<ends>[;{])
    | (?P<use>use)\b(?!%(gap)b[<|(])
    | extern\b%(gap)bcrate\b%(gap)b(?P<crate>%(name)b)(?:\s++as\s++(?P<called>%(name)b))?
    | (?P<macro>macro_rules)\s*+!\s*+(?:%(name)b\s*+)?+\{
    | (?P<names>(?:crate|super|self)(?:\s*+::\s*+%(name)b)++)
    )
""" % {b"gap": _GAP, b"name": NAME}
_TOKEN = re.compile(_TOKENS, re.VERBOSE)
_NESTED = re.compile(_TOKENS + rb"| (?P<open>\{) | (?P<close>\})", re.VERBOSE)
_NOTES = re.compile(rb"/\*|\*/")
_PARTS = re.compile(NAME.replace(rb"\#", b"#"))
_BEFORE_MOD = re.compile(
    rb"(?:\s|//[^\n]*+|\#\s*+\[[^\]\n]*+\]|pub\b(?:\s*+\([^)\n]*+\))?)*+(?:\#\s*+\[[^\]\n]*+)?\Z",
    re.VERBOSE,
)


def references(source: bytes) -> tuple[Reference, ...]:
    """The references of a source, each module once, where it is first named.

    level: 1 for a path from the module itself, one more for each `super`; 0 where the path begins
    with a crate or with what an older Rust takes for one. Of kind include, `module` is a path from
    the folder of the file (level 0) or of the module (1).
    """
    return _Walk(source[:READ_MOST]).run()


def scope(source: bytes) -> Scope:
    """What a source has in its outermost module."""
    walk = _Walk(source[:READ_MOST])
    walk.run()
    own = frozenset(path[0] for path in walk.declared if len(path) == 1)
    return Scope(own, walk.called, tuple(walk.whole), walk.files)


class _Walk:
    """One walk over a text. nest: the modules it is in, None for a macro's definition."""

    def __init__(self, text: bytes) -> None:
        self.text = text
        self.at = 0
        self.nest: list[str | None] = []
        self.braces: list[int] = []
        self.found: dict[Key, dict[str, None]] = {}
        self.places: dict[Key, int] = {}
        self.paths: list[bytes] = []
        self.paths_end = 0
        self.declared: set[Path] = set()
        self.called: dict[str, tuple[int, Path]] = {}
        self.whole: list[tuple[int, Path]] = []
        self.files: dict[str, str] = {}

    def run(self) -> tuple[Reference, ...]:
        steps = {
            "note": self._note,
            "raw": self._raw,
            "path": self._path,
            "include": self._include,
            "ends": self._mod,
            "use": self._use,
            "crate": self._crate,
            "called": self._crate,
            "macro": self._macro,
            "names": self._names,
            "open": self._open,
            "close": self._close,
        }
        while len(self.found) < MOST:
            token = (_NESTED if self.nest else _TOKEN).search(self.text, self.at)
            if token is None:
                break
            self.at = token.end()
            if token.lastgroup is not None:
                steps[token.lastgroup](token)
        return self._made()

    def _note(self, token: re.Match[bytes]) -> None:
        """Comments may stand in comments."""
        depth = int(token[0] == b"/*")
        while depth:
            sign = _NOTES.search(self.text, self.at)
            if sign is None:
                self.at = len(self.text)
                return
            self.at = sign.end()
            depth += 1 if sign[0] == b"/*" else -1

    def _raw(self, token: re.Match[bytes]) -> None:
        end = b'"' + b"#" * token[0].count(b"#")
        at = self.text.find(end, self.at)
        self.at = len(self.text) if at < 0 else at + len(end)

    def _open(self, token: re.Match[bytes]) -> None:
        self.braces[-1] += 1

    def _close(self, token: re.Match[bytes]) -> None:
        self.braces[-1] -= 1
        if not self.braces[-1]:
            self.braces.pop()
            self.nest.pop()

    def _macro(self, token: re.Match[bytes]) -> None:
        self._enter(None)

    def _enter(self, name: str | None) -> None:
        """Begin what ends with a brace. In what is hidden, all is."""
        if self._hidden():
            self.braces[-1] += 1
        else:
            self.nest.append(name if len(self.nest) < DEEPEST else None)
            self.braces.append(1)

    def _hidden(self) -> bool:
        return bool(self.nest) and self.nest[-1] is None

    def _path(self, token: re.Match[bytes]) -> None:
        if self.paths and not _BEFORE_MOD.match(self.text, self.paths_end, token.start()):
            self.paths.clear()
        self.paths.append(token["path"])
        self.paths_end = token.end()

    def _mod(self, token: re.Match[bytes]) -> None:
        paths, self.paths = self.paths, []
        name, at = plain(token["mod"]), token.start("mod")
        whole = (*(each or "" for each in self.nest), name)
        self.declared.add(whole)
        if token["ends"] == b"{":
            self._enter(name)
            return
        if paths and _BEFORE_MOD.match(self.text, self.paths_end, token.start()):
            for path in paths:
                self._file(path, at, nested=True)
            if not self.nest:
                self.files.setdefault(name, paths[0].decode("utf-8", "replace"))
        self._keep((1, whole, "mod"), "", at)

    def _include(self, token: re.Match[bytes]) -> None:
        self._file(token["include"], token.start("include"), nested=False)

    def _file(self, path: bytes, at: int, *, nested: bool) -> None:
        inside = tuple(each or "" for each in self.nest) if nested else ()
        name = "/".join((*inside, path.decode("utf-8", "replace")))
        self._keep((int(bool(inside)), (name,), "include"), "", at)

    def _crate(self, token: re.Match[bytes]) -> None:
        name = plain(token["crate"])
        if token["called"]:
            self.called[plain(token["called"])] = (0, (name,))
        if name != "self":
            self._keep((0, (name,), "import"), "", token.start("crate"))

    def _use(self, token: re.Match[bytes]) -> None:
        found, self.at = leaves(self.text, self.at)
        for at, path, called in found:
            level, names = self._place(path)
            self._reference(level, names, at)
            if called == "*" and not self.nest:
                self.whole.append((level, names[:-1]))
            elif called != "_" and not self.nest:
                self.called.setdefault(called, (level, names))

    def _names(self, token: re.Match[bytes]) -> None:
        path = tuple(plain(name) for name in _PARTS.findall(token["names"]))
        level, names = self._place(path)
        self._reference(level, names, token.start())

    def _place(self, path: Path) -> tuple[int, Path]:
        """A path as it is from the file's own module."""
        nest = tuple(each or "" for each in self.nest)
        if path[0] not in ("self", "super"):
            inside = (*nest, path[0])
            return (1, (*nest, *path)) if inside in self.declared else (0, path)
        ups = sum(1 for name in path if name == "super")
        rest = path[ups + (path[0] == "self") :]
        if ups <= len(nest):
            return 1, (*nest[: len(nest) - ups], *rest)
        return 1 + ups - len(nest), rest

    def _reference(self, level: int, names: Path, at: int) -> None:
        if level:
            self._keep((level, names[:-1], "import"), names[-1] if names else "", at)
        elif len(names) == 1 or names[:-1] == ("",):
            self._keep((0, names, "import"), "", at)
        else:
            self._keep((0, names[:-1], "import"), names[-1], at)

    def _keep(self, key: Key, name: str, at: int) -> None:
        if not self._hidden():
            self.places.setdefault(key, at)
            taken = self.found.setdefault(key, {})
            if name and len(taken) < MOST:
                taken[name] = None

    def _made(self) -> tuple[Reference, ...]:
        made, at, line = [], 0, 1
        for key, place in sorted(self.places.items(), key=lambda each: each[1]):
            line += self.text.count(b"\n", at, place)
            at = place
            level, path, kind = key
            if not level and kind == "import":
                level, path = self._meant(path)
            made.append(Reference("::".join(path), line, level, tuple(self.found[key]), kind))
        return tuple(made)

    def _meant(self, path: Path) -> tuple[int, Path]:
        """A path whose first name is a module of the file, or what another `use` brought in."""
        if path[:1] in self.declared:
            return 1, path
        level, before = self.called.get(path[0], (0, path[:1]))
        return (0, path) if before[:1] == path[:1] else (level, (*before, *path[1:]))


LONGEST = 1024
"""Characters of a path that is looked up."""

FOLLOWED_MAX = 4
"""How often a path is followed to what a source brings in."""

WHOLE_MOST = 8
"""Modules of which a source brings in all, and that are asked for a name."""


class Scope(Struct, frozen=True):
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
        if key not in self._onwards and deep < FOLLOWED_MAX:
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


class Place(Struct, frozen=True):
    """Where a file is in its crate. folder: of the crate's root; root: that file, None where several
    crates may have this one; modules: the names on the way to it; package: its folder."""

    folder: str
    root: str | None
    modules: tuple[str, ...]
    package: str | None


Start = tuple[Place, Names]
"""A crate, and names of modules from its root."""


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
