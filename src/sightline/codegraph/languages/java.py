"""Imports of Java sources and the types they name without one, and the files that declare these.

A capital begins a type, a constant or a type parameter. Whether a name is a type of the tree, the
resolver decides by the list of files: a type's file is called like its outermost type and lies in
folders called like its package.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import tree_sitter_java

from sightline.codegraph.grammars import Grammar
from sightline.codegraph.language import (
    LONGEST,
    Affected,
    Reference,
    SettingsReader,
    distance,
    first,
)

DEMANDED_MOST = 64
"""Packages in which a simple name is looked up."""

_IMPLICIT = "java.lang"
"""The package that every source imports."""

GRAMMAR = Grammar(
    tree_sitter_java.language(),
    """
    (package_declaration (_) @package .)
    (import_declaration) @import
    (_ ["class" "interface" "enum" "record" "@interface"] name: (identifier) @declared)
    [(identifier) (type_identifier)] @name
    """,
    steps_per_kb=12,  # it takes gigabytes for 64 KB of "A<"; ordinary sources take 3 to 7
)
_IMPORT = re.compile(
    r"import\s+(?P<how>static\s|module\s)?\s*(?P<name>[\w$]+(?:\s*\.\s*[\w$]+)*)(?P<all>\s*\.\s*\*)?"
)
_NOTE = re.compile(rb"//[^\n]*|/\*.*?\*/", re.DOTALL)
_SPACE = re.compile(r"\s+")


def references(source: bytes, _path: str = "") -> Iterator[Reference]:
    """Read the types that a source refers to: its imports, then full and simple names.

    `names` of an import are what the source takes from a type or a package; of a simple name, the
    packages it may belong to, the source's own first.
    """
    syntax = GRAMMAR.parse(source.removeprefix(b"\xef\xbb\xbf"))
    package, imports = "", list[Reference]()
    named: dict[str, int] = {}
    known: set[str] = set()
    chain, end = "", 0
    for match in syntax.matches:
        [(kind, [node])] = match.items()
        line = node.start_point.row + 1
        if kind == "declared":
            known.add(syntax.text(node))
        elif kind != "name":
            cleared = _NOTE.sub(b" ", syntax.source[node.start_byte : node.end_byte])
            text, end = cleared.decode("utf-8", "replace"), node.end_byte
            if kind == "package":
                package = _SPACE.sub("", text)
            else:
                imports += _imported(text, line)
        elif node.start_byte >= end:
            gap = _NOTE.sub(b"", syntax.source[end : node.start_byte]).strip()
            text, end = syntax.text(node), node.end_byte
            if gap.endswith(b".") and not gap.endswith(b"..."):
                chain = f"{chain}.{text}" if chain and gap == b"." else ""
            else:
                chain = text
            if chain and not text[0].islower() and text[0] != "_":
                named.setdefault(chain, line)
                chain = ""
    for each in imports:
        known.add(each.names[0] if each.names else each.module.rpartition(".")[2])
    demanded = [each.module for each in imports if each.names == ("*",)][:DEMANDED_MOST]
    packages = tuple(dict.fromkeys((package, *demanded, _IMPLICIT)))
    yield from imports
    for name, line in named.items():
        if name not in known:
            yield Reference(name, line, names=() if "." in name else packages, kind="type")


def _imported(text: str, line: int) -> Iterator[Reference]:
    """Read an import declaration without comments; one of a module names no type."""
    found = _IMPORT.match(text)
    if found is None or (found["how"] or "").startswith("module"):
        return
    name = _SPACE.sub("", found["name"])
    owner, _, last = name.rpartition(".")
    if found["all"]:
        yield Reference(name, line, names=("*",))
    elif found["how"] and owner:
        yield Reference(owner, line, names=(last,))
    else:
        yield Reference(name, line)


SOURCE = ".java"

NESTED_MOST = 32
"""Names that one may have between its dots."""

SURE = 3
"""A package of so many names is the package of every folder that ends so."""

_ROOT_NAMES = "src source sources main test tests java javatests classes gen generated"
_ROOTS = frozenset(_ROOT_NAMES.split())
_DOMAIN_NAMES = "com org net edu gov io dev de uk fr ch jp cn me app"
_DOMAINS = frozenset(_DOMAIN_NAMES.split())
"""What packages begin with. Such a folder begins one unless it is of the roots."""


def affected(changed: Iterable[str]) -> Affected | None:
    """Return the names that may mean other files when these came or went."""
    names = (path[path.rfind("/") + 1 :] for path in changed if path.endswith(SOURCE))
    words = frozenset(name[: -len(SOURCE)] for name in names)
    return Affected(words=words) if words else None


class Java:
    """The Resolver of Java."""

    def __init__(self, paths: Iterable[str], _read: SettingsReader) -> None:
        self._files: dict[str, list[str]] = {}
        """By the last folder and the name: the paths that end so."""
        self._all = frozenset(path for path in paths if path.endswith(SOURCE))
        for path in self._all:
            folder = path.rfind("/", 0, max(path.rfind("/"), 0))
            self._files.setdefault(path[folder + 1 :], []).append(path)

    def targets(self, path: str, reference: Reference) -> tuple[str, ...]:
        """Return the file of a type, the nearest of several; see Resolver.targets."""
        name = reference.module
        if not name or len(name) > LONGEST or name.count(".") > NESTED_MOST:
            return ()
        if reference.kind == "type" and "." not in name:
            types = [(package, name) for package in reference.names if package]
            beside = path[: path.rfind("/") + 1] + name + SOURCE
        else:  # a type by its package; of a nested one, the outermost
            parts = name.split(".")
            counts = range(len(parts) - 1, -1, -1)
            types = [(".".join(parts[:count]), parts[count]) for count in counts]
            beside = ""
        target: str | None = beside
        if beside not in self._all:
            target = first(self._in(path, package, last) for package, last in types)
        return () if target is None or target == path else (target,)

    def _in(self, path: str, package: str, name: str) -> str | None:
        """Return the file of a package's type that is nearest to another file."""
        ending = f"{package.replace('.', '/')}/{name}{SOURCE}" if package else name + SOURCE
        last = ending[ending.rfind("/", 0, max(ending.rfind("/"), 0)) + 1 :]
        files = [
            file
            for file in self._files.get(last, ())
            if file == ending or (file.endswith(f"/{ending}") and _begins(file, ending))
        ]
        return min(files, key=lambda file: distance(path, file), default=None)


def _begins(path: str, ending: str) -> bool:
    """Return true where the ending of a path may be its whole package."""
    folders = path[: -len(ending) - 1].split("/")
    if ending.count("/") >= SURE:
        return True
    for folder in reversed(folders):
        if folder in _ROOTS:
            return True
        if folder in _DOMAINS:
            return False
    return True
