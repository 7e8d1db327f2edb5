"""A glob as regular expressions: one for the folder of a path, one for the name in it.

A path is cut at its last "/" because a tree has far fewer folders and names than paths. No
quantifier stands over a group, and what stands between two stars is matched at its first place
and never again (atomic groups), so no pattern makes matching slow.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import chain

from sightline.model.value import Value
from sightline.search.glob_braces import closing

Piece = tuple[str, str]
"""An expression for one character, and the character where it is one only."""

MAGIC = frozenset("*?[")
ANY_FOLDERS = "**"
_STAR: Piece = ("*", "")


class Half(Value):
    """What one half of a path must be. expression: of all of it; literal: the only text that it
    can be, if there is but one; run: a text that each match holds; ending: for "*.ext", ".ext"."""

    expression: str
    literal: str | None
    run: str
    ending: str

    def fits(self, text: str) -> bool:
        """Whether a text can be this half."""
        if self.literal is not None:
            return text == self.literal
        return not self.expression or bool(compiled(self.expression).fullmatch(text))


@lru_cache(maxsize=256)
def compiled(expression: str) -> re.Pattern[str]:
    """An expression, compiled once; "." is any character."""
    return re.compile(expression, re.DOTALL)


ANYTHING = Half("", None, "", "")
"""The half that everything matches."""


class Shape(Value):
    """A glob without braces. folder: of what stands up to the last "/", and with it."""

    folder: Half
    name: Half

    def match(self, path: str) -> bool:
        """Whether a path is of this shape."""
        cut = path.rfind("/") + 1
        return self.name.fits(path[cut:]) and self.folder.fits(path[:cut])


def shape(components: list[str]) -> Shape:
    """The shape of a glob that is given folder by folder, the name last."""
    *folders, name = components
    if name == ANY_FOLDERS:
        folders, name = components, "*"
    return Shape(_folder(folders), _name(name))


def magic(component: str) -> bool:
    """Whether a part of a pattern may match more than one name."""
    return any(not literal for _, literal in _pieces(component))


def unescaped(component: str) -> str:
    """The name that a part without magic stands for."""
    return "".join(literal for _, literal in _pieces(component))


def _name(component: str) -> Half:
    pieces = _pieces(component)
    if pieces == [_STAR]:
        return ANYTHING
    text = "".join(literal for _, literal in pieces)
    if all(literal for _, literal in pieces):
        return Half(re.escape(text), text, text, "")
    starred = pieces[0] == _STAR and all(literal for _, literal in pieces[1:])
    ending = text if starred and text.startswith(".") and len(text) > 1 else ""
    return Half(_component(pieces), None, _run(pieces), ending)


def _folder(components: list[str]) -> Half:
    if not components:
        return ROOT
    blocks: list[list[list[Piece]]] = [[]]
    for component in components:
        if component != ANY_FOLDERS:
            blocks[-1].append([*_pieces(component), ("/", "/")])
        elif len(blocks) == 1 or blocks[-1]:  # "**/**/" says no more than "**/"
            blocks.append([])
    if blocks == [[], []]:
        return ANYTHING
    run = max((_run([*chain.from_iterable(block)]) for block in blocks), key=len)
    head, *rest = ["".join(_whole(part) for part in block) for block in blocks]
    if not rest:
        alone = all(literal for part in blocks[0] for _, literal in part)
        text = "".join(literal for part in blocks[0] for _, literal in part)
        return Half(head, text if alone else None, run, "")
    *between, last = rest
    middle = "".join(f"(?>(?:|.*?/){block})" for block in between)
    return Half(f"{head}{middle}(?:.*/|){last}", None, run, "")


ROOT = Half("", "", "", "")
"""The folder half of what stands at the root."""


def _whole(part: list[Piece]) -> str:
    """A folder's name and its "/": a name can match in one way only, so no other is tried."""
    return f"(?>{_component(part)})" if _STAR in part else _component(part)


def _component(pieces: list[Piece]) -> str:
    head, *rest = _chunks(pieces)
    if not rest:
        return head
    *between, last = rest
    return head + "".join(f"(?>[^/]*?{chunk})" for chunk in between) + f"[^/]*{last}"


def _chunks(pieces: list[Piece]) -> list[str]:
    """What stands between the stars."""
    chunks = [""]
    for piece in pieces:
        if piece == _STAR:
            chunks.append("")
        else:
            chunks[-1] += piece[0]
    return chunks


def _run(pieces: list[Piece]) -> str:
    """The longest text without magic."""
    runs = [""]
    for _, literal in pieces:
        if literal:
            runs[-1] += literal
        else:
            runs.append("")
    return max(runs, key=len)


def _pieces(component: str) -> list[Piece]:
    pieces: list[Piece] = []
    at = 0
    while at < len(component):
        char = component[at]
        if char == "*":
            if pieces[-1:] != [_STAR]:
                pieces.append(_STAR)
        elif char == "?":
            pieces.append(("[^/]", ""))
        elif char == "[" and (end := closing(component, at)):
            pieces.append((_members(component[at + 1 : end]), ""))
            at = end
        else:
            at += char == "\\"
            pieces += [(re.escape(each), each) for each in component[at : at + 1]]
        at += 1
    return pieces


def _members(inner: str) -> str:
    """The expression of "[inner]": one of these characters, never a "/"."""
    negated = inner[:1] in ("!", "^")
    characters = _characters(inner[negated:])
    members: list[str] = []
    at = 0
    while at < len(characters):
        first = last = characters[at][-1]
        ranged = characters[at + 1 : at + 2] == ["-"] and at + 2 < len(characters)
        if ranged:
            at += 2
            last = characters[at][-1]
        if first < last:
            members.append(f"{re.escape(first)}-{re.escape(last)}")
        elif first == last:
            members.append(re.escape(first))
        at += 1
    return _set("".join(members), negated=negated)


def _characters(inner: str) -> list[str]:
    """One by one; an escaped one keeps its backslash, so that it is not taken for a range."""
    characters: list[str] = []
    at = 0
    while at < len(inner):
        size = 2 if inner[at] == "\\" and at + 1 < len(inner) else 1
        characters.append(inner[at : at + size])
        at += size
    return characters


def _set(members: str, *, negated: bool) -> str:
    if negated:
        return f"[^/{members}]"
    return f"(?!/)[{members}]" if members else "(?!)"
