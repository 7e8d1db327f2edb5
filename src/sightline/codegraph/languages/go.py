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
from sightline.codegraph.language import (
    LONGEST,
    Affected,
    Reference,
    SettingsReader,
    below,
    joined,
    once,
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
    is_go = any(path.endswith((SOURCE, *SETTINGS)) for path in changed)
    return Affected(every=True) if is_go else None


class Go:
    """The Resolver of Go. read: the bytes of its settings files."""

    def __init__(self, paths: Iterable[str], read: SettingsReader) -> None:
        listed = list(paths)
        self._packages: dict[str, list[str]] = {}
        for path in listed:
            folder, _, name = path.rpartition("/")
            is_part = not name.startswith(("_", ".")) and not name.endswith("_test.go")
            if name.endswith(SOURCE) and is_part:
                self._packages.setdefault(folder, []).append(path)
        self._modules = Modules(listed, read)

    def targets(self, path: str, reference: Reference) -> tuple[str, ...]:
        """Return the files that a reference leads to; see Resolver.targets."""
        module = reference.module
        if not module or len(module) > LONGEST:
            return ()
        source_folder = path.rpartition("/")[0]
        folders: Iterable[str | None] = self._modules.folders(source_folder, module)
        if module.startswith(("./", "../")):
            folders = (joined(source_folder, module),)
        package = next((folder for folder in folders if folder in self._packages), None)
        if package is None:
            return ()
        ranked = self._ranked(package)
        if reference.names and len(ranked) > 1:  # first the files named like the imported names
            wanted = [name.lower() for name in reference.names]
            ranked = sorted(ranked, key=lambda file: -_fit(file, wanted))
        return tuple([file for _, _, file in ranked if file != path][:ANSWERED_MAX])

    @once
    def _ranked(self, folder: str) -> list[Ranked]:
        """Rank the files of a package without imported names: its namesake first, generated ones
        last."""
        package = folder.rpartition("/")[2].lower()
        ranked = []
        for file in self._packages[folder]:
            stem = file[file.rfind("/") + 1 : -len(SOURCE)].lower()
            plain = "".join(_WORD.findall(stem))
            fit = -1.0 if stem.startswith(_MADE_OF) else 0.5 * (plain == package)
            ranked.append((fit, plain if fit >= 0 else "", file))
        return sorted(ranked, key=lambda rank: (-rank[0], rank[2]))


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

    def __init__(self, paths: Iterable[str], read: SettingsReader) -> None:
        self._read = read
        self._files: set[str] = set()
        self._vendors: set[str] = set()
        for path in paths:
            if path.rpartition("/")[2] in (MANIFEST, WORK):
                self._files.add(path)
            elif "/vendor/" in f"/{path}":
                self._vendors.add(path[: max(f"/{path}".index("/vendor/") - 1, 0)])

    def folders(self, folder: str, module: str) -> Iterator[str]:
        """Return the folders that an import in a folder may mean, in the order of Go's search.

        Own modules come first, then vendored ones, then replacements.
        """
        home = self._home(folder)
        if home is None:  # the rules before modules: vendor folders, and below `src`
            for above in upwards(folder):
                if above in self._vendors:
                    yield below(above, f"vendor/{module}")
                if above.rpartition("/")[2] == "src":
                    yield below(above, module)
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
        """Yield the folders that a path means in these modules; none that is another module's."""
        for name, place in places:
            if module == name or module.startswith(f"{name}/"):
                folder = joined(place, module[len(name) :])
                if folder is not None and self._home(folder) in (place, None):
                    yield folder

    @once
    def _home(self, folder: str) -> str | None:
        """Return the folder of the module that a folder belongs to."""
        homes = (above for above in upwards(folder) if below(above, MANIFEST) in self._files)
        return next(homes, None)

    @once
    def _modules_around(self, home: str) -> tuple[Places, Places]:
        """Return the modules that are built together with a module: those of its workspace, else the
        module alone; and the replacements of modules in them."""
        works = [below(above, WORK) for above in upwards(home)]
        work = next((self._module(path) for path in works if path in self._files), Module())
        if home not in work.uses:
            work = Module(uses=(home,))
        modules = [(self._module(below(folder, MANIFEST)), folder) for folder in work.uses]
        named = [(module.name, folder) for module, folder in modules if module.name]
        replaced = [pair for module, _ in modules for pair in module.replaced]
        return _longest_first(named), _longest_first([*replaced, *work.replaced])

    @once
    def _module(self, path: str) -> Module:
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
    """Yield the directives of a settings file, one item of a block each."""
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
    return tuple(sorted(dict(places).items(), key=lambda place: -len(place[0])))
