"""Which files a text names: by their names, as people and plans write them."""

from __future__ import annotations

SHORTEST = 4
"""Characters of a name that is looked for: shorter ones stand in any text."""


class Named:
    """The files that texts name, whichever of the two comes first."""

    def __init__(self) -> None:
        self.paths: set[str] = set()
        self._names: dict[str, set[str]] = {}
        self._texts: list[str] = []

    def path(self, path: str) -> None:
        """A file that texts may name."""
        name = path.replace("\\", "/").rsplit("/", 1)[-1]
        known = self._names.setdefault(name, set())
        if path in known:
            return
        known.add(path)
        if any(names(text, name) for text in self._texts):
            self.paths.add(path)

    def text(self, text: str) -> None:
        """A text that may name files."""
        self._texts.append(text)
        for name, paths in self._names.items():
            if names(text, name):
                self.paths |= paths


def names(text: str, name: str) -> bool:
    """Whether a file's name stands in a text as a word of its own."""
    if len(name) < SHORTEST:
        return False
    at = text.find(name)
    while at >= 0:
        before, after = text[at - 1 : at], text[at + len(name) : at + len(name) + 1]
        if not (_of_a_name(before) or _of_a_name(after)):
            return True
        at = text.find(name, at + 1)
    return False


def _of_a_name(letter: str) -> bool:
    return letter.isalnum() or letter in ("_", "-") if letter else False
