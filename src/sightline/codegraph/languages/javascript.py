"""Imports of JavaScript and TypeScript sources, and the files they mean by the rules of their tools.

The order of resolution is TypeScript's: a name's own ending, the endings it may have left out, the
folder of the name. A bare name is looked up by the settings of the compiler (tsconfig.json and
jsconfig.json with all that they extend: `baseUrl`, `paths` and `rootDirs`), then among the packages
of the tree.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from typing import Any, cast

import tree_sitter_javascript
import tree_sitter_typescript
from msgspec import Struct

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
_HEAD = re.compile(r"(?:#![^\n]*)?(?:\s|//[^\n]*+|/\*.*?\*/)*+", re.DOTALL)
_INCLUDED = re.compile(
    r"""^[ \t]*///[ \t]*<reference\b[^>\n]*?\bpath[ \t]*=[ \t]*["']([^"'\n]+)""", re.MULTILINE
)


def references(source: bytes, path: str) -> Iterator[Reference]:
    """Read the imports of a source; the ending of its path says what it is. `line` is where the
    module's name stands."""
    if source.startswith((b"\xff\xfe", b"\xfe\xff")):
        source = source.decode("utf-16", "replace").encode()
    source = source.removeprefix(b"\xef\xbb\xbf")
    suffix = path[path.rfind(".") :].lower()
    if suffix in _COMPONENTS:
        source = _scripts(source)
    yield from _included(source)
    syntax = GRAMMARS.get(suffix, _JAVASCRIPT).parse(source)
    found: dict[int, Reference] = {}
    for match in syntax.matches:
        function = match.pop("function", None)
        if function and syntax.text(function[0]) != "require":
            continue
        [(kind, [node])] = match.items()
        if node.type == "arguments":
            node = next((each for each in node.named_children if each.type != "comment"), node)
        module = syntax.text(node)[1:-1]
        is_new = kind == "type" or node.start_byte not in found
        literal = _LITERALS.get(node.type)
        if is_new and literal and literal.fullmatch(module):
            line = node.start_point.row + 1
            found[node.start_byte] = Reference(module, line, kind=cast("Kind", kind))
    yield from found.values()


def _included(source: bytes) -> Iterator[Reference]:
    """Read the files that `/// <reference path>` names before the first statement."""
    if b"<reference" in source:
        head = _HEAD.match(source.decode("utf-8", "replace"))
        for each in _INCLUDED.finditer(head[0] if head else ""):
            line = each.string.count("\n", 0, each.start(1)) + 1
            yield Reference(each[1], line, kind="include")


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

Conditions = tuple[str, ...]

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
    other = any(not path.endswith((".py", ".pyi")) for path in changed)
    return Affected(every=True, words=frozenset(), folders=()) if other else None


