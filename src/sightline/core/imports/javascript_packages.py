"""Packages of JavaScript that are in the tree: their names, what they export, and who sees them."""

from __future__ import annotations

import re

from sightline.core.imports.javascript_settings import (
    LONGEST,
    below,
    joined,
    starred,
    texts,
    upwards,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from sightline.core.imports.javascript_settings import Documents

    Conditions = tuple[str, ...]

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
        """The folder of the package that a bare name means in a folder, and what is asked of it.
        None where it is none of the tree."""
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
    """What a map of exports or imports has for a name: itself, or by the longest pattern."""
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
    """Whether folders fit a pattern's parts, of which ** are any number."""
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
    """Whether a name fits a pattern in which * is anything; every piece is found leftmost."""
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
