"""How a name is spelled, and what is left of it when spelling is left out."""

from __future__ import annotations

import re
from functools import cached_property, lru_cache
from unicodedata import normalize

from sightline.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

LENGTH_MAX = 4_096
PARTS_MAX = 32
"""What is looked at of a guess: its end. No path is longer, and few are deeper."""

INDEXES = frozenset(("index", "__init__", "mod"))
"""Stems of the file that stands for its folder."""

ENDING = re.compile(r"(?<=[^\n])(?:\.d(?=\.[cm]?ts$))?\.[^.\n]*$", re.MULTILINE)
"""The ending of each line; a name that begins with its only dot has none."""

SEPARATORS = "_-. ~+@$[]()"
_SEPARATING = str.maketrans("", "", SEPARATORS)
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_PLACE = re.compile(r":\d+(?:[:-]\d+)*$|#L\d+(?:-L?\d+)?$")
_DRIVE = re.compile(r"^[A-Za-z]:(?=/)")


def folded(names: str) -> str:
    """Names, one a line, in small letters and one Unicode form."""
    return (names if names.isascii() else normalize("NFC", names)).lower()


def keys(names: str) -> list[str]:
    """Of folded names, one a line: each without its ending and without what separates words."""
    text = ENDING.sub("", names)
    for separator in SEPARATORS:
        text = text.replace(separator, "")
    return text.split("\n")


def key(name: str) -> str:
    """What spellings of one name have in common: letters and digits of its stem, small."""
    return keys(folded(name))[0]


def folder_key(name: str) -> str:
    """The key of a folder's name, which has no ending."""
    return folded(name).translate(_SEPARATING)


@lru_cache(maxsize=10_000)
def words(stem: str) -> tuple[str, ...]:
    """The words of a stem in small letters: "loadUser_v2" is load, user, v, 2."""
    return tuple(word.lower() for word in _WORD.findall(stem))


def style(stem: str) -> str:
    """The name of the way a stem joins its words; "" for a single word in small letters."""
    if "_" in stem.strip("_"):
        return "snake_case"
    if "-" in stem.strip("-"):
        return "kebab-case"
    if stem[:1].isupper() and any(letter.islower() for letter in stem):
        return "PascalCase"
    return "camelCase" if any(letter.isupper() for letter in stem) else ""


def numbers(word: str) -> tuple[str, ...]:
    """The singular and plural that English may make of a folded word."""
    if len(word) < 3:
        return ()
    made = [f"{word}s", f"{word}es"]
    if word.endswith("y"):
        made.append(f"{word[:-1]}ies")
    if word.endswith("ies"):
        made.append(f"{word[:-3]}y")
    if word.endswith("es"):
        made.append(word[:-2])
    if word.endswith("s"):
        made.append(word[:-1])
    return tuple(made)


class Name(Value):
    """A name as it is written, its stem and ending, and its key."""

    written: str
    stem: str
    ending: str
    key: str

    @property
    def index(self) -> bool:
        """Whether a file of this name stands for its folder."""
        return self.stem.lower() in INDEXES


@lru_cache(maxsize=10_000)
def name_of(written: str) -> Name:
    """A name taken apart."""
    found = ENDING.search(written)
    stem = written[: found.start()] if found else written
    return Name(written, stem, (found[0] if found else "").lower(), key(written))


class Asked:
    """A guess, read as generously as can be. rooted: it named a place on some machine, so that it
    may begin with folders that lie above every workspace."""

    def __init__(self, written: str) -> None:
        text = _plain(written)
        self.rooted = text.startswith(("/", "~")) or bool(_DRIVE.match(text))
        self.parts = _parts(_DRIVE.sub("", text))
        self.path = "/".join(self.parts)
        self.name = name_of(self.parts[-1] if self.parts else "")
        self.folders: Sequence[str] = self.parts[:-1]

    @cached_property
    def folder_keys(self) -> list[str]:
        """The folders' names without their spelling."""
        return [folder_key(part) for part in self.folders]

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words of the name's stem."""
        return words(self.name.stem)


def _plain(written: str) -> str:
    """Without what surrounds a path in prose, in commands and in the answers of tools."""
    text = written[-LENGTH_MAX:].strip().strip("\"'`<>,;").removeprefix("file://")
    text = text.replace("\\", "/").replace("\n", "").replace("\r", "").replace("\0", "")
    text = _PLACE.sub("", text)
    return text if text.isascii() else normalize("NFC", text)


def _parts(text: str) -> list[str]:
    inside: list[str] = []
    for part in text.split("/"):
        if part == "..":
            inside = inside[:-1]
        elif part.strip() not in ("", ".", "~"):
            inside.append(part.strip())
    return inside[-PARTS_MAX:]