class JavaScript:
    """The Resolver of JavaScript and TypeScript. read: the bytes of its settings files."""

    def __init__(self, paths: Iterable[str], read: Reader | None = None) -> None:
        self._files = frozenset(paths)
        self._documents = Documents(self._files, read or (lambda _path: None))
        self._packages = Packages(self._documents)
        self._compilers = Compilers(self._documents, self._packages)

    def targets(self, path: str, reference: Reference) -> tuple[str, ...]:
        """Return the files that a reference leads to; see Resolver.targets."""
        name, folder = reference.module, path.rpartition("/")[0]
        if not name or len(name) > LONGEST:
            return ()
        if reference.kind == "include":
            included = joined(folder, name)
            return (included,) if included in self._files else ()
        ends = OF_TYPESCRIPT if path.endswith(_TYPED) else OF_JAVASCRIPT
        found = self._meant(folder, name, ends)
        if found is None and _plain(name) != name:
            found = self._meant(folder, _plain(name), ends)
        return () if found is None or found == path else (found,)

    def _meant(self, folder: str, name: str, ends: Ends) -> str | None:
        if name.startswith(("./", "../")) or name in (".", ".."):
            return self._relative(folder, name, ends)
        options = self._compilers.options(folder)
        candidates = options.candidates(name)
        if candidates is None and options.base is not None:
            place = joined(options.base, name)
            candidates = [] if place is None else [place]
        for candidate in candidates or ():
            found = self._load(candidate, ends)
            if found is not None:
                return found
        if name.startswith("#"):
            return self._internal(folder, name, ends)
        return self._packaged(folder, name, ends)

    def _relative(self, folder: str, name: str, ends: Ends) -> str | None:
        path = joined(folder, name)
        if path is None:
            return None
        if name.endswith(("/", "/.", "/..")) or name in (".", ".."):
            return self._folder(path, ends)
        found = self._load(path, ends)
        return self._elsewhere(folder, path, ends) if found is None else found

    def _elsewhere(self, folder: str, path: str, ends: Ends) -> str | None:
        """A relative name in another of the folders that count as one."""
        roots = self._compilers.options(folder).roots
        inside = [root for root in roots if path.startswith(f"{root}/" if root else "")]
        if not inside:
            return None
        rest = path[len(max(inside, key=len)) :].lstrip("/")
        found = (self._load(below(root, rest), ends) for root in roots)
        return next((each for each in found if each is not None), None)

    def _internal(self, folder: str, name: str, ends: Ends) -> str | None:
        package, names = self._packages.internal(name, folder, typed=ends is OF_TYPESCRIPT)
        for each in names:
            if each.startswith("."):
                path = joined(package, each)
                found = None if path is None else self._exact(path, ends)
            else:
                found = None if each.startswith("#") else self._packaged(folder, each, ends)
            if found is not None:
                return found
        return None

    def _packaged(self, folder: str, name: str, ends: Ends) -> str | None:
        """A bare name, in the packages of the tree."""
        package, rest = self._packages.of_name(name, folder)
        if package is None:
            return None
        entries = self._packages.entries(package, rest, typed=ends is OF_TYPESCRIPT)
        if entries is None:
            return self._load(below(package, rest), ends) if rest else self._folder(package, ends)
        found = (self._exact(entry, ends) for entry in entries)
        return next((each for each in found if each is not None), None)

    def _load(self, path: str, ends: Ends) -> str | None:
        """A path as a file, then as a folder."""
        found = self._exact(path, ends) or self._ended(path, ends) or self._folder(path, ends)
        if found is not None:
            return found
        if path in self._files:
            return path
        return next((path + end for end in _RARE if path + end in self._files), None)

    def _exact(self, path: str, ends: Ends) -> str | None:
        """A path with its ending, or with the ending of its source."""
        dot = path.rfind(".", path.rfind("/") + 1)
        if dot < 0:
            return None
        if ends is OF_JAVASCRIPT and path in self._files:
            return path
        for end in _WRITTEN.get(path[dot:], ()):
            if path[:dot] + end in self._files:
                return path[:dot] + end
        return path if path in self._files else None

    def _ended(self, path: str, ends: Ends) -> str | None:
        return next((path + end for end in ends if path + end in self._files), None)

    def _folder(self, path: str, ends: Ends) -> str | None:
        """Return the file that a folder stands for: by its manifest, or its index."""
        if below(path, MANIFEST) in self._files:
            for main in self._packages.mains(path, typed=ends is OF_TYPESCRIPT):
                found = self._exact(main, ends) or self._ended(main, ends)
                found = found or self._ended(below(main, "index"), ends)
                if found is not None:
                    return found
        index = below(path, "index")
        found = self._ended(index, ends)
        return found or next((index + end for end in _RARE if index + end in self._files), None)


def _plain(name: str) -> str:
    """A name without the loaders before it and the query after it."""
    return name.rpartition("!")[2].partition("?")[0]


MANIFEST = "package.json"
YAML = "pnpm-workspace.yaml"

