"""Whether two texts are the same but for layout: what a formatter may change, and a person seldom.

Layout is white space, line ends, wrapped lines, the kind of quotes, where a long string is cut, a
comma before a closing bracket, semicolons, a pair of parentheses around a whole expression, small
or capital letters in a number, and the order of imports. Any other letter is never layout.
"""

from __future__ import annotations

from collections.abc import Sequence

TEXT_MAX = 2_000_000
"""Characters of a text that is compared. Nobody lays out a longer one by hand or by program."""


def same_but_layout(before: str, after: str) -> bool:
    """Whether `after` says what `before` says, in whatever layout."""
    if max(len(before), len(after)) > TEXT_MAX:
        return False
    if before == after:
        return True
    one, other = _letters(before), _letters(after)
    # It tells nearly every change apart in a hundredth of the time.
    alike = len(one) == len(other) and all(one.count(each) == other.count(each) for each in _TOLD)
    return alike and _said(before) == _said(after)


def _letters(text: str) -> bytes:
    """What no layout adds or takes away."""
    data = text.encode("utf-8", "surrogatepass")
    return data.replace(b"\xef\xbb\xbf", b"").lower().translate(None, _LAYOUT)


_LAYOUT = b" \t\n\r\v\f\x1c\x1d\x1e\x1f\"'`,;()\\importfromuseusing"
"""White space, what frames an expression or a text, and the letters of IMPORTS, which are written
once or for each name."""

_TOLD = b"abcdhjklqvwxyz0123456789=_"


def _said(text: str) -> tuple[list[str], list[str]]:
    """What is imported, in no order, and all that is said else, in its own."""
    imports: list[str] = []
    rest: list[str] = []
    for statement in _statements(_tokens(text)):
        if statement[0] in IMPORTS:
            imports += [word for word in _bare(statement) if word not in FRAME]
        else:
            rest += _bare(statement)
    return sorted(imports), rest


IMPORTS = frozenset(("import", "from", "use", "using"))
"""Words that a statement begins with whose place among its like is layout."""

FRAME = frozenset((*IMPORTS, ","))
"""What says nothing in an import: one of two names is the same as two of one."""


def _tokens(text: str) -> list[str]:
    """Words, other characters one by one, and line ends."""
    plain = text.replace("\r\n", "\n").replace("\\\n", " ").replace("\\'", "'").replace('\\"', '"')
    tokens = plain.translate(_APART).split()
    return [token.lower() if token[0].isdecimal() else token for token in tokens]


QUOTE = "'"
_APART = {ord(sign): f" {sign} " for sign in "!#$%&()*+-./:<=>?@[\\]^{|}~,"}
_APART |= {ord(quote): f" {QUOTE} " for quote in "\"'`"}
_APART |= {ord(";"): " ", ord("\n"): " \x00 ", ord("\ufeff"): " "}

END = "\x00"
"""The token of a line end: white space that no text has."""


def _statements(tokens: Sequence[str]) -> list[list[str]]:
    """Cut at the line ends that are no mere wrapping, without commas before a closing bracket."""
    made: list[list[str]] = [[]]
    depth = 0
    for token, following in zip(tokens, _following(tokens), strict=True):
        statement = made[-1]
        if token == END:
            if depth == 0 and statement:
                made.append([])
        elif token != "," or following not in CLOSING:  # noqa: S105  no password
            statement.append(token)
            blocks = "" if statement[0] in IMPORTS else "{}"
            depth += (token in OPENING) - (token in SHUTTING) if token not in blocks else 0
            depth = max(depth, 0)
    return [statement for statement in made if statement]


OPENING = frozenset("([{")
SHUTTING = frozenset(")]}")
CLOSING = frozenset(")]}>")


def _following(tokens: Sequence[str]) -> list[str]:
    """Behind each token the next that is no line end."""
    found = [END] * len(tokens)
    for at in range(len(tokens) - 2, -1, -1):
        found[at] = tokens[at + 1] if tokens[at + 1] != END else found[at + 1]
    return found


def _bare(statement: Sequence[str]) -> list[str]:
    """Without parentheses that hold a whole expression."""
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
    left = [token for at, token in enumerate(framed[1:-1], 1) if at not in dropped]
    return _joined(left)


def _joined(statement: list[str]) -> list[str]:
    """With strings that follow one another as one: long ones are cut, and put together."""
    made: list[str] = []
    for token in statement:
        if token == QUOTE == (made[-1] if made else ""):
            made.pop()
        else:
            made.append(token)
    return made


BEFORE = frozenset((
    END, *"(=[{,:>?", "return", "if", "elif", "while", "in", "for", "assert", "yield", "await",
    "not", "and", "or", "import", "del", "with", "else", "case", "raise", "lambda", "is",
))  # fmt: skip
BEHIND = frozenset((END, *")]}:,=?{", "if", "else", "for", "and", "or", "in"))
"""What stands before and behind an expression that is whole."""
