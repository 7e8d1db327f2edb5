"""What a Go source imports, told from its text.

Imports stand before all else in a Go source, so what is read is its head: one walk that passes strings
and comments by finds what a parser finds, also where the source does not parse.
"""

from __future__ import annotations

import re

from sightline.core.imports.reference import Reference

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

READ_MOST = 8_000_000
"""Bytes of a source that are read."""

MOST = 20_000
"""References of one source, and names that are looked for in it; nobody wrote as many."""

_TAKEN = re.compile(
    rb"(?<![\w.\x80-\xff])((?:[^\W\d]|[\x80-\xff])(?:\w|[\x80-\xff])*+)\.([A-Z]\w*+)"
)

NAMES_MOST = 64
"""Names that are kept of what a source takes from one package."""

_NOTE = rb"//[^\n]*+|/\*(?s:.*?)(?:\*/|\Z)"
_GAP = rb"(?:[\s;]|" + _NOTE + rb")*+"
_QUOTED = rb'(?:"(?P<path>[^"\\\n]++)"|`(?P<raw>[^`\n]++)`)'
_SPEC = rb"(?:(?P<name>[\w\x80-\xff]++|\.)%b)?+%b" % (_GAP, _QUOTED)

_HEAD = re.compile(
    rb"""%b|(?P<string>"(?:[^"\\\n]|\\.)*+"?|`[^`]*+`?|'(?:[^'\\\n]|\\.)*+'?)"""
    rb"|(?P<code>^(?:func|type|var|const)\b)|(?<![\w.\x80-\xff])import\b(?P<import>%b\(?)"
    % (_NOTE, _GAP),
    re.MULTILINE,
)
_ONE = re.compile(_SPEC)
_LISTED = re.compile(
    rb"%b|(?P<end>\))|(?P<code>^(?:func|type|var|const|import)\b)|%b|[\w\x80-\xff]++"
    % (_NOTE, _SPEC),
    re.MULTILINE,
)
"""A word that names nothing is passed as one; else each letter of it would be begun with again."""
_VERSION = re.compile(r"v[0-9]+")
_PINNED = re.compile(r"\.v[0-9]+$")


def references(source: bytes) -> tuple[Reference, ...]:
    """The references of a source, in its order. names: what it seems to take from the package."""
    text = source[:READ_MOST]
    found = list(_found(text))
    called = {_called(module, name): module for _, module, name in found}
    taken = _taken(text, called)
    made, at, line = [], 0, 1
    for offset, module, _ in found:
        line += text.count(b"\n", at, offset)
        at = offset
        made.append(Reference(module, line, names=taken.get(module, ()), kind="package"))
    return tuple(made)


def _found(text: bytes) -> Iterator[tuple[int, str, str]]:
    """Where each imported path stands, the path, and the name it is given."""
    at, count = 0, 0
    while count < MOST:
        token = _HEAD.search(text, at)
        if token is None or token["code"]:
            return
        at = token.end()
        if token["import"] is None:
            continue
        several = token["import"].endswith(b"(")
        for spec in _listed(text, at) if several else filter(None, [_ONE.match(text, at)]):
            at = spec.end()
            if spec["path"] or spec["raw"]:
                count += 1
                yield _read(spec)


def _listed(text: bytes, at: int) -> Iterator[re.Match[bytes]]:
    """What stands between brackets, imports and all else, so that none of it is looked at again.
    Brackets that nothing closes end at the first declaration."""
    for token in _LISTED.finditer(text, at):
        if token["end"] or token["code"]:
            return
        yield token


def _read(spec: re.Match[bytes]) -> tuple[int, str, str]:
    group = "path" if spec["path"] else "raw"
    name = spec["name"] or b""
    return (
        spec.start(group),
        spec[group].decode("utf-8", "replace"),
        name.decode("utf-8", "replace"),
    )


def _called(module: str, name: str) -> str:
    """The name that a package goes by in a source: the one it is given, else the last of its path."""
    if name:
        return name
    *above, last = module.split("/")
    if above and _VERSION.fullmatch(last):
        last = above[-1]
    return _PINNED.sub("", last)


def _taken(text: bytes, called: dict[str, str]) -> dict[str, tuple[str, ...]]:
    """What a source takes from each package by name; strings and comments count, too."""
    local = {
        name.encode(): module
        for name, module in called.items()
        if "." in module and name.isidentifier()
    }
    found: dict[str, dict[str, None]] = {}
    for each in _TAKEN.finditer(text) if local else ():
        if each[1] not in local:
            continue
        into = found.setdefault(local[each[1]], {})
        if len(into) < NAMES_MOST:
            into[each[2].decode()] = None
    return {module: tuple(names) for module, names in found.items()}