_CONDITIONS = ("import", "require", "node", "module-sync", "module", "browser", "default")
"""Conditions of export that hold everywhere; all others are asked after them."""

_DEEPEST = 16
_ITEM = re.compile(r"""^\s*-\s*["']?([^"'#\n]+?)["']?\s*(?:#.*)?$""")
_INLINE = re.compile(r"""["']?([^"'\[\],\s]+)["']?""")
_LOCAL = ("file:", "link:", "portal:", "workspace:.")


class Packages:
    """The packages of a tree, by their manifests and those of the workspaces they belong to."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._folders: list[str] | None = None
        self._members: dict[str, dict[str, str]] = {}
        self._roots: dict[str, str | None] = {}

    def of_name(self, name: str, folder: str) -> tuple[str | None, str]:
        """Return the folder of the package with a bare name, and the path asked of it.

        None for a package that is not in the tree.
        """
        parts = name.split("/", 2 if name.startswith("@") else 1)
        cut = 2 if name.startswith("@") else 1
        package, rest = "/".join(parts[:cut]), "/".join(parts[cut:])
        return self._named(package, folder), rest

    def entries(self, folder: str, rest: str, *, typed: bool) -> list[str] | None:
        """The files that a package exports under a name ("": itself), the best first. None: it does
        not say, and its files are what is asked for."""
        exports = self._documents.mapping(below(folder, MANIFEST)).get("exports")
        if exports is None:
            return None
        whole = isinstance(exports, dict) and any(key.startswith(".") for key in exports)
        named = exports if whole else {".": exports}
        found = _chosen(named, f"./{rest}" if rest else ".", _held(typed=typed))
        return [path for path in (joined(folder, name) for name in found) if path is not None]

    def internal(self, name: str, folder: str, *, typed: bool) -> tuple[str, list[str]]:
        """The package that a file of a folder belongs to, and what its `imports` say of a #name:
        paths in it ("./a.js") and names of packages."""
        for above in upwards(folder):
            if below(above, MANIFEST) in self._documents.files:
                said = self._documents.mapping(below(above, MANIFEST)).get("imports")
                named = said if isinstance(said, dict) else {}
                return above, _chosen(named, name, _held(typed=typed))
        return "", []

    def mains(self, folder: str, *, typed: bool) -> list[str]:
        """The files that a folder's manifest names as the folder itself, the best first."""
        manifest = self._documents.mapping(below(folder, MANIFEST))
        types = ["types", "typings"]
        fields = [*types, "module", "main"] if typed else ["module", "main", *types]
        names = [name for field in [*fields, "source"] for name in texts(manifest.get(field))]
        return [path for path in (joined(folder, name) for name in names) if path]

    def _named(self, package: str, folder: str) -> str | None:
        """Its own name, a folder among its dependencies, or a member of its workspaces."""
        for above in upwards(folder):
            path = below(above, MANIFEST)
            if path not in self._documents.files:
                continue
            manifest = self._documents.mapping(path)
            if manifest.get("name") == package:
                return above
            place = _place(manifest, package, above)
            if place is not None:
                return place
        root = self._root(folder)
        return None if root is None else self._of_root(root).get(package)

    def _root(self, folder: str) -> str | None:
        """The nearest folder above that has workspaces."""
        if folder not in self._roots:
            found = (above for above in upwards(folder) if self._patterns(above))
            self._roots[folder] = next(found, None)
        return self._roots[folder]

    def _patterns(self, folder: str) -> list[str]:
        """The patterns of a folder's workspaces; empty where it has none."""
        files, read = self._documents.files, self._documents
        if below(folder, YAML) in files:
            return _listed(read.text(below(folder, YAML)))
        for name, field in ((MANIFEST, "workspaces"), ("lerna.json", "packages")):
            path = below(folder, name)
            said = read.mapping(path).get(field) if path in files else None
            patterns = texts(said.get("packages") if isinstance(said, dict) else said)
            if patterns:
                return patterns
        return []

    def _of_root(self, root: str) -> dict[str, str]:
        """The names of the members, and their folders."""
        if root not in self._members:
            members = self._members[root] = {}
            for folder in self._matched(root):
                name = self._documents.mapping(below(folder, MANIFEST)).get("name")
                if isinstance(name, str):
                    members.setdefault(name, folder)
        return self._members[root]

    def _matched(self, root: str) -> Iterator[str]:
        if self._folders is None:
            end = f"/{MANIFEST}"
            paths = [path for path in self._documents.files if path.endswith(end)]
            self._folders = sorted(path[: -len(end)] for path in paths)
        patterns = self._patterns(root)
        wanted = [_parts(pattern) for pattern in patterns if not pattern.startswith("!")]
        refused = [_parts(pattern[1:]) for pattern in patterns if pattern.startswith("!")]
        for folder in self._folders:
            if not folder.startswith(f"{root}/" if root else ""):
                continue
            parts = folder[len(root) + 1 if root else 0 :].split("/")
            if _any(wanted, parts) and not _any(refused, parts):
                yield folder


