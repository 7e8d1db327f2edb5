"""Compare two texts without their layout, which a formatter may change, and a person seldom.

Layout is white space, line ends, wrapped lines, the kind of quotes, where a long string is cut, a
comma before a closing bracket, semicolons, a pair of parentheses around a whole expression, small
or capital letters in a number, and the order of imports. Any other letter is never layout.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

TEXT_MAX = 2_000_000
"""Characters of the longest text that is compared. Nobody formats a longer one."""


def same_but_layout(before: str, after: str) -> bool:
    """Return whether two texts are the same but for layout."""
    if max(len(before), len(after)) > TEXT_MAX:
        return False
    if before == after:
        return True
    one, other = map(_letters, _middles(before, after))
    # The letters tell nearly every change apart in a hundredth of the time.
    alike = len(one) == len(other) and all(
        one.count(code) == other.count(code) for code in _COUNTED
    )
    return alike and _content(before) == _content(after)


def _middles(before: str, after: str) -> tuple[str, str]:
    """Return two texts without the characters that both begin with, and both end with."""
    least = min(len(before), len(after))
    head = bisect_right(range(1, least + 1), 0, key=lambda n: before[:n] != after[:n])
    rest = range(1, least - head + 1)
    tail = bisect_right(rest, 0, key=lambda n: before[-n:] != after[-n:])
    return before[head : len(before) - tail], after[head : len(after) - tail]


def _letters(text: str) -> bytes:
    """Return the letters that no layout adds or removes."""
    data = text.encode("utf-8", "surrogatepass")
    return data.replace(b"\xef\xbb\xbf", b"").lower().translate(None, _LAYOUT)


_LAYOUT = b" \t\n\r\v\f\x1c\x1d\x1e\x1f\"'`,;()\\importfromuseusing"
"""White space, signs around an expression or a text, and the letters of IMPORTS, which are written
once or for each name."""

_COUNTED = b"abcdhjklqvwxyz0123456789=_"


def _content(text: str) -> tuple[list[str], list[str]]:
    """Return the imported names, sorted, and the tokens of all other statements, in order."""
    imports: list[str] = []
    others: list[str] = []
    for statement in _statements(_tokens(text)):
        if statement[0] in IMPORTS:
            imports += [word for word in _bare(statement) if word not in FRAME]
        else:
            others += _bare(statement)
    return sorted(imports), others


IMPORTS = frozenset(("import", "from", "use", "using"))
"""First words of statements whose order among their like is layout."""

FRAME = frozenset((*IMPORTS, ","))
"""Tokens without meaning in an import: one import of two names is the same as two of one."""


def _tokens(text: str) -> list[str]:
    """Return words, other characters one by one, and line ends."""
    plain = text.replace("\r\n", "\n").replace("\\\n", " ").replace("\\'", "'").replace('\\"', '"')
    tokens = plain.translate(_APART).split()
    return [token.lower() if token[0].isdecimal() else token for token in tokens]


QUOTE = "'"
_APART = {ord(sign): f" {sign} " for sign in "!#$%&()*+-./:<=>?@[\\]^{|}~,"}
_APART |= {ord(quote): f" {QUOTE} " for quote in "\"'`"}
_APART |= {ord(";"): " ", ord("\n"): " \x00 ", ord("\ufeff"): " "}

END = "\x00"
"""The token of a line end: a character that no text has."""


def _statements(tokens: Sequence[str]) -> list[list[str]]:
    """Split tokens at the line ends that do not wrap a statement, and drop commas before a closing
    bracket."""
    statements: list[list[str]] = [[]]
    depth = 0
    for token, following in zip(tokens, _following(tokens), strict=True):
        statement = statements[-1]
        if token == END:
            if depth == 0 and statement:
                statements.append([])
        elif token != "," or following not in CLOSING:  # noqa: S105  no password
            statement.append(token)
            blocks = "" if statement[0] in IMPORTS else "{}"
            step = (token in OPENING) - (token in SHUTTING) if token not in blocks else 0
            depth = max(depth + step, 0)
    return [statement for statement in statements if statement]


OPENING = frozenset("([{")
SHUTTING = frozenset(")]}")
CLOSING = frozenset(")]}>")


def _following(tokens: Sequence[str]) -> list[str]:
    """Return for each token the next one that is no line end."""
    following = [END] * len(tokens)
    for at in range(len(tokens) - 2, -1, -1):
        following[at] = tokens[at + 1] if tokens[at + 1] != END else following[at + 1]
    return following


def _bare(statement: Sequence[str]) -> list[str]:
    """Drop parentheses around a whole expression, and join strings that follow one another: a long
    string is cut into several, and put together again."""
    dropped: set[int] = set()
    opened: list[int] = []
    framed = [END, *statement, END]
    for at, token in enumerate(framed):
        if token == "(":  # noqa: S105
            opened.append(at)
        elif token == ")" and opened:  # noqa: S105
            first = opened.pop()
            if framed[first - 1] in BEFORE and framed[at + 1] in BEHIND:
                dropped |= {first, at}
    bare: list[str] = []
    for token in (token for at, token in enumerate(framed[1:-1], 1) if at not in dropped):
        if token == QUOTE == (bare[-1] if bare else ""):
            bare.pop()
        else:
            bare.append(token)
    return bare


BEFORE = frozenset((
    END, *"(=[{,:>?", "return", "if", "elif", "while", "in", "for", "assert", "yield", "await",
    "not", "and", "or", "import", "del", "with", "else", "case", "raise", "lambda", "is",
))  # fmt: skip
BEHIND = frozenset((END, *")]}:,=?{", "if", "else", "for", "and", "or", "in"))
"""Tokens before and behind a whole expression."""
