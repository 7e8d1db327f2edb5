"""Imports of JavaScript and TypeScript sources, and the files they mean by the rules of their tools.

The order of resolution is TypeScript's: a name's own ending, the endings it may have left out, the
folder of the name. A bare name is looked up by the settings of the compiler (tsconfig.json and
jsconfig.json with all that they extend: `baseUrl` and `paths`), then among the packages of the tree.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from operator import itemgetter
from typing import Any, cast

import tree_sitter_javascript
import tree_sitter_typescript
from msgspec import Struct

from sightline.codegraph.grammars import Grammar
from sightline.codegraph.language import (
    LONGEST,
    Affected,
    Kind,
    Reference,
    SettingsReader,
    below,
    distance,
    entry,
    first,
    first_in,
    joined,
    once,
    upwards,
)

_COMPONENTS = (".vue", ".svelte")

_QUERY = """
(import_statement source: (string) @import)
(export_statement source: (string) @export)
(call_expression function: (import) arguments: (arguments) @dynamic)
(call_expression function: (identifier) @function arguments: (arguments) @require)
"""
_TYPESCRIPT_QUERY = """
(import_statement "type" source: (string) @type)
(export_statement "type" source: (string) @type)
(import_require_clause source: (string) @require)
"""
_JAVASCRIPT = Grammar(tree_sitter_javascript.language(), _QUERY)
_TSX = Grammar(tree_sitter_typescript.language_tsx(), _QUERY + _TYPESCRIPT_QUERY)
_TYPESCRIPT = Grammar(tree_sitter_typescript.language_typescript(), _QUERY + _TYPESCRIPT_QUERY)
GRAMMARS = {
    **dict.fromkeys((".ts", ".mts", ".cts", *_COMPONENTS), _TYPESCRIPT),
    ".tsx": _TSX,
}
"""Endings of sources and their grammars; JavaScript's for all others."""

_LITERALS = {"string": re.compile(r"[^\\\n]+"), "template_string": re.compile(r"[^\\\n$]+")}


def references(source: bytes, path: str) -> Iterator[Reference]:
    """Read the imports of a source; the ending of its path says what it is. `line` is where the
    module's name stands."""
    if source.startswith((b"\xff\xfe", b"\xfe\xff")):
        source = source.decode("utf-16", "replace").encode()
    source = source.removeprefix(b"\xef\xbb\xbf")
    suffix = path[path.rfind(".") :].lower()
    if suffix in _COMPONENTS:
        source = _scripts(source)
    syntax = GRAMMARS.get(suffix, _JAVASCRIPT).parse(source)
    found: dict[int, Reference] = {}
    for match in syntax.matches:
        function = match.pop("function", None)
        if function and syntax.text(function[0]) != "require":
            continue
        [(kind, [node])] = match.items()
        if node.type == "arguments":
            node = next((child for child in node.named_children if child.type != "comment"), node)
        module = syntax.text(node)[1:-1]
        is_new = kind == "type" or node.start_byte not in found
        literal = _LITERALS.get(node.type)
        if is_new and literal and literal.fullmatch(module):
            line = node.start_point.row + 1
            found[node.start_byte] = Reference(module, line, kind=cast("Kind", kind))
    yield from found.values()


def _scripts(text: bytes) -> bytes:
    """Return a component's scripts, and of all else only the ends of lines."""
    kept, at, lowered = [], 0, text.lower()
    while (tag := lowered.find(b"<script", at)) >= 0:
        start = lowered.find(b">", tag) + 1
        end = lowered.find(b"</script", start) if start else -1
        if end < 0:
            break
        kept += [b"\n" * text.count(b"\n", at, start), text[start:end], b";"]
        at = end
    return b"".join(kept)


Ends = tuple[str, ...]