def _place(manifest: dict[str, Any], package: str, folder: str) -> str | None:
    """The folder that a manifest gives as a dependency's place."""
    for field in ("dependencies", "devDependencies", "peerDependencies"):
        said = manifest.get(field)
        place = said.get(package) if isinstance(said, dict) else None
        if isinstance(place, str) and place.startswith(_LOCAL):
            return joined(folder, place.partition(":")[2])
    return None


def _chosen(named: dict[str, Any], name: str, hold: Conditions) -> list[str]:
    """Look a name up in a map of exports or imports: itself, or the longest pattern."""
    if name in named and "*" not in name:
        return list(_leaves(named[name], "", hold, 0))
    patterns = {f"{key}*" if key.endswith("/") else key: key for key in named}
    fitting = starred(patterns, name)
    if fitting is None:
        return []
    key, star = patterns[fitting[0]], fitting[1]
    rest = "" if "*" in key else star  # an older way to export a folder
    return [leaf + rest for leaf in _leaves(named[key], star, hold, 0)]


def _held(*, typed: bool) -> Conditions:
    return (*_CONDITIONS, "types") if typed else _CONDITIONS


def _leaves(target: Any, star: str, hold: Conditions, depth: int) -> Iterator[str]:
    """The names in a target: of conditions that hold first, then of those that somebody may set."""
    if isinstance(target, str) and len(target) <= LONGEST:
        yield target.replace("*", star)
    elif isinstance(target, list) and depth < _DEEPEST:
        for each in target:
            yield from _leaves(each, star, hold, depth + 1)
    elif isinstance(target, dict) and depth < _DEEPEST:
        for key in sorted(target, key=lambda key: key not in hold):
            yield from _leaves(target[key], star, hold, depth + 1)


def _listed(text: str) -> list[str]:
    """The list `packages` of a workspace's YAML, in either of the two ways it is written."""
    found: list[str] = []
    inside = False
    for line in text.split("\n"):
        if line.startswith("packages:"):
            found += _INLINE.findall(line[9:].partition("#")[0])
            inside = True
        elif line[:1].strip() and line[0] not in "-#":
            inside = False
        elif inside and (item := _ITEM.match(line)):
            found.append(item[1])
    return [pattern for pattern in found if len(pattern) <= LONGEST]


def _parts(pattern: str) -> list[str]:
    return [part for part in pattern.split("/") if part not in ("", ".")]


def _any(patterns: list[list[str]], parts: list[str]) -> bool:
    return any(_fits(pattern, parts) for pattern in patterns)


def _fits(pattern: list[str], parts: list[str]) -> bool:
    """Match folders with the parts of a pattern; `**` is any number of folders."""
    reached = _past(pattern, {0})
    for part in parts:
        stay = {at for at in reached if pattern[at : at + 1] == ["**"]}
        gone = {at + 1 for at in reached if at < len(pattern) and _is(pattern[at], part)}
        reached = _past(pattern, stay | gone)
    return len(pattern) in reached


