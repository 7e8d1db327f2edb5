"""Imports of Go sources, and the files of the packages they mean by the rules of modules.

An import names a package, and a package is a folder. Its files come in the order in which the names
that the source takes seem to be in them; tests are no part of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import tree_sitter_go
from msgspec import Struct

from sightline.codegraph.grammars import Grammar
from sightline.codegraph.reference import (
    LONGEST,
    Affected,
    Reader,
    Reference,
    below,
    joined,
    upwards,
)

Ranked = tuple[float, str, str]
"""How well a file fits the names that a source takes, its name without signs, and its path."""

Places = tuple[tuple[str, str], ...]
"""Names of modules and their folders ("" is the root), the longest name first."""

NAMES_MOST = 64
"""Names that a reference keeps of those a source takes from one package."""

GRAMMAR = Grammar(
    tree_sitter_go.language(),
    """
    (import_spec name: (_)? @name path: (_) @path)
    (selector_expression operand: (identifier) @package field: (field_identifier) @taken)
    (qualified_type package: (package_identifier) @package name: (type_identifier) @taken)
    """,
)
_VERSION = re.compile(r"v[0-9]+")
_PINNED = re.compile(r"\.v[0-9]+$")


def references(source: bytes, _path: str = "") -> Iterator[Reference]:
    """Read the imports of a source, each with the names that the source takes from the package."""
    syntax = GRAMMAR.parse(source.removeprefix(b"\xef\xbb\xbf"))
    imports: dict[int, tuple[str, int, str]] = {}
    taken: dict[str, dict[str, None]] = {}
    for match in syntax.matches:
        if "path" in match:
            [node] = match["path"]
            module = syntax.text(node)[1:-1]
            name = syntax.text(match["name"][0]) if "name" in match else _package_name(module)
            imports[node.start_byte] = module, node.start_point.row + 1, name
        else:
            name = syntax.text(match["taken"][0])
            names = taken.setdefault(syntax.text(match["package"][0]), {})
            if name[0].isupper() and len(names) < NAMES_MOST:
                names[name] = None
    for module, line, name in imports.values():
        names = taken.get(name, {}) if "." in module else {}
        yield Reference(module, line, names=tuple(names), kind="package")


def _package_name(module: str) -> str:
    """Return the default name of a package in a source."""
    *above, last = module.split("/")
    if above and _VERSION.fullmatch(last):
        last = above[-1]
    return _PINNED.sub("", last)


SOURCE = ".go"
SETTINGS = ("go.mod", "go.work", "modules.txt")

ANSWERED_MAX = 12
"""Files of one package that are answered: those that fit best."""

_SHORTEST = 3
_MADE_OF = ("zz_generated", "doc")
"""Beginnings of files in which nobody looks for what they use."""

_WORD = re.compile(r"[a-z0-9]+")


def affected(changed: Iterable[str]) -> Affected | None:
    """Return the imports that may lead elsewhere: all, when sources or settings came or went."""
    mine = any(path.endswith(SOURCE) or path.endswith(SETTINGS) for path in changed)
    return Affected(every=True, words=frozenset(), folders=()) if mine else None


class Go:
    """The Resolver of Go. read: the bytes of its settings files."""

    def __init__(self, paths: Iterable[str], read: Reader | None = None) -> None:
        listed = list(paths)
        self._packages: dict[str, list[str]] = {}
        for path in listed:
            if path.endswith(SOURCE) and _counts(path):
                self._packages.setdefault(path.rpartition("/")[0], []).append(path)
        self._ranked: dict[str, list[Ranked]] = {}
        self._modules = Modules(listed, read or (lambda _path: None))

    def targets(self, path: str, reference: Reference) -> tuple[str, ...]:
        """Return the files that a reference leads to; see Resolver.targets."""
        module = reference.module
        if not module or len(module) > LONGEST:
            return ()
        for folder in self._folders(path.rpartition("/")[0], module):
            if folder in self._packages:
                files = self._ordered(folder, reference.names)
                return tuple([file for file in files if file != path][:ANSWERED_MAX])
        return ()

    def _ordered(self, folder: str, names: tuple[str, ...]) -> list[str]:
        """Return the files of a package, first those named like the imported names."""
        if folder not in self._ranked:
            self._ranked[folder] = _ranked(folder, self._packages[folder])
        ranked = self._ranked[folder]
        if names and len(ranked) > 1:
            wanted = [name.lower() for name in names]
            ranked = sorted(ranked, key=lambda each: -_fit(each, wanted))
        return [file for _, _, file in ranked]

    def _folders(self, folder: str, module: str) -> Iterable[str]:
        if module.startswith(("./", "../")):
            place = joined(folder, module)
            return () if place is None else (place,)
        return self._modules.folders(folder, module)


def _counts(path: str) -> bool:
    """Return true for a file that is a part of its package for Go."""
    name = path[path.rfind("/") + 1 :]
    return not name.startswith(("_", ".")) and not name.endswith("_test.go")


def _ranked(folder: str, files: list[str]) -> list[Ranked]:
    """Rank the files of a package without imported names: its namesake first, generated ones last."""
    package = folder.rpartition("/")[2].lower()
    ranked = []
    for file in files:
        stem = file[file.rfind("/") + 1 : -len(SOURCE)].lower()
        plain = "".join(_WORD.findall(stem))
        fit = -1.0 if stem.startswith(_MADE_OF) else 0.5 * (plain == package)
        ranked.append((fit, plain if fit >= 0 else "", file))
    return sorted(ranked, key=lambda each: (-each[0], each[2]))


def _fit(ranked: Ranked, wanted: list[str]) -> float:
    """Rate how well a file's name fits the names imported from its package."""
    fit, plain, _ = ranked
    if len(plain) < _SHORTEST:
        return fit
    return fit + sum(2 * len(plain) / len(name) for name in wanted if plain in name)


