"""Name characters that cannot be seen, or that look like others, so that a reader can tell two lines
apart."""

from __future__ import annotations

from difflib import SequenceMatcher
from unicodedata import category, combining, name

BLANK_LETTERS = "\u115f\u1160\u2800\u3164\uffa0"
"""Characters of other categories that print nothing."""

COMPARED = 400
"""Characters of two lines that are compared one by one."""

MARKED = 12
"""Characters that differ between two lines and are shown by name; more of them are a text of its own."""


def is_invisible(letter: str) -> bool:
    """Return whether a character prints nothing, or a blank other than a space or tab: no-break and thin
    spaces, zero-width marks, soft hyphens, marks of direction, control characters, variation
    selectors, and halves of characters."""
    if letter in " \t\n":
        return False
    if category(letter) in ("Cc", "Cf", "Cs", "Zs", "Zl", "Zp"):
        return True
    return letter in BLANK_LETTERS or 0xFE00 <= ord(letter) <= 0xFE0F


def named(letter: str) -> str:
    """Return a character in words: "no-break space (U+00A0)"."""
    words = CONTROLS.get(letter) or name(letter, "").lower() or "character"
    return f"{words} (U+{ord(letter):04X})"


CONTROLS = {
    "\0": "nul", "\b": "backspace", "\t": "tab", "\v": "vertical tab", "\f": "form feed",
    "\r": "carriage return", "\x1b": "escape", "\x7f": "delete", "\ufeff": "byte order mark",
}  # fmt: skip


def shown(text: str, marks: frozenset[int] = frozenset()) -> str:
    """Return a text with its invisible characters by name: "a⟨no-break space (U+00A0)⟩b". marks:
    indexes of further characters to name."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        f"⟨{named(letter)}⟩" if at in marks or is_invisible(letter) else letter
        for at, letter in enumerate(text)
    )


def marks(one: str, other: str) -> tuple[frozenset[int], frozenset[int]]:
    """Return the indexes of the characters beyond ASCII that differ between two lines, for each line;
    none where many characters differ."""
    found: tuple[set[int], set[int]] = set(), set()
    if not (one.isascii() and other.isascii()) and max(len(one), len(other)) <= COMPARED:
        for tag, a0, a1, b0, b1 in SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
            if tag != "equal":
                found[0].update(at for at in range(a0, a1) if not one[at].isascii())
                found[1].update(at for at in range(b0, b1) if not other[at].isascii())
    if len(found[0]) + len(found[1]) > MARKED:
        return frozenset(), frozenset()
    return frozenset(found[0]), frozenset(found[1])


def difference(one: str, other: str) -> tuple[int, str, str] | None:
    """Return the first difference between two lines, if a character there is invisible or looks like
    another: the 1-based column, and the character of each line in words; None for another
    difference."""
    at = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
    at = min(len(one), len(other)) if at is None else at
    mine, theirs = one[at : at + 1], other[at : at + 1]
    if not any(letter and _is_odd(letter) for letter in (mine, theirs)):
        return None
    return at + 1, _in_words(mine), _in_words(theirs)


def _is_odd(letter: str) -> bool:
    return not letter.isascii() or is_invisible(letter) or bool(combining(letter))


def _in_words(letter: str) -> str:
    if not letter:
        return "the end of the line"
    if letter.isascii() and letter.isprintable() and letter != " ":
        return repr(letter)
    return {" ": "a space", "\t": "a tab"}.get(letter) or named(letter)
