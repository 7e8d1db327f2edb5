"""Parse text with a tree-sitter grammar, within limits of size and time."""

from __future__ import annotations

from itertools import count
from time import monotonic

from tree_sitter import Language, Node, Parser

CHUNK = 4096
"""Bytes that the parser, and each node's text, takes from the source at once."""


def parse(
    language: Language,
    source: bytes,
    *,
    bytes_max: int,
    seconds_max: float,
    steps_max: int = 1 << 40,
) -> Node | None:
    """Return the root of a text's syntax tree, or None when a limit is reached.

    source: UTF-8. A grammar can take seconds over 200 KB of junk, so all limits matter. Where the
    text does not follow the grammar, the tree holds error nodes. steps_max: progress reports of the
    parser; their number bounds its memory.
    """
    if len(source) > bytes_max:
        return None
    deadline, steps = monotonic() + seconds_max, count()
    try:
        tree = Parser(language).parse(
            lambda offset, _: source[offset : offset + CHUNK],
            progress_callback=lambda *_: next(steps) >= steps_max or monotonic() > deadline,
        )
    except ValueError:  # the callback stopped the parser
        return None
    return tree.root_node
