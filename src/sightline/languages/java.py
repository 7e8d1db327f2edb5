"""What a Java source refers to: its imports, and the types that it names without one.

Outside of comments, strings and characters a capital begins a type, a constant or a type parameter.
So one expression that steps over those finds what a grammar finds; whether a name is a type of the
tree, the resolver says, who knows its files.
"""

from __future__ import annotations

import re
from itertools import islice

from sightline.core.imports.reference import Reference

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from sightline.core.imports.reference import Kind

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