MANIFEST = "go.mod"
WORK = "go.work"
STANDARD = "src/go.mod"
"""Where Go's own tree has the module `std`, whose packages are named by their folders alone."""

_WORDS = re.compile(r'"[^"]*"|`[^`]*`|//.*|[^\s"`]+')


class Module(Struct, frozen=True):
    """The contents of a go.mod or a go.work.

    uses: folders of a workspace's modules; replaced: modules that a folder of the tree replaces.
    """

    name: str = ""
    uses: tuple[str, ...] = ()
    replaced: Places = ()


class Modules:
    """The modules of a tree."""

    def __init__(self, paths: Iterable[str], read: Reader) -> None:
        self._read = read
        self._files: set[str] = set()
        self._vendors: set[str] = set()
        for path in paths:
            if path.rpartition("/")[2] in (MANIFEST, WORK):
                self._files.add(path)
            elif "/vendor/" in f"/{path}":
                self._vendors.add(path[: max(f"/{path}".index("/vendor/") - 1, 0)])
        self._known: dict[str, Module] = {}
        self._homes: dict[str, str | None] = {}
        self._visible: dict[str, tuple[Places, Places]] = {}

    def folders(self, folder: str, module: str) -> Iterator[str]:
        """Return the folders that an import in a folder may mean, in the order in which Go looks.

        Own modules come first, then vendored ones, then replacements.
        """
        home = self._home(folder)
        if home is None:
            yield from self._unmanaged(folder, module)
            return
        own, replaced = self._modules_around(home)
        yield from self._within(own, module)
        for above in upwards(home):
            if above in self._vendors:
                yield below(above, f"vendor/{module}")
        yield from self._within(replaced, module)
        if STANDARD in self._files and self._module(STANDARD).name == "std":
            yield below("src", module)
            yield below("src/vendor", module)

    def _within(self, places: Places, module: str) -> Iterator[str]:
        """The folders that a path means in these modules; none that is another module's."""
        for name, place in places:
            if module == name or module.startswith(f"{name}/"):
                folder = joined(place, module[len(name) :])
                if folder is not None and self._home(folder) in (place, None):
                    yield folder

    def _unmanaged(self, folder: str, module: str) -> Iterator[str]:
        """Return folders by the rules before modules: vendor folders, and below `src`."""
        for above in upwards(folder):
            if above in self._vendors:
                yield below(above, f"vendor/{module}")
            if above.rpartition("/")[2] == "src":
                yield below(above, module)

    def _home(self, folder: str) -> str | None:
        """The folder of the module that a folder belongs to."""
        if folder not in self._homes:
            found = (above for above in upwards(folder) if below(above, MANIFEST) in self._files)
            self._homes[folder] = next(found, None)
        return self._homes[folder]

    def _modules_around(self, home: str) -> tuple[Places, Places]:
        """The modules that one builds together with a module: its workspace's, else itself; and
        what replaces others in them."""
        if home not in self._visible:
            homes, replaced = self._workspace(home)
            own = [(self._module(below(each, MANIFEST)), each) for each in homes]
            named = [(module.name, each) for module, each in own if module.name]
            instead = [*(pair for module, _ in own for pair in module.replaced), *replaced]
            self._visible[home] = _longest_first(named), _longest_first(instead)
        return self._visible[home]

    def _workspace(self, home: str) -> tuple[tuple[str, ...], Places]:
        for above in upwards(home):
            if below(above, WORK) in self._files:
                work = self._module(below(above, WORK))
                return (work.uses, work.replaced) if home in work.uses else ((home,), ())
        return (home,), ()

    def _module(self, path: str) -> Module:
        if path not in self._known:
            self._known[path] = self._parsed(path)
        return self._known[path]

    def _parsed(self, path: str) -> Module:
        source = self._read(path) if path in self._files else None
        folder = path.rpartition("/")[0]
        name, uses, replaced = "", [], []
        for verb, *words in _lines((source or b"").decode("utf-8-sig", "replace")):
            if verb == "module" and words:
                name = words[0]
            elif verb == "use" and words:
                uses.append(joined(folder, words[0]))
            elif verb == "replace" and "=>" in words[1:-1] and words[-1].startswith("."):
                replaced.append((words[0], joined(folder, words[-1])))
        local = tuple([(old, place) for old, place in replaced if place is not None])
        return Module(name, tuple([place for place in uses if place is not None]), local)


def _lines(text: str) -> Iterator[list[str]]:
    """The directives of a settings file, one item of a block each."""
    block = ""
    for line in text.split("\n"):
        words = [word.strip('"`') for word in _WORDS.findall(line) if not word.startswith("//")]
        if not words:
            continue
        if words == [")"]:
            block = ""
        elif words[1:] == ["("]:
            block = words[0]
        else:
            yield [block, *words] if block else words


def _longest_first(places: Iterable[tuple[str, str]]) -> Places:
    return tuple(sorted(dict(places).items(), key=lambda each: -len(each[0])))
