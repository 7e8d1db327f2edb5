"""What a Java source refers to: its imports, and the types that it names without one.

Outside of comments, strings and characters a capital begins a type, a constant or a type parameter.
So one expression that steps over those finds what a grammar finds; whether a name is a type of the
tree, the resolver says, who knows its files.

Which files the types that a Java source names are declared in.

A type's file is called as its outermost type and lies in folders called as its package, so the list
of paths tells both; where the packages begin, it mostly tells, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from sightline.codegraph.reference import Affected, Kind, Reader, Reference, distance

Placed = tuple[int, str, tuple[str, ...]]
"""Where an import's name stands, the type or package it is of, and what is taken from that."""

LIMIT = 8_000_000
"""Bytes of a source that are looked at."""

MOST = 20_000
"""References of one source; none that people wrote has as many."""

DEMANDED_MOST = 64
"""Packages that a simple name is looked for in."""

_IMPLICIT = "java.lang"
"""The package that every source imports."""

_NOTE = r"//[^\n]*+|/\*(?:[^*]++|\*(?!/))*+(?:\*/)?+"
_GAP = rf"(?:\s++|{_NOTE})*+"
_STRING = (
    r'''"""(?:[^"\\]++|\\.|"(?!""))*+(?:""")?+|"(?:[^"\\\n]++|\\.)*+"?+|'(?:[^'\\\n]++|\\.)*+'?+'''
)
_NAME = r"[^\W\d][\w$]*+"
_LARGE = r"[^\W\da-z_][\w$]*+"
_TOKENS = re.compile(
    rf"""
    (?: [^\w$"'/.@]++ | {_NOTE} | {_STRING} | [/@]
      | \.\.\. | \. {_GAP} (?: (?!(?:class|interface|enum|record)\b) [\w$]++ )?+
      | (?! (?:class|interface|enum|record|package|import)\b )
        (?! {_LARGE} | (?:[a-z_][\w$]*+\.)++ {_LARGE} ) [\w$]++
    )*+
    (?: (?:class|interface|enum|record) \b (?: \s++ (?P<declared> {_NAME} ) )?+
      | package \b {_GAP} (?P<package> {_NAME} (?: {_GAP} \. {_GAP} {_NAME} )*+ )?+
      | import \b {_GAP} (?: (?P<how> static | module ) \b (?= {_GAP} [^\W\d] ) {_GAP} )?+
        (?P<import> {_NAME} (?: {_GAP} \. {_GAP} (?: {_NAME} | \* ) )*+ )?+
      | (?P<full> (?: [a-z_][\w$]*+ \. )++ {_LARGE} )
      | (?P<name> {_LARGE} )
      | \Z
    )
    """,
    re.VERBOSE | re.DOTALL,
)
_EXTRA = re.compile(rf"{_NOTE}|\s+", re.DOTALL)


def references(source: bytes) -> tuple[Reference, ...]:
    """The types that a source refers to, in its order: imports, types named in full, and simple
    names. `names` of an import are what is taken from a type or a package; of a simple name, the
    packages it may be of, the source's own first."""
    text = source[:LIMIT].decode("utf-8", "replace").removeprefix("\ufeff")
    found = _Found()
    for token in islice(_TOKENS.finditer(text), 50 * MOST):
        found.take(token)
    return tuple(islice(_placed(text, found), MOST))


class _Found:
    """What was met in a source so far."""

    def __init__(self) -> None:
        self.package = ""
        self.imports: list[Placed] = []
        self.names: dict[str, int] = {}
        """A type, by its simple or its full name, and where it is named first."""
        self.known: set[str] = set()
        """Simple names that an import or the source itself gives a meaning."""

    def take(self, token: re.Match[str]) -> None:
        """One step further."""
        kind = token.lastgroup
        if kind in ("name", "full"):
            self.names.setdefault(token[kind], token.start(kind))
        elif kind == "declared":
            self.known.add(token["declared"])
        elif kind == "package":
            self.package = _EXTRA.sub("", token["package"])
        elif kind == "import" and token["how"] != "module":
            self._import(token.start("import"), _EXTRA.sub("", token["import"]), token["how"])

    def _import(self, at: int, name: str, how: str | None) -> None:
        owner, _, last = name.rpartition(".")
        if how or last == "*":
            self.imports.append((at, owner, (last,)))
        else:
            self.imports.append((at, name, ()))
        self.known.add(last)


def _placed(text: str, found: _Found) -> Iterator[Reference]:
    """The references with their lines, counted on from one to the next."""
    demanded = [module for _, module, names in found.imports if names == ("*",)]
    packages = tuple(dict.fromkeys((found.package, *demanded[:DEMANDED_MOST], _IMPLICIT)))
    used = [(at, name) for name, at in found.names.items() if name not in found.known]
    everything = [(at, module, names) for at, module, names in found.imports if module]
    everything += [(at, name, () if "." in name else packages) for at, name in used]
    imported = {at for at, _, _ in found.imports}
    counted, line = 0, 1
    for at, module, names in sorted(everything):
        line += text.count("\n", counted, at)
        counted = at
        kind: Kind = "import" if at in imported else "type"
        yield Reference(module, line, names=names, kind=kind)


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