def _past(pattern: list[str], reached: set[int]) -> set[int]:
    """Places reached, and those behind every ** that starts at one: it may be no folder at all."""
    for at, part in enumerate(pattern):
        if part == "**" and at in reached:
            reached.add(at + 1)
    return reached


def _is(pattern: str, name: str) -> bool:
    """Match a name with a pattern; * is any text, and every piece is found leftmost."""
    first, *rest = pattern.split("*")
    if not rest:
        return pattern == name
    *middle, last = rest
    if not name.startswith(first) or not name.endswith(last):
        return False
    at, end = len(first), len(name) - len(last)
    for piece in middle:
        at = name.find(piece, at, end)
        if at < 0:
            return False
        at += len(piece)
    return at <= end


DEEPEST = 32
"""How many settings may extend one another."""

_NAMES = ("tsconfig.json", "jsconfig.json")
_EXTRAS = re.compile(
    r"""("(?:[^"\\]|\\.)*+"?)|//[^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/)?|,(?=(?:\s|//[^\n]*+|/\*(?:[^*]|\*(?!/))*+\*/)*+[\]}])"""
)


def texts(value: Any) -> list[str]:
    """Return the strings of a value: one, or a list of them."""
    several = value if isinstance(value, list) else [value]
    return [each for each in several if isinstance(each, str) and len(each) <= LONGEST]


def starred(patterns: Iterable[str], name: str) -> tuple[str, str] | None:
    """The pattern that fits a name with the longest beginning, and what its * stands for."""
    fitting = []
    for pattern in patterns:
        head, star, tail = pattern.partition("*")
        long_enough = bool(star) and len(name) >= len(head) + len(tail)
        if long_enough and name.startswith(head) and name.endswith(tail):
            fitting.append((len(head), pattern, name[len(head) : len(name) - len(tail)]))
    return max(fitting, key=lambda each: each[0])[1:] if fitting else None


class Documents:
    """Settings files, each read once."""

    def __init__(self, files: AbstractSet[str], read: Reader) -> None:
        self.files = files
        self._read = read
        self._known: dict[str, dict[str, Any]] = {}

    def text(self, path: str) -> str:
        """A file's text; "" where there is none."""
        return (self._read(path) or b"").decode("utf-8-sig", "replace")

    def mapping(self, path: str) -> dict[str, Any]:
        """A JSON file's mapping, comments and trailing commas allowed; empty where there is none."""
        if path not in self._known:
            try:
                value = _loaded(self.text(path))
            except (ValueError, RecursionError):
                value = {}
            self._known[path] = value if isinstance(value, dict) else {}
        return self._known[path]


def _loaded(text: str) -> Any:
    """JSON as settings have it; plain first, because most of it is."""
    try:
        return json.loads(text)
    except ValueError:
        return json.loads(_EXTRAS.sub(lambda extra: extra[1] or " ", text))


PATTERNS_MOST = 500
"""Of one file of settings with a star: each import is held against all of them."""


class Paths(Struct, frozen=True):
    """The targets of names in settings: whole names, and patterns with a star."""

    names: dict[str, tuple[str, ...]]
    patterns: dict[str, tuple[str, ...]]


class Options(Struct, frozen=True):
    """Settings with all that they extend.

    base: the folder of `baseUrl`; paths: targets of names, from the folder `origin`; roots: folders
    that count as one.
    """

    base: str | None = None
    paths: Paths | None = None
    origin: str = ""
    roots: tuple[str, ...] = ()

    def candidates(self, name: str) -> list[str] | None:
        """The paths that a name may stand for by `paths`; None where no pattern is its own."""
        if self.paths is None:
            return None
        whole = self.paths.names.get(name)
        if whole is not None:
            return self._placed(whole, "")
        fitting = starred(self.paths.patterns, name)
        if fitting is None:
            return None
        return self._placed(self.paths.patterns[fitting[0]], fitting[1])

    def _placed(self, places: tuple[str, ...], star: str) -> list[str]:
        folder = self.origin if self.base is None else self.base
        made = [joined(folder, place.replace("*", star, 1)) for place in places]
        return [path for path in made if path is not None]


