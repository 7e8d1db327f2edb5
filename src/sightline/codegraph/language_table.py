"""The languages whose imports are read, by the endings of their sources' names."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.machinery import PathFinder

from sightline.codegraph.language import Language

_LANGUAGES = {
    "Python": "py pyi",
    "JavaScript": "js jsx mjs cjs ts tsx mts cts vue svelte",
    "Go": "go",
    "Rust": "rs",
    "Java": "java",
    "C": "c h cc hh cpp hpp cxx hxx c++ h++ inl ipp tcc tpp m mm cu cuh inc",
}
"""The name of a language's resolver -> the endings of its sources."""

LANGUAGES: Mapping[str, str] = {
    f".{ending}": name.lower() for name, endings in _LANGUAGES.items() for ending in endings.split()
}
"""The ending of a source -> the name of its language."""

_GRAMMARS = "go java javascript python rust typescript"
GRAMMARS = ("tree_sitter", *(f"tree_sitter_{name}" for name in _GRAMMARS.split()))
"""The packages that the languages' modules use."""


@cache
def language(name: str) -> Language:
    """Load a language by its name; call this with its first source, because grammars take memory."""
    module = import_module(f"sightline.codegraph.languages.{name}")
    [resolver] = [getattr(module, each) for each in _LANGUAGES if each.lower() == name]
    return Language(name, module.references, resolver, module.affected)


def language_name(path: str) -> str | None:
    """Return the language of a source; None for any other file."""
    return LANGUAGES.get(ending(path))


def language_of(path: str) -> Language:
    """Load the language of a source."""
    return language(LANGUAGES[ending(path)])


def ending(path: str) -> str:
    """Return the ending of a path's name, with its dot, in lower case."""
    name = path[path.rfind("/") + 1 :]
    return name[name.rfind(".") :].lower() if "." in name else ""


def edition() -> str:
    """Return a text that differs where other readers, or other grammars, may read otherwise."""
    here = os.path.dirname(__file__)
    folder = os.path.join(here, "languages")
    try:
        modules = [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
    except OSError:
        modules = [folder]  # the package is in an archive
    grammars = [spec.origin for spec in map(PathFinder.find_spec, GRAMMARS) if spec is not None]
    files = [file for file in (*modules, *grammars) if file and not file.endswith("__pycache__")]
    return f"{sys.version} {[_stamp(file) for file in files]}"


def _stamp(file: str) -> tuple[str, int, int]:
    """Return the name, size and time of a file; of one in an archive, the archive's."""
    while file and not os.path.exists(file):
        file = os.path.dirname(file)
    status = os.stat(file or "/")
    return file, status.st_size, status.st_mtime_ns
