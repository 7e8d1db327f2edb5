"""Outline sources: the signatures of their functions, classes and types, by the grammars."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from msgspec import Struct

from sightline.codegraph.language_table import ending

if TYPE_CHECKING:
    from tree_sitter import Node

    from sightline.codegraph.grammars import Grammar

SIGNATURE_MAX = 200
"""Characters of a signature."""

_JAVASCRIPT = """
    (function_declaration) @definition
    (generator_function_declaration) @definition
    (class_declaration) @definition
    (method_definition) @definition
    (lexical_declaration (variable_declarator value: [(arrow_function) (function_expression)])) @definition
"""
_TYPESCRIPT = """
    (interface_declaration) @definition
    (type_alias_declaration) @definition
    (enum_declaration) @definition
    (abstract_class_declaration) @definition
"""
_QUERIES = {
    "python": "[(function_definition) (class_definition)] @definition",
    "javascript": _JAVASCRIPT,
    "typescript": _JAVASCRIPT + _TYPESCRIPT,
    "go": "[(function_declaration) (method_declaration) (type_declaration)] @definition",
    "rust": """
        [(function_item) (function_signature_item) (struct_item) (enum_item) (trait_item) (impl_item)
         (mod_item) (macro_definition)] @definition
    """,
    "java": """
        [(class_declaration) (interface_declaration) (enum_declaration) (record_declaration)
         (method_declaration) (constructor_declaration)] @definition
    """,
}

_GRAMMARS = {
    **dict.fromkeys((".py", ".pyi"), ("python", "tree_sitter_python", "language")),
    **dict.fromkeys((".js", ".mjs", ".cjs", ".jsx"), ("javascript", "tree_sitter_javascript", "language")),
    **dict.fromkeys((".ts", ".mts", ".cts"), ("typescript", "tree_sitter_typescript", "language_typescript")),
    ".tsx": ("typescript", "tree_sitter_typescript", "language_tsx"),
    ".go": ("go", "tree_sitter_go", "language"),
    ".rs": ("rust", "tree_sitter_rust", "language"),
    ".java": ("java", "tree_sitter_java", "language"),
}  # fmt: skip
"""Ending of a path -> the query, the grammar's package, and its function."""


class Signature(Struct, frozen=True):
    """A definition in a source. line, last: its lines, from 1; depth: definitions around it."""

    line: int
    last: int
    text: str
    depth: int = 0


def outline(path: str, text: str) -> tuple[Signature, ...]:
    """Return the signatures in a source, or in a part of one, in order; none for a language without a
    grammar."""
    kind = _GRAMMARS.get(ending(path))
    return tuple(_signatures(_grammar(*kind), text)) if kind else ()


@cache
def _grammar(query: str, package: str, function: str) -> Grammar:
    from sightline.codegraph.grammars import Grammar  # few processes parse a source

    language = getattr(import_module(package), function)()
    return Grammar(language, _QUERIES[query])


def _signatures(grammar: Grammar, text: str) -> Iterator[Signature]:
    syntax = grammar.parse(text.encode("utf-8", "replace"))
    ends: list[int] = []
    found: dict[tuple[int, int], Node] = {}  # one for each name of a declaration with several
    for match in syntax.matches:
        for node in match.get("definition", ()):
            found.setdefault((node.start_byte, node.end_byte), node)
    for node in found.values():
        while ends and ends[-1] <= node.start_byte:
            ends.pop()
        lines = node.start_point.row + 1, node.end_point.row + 1
        yield Signature(*lines, _signature(syntax.source, node), len(ends))
        ends.append(node.end_byte)


def _signature(source: bytes, node: Node) -> str:
    """Return a definition without its body, on one line."""
    body = _body(node)
    text = source[node.start_byte : body.start_byte if body else node.end_byte]
    if body is None:
        text = text.split(b"\n", 1)[0]
    return " ".join(text.decode("utf-8", "replace").split()).rstrip(" {")[:SIGNATURE_MAX]


def _body(node: Node) -> Node | None:
    """Return the body of a definition, which may be that of a function that it names."""
    body = node.child_by_field_name("body")
    if body is not None or node.type != "lexical_declaration":
        return body
    for declarator in node.named_children:
        value = declarator.child_by_field_name("value")
        if value is not None:
            return value.child_by_field_name("body")
    return None
