"""What a JavaScript or TypeScript source imports: by tree-sitter where the extra `parse` is installed.

The expressions of javascript_text read what no grammar is there for, what a grammar does not parse
without an error (a newer syntax, a conflict's markers), and what is large.
"""

from __future__ import annotations

from functools import cache

from sightline.core.imports.reference import Reference
from sightline.languages.javascript_text import found, included

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tree_sitter import Node, Parser, Query

    from sightline.core.imports.reference import Kind
    from sightline.languages.javascript_text import Found

SUFFIXES = (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".vue", ".svelte")
"""The sources that are read here."""

READ_MOST = 50 * 1024 * 1024
"""Bytes of a source that are read; imports stand at the front."""

PARSED_MOST = 64 * 1024
"""Bytes of a source that is parsed: with errors in it, a tree's time can grow with their square."""

_PIECE = 4096
_READ_OVER = 16
"""A parser reads a source in pieces, and so often over at most: in errors it looks ahead far."""

COMMENTS_MOST = 1500
"""Comments of a source that is parsed, for the same reason."""

_COMPONENTS = (".vue", ".svelte")
_GRAMMARS = {".ts": "typescript", ".mts": "typescript", ".cts": "typescript", ".tsx": "tsx"}
_GRAMMARS |= dict.fromkeys(_COMPONENTS, "typescript")

_QUERY = """
(import_statement source: (string) @import)
(export_statement source: (string) @export)
(call_expression function: (import) arguments: (arguments [(string) (template_string)] @dynamic))
(call_expression function: (identifier)
  arguments: (arguments [(string) (template_string)] @require))
"""
_QUERY_OF_TYPESCRIPT = "(import_require_clause source: (string) @assigned)"


def references(source: bytes, path: str) -> tuple[Reference, ...]:
    """The references of a source, in its order; the ending of its path says what it is. `line` is
    where the module's name stands."""
    text = source[:READ_MOST]
    if text.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = text.decode("utf-16", "replace").encode()
    text = text.removeprefix(b"\xef\xbb\xbf")
    suffix = path[path.rfind(".") :].lower()
    if suffix in _COMPONENTS:
        text = _scripts(text)
    if b"import" not in text and b"require" not in text and b"export" not in text:
        return _placed(text, included(text))
    parsed = _parsed(text, suffix)
    return _placed(text, included(text) + (found(text) if parsed is None else parsed))


def _placed(text: bytes, modules: list[Found]) -> tuple[Reference, ...]:
    """The references with their lines, counted on from one to the next."""
    placed, at, line = [], 0, 1
    for offset, module, kind in sorted(modules):
        line += text.count(b"\n", at, offset)
        at = offset
        placed.append(Reference(module.decode("utf-8", "replace"), line, kind=kind))
    return tuple(placed)


def _scripts(text: bytes) -> bytes:
    """A component's scripts; of all else only the ends of lines."""
    kept, at, lowered = [], 0, text.lower()
    while (tag := lowered.find(b"<script", at)) >= 0:
        start = lowered.find(b">", tag) + 1
        end = lowered.find(b"</script", start) if start else -1
        if end < 0:
            break
        kept += [b"\n" * text.count(b"\n", at, start), text[start:end], b";"]
        at = end
    return b"".join(kept)


def _parsed(text: bytes, suffix: str) -> list[Found] | None:
    """What the grammar finds; None without one, and where it does not understand all of the text."""
    if len(text) > PARSED_MOST or text.count(b"*/") + text.count(b"//") > COMMENTS_MOST:
        return None
    grammar = _grammar(_GRAMMARS.get(suffix, "javascript"))
    if grammar is None:
        return None
    from tree_sitter import QueryCursor

    parser, query = grammar
    pieces = _Pieces(text)
    tree = parser.parse(pieces.read)
    if pieces.left < 0 or tree.root_node.has_error:
        return None
    captured = QueryCursor(query).captures(tree.root_node)
    kinds: dict[str, Kind] = {"import": "import", "export": "export", "assigned": "require"}
    kinds |= {"dynamic": "dynamic", "require": "require"}
    pairs = [(node, kind) for name, kind in kinds.items() for node in captured.get(name, ())]
    read = [_named(text, node, kind) for node, kind in pairs]
    return [each for each in read if each is not None]


class _Pieces:
    """A text as a parser reads it: for one that reads without end, it ends."""

    def __init__(self, text: bytes) -> None:
        self.text = text
        self.left = _READ_OVER * (len(text) // _PIECE + 4)

    def read(self, at: int, _point: object) -> bytes:
        """The piece at a place."""
        self.left -= 1
        return b"" if self.left < 0 else self.text[at : at + _PIECE]


def _named(text: bytes, node: Node, kind: Kind) -> Found | None:
    """What a string names; None where it is no literal, or not the first argument of its call."""
    parent, module = node.parent, text[node.start_byte + 1 : node.end_byte - 1]
    if parent is None or not module or b"\\" in module or b"\n" in module:
        return None
    if parent.type == "arguments" and _first(parent) != node:
        return None
    if kind == "require" and not _requires(text, parent):
        return None
    if node.type == "template_string" and b"$" in module:
        return None
    of_types = kind in ("import", "export") and any(each.type == "type" for each in parent.children)
    return node.start_byte + 1, module, "type" if of_types else kind


def _requires(text: bytes, parent: Node) -> bool:
    """Whether a string is of `import a = require("b")`, or of a call of that name."""
    if parent.type != "arguments":
        return True
    called = parent.prev_named_sibling
    return called is not None and text[called.start_byte : called.end_byte] == b"require"


def _first(arguments: Node) -> Node | None:
    given = (each for each in arguments.named_children if each.type != "comment")
    return next(given, None)


@cache
def _grammar(name: str) -> tuple[Parser, Query] | None:
    """A grammar's parser and the query for imports; None where the extra is not installed."""
    try:
        import tree_sitter
        import tree_sitter_javascript
        import tree_sitter_typescript
    except ImportError:
        return None
    query = _QUERY
    if name == "javascript":
        language = tree_sitter.Language(tree_sitter_javascript.language())
    else:
        typescript = tree_sitter_typescript
        made = typescript.language_tsx if name == "tsx" else typescript.language_typescript
        language = tree_sitter.Language(made())
        query += _QUERY_OF_TYPESCRIPT
    return tree_sitter.Parser(language), tree_sitter.Query(language, query)
