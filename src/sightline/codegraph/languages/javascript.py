"""What a JavaScript or TypeScript source imports: by tree-sitter where the extra `parse` is installed.

The expressions of javascript_text read what no grammar is there for, what a grammar does not parse
without an error (a newer syntax, a conflict's markers), and what is large.

Imports of JavaScript and TypeScript by expressions over text, for where no parser is installed.

One walk over the bytes passes comments, strings, templates and regular expressions by, and reads the
words that begin an import. What only a parser can tell stays a guess: whether a slash after a closing
bracket divides, and what is text between JSX tags. Every step goes forward, so time is linear.
"""

from __future__ import annotations

import re
from functools import cache

from tree_sitter import Node, Parser, Query

from sightline.codegraph.reference import Kind, Reference

Found = tuple[int, bytes, Kind]
"""Where the name of a module stands, the name, and how it is taken."""

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


_NAME = rb"[\w$\x80-\xff]"
_NOTE = rb"//[^\n]*+|/\*(?s:.*?)\*/"
_GAP = rb"(?:\s|" + _NOTE + rb")*+"
_QUOTED = rb"""(?:"(?P<double%b>[^"\\\n]+)"|'(?P<single%b>[^'\\\n]+)')"""
_PLAIN = rb"""(?:"[^"\\\n]*+"|'[^'\\\n]*+')"""
_CLAUSE = rb"(?:(?!(?:import|export|from)(?!%b))%b++|from(?!%b)(?!%b%b)|[\s,*{}]|%b|%b)*+" % (
    *(_NAME, _NAME, _NAME, _GAP, _PLAIN, _NOTE, _PLAIN),
)
_FROM = rb"from" + _GAP + _QUOTED % (b"", b"")
_CALLED = rb"\(%b(?:%b|`(?P<bare>[^`\\$\n]+)`)%b[,)]" % (_GAP, _QUOTED % (b"2", b"2"), _GAP)

_IMPORT = re.compile(
    rb"import(?!%b)%b(?:%b|%b|(?P<clause>%b)%b)"
    % (_NAME, _GAP, _QUOTED % (b"1", b"1"), _CALLED, _CLAUSE, _FROM)
)
_EXPORT = re.compile(
    rb"export%b(?P<clause>(?:type%b)?+(?=[*{])%b)%b" % (_GAP, _GAP, _CLAUSE, _FROM)
)
_REQUIRE = re.compile(rb"require%b%b" % (_GAP, _CALLED))
_OF_TYPES = re.compile(rb"type(?:%b[{*]|\s%b%b)" % (_GAP, _GAP, _NAME))

_TOKENS = (
    rb"""import|export|require|"(?:[^"\\\n]|\\(?s:\r\n|.))*+"?|'(?:[^'\\\n]|\\(?s:\r\n|.))*+'?"""
    rb"""|`|/(?:/[^\n]*+)?"""
)
_TOKEN = re.compile(_TOKENS)
_NESTED = re.compile(_TOKENS + rb"|\{|\}")
_TEMPLATE = re.compile(rb"(?:[^`\\$]|\\(?s:.)|\$(?!\{))*+")
_REGEX = re.compile(rb"/(?:[^\\/\[\n]|\\[^\n]|\[(?:[^\]\\\n]|\\[^\n])*+\])++/")
_BEFORE = re.compile(rb"%b+\Z" % _NAME)
_OPERATORS = frozenset(
    b"return typeof case in of do else void delete throw new instanceof yield await".split()
)
_HEAD = re.compile(rb"(?:#![^\n]*)?" + _GAP)
_INCLUDED = re.compile(
    rb"""(?m)^[ \t]*///[ \t]*<reference\b[^>\n]*?\bpath[ \t]*=[ \t]*["']([^"'\n]+)"""
)


def found(text: bytes) -> list[Found]:
    """The modules that a text names, in its order."""
    return _Walk(text).run()


def included(text: bytes) -> list[Found]:
    """The files that `/// <reference path>` names, which only counts before the first statement."""
    head = _HEAD.match(text)
    if head is None or b"<reference" not in head[0]:
        return []
    return [(each.start(1), each[1], "include") for each in _INCLUDED.finditer(head[0])]


