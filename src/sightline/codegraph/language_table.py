"""The languages whose sources are read for what they import, by the endings of their names."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import cache

from msgspec import Struct

from sightline.codegraph.reference import Affected, Reader, Reference, Resolver


class Language(Struct, frozen=True):
    """How a language's imports are found. references: (bytes, path) -> what the source names;
    resolver: (paths, reader of settings files) -> who says which files that means; affected: files
    that came or went -> whose imports that may concern, None for nobody's."""

    name: str
    references: Callable[[bytes, str], Iterable[Reference]]
    resolver: Callable[[Iterable[str], Reader], Resolver]
    affected: Callable[[Iterable[str]], Affected | None]


@cache
def _python() -> Language:
    from sightline.codegraph.languages.python import Python, affected, references

    return Language("python", references, Python, affected)


@cache
def _javascript() -> Language:
    from sightline.codegraph.languages.javascript import JavaScript, affected, references

    return Language("javascript", references, JavaScript, affected)


@cache
def _go() -> Language:
    from sightline.codegraph.languages.go import Go, affected, references

    return Language("go", references, Go, affected)


@cache
def _rust() -> Language:
    from sightline.codegraph.languages.rust import Rust, affected, references

    return Language("rust", references, Rust, affected)


@cache
def _java() -> Language:
    from sightline.codegraph.languages.java import Java, affected, references

    return Language("java", references, Java, affected)


@cache
def _c() -> Language:
    from sightline.codegraph.languages.c import C, affected, references

    return Language("c", references, C, affected)


_GRAMMARS = "go java javascript python rust typescript"
_SCRIPTS = ("js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "vue", "svelte")
_OF_C = (
    *("c", "h", "cc", "hh", "cpp", "hpp", "cxx", "hxx", "c++", "h++", "inl", "ipp", "tcc", "tpp"),
    *("m", "mm", "cu", "cuh", "inc"),
)
LANGUAGES: Mapping[str, Callable[[], Language]] = {
    **dict.fromkeys((".py", ".pyi"), _python),
    **{f".{ending}": _javascript for ending in _SCRIPTS},
    ".go": _go,
    ".rs": _rust,
    ".java": _java,
    **{f".{ending}": _c for ending in _OF_C},
}
"""The ending of a source -> its language, which is loaded when the first such source is met."""
NAMED = {
    "python": _python,
    "javascript": _javascript,
    "go": _go,
    "rust": _rust,
    "java": _java,
    "c": _c,
}
"""Each by its name."""


def ending(path: str) -> str:
    """The ending of a path's name, with its dot, in lower case."""
    name = path[path.rfind("/") + 1 :]
    return name[name.rfind(".") :].lower() if "." in name else ""


GRAMMARS = ("tree_sitter", *(f"tree_sitter_{name}" for name in _GRAMMARS.split()))
"""The packages that readers use."""


def edition() -> str:
    """Which readers these are, and which rules they go by: others may read otherwise."""
    files = _modules(os.path.join(os.path.dirname(__file__), "languages"))
    stamps = [_stamp(file) for file in (*files, *map(_grammar, GRAMMARS))]
    return f"{sys.version} {sys.byteorder} {stamps}"


def _modules(folder: str) -> list[str]:
    """A package's modules; itself where they are no files."""
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(".py"))
    except OSError:
        return [folder]
    return [os.path.join(folder, name) for name in names]


def _grammar(name: str) -> str:
    from importlib.machinery import PathFinder

    found = PathFinder.find_spec(name)
    kept_out = sys.modules.get(name, found) is None
    return "" if found is None or kept_out else found.origin or ""


def _stamp(file: str) -> tuple[str, int, int]:
    """What tells a file from its next edition: of one in an archive, the archive."""
    while file and not os.path.exists(file):
        file = os.path.dirname(file)
    if not file:
        return "", 0, 0
    found = os.stat(file)
    return file, found.st_size, found.st_mtime_ns
