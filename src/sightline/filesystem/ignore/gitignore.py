"""gitignore patterns, answered as git answers them.

Four out of five patterns in the wild are a plain name, "*.ext" or an anchored path. Dictionaries
answer those, and only the others become regular expressions. That is eight times faster than one
expression per pattern, and the reason for not using a library here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from re import Pattern

from sightline.filesystem.ignore.wildmatch import SPECIAL, needle, translate
from sightline.model.path import PATH_LIMIT

Tables = tuple[dict[str, int], dict[str, int]]
"""For files and for folders: name, ending or path -> the order of the last pattern with it."""

PATTERN_MAX = 1_000
"""The limit of characters in one pattern with wildcards. A longer pattern is left out: comparing it
could take seconds, and no path needs it."""

CLEAR_MAX = 4096
"""The number of unmatched folders that a set remembers."""

ANY_DEPTH = -1


class PatternSet:
    """One list of gitignore patterns; a later pattern overrides an earlier one.

    most: the limit of wildcards; most_characters: the limit of characters in patterns with special
    signs. Past either limit no further pattern is read. too_long: patterns of more than PATTERN_MAX
    characters, which were left out.
    """

    def __init__(
        self,
        patterns: Iterable[str],
        most: int | None = None,
        most_characters: int | None = None,
    ) -> None:
        self.characters = 0
        self.too_long = 0
        self._negated: list[bool] = []
        self._names: Tables = ({}, {})
        self._suffixes: Tables = ({}, {})
        self._paths: Tables = ({}, {})
        self._endings: list[str] | None = None
        self._names_in: dict[str, set[str]] = {}
        self._wildcards: list[tuple[int, bool, bool, str, str]] = []
        self._needles: dict[int | None, dict[str, list[tuple[int, str]]]] = {}
        self._compiled: dict[int, Pattern[str]] = {}
        self._clear: set[str] = set()
        for line in patterns:
            self._add(line, most_characters)
            if most is not None and len(self._wildcards) > most:
                return
            if most_characters is not None and self.characters > most_characters:
                return

    def __bool__(self) -> bool:
        return bool(self._negated)

    @property
    def wildcards(self) -> int:
        """Return the number of patterns that no table holds: each path is compared with all of them."""
        return len(self._wildcards)

    def matches(self, path: str) -> bool:
        """Return whether a file at this path is matched, by itself or through a folder above it."""
        end = path.rfind("/")
        if end >= 0 and path[:end] not in self._clear and self.covers(path[:end]):
            return True
        return bool(self.verdict(path, folder=False))

    def covers(self, folder: str) -> bool:
        """Return whether a folder is matched, by itself or through a folder above it. Unmatched folders
        are remembered, because callers ask for files folder by folder."""
        if len(self._clear) >= CLEAR_MAX:
            self._clear.clear()
        end = 0
        while end >= 0:
            end = folder.find("/", end + 1)
            above = folder if end < 0 else folder[:end]
            if above not in self._clear:
                if self.verdict(above, folder=True):
                    return True
                self._clear.add(above)
        return False

    def last_matches(self, path: str) -> bool:
        """Return whether the last pattern that matches a file, or a folder above it, is one without
        "!". Unlike in git, "!" so takes back a file below a matched folder."""
        newest, end = self._newest(path, folder=False), path.find("/")
        while end >= 0:
            newest = max(newest, self._newest(path[:end], folder=True))
            end = path.find("/", end + 1)
        return newest >= 0 and not self._negated[newest]

    def verdict(self, path: str, *, folder: bool) -> bool | None:
        """Return the patterns' verdict on this entry alone: True matched, False re-included by a "!"
        pattern, None no pattern. The path is relative to the folder of the patterns."""
        newest = self._newest(path, folder=folder)
        return None if newest < 0 else not self._negated[newest]

    def _newest(self, path: str, *, folder: bool) -> int:
        """Return the order of the last pattern that matches this entry alone; -1 for none."""
        name = path[path.rfind("/") + 1 :]
        best = self._names[folder].get(name, -1)
        if path in self._paths[folder]:
            best = max(best, self._paths[folder][path])
        suffixes = self._suffixes[folder]
        if suffixes:
            dot = name.find(".")
            while dot >= 0:
                if (ending := name[dot:]) in suffixes:
                    best = max(best, suffixes[ending])
                dot = name.find(".", dot + 1)
        for order, only_folders, on_path, pattern, needed in reversed(self._wildcards):
            if order < best:
                break
            text = path if on_path else name
            if needed not in text or (only_folders and not folder):
                continue
            # git compares bytes: "?" is one byte, not one character.
            if self._expression(order, pattern, on_path=on_path).fullmatch(bytewise(text)):
                best = order
                break
        return best

    def concerned(self, folder: str, names: Sequence[str]) -> list[str]:
        """Return the files of one folder ("" or ending in "/") that a pattern may match; the others
        need no verdict. One call for all names is cheap."""
        if self._endings is None:
            self._endings = self._prepare()
        joined = "\0".join(names) + "\0"
        found = list(filter(self._names[False].__contains__, names))
        for ending in self._endings:
            if ending in joined:
                found += [name for name in names if name.endswith(ending[:-1])]
        if folder in self._names_in:
            found += filter(self._names_in[folder].__contains__, names)
        if self._wildcards:
            found += self._matching_wildcards(folder, names, joined)
        return found

    def _prepare(self) -> list[str]:
        """Build the tables for questions about whole folders; return the endings, each with a NUL."""
        for path in self._paths[False]:
            cut = path.rfind("/") + 1
            self._names_in.setdefault(path[:cut], set()).add(path[cut:])
        for order, only_folders, on_path, pattern, needed in self._wildcards:
            if not only_folders:
                alike = self._needles.setdefault(depth(pattern) if on_path else None, {})
                alike.setdefault(needed, []).append((order, pattern))
        return [f"{ending}\0" for ending in self._suffixes[False]]

    def _matching_wildcards(self, folder: str, names: Sequence[str], joined: str) -> Iterable[str]:
        """Yield the names that a wildcard matches. Its needle is looked for in all names at once."""
        paths = f"{folder}{joined}".replace("\0", f"\0{folder}")
        for level, on_path in ((None, False), (folder.count("/"), True), (ANY_DEPTH, True)):
            above, text = (folder, paths) if on_path else ("", joined)
            for needed, patterns in self._needles.get(level, {}).items():
                if needed not in text:
                    continue
                holding = [name for name in names if needed in above + name]
                for order, pattern in patterns:
                    fits = self._expression(order, pattern, on_path=on_path).fullmatch
                    yield from [name for name in holding if fits(bytewise(above + name))]

    def _expression(self, order: int, pattern: str, *, on_path: bool) -> Pattern[str]:
        """Return a wildcard's expression, compiled when a path first needs it: most paths need none."""
        if order not in self._compiled:
            expression = translate(bytewise(pattern), on_path=on_path)
            self._compiled[order] = re.compile(expression, re.DOTALL)
        return self._compiled[order]

    def _add(self, line: str, most_characters: int | None) -> None:
        text = trimmed(line)
        if not text or text.startswith("#"):
            return
        if len(text) > PATTERN_MAX:
            is_long = not SPECIAL.isdisjoint(text.removeprefix("*."))
            self.too_long += is_long or len(text) > PATH_LIMIT  # no path is that long
            if is_long or len(text) > PATH_LIMIT:
                return
        if not SPECIAL.isdisjoint(text.removeprefix("*.")):
            self.characters += len(text)
            if most_characters is not None and self.characters > most_characters:
                return  # taking it apart could take long
        is_negated = text.startswith("!")
        text = text[is_negated:]
        only_folders = text.endswith("/")
        text = text[: len(text) - only_folders]
        on_path = "/" in text
        text = unescaped(text.removeprefix("/"))
        if on_path and (bare := name_anywhere(text)):
            text, on_path = bare, False
        if not text:
            return
        order = len(self._negated)
        self._negated.append(is_negated)
        is_suffix = not on_path and text.startswith("*.") and SPECIAL.isdisjoint(text[1:])
        if is_suffix:
            tables, text = self._suffixes, text[1:]
        elif SPECIAL.isdisjoint(text):
            tables = self._paths if on_path else self._names
        else:
            self._wildcards.append((order, only_folders, on_path, text, needle(text)))
            return
        tables[True][text] = order
        if not only_folders:
            tables[False][text] = order


