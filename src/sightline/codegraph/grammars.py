"""Parse sources by tree-sitter, within bounds of size, time and memory."""

from __future__ import annotations

import re

import tree_sitter
from msgspec import Struct
from tree_sitter import Language, Node, Query

from sightline.shell_parsing.syntax_tree import parse

PARSED_BYTES = 512 * 1024
"""A parser reads this much of a source; imports stand at its head."""

HEAD_BYTES = 4 * 1024
"""A parser reads this much of a source where reading more exceeds a bound."""

PARSE_S = 1.0
"""How long one source may take to parse."""

STEPS_PER_KB, STEPS = 64, 170
"""Progress reports of a parser per kilobyte, and besides; ordinary sources take 5 to 25."""

ERROR_CHILDREN = 5_000
"""Children of a node that is an error; a query takes time by the square of their number."""

_CONFLICT = re.compile(rb"^(?:<{7}|={7}|>{7}|\|{7})(?=[ \r\n]|\Z)[^\n]*", re.MULTILINE)


class Syntax(Struct, frozen=True):
    """A parsed source, and the matches of the grammar's query, in the order of the source.

    A match maps each name in the query to its nodes.
    """

    source: bytes
    matches: list[dict[str, list[Node]]]

    def text(self, node: Node) -> str:
        """Return the text of a node."""
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "replace")


class Grammar:
    """A language's grammar, with a query for the nodes that name imports.

    steps_per_kb: lower for a grammar that takes memory by the square of what nests.
    """

    def __init__(self, language: object, query: str, *, steps_per_kb: int = STEPS_PER_KB) -> None:
        self._language = Language(language)
        self._query = Query(self._language, query)
        self._steps_per_kb = steps_per_kb

    def parse(self, source: bytes) -> Syntax:
        """Parse a source, without git's conflict markers; its head alone beyond a bound."""
        whole = _CONFLICT.sub(b"", source[:PARSED_BYTES])
        for text in (whole, whole[:HEAD_BYTES]):
            steps = STEPS + self._steps_per_kb * len(text) // 1024
            root = parse(
                self._language, text, bytes_max=PARSED_BYTES, seconds_max=PARSE_S, steps_max=steps
            )
            if root is not None and not _has_large_error(root):
                # No progress callback: with one, a query of tree-sitter 0.26.1 crashes.
                matches = tree_sitter.QueryCursor(self._query).matches(root)
                return Syntax(text, sorted((captures for _, captures in matches), key=_start))
        return Syntax(b"", [])


def _has_large_error(root: Node) -> bool:
    nodes = [root]
    while nodes:
        node = nodes.pop()
        if node.is_error and node.child_count > ERROR_CHILDREN:
            return True
        if node.has_error:
            nodes += [child for child in node.children if child.has_error]
    return False


def _start(captures: dict[str, list[Node]]) -> int:
    return min(node.start_byte for nodes in captures.values() for node in nodes)
