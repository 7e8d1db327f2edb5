"""Which files a text names: by their names, as people and plans write them."""

from __future__ import annotations

import re
from unicodedata import normalize

SHORTEST = 4
"""Characters of a name that is looked for: shorter ones stand in any text."""

LETTER = r"(?:[^\W\u2e80-\U0010ffff]|-)"
"""What a name may go on with. Not the letters of Chinese, Japanese and Korean, which are written
next to a name without a space."""

PLAIN_WORD, WORD = re.compile(r"[\w-]+"), re.compile(f"{LETTER}+")
LETTERS = re.compile(LETTER)


class Named:
    """The files that texts name, whichever of the two comes first. A name is looked for in a text
    only where all its words are."""

    def __init__(self) -> None:
        self.paths: set[str] = set()
        self._names: dict[str, set[str]] = {}
        self._begun: dict[str, list[str]] = {}
        self._texts: dict[str, list[str]] = {"": []}

    def path(self, path: str) -> None:
        """A file that texts may name."""
        name = _plain(path.replace("\\", "/").rsplit("/", 1)[-1])
        known = self._names.setdefault(name, set())
        if path in known:
            return
        known.add(path)
        words = _words(name) or [""]
        if len(known) == 1:
            self._begun.setdefault(words[0], []).append(name)
        texts = min((self._texts.get(word, ()) for word in words), key=len)
        if any(names(text, name) for text in texts):
            self.paths.add(path)

    def text(self, text: str) -> None:
        """A text that may name files."""
        text = _plain(text)
        words = {"", *_words(text)}
        for word in words:
            self._texts.setdefault(word, []).append(text)
            for name in self._begun.get(word, ()):
                if words.issuperset(_words(name)) and names(text, name):
                    self.paths |= self._names[name]


def names(text: str, name: str) -> bool:
    """Whether a file's name stands in a text as a word of its own."""
    if len(name) < SHORTEST:
        return False
    at = text.find(name)
    while at >= 0:
        before, after = text[at - 1 : at], text[at + len(name) : at + len(name) + 1]
        if not (LETTERS.match(before) or LETTERS.match(after)):
            return True
        at = text.find(name, at + 1)
    return False


def _words(text: str) -> list[str]:
    word = PLAIN_WORD if text.isascii() else WORD
    return list(dict.fromkeys(found[0] for found in word.finditer(text)))


def _plain(text: str) -> str:
    """With accents as one letter, however a disk or a keyboard puts them together."""
    return text if text.isascii() else normalize("NFC", text)