class Compilers:
    """The settings of TypeScript for every folder."""

    def __init__(self, documents: Documents, packages: Packages) -> None:
        self._documents = documents
        self._packages = packages
        self._nearest: dict[str, Options] = {}
        self._known: dict[str, Options] = {}

    def options(self, folder: str) -> Options:
        """Return the nearest settings for the files in a folder."""
        if folder not in self._nearest:
            self._nearest[folder] = self._nearest_options(folder)
        return self._nearest[folder]

    def _nearest_options(self, folder: str) -> Options:
        for above in upwards(folder):
            for name in _NAMES:
                path = below(above, name)
                if path in self._documents.files:
                    return self._whole(path, above)
        return Options()

    def _whole(self, path: str, folder: str) -> Options:
        """The settings, or of several projects under one name the first that says anything."""
        said = self._options(path, 0)
        if said.base is not None or said.paths is not None:
            return said
        projects = self._documents.mapping(path).get("references")
        for project in projects if isinstance(projects, list) else []:
            for name in texts(project.get("path")) if isinstance(project, dict) else []:
                place = joined(folder, name) or ""
                part = place if place.endswith(".json") else below(place, _NAMES[0])
                one = self._options(part, 0)
                if one.base is not None or one.paths is not None:
                    return one
        return said

    def _options(self, path: str, depth: int) -> Options:
        if path not in self._known and depth < DEEPEST:
            self._known[path] = Options()  # what a circle of settings finds
            self._known[path] = self._read(path, depth)
        return self._known.get(path, Options())

    def _read(self, path: str, depth: int) -> Options:
        mapping, folder = self._documents.mapping(path), path.rpartition("/")[0]
        options = Options()
        for name in texts(mapping.get("extends")):
            parent = self._options(self._extended(folder, name), depth + 1)
            options = _over(options, parent)
        own = mapping.get("compilerOptions")
        return _over(options, _own(own, folder)) if isinstance(own, dict) else options

    def _extended(self, folder: str, name: str) -> str:
        """The path of settings that others extend: relative, or in a package of the tree."""
        if name.startswith("."):
            path = joined(folder, name) or ""
        else:
            package, rest = self._packages.of_name(name, folder)
            path = below(package, rest or _NAMES[0]) if package is not None else ""
        return path if path.endswith(".json") or not path else f"{path}.json"


def _over(low: Options, high: Options) -> Options:
    paths = high if high.paths is not None else low
    base = low.base if high.base is None else high.base
    return Options(base, paths.paths, paths.origin, high.roots or low.roots)


def _own(options: dict[str, Any], folder: str) -> Options:
    """Read the options of one file, whose paths start from its folder."""
    base = [joined(folder, _here(name)) for name in texts(options.get("baseUrl"))[:1]]
    roots = [joined(folder, _here(name)) for name in texts(options.get("rootDirs"))]
    paths = options.get("paths")
    said = _paths(paths) if isinstance(paths, dict) else None
    there = tuple([root for root in roots if root is not None])
    return Options(base[0] if base else None, said, folder, there)


def _paths(paths: dict[str, Any]) -> Paths:
    said = {name: tuple(map(_here, texts(places))) for name, places in paths.items()}
    patterns = [name for name in said if "*" in name][:PATTERNS_MOST]
    names = {name: places for name, places in said.items() if "*" not in name}
    return Paths(names, {name: said[name] for name in patterns})


def _here(name: str) -> str:
    """A name without the variable for the folder of the settings."""
    return name.removeprefix("${configDir}/")
