"""Parse text with a tree-sitter grammar, within limits of size and time."""

from __future__ import annotations

from time import monotonic

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

BASH = Language(tree_sitter_bash.language())

CHUNK = 4096
"""Bytes that the parser, and each node's text, takes from the source at once."""


def parse(language: Language, source: bytes, *, bytes_max: int, seconds_max: float) -> Node | None:
    """Return the root of a text's syntax tree, or None when a limit is reached.

    source: UTF-8. A grammar can take seconds over 200 KB of junk, so both limits matter. Where the
    text does not follow the grammar, the tree holds error nodes.
    """
    if len(source) > bytes_max:
        return None
    deadline = monotonic() + seconds_max
    try:
        tree = Parser(language).parse(
            lambda offset, _: source[offset : offset + CHUNK],
            progress_callback=lambda *_: monotonic() > deadline,
        )
    except ValueError:  # the callback stopped the parser
        return None
    return tree.root_node