class _Walk:
    """One walk over a text."""

    def __init__(self, text: bytes) -> None:
        self.text = text
        self.at = 0
        self.found: list[Found] = []
        self.braces: list[int] = []
        """For every template that is open: the braces open in its expression."""
        self.retreat: tuple[int, int] | None = (0, 0)
        """Where the outermost template began, and what was found by then; None: they do not count."""
        self.divides_until = 0

    def run(self) -> list[Found]:
        steps = {b'"': self._pass, b"'": self._pass, b"`": self._template, b"/": self._slash}
        steps |= {b"{": self._open, b"}": self._close}
        while True:
            token = (_NESTED if self.braces else _TOKEN).search(self.text, self.at)
            if token is not None:
                self.at = token.end()
                steps.get(token[0][:1], self._word)(token)
            elif not self._surrender():
                return self.found

    def _pass(self, token: re.Match[bytes]) -> None:
        """A string says nothing."""

    def _open(self, token: re.Match[bytes]) -> None:
        self.braces[-1] += 1

    def _close(self, token: re.Match[bytes]) -> None:
        if self.braces[-1]:
            self.braces[-1] -= 1
        else:
            self.braces.pop()
            self._in_template()

    def _template(self, token: re.Match[bytes]) -> None:
        if self.retreat is None:
            return
        if not self.braces:
            self.retreat = self.at, len(self.found)
        self._in_template()

    def _in_template(self) -> None:
        end = _TEMPLATE.match(self.text, self.at).end()  # type: ignore[union-attr] # matches nothing too
        if self.text.startswith(b"${", end):
            self.braces.append(0)
            self.at = end + 2
        elif end < len(self.text):
            self.at = end + 1
        else:
            self.braces.append(0)
            self.at = end

    def _surrender(self) -> bool:
        """A template that nothing closes was none: goes back to its beginning, once."""
        if not self.braces or self.retreat is None:
            return False
        self.at, count = self.retreat
        del self.found[count:]
        self.braces, self.retreat = [], None
        return True

    def _slash(self, token: re.Match[bytes]) -> None:
        start = token.start()
        if token[0] != b"/":
            return
        if self.text.startswith(b"*", self.at):
            end = self.text.find(b"*/", self.at + 1)
            self.at = len(self.text) if end < 0 else end + 2
        elif start >= self.divides_until and not self._divides(start):
            literal = _REGEX.match(self.text, start)
            if literal is not None:
                self.at = literal.end()
            else:  # nothing closes it on this line, nor what follows it
                end = self.text.find(b"\n", start)
                self.divides_until = len(self.text) if end < 0 else end

    def _divides(self, at: int) -> bool:
        """Whether a slash stands after a value, or in the closing tag of an element."""
        before = self.text[max(0, at - 200) : at].rstrip()
        word = _BEFORE.search(before[-12:])
        if word is not None:
            return word[0] not in _OPERATORS
        return before[-1:] in (b")", b"]", b"}", b'"', b"'", b"`", b"<", b".")

    def _word(self, token: re.Match[bytes]) -> None:
        start, word = token.span()[0], token[0]
        before = self.text[max(0, start - 3) : start]
        if re.search(rb"%b\Z" % _NAME, before) or (before[-1:] == b"." and before != b"..."):
            return
        if word == b"import":
            self._keep(_IMPORT.match(self.text, start), "import")
        elif word == b"export":
            self._keep(_EXPORT.match(self.text, start), "export")
        else:
            self._keep(_REQUIRE.match(self.text, start), "require")

    def _keep(self, statement: re.Match[bytes] | None, kind: Kind) -> None:
        if statement is None:
            return
        groups = {name: text for name, text in statement.groupdict().items() if text is not None}
        clause = groups.pop("clause", None)
        ((name, module),) = groups.items()
        if clause is not None and _OF_TYPES.match(clause):
            kind = "type"
        elif kind == "import" and name in ("double2", "single2", "bare"):
            kind = "dynamic"
        self.found.append((statement.start(name), module, kind))
        self.at = statement.end()
