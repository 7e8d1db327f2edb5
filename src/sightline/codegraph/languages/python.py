"""Imports of Python sources, and the files they mean by the rules of Python's import system.

A target of an import is each file that the import runs: the module, the submodules among the names
taken from it, and the `__init__` of every package on the way.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Iterable, Iterator
from itertools import takewhile
from unicodedata import normalize

import tree_sitter_python

from sightline.codegraph.grammars import Grammar
from sightline.codegraph.language import (
    Affected,
    Reference,
    SettingsReader,
    first_in,
    once,
    shared,
)

Places = tuple[str, ...]
"""Folders ("" or ending in "/") in which a name is looked for."""

Endings = tuple[str, str]

Step = tuple[str | None, Places]
"""The file of a module, where it has one, and the places of its submodules."""

GRAMMAR = Grammar(
    tree_sitter_python.language(),
    """
    [(import_statement) (import_from_statement) (future_import_statement)] @statement
    (call
      function: [(identifier) @function (attribute attribute: (identifier) @function)]
      arguments: (argument_list . (string (string_start) . (string_content) @module . (string_end))))
    """,
)
_FUNCTIONS = ("import_module", "__import__")
_DOTTED = re.compile(r"\.*(?:\w+\.)*\w+")
_ENCODING = re.compile(
    rb"\A(?:[ \t\f]*(?:#[^\r\n]*)?\r?\n)?[ \t\f]*#[^\r\n]*?coding[:=][ \t]*([-\w.]+)"
)
_UNFIT = re.compile("punycode|idna|undefined|escape")
"""Encodings that Python knows and no source is in; the first takes quadratic time."""


def references(source: bytes, _path: str = "") -> Iterator[Reference]:
    """Read all imports of a source, in the order of their lines."""
    syntax = GRAMMAR.parse(_utf8(source))
    for match in syntax.matches:
        if "statement" not in match:
            name = syntax.text(match["module"][0])
            if syntax.text(match["function"][0]) in _FUNCTIONS and _DOTTED.fullmatch(name):
                module = name.lstrip(".")
                line = match["function"][0].start_point.row + 1
                yield Reference(module, line, len(name) - len(module), kind="dynamic")
            continue
        [statement] = match["statement"]
        line = statement.start_point.row + 1
        nodes = statement.children_by_field_name("name")
        names = [_name(syntax.text(node.child_by_field_name("name") or node)) for node in nodes]
        if statement.type == "import_statement":
            for name in names:
                yield Reference(name, line)
            continue
        if any(child.type == "wildcard_import" for child in statement.children):
            names = ["*"]
        module_name = statement.child_by_field_name("module_name")
        written = _name(syntax.text(module_name)) if module_name else "__future__"
        module = written.lstrip(".")
        yield Reference(module, line, len(written) - len(module), tuple(names), "from")


def _utf8(source: bytes) -> bytes:
    """Return a source in UTF-8 and with ends of lines that count, whatever encoding it declares."""
    declared = _ENCODING.match(source)
    encoding = declared[1].decode().replace("_", "-").lower() if declared else "utf-8"
    if encoding in ("utf-8", "utf8"):
        encoding = "utf-8-sig"
    try:
        text = source.decode("latin-1" if _UNFIT.search(encoding) else encoding)
    except (LookupError, UnicodeError):
        text = source.decode("latin-1")
    return text.replace("\r\n", "\n").replace("\r", "\n").encode("utf-8", "replace")


def _name(text: str) -> str:
    """Return a dotted name as Python compares it, without spaces and line ends."""
    return normalize("NFKC", re.sub(r"[\s\\]+", "", text))


SOURCES: Endings = (".py", ".pyi")
STUBS: Endings = (".pyi", ".py")
"""The endings of a module in the order in which a source asks for them, and a stub."""

PROJECTS = ("pyproject.toml", "setup.py", "setup.cfg")
BELOW_PROJECT = ("src/", "lib/", "python/", "")
"""Where a project keeps what is imported from it, in the order in which they are asked."""


def affected(changed: Iterable[str]) -> Affected | None:
    """Return which imports may lead elsewhere when these files came or went."""
    words, folders, every = set(), set(), False
    for path in changed:
        folder, name = path[: path.rfind("/") + 1], path[path.rfind("/") + 1 :]
        every = every or name in PROJECTS
        if name.endswith(SOURCES):
            stem = name.partition(".")[0]
            if stem == "__init__":
                folders.add(folder)
                stem = folder[:-1].rpartition("/")[2]
            words.add(stem)
    if not every and not words:
        return None
    return Affected(every, frozenset(words), tuple(sorted(folders)))


class Python:
    """The Resolver of Python. standard: names of the standard library, which a file of the tree
    stands for only in the folder that the importing program starts from; builtin: names that no
    file can stand for."""

    def __init__(
        self,
        paths: Iterable[str],
        _read: SettingsReader,
        *,
        standard: Collection[str] = sys.stdlib_module_names,
        builtin: Collection[str] = sys.builtin_module_names,
    ) -> None:
        listed = list(paths)
        self._files = {path for path in listed if path.endswith(SOURCES)}
        self._folders = _above(self._files)
        self._standard = standard
        self._builtin = builtin
        self._projects = _projects(listed, self._files)

    def targets(self, path: str, reference: Reference) -> tuple[str, ...]:
        """Return the files that a reference leads to; see Resolver.targets."""
        endings = STUBS if path.endswith(".pyi") else SOURCES
        folder = path[: path.rfind("/") + 1]
        parts = reference.module.split(".") if reference.module else []
        if reference.level:
            packages, places = self._relative(folder, reference.level, endings)
        else:
            packages, places = [], self._places(folder, parts[0] if parts else "")
        for part in parts:
            file, places = self._step(places, part, endings)
            if file is not None:
                packages.append(file)
            if not places:
                break
        names = [name for name in reference.names if places and name != "*"]
        submodules = [self._step(places, name, endings)[0] for name in names]
        targets: dict[str, None] = {}
        for file in filter(None, [*submodules, *reversed(packages)]):
            targets[file] = None  # and beside it the stub or the module of the same name
            twin = file[: -len(endings[0])] + endings[1] if file.endswith(endings[0]) else ""
            if twin in self._files:
                targets[twin] = None
        targets.pop(path, None)
        return tuple(targets)

    def _relative(self, folder: str, level: int, endings: Endings) -> tuple[list[str], Places]:
        """Return the packages that a relative import starts from, the outermost first; no place where
        the dots lead out of the tree."""
        for _ in range(min(level - 1, folder.count("/") + 1)):
            if not folder:
                return [], ()
            folder = _parent(folder)
        packages = list(takewhile(bool, (self._init(above, endings) for above in _upwards(folder))))
        return [package for package in reversed(packages) if package], (folder,)

    @once
    def _step(self, places: Places, name: str, endings: Endings) -> Step:
        """Follow one name. A package goes before a module; folders without an `__init__` are one
        namespace, where nothing else has the name."""
        portions = []
        for place in places:
            full = place + name
            file = self._init(full + "/", endings)
            if file is not None:
                return file, (full + "/",)
            file = self._module(full, endings)
            if file is not None:
                return file, ()
            if full + "/" in self._folders:
                portions.append(full + "/")
        return None, tuple(portions)

    def _init(self, folder: str, endings: Endings) -> str | None:
        return self._module(folder + "__init__", endings)

    def _module(self, full: str, endings: Endings) -> str | None:
        return first_in(self._files, (full + ending for ending in endings))

    def _places(self, folder: str, top: str) -> Places:
        """Return the search path of an absolute import.

        A name of the standard library is looked up in the starting folder alone, others in the roots
        of all projects, the nearest first.
        """
        if top in self._builtin:
            return ()
        start = self._start(folder)
        if top in self._standard:
            return (start,)
        return self._roots(folder)

    @once
    def _roots(self, folder: str) -> Places:
        near = sorted(self._projects, key=lambda root: -shared(root, folder))
        return tuple(dict.fromkeys((self._start(folder), *near)))

    @once
    def _start(self, folder: str) -> str:
        """Return the folder that a file's outermost package is in; its own where it is in none."""
        return next((above for above in _upwards(folder) if not self._init(above, SOURCES)), "")


def _above(files: Iterable[str]) -> set[str]:
    """Return every folder that a file is in or below."""
    folders: set[str] = set()
    for file in files:
        at = file.rfind("/")
        while at >= 0 and (folder := file[: at + 1]) not in folders:
            folders.add(folder)
            at = file.rfind("/", 0, at)
    return folders


def _projects(listed: Iterable[str], files: Collection[str]) -> Places:
    """Return the roots of the projects in a tree; the tree itself is one."""
    folders = {"": None}
    for path in listed:
        if path.endswith(PROJECTS):
            folder, name = path[: path.rfind("/") + 1], path[path.rfind("/") + 1 :]
            if name in PROJECTS and f"{folder}__init__.py" not in files:
                folders[folder] = None
    known = _above(files) | {""}
    return tuple(
        folder + below for folder in folders for below in BELOW_PROJECT if folder + below in known
    )


def _upwards(folder: str) -> Iterable[str]:
    """Yield a folder and those above it, the tree's own last."""
    while folder:
        yield folder
        folder = _parent(folder)
    yield ""


def _parent(folder: str) -> str:
    return folder[: folder.rfind("/", 0, -1) + 1]
