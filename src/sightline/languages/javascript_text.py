"""Imports of JavaScript and TypeScript by expressions over text, for where no parser is installed.

One walk over the bytes passes comments, strings, templates and regular expressions by, and reads the
words that begin an import. What only a parser can tell stays a guess: whether a slash after a closing
bracket divides, and what is text between JSX tags. Every step goes forward, so time is linear.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sightline.core.imports.reference import Kind

    Found = tuple[int, bytes, Kind]
    """Where the name of a module stands, the name, and how it is taken."""

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