def lines_of(data: bytes) -> list[str]:
    """Return the lines of an ignore file as git splits them; names may be any bytes."""
    text = os.fsdecode(data.removeprefix(b"\xef\xbb\xbf"))
    return [line.removesuffix("\r") for line in text.split("\n")]


def trimmed(line: str) -> str:
    """Return a line without its trailing spaces, except one that a backslash escapes."""
    bare = line.rstrip(" ")
    slashes = len(bare) - len(bare.rstrip("\\"))
    return bare + " " if slashes % 2 and len(bare) < len(line) else bare


def name_anywhere(text: str) -> str:
    """Return the name that a path "**/name" means in any folder; "" for any other path."""
    while text.startswith("**/"):
        text = text[3:]
        if "/" not in text:
            return text
    return ""


def depth(text: str) -> int:
    """Return the number of folders above every match of a pattern; ANY_DEPTH where that varies. A
    slash in brackets does not count."""
    return ANY_DEPTH if "**" in text or "[" in text else text.count("/")


def unescaped(text: str) -> str:
    """Return a pattern without backslashes before signs that are not special. Brackets may need
    theirs, and the meaning of "**" depends on the sign before it, so such patterns stay."""
    if "\\" not in text or any(sign in text for sign in ("\\\\", "[", "**")):
        return text
    plain, *parts = text.split("\\")
    for part in parts:
        plain += part if part and part[0] not in "*?/" else f"\\{part}"
    return plain


def bytewise(text: str) -> str:
    """Return a path or pattern with one character for each byte of its name on disk."""
    return text if text.isascii() else os.fsencode(text).decode("latin-1")