_TYPED = (".ts", ".tsx", ".mts", ".cts", ".vue", ".svelte")
OF_TYPESCRIPT = (".ts", ".tsx", ".d.ts", ".js", ".jsx")
OF_JAVASCRIPT = (".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".json", ".d.ts")
"""Endings that may be left out, in the order in which they are tried."""

_RARE = (".mjs", ".mts", ".cjs", ".cts", ".json", ".vue", ".svelte", ".d.mts", ".d.cts")
"""Endings that some tools let one leave out: tried when nothing else is there."""

_WRITTEN = {
    ".js": (".ts", ".tsx", ".d.ts", ".js", ".jsx"),
    ".jsx": (".tsx", ".ts", ".d.ts", ".jsx", ".js"),
    ".mjs": (".mts", ".d.mts", ".mjs"),
    ".cjs": (".cts", ".d.cts", ".cjs"),
}
"""What the ending of a program may stand for in its source."""


def affected(changed: Iterable[str]) -> Affected | None:
    """Return which imports may lead elsewhere when these files came or went.

    Settings give files any name, so each file that is no Python may be an import's target.
    """
    is_other = any(not path.endswith((".py", ".pyi")) for path in changed)
    return Affected(every=True) if is_other else None


class JavaScript:
    """The Resolver of JavaScript and TypeScript. read: the bytes of its settings files."""

    def __init__(self, paths: Iterable[str], read: SettingsReader) -> None:
        self._files = frozenset(paths)
        self._documents = Documents(self._files, read)
        self._packages = Packages(self._documents)
        self._compilers = Compilers(self._documents, self._packages)

    def targets(self, path: str, reference: Reference) -> tuple[str, ...]:
        """Return the files that a reference leads to; see Resolver.targets."""
        name, folder = reference.module, path.rpartition("/")[0]
        if not name or len(name) > LONGEST:
            return ()
        ends = OF_TYPESCRIPT if path.endswith(_TYPED) else OF_JAVASCRIPT
        bare = name.rpartition("!")[2].partition("?")[0]  # without loaders and the query
        target = first(
            self._target(folder, spelling, ends) for spelling in dict.fromkeys((name, bare))
        )
        return () if target is None or target == path else (target,)

    def _target(self, folder: str, name: str, ends: Ends) -> str | None:
        if name.startswith(("./", "../")) or name in (".", ".."):
            return self._relative(folder, name, ends)
        options = self._compilers.options(folder)
        candidates = options.candidates(name)
        if candidates is None:
            candidates = [] if options.base is None else [joined(options.base, name)]
        target = first(self._load(path, ends) for path in candidates if path is not None)
        if target is None and name.startswith("#"):
            return self._internal(folder, name, ends)
        return self._packaged(folder, name, ends) if target is None else target

    def _relative(self, folder: str, name: str, ends: Ends) -> str | None:
        path = joined(folder, name)
        if path is None:
            return None
        if name.endswith(("/", "/.", "/..")) or name in (".", ".."):
            return self._folder(path, ends)
        return self._load(path, ends)

    def _internal(self, folder: str, name: str, ends: Ends) -> str | None:
        """Return the file of a #name of the package around a folder."""
        package, names = self._packages.internal(name, folder, typed=ends is OF_TYPESCRIPT)

        def target(own: str) -> str | None:
            if not own.startswith("."):
                return None if own.startswith("#") else self._packaged(folder, own, ends)
            path = joined(package, own)
            return None if path is None else self._exact(path, ends)

        return first(map(target, names))

    def _packaged(self, folder: str, name: str, ends: Ends) -> str | None:
        """Return the file of a bare name, in the packages of the tree."""
        package, rest = self._packages.of_name(name, folder)
        if package is None:
            return None
        entries = self._packages.entries(package, rest, typed=ends is OF_TYPESCRIPT)
        if entries is None:
            return self._load(below(package, rest), ends) if rest else self._folder(package, ends)
        return first(self._exact(export, ends) for export in entries)

    def _load(self, path: str, ends: Ends) -> str | None:
        """Return the file of a path, as a file, then as a folder."""
        target = self._exact(path, ends) or self._ended(path, ends) or self._folder(path, ends)
        return target or self._ended(path, ("", *_RARE))

    def _exact(self, path: str, ends: Ends) -> str | None:
        """Return the file of a path with its ending, or with the ending of its source."""
        dot = path.rfind(".", path.rfind("/") + 1)
        if dot < 0:
            return None
        sources = [path[:dot] + end for end in _WRITTEN.get(path[dot:], ())]
        order = [path, *sources] if ends is OF_JAVASCRIPT else [*sources, path]
        return first_in(self._files, order)

    def _ended(self, path: str, ends: Ends) -> str | None:
        return first_in(self._files, (path + end for end in ends))

    def _folder(self, path: str, ends: Ends) -> str | None:
        """Return the file that a folder stands for: by its manifest, or its index."""
        if below(path, MANIFEST) in self._files:
            for main in self._packages.mains(path, typed=ends is OF_TYPESCRIPT):
                target = self._exact(main, ends) or self._ended(main, ends)
                target = target or self._ended(below(main, "index"), ends)
                if target is not None:
                    return target
        return self._ended(below(path, "index"), (*ends, *_RARE))


MANIFEST = "package.json"

MANIFESTS_MOST = 1_000
"""Manifests that are read for the names of packages, those in the least deep folders."""

_CONDITIONS = ("import", "require", "node", "module-sync", "module", "browser", "default")
"""Conditions of export that hold everywhere; all others are asked after them."""

_DEEPEST = 16


class Packages:
    """The packages of a tree, by the names in their manifests."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    def of_name(self, name: str, folder: str) -> tuple[str | None, str]:
        """Return the folder of the package in a bare import name, and the path within the package.

        None for a package that is not in the tree.
        """
        cut = 2 if name.startswith("@") else 1
        parts = name.split("/", cut)
        package, rest = "/".join(parts[:cut]), "/".join(parts[cut:])
        return self._named(package, folder), rest

    def entries(self, folder: str, rest: str, *, typed: bool) -> list[str] | None:
        """Return the files that a package exports under a name ("": itself), the best first; None
        where the package has no exports, and a name is the path of a file."""
        exports = self._documents.mapping(below(folder, MANIFEST)).get("exports")
        if exports is None:
            return None
        whole = isinstance(exports, dict) and any(key.startswith(".") for key in exports)
        named = exports if whole else {".": exports}
        return _paths_in(folder, _chosen(named, f"./{rest}" if rest else ".", typed=typed))

    def internal(self, name: str, folder: str, *, typed: bool) -> tuple[str, list[str]]:
        """Return the package that a file of a folder belongs to, and the targets of a #name in its
        `imports`: paths in the package ("./a.js") and names of packages."""
        for above in upwards(folder):
            if below(above, MANIFEST) in self._documents.files:
                imports = entry(self._documents.mapping(below(above, MANIFEST)), "imports", dict)
                return above, _chosen(imports, name, typed=typed)
        return "", []

    def mains(self, folder: str, *, typed: bool) -> list[str]:
        """Return the files that a folder's manifest names as the folder itself, the best first."""
        manifest = self._documents.mapping(below(folder, MANIFEST))
        types = ["types", "typings"]
        fields = [*types, "module", "main"] if typed else ["module", "main", *types]
        names = [name for field in [*fields, "source"] for name in texts(manifest.get(field))]
        return list(filter(None, _paths_in(folder, names)))

    def _named(self, package: str, folder: str) -> str | None:
        """Return the folder of the package with a name that is nearest to a folder."""
        place = f"{folder}/" if folder else ""
        folders = self._folders.get(package, ())
        return min(folders, key=lambda each: distance(place, f"{each}/"), default=None)

    @cached_property
    def _folders(self) -> dict[str, list[str]]:
        """Names of packages -> their folders."""
        end = f"/{MANIFEST}"
        paths = [path for path in self._documents.files if f"/{path}".endswith(end)]
        folders: dict[str, list[str]] = {}
        for path in sorted(paths, key=lambda each: (each.count("/"), each))[:MANIFESTS_MOST]:
            name = self._documents.mapping(path).get("name")
            if isinstance(name, str):
                folders.setdefault(name, []).append(path.rpartition("/")[0])
        return folders


def _paths_in(folder: str, names: Iterable[str]) -> list[str]:
    """Return the paths that relative names mean from a folder, without those above the root."""
    return [path for path in (joined(folder, name) for name in names) if path is not None]


def _chosen(named: dict[str, Any], name: str, *, typed: bool) -> list[str]:
    """Look a name up in a map of exports or imports: itself, or the longest pattern."""
    hold = (*_CONDITIONS, "types") if typed else _CONDITIONS
    if name in named and "*" not in name:
        return list(_leaves(named[name], "", hold, 0))
    patterns = {f"{key}*" if key.endswith("/") else key: key for key in named}
    fitting = starred(patterns, name)
    if fitting is None:
        return []
    key, star = patterns[fitting[0]], fitting[1]
    rest = "" if "*" in key else star  # an older way to export a folder
    return [leaf + rest for leaf in _leaves(named[key], star, hold, 0)]


def _leaves(target: Any, star: str, hold: Ends, depth: int) -> Iterator[str]:
    """Yield the names in a target: of conditions that hold first, then of those that a tool may
    set."""
    if isinstance(target, str) and len(target) <= LONGEST:
        yield target.replace("*", star)
    elif isinstance(target, list) and depth < _DEEPEST:
        for choice in target:
            yield from _leaves(choice, star, hold, depth + 1)
    elif isinstance(target, dict) and depth < _DEEPEST:
        for key in sorted(target, key=lambda key: key not in hold):
            yield from _leaves(target[key], star, hold, depth + 1)


DEEPEST = 32
"""How many settings may extend one another."""

_NAMES = ("tsconfig.json", "jsconfig.json")
# (?!) never matches. Before Python 3.11.5, a possessive repeat goes on from where its last, failed try
# got to; (?!) as the last choice fails where the try began.
_NOTE = r"/\*(?:[^*]|\*(?!/)|(?!))*+"
_EXTRAS = re.compile(
    rf"""("(?:[^"\\]|\\.|(?!))*+"?)|//[^\n]*+|{_NOTE}(?:\*/)?|,(?=(?:\s|//[^\n]*+|{_NOTE}\*/|(?!))*+[\]}}])"""
)


def texts(value: Any) -> list[str]:
    """Return the strings of a value: one, or a list of them."""
    values = value if isinstance(value, list) else [value]
    return [text for text in values if isinstance(text, str) and len(text) <= LONGEST]


def starred(patterns: Iterable[str], name: str) -> tuple[str, str] | None:
    """Return the pattern that fits a name with the longest beginning, and the text for its *."""
    fitting = []
    for pattern in patterns:
        head, star, tail = pattern.partition("*")
        long_enough = bool(star) and len(name) >= len(head) + len(tail)
        if long_enough and name.startswith(head) and name.endswith(tail):
            fitting.append((len(head), pattern, name[len(head) : len(name) - len(tail)]))
    return max(fitting, key=itemgetter(0))[1:] if fitting else None


class Documents:
    """Settings files, each read once."""

    def __init__(self, files: AbstractSet[str], read: SettingsReader) -> None:
        self.files = files
        self._read = read

    def text(self, path: str) -> str:
        """Return a file's text; "" where there is no file."""
        return (self._read(path) or b"").decode("utf-8-sig", "replace")

    @once
    def mapping(self, path: str) -> dict[str, Any]:
        """Return a JSON file's mapping, comments and trailing commas allowed; empty where there is
        no mapping."""
        text = self.text(path)
        try:
            try:
                value = json.loads(text)
            except ValueError:  # most settings are plain JSON
                value = json.loads(_EXTRAS.sub(lambda extra: extra[1] or " ", text))
        except (ValueError, RecursionError):
            return {}
        return value if isinstance(value, dict) else {}


PATTERNS_MOST = 500
"""Of one file of settings with a star: each import is held against all of them."""


class Options(Struct, frozen=True):
    """Settings with all that they extend.

    base: the folder of `baseUrl`; paths: targets of whole names, and of patterns with a star, from
    the folder `origin`, None where the settings have none; patterns: those that names are compared
    with.
    """

    base: str | None = None
    paths: dict[str, list[str]] | None = None
    patterns: Sequence[str] = ()
    origin: str = ""

    def candidates(self, name: str) -> Sequence[str | None] | None:
        """Return the paths that a name may stand for by `paths`; None where no pattern fits."""
        paths = self.paths or {}
        is_whole = name in paths and "*" not in name
        fitting = (name, "") if is_whole else starred(self.patterns, name)
        if fitting is None:
            return None
        pattern, star = fitting
        folder = self.origin if self.base is None else self.base
        return _paths_in(folder, (place.replace("*", star, 1) for place in paths[pattern]))


class Compilers:
    """The settings of TypeScript for every folder."""

    def __init__(self, documents: Documents, packages: Packages) -> None:
        self._documents = documents
        self._packages = packages
        self._known: dict[str, Options] = {}

    @once
    def options(self, folder: str) -> Options:
        """Return the nearest settings for the files in a folder; of several projects under one name
        the first settings with paths."""
        named = (below(above, name) for above in upwards(folder) for name in _NAMES)
        path = first_in(self._documents.files, named)
        if path is None:
            return Options()
        choices = [path]
        for project in entry(self._documents.mapping(path), "references", list):
            for name in texts(project.get("path")) if isinstance(project, dict) else []:
                place = joined(path.rpartition("/")[0], name) or ""
                choices.append(place if place.endswith(".json") else below(place, _NAMES[0]))
        options = (self._options(choice, 0) for choice in choices)
        useful = (option for option in options if (option.base, option.paths) != (None, None))
        return next(useful, self._options(path, 0))

    def _options(self, path: str, depth: int) -> Options:
        if path not in self._known and depth < DEEPEST:
            self._known[path] = options = Options()  # for a circle of settings
            mapping, folder = self._documents.mapping(path), path.rpartition("/")[0]
            for name in texts(mapping.get("extends")):
                parent = self._options(self._extended(folder, name), depth + 1)
                options = _over(options, parent)
            own = _own(entry(mapping, "compilerOptions", dict), folder)
            self._known[path] = _over(options, own)
        return self._known.get(path, Options())

    def _extended(self, folder: str, name: str) -> str:
        """Return the path of settings that others extend: relative, or in a package of the tree."""
        if name.startswith("."):
            path = joined(folder, name) or ""
        else:
            package, rest = self._packages.of_name(name, folder)
            path = below(package, rest or _NAMES[0]) if package is not None else ""
        return path if path.endswith(".json") or not path else f"{path}.json"


def _over(low: Options, high: Options) -> Options:
    paths = high if high.paths is not None else low
    base = low.base if high.base is None else high.base
    return Options(base, paths.paths, paths.patterns, paths.origin)


def _own(options: dict[str, Any], folder: str) -> Options:
    """Read the options of one file, whose paths start from its folder."""
    base = _own_texts(options.get("baseUrl"))
    paths = None
    if isinstance(options.get("paths"), dict):
        paths = {name: _own_texts(places) for name, places in options["paths"].items()}
    place = joined(folder, base[0]) if base else None
    patterns = [name for name in paths or () if "*" in name][:PATTERNS_MOST]
    return Options(place, paths, patterns, folder)


def _own_texts(value: Any) -> list[str]:
    """Return the strings of a value, without the variable for the folder of the settings."""
    return [text.removeprefix("${configDir}/") for text in texts(value)]
