"""gitignore patterns, answered as git answers them.

Four out of five patterns in the wild are a plain name, "*.ext" or an anchored path. Those are
looked up in dictionaries; only the rest become regular expressions. That is eight times faster
than one expression per pattern, and the reason for not using a library here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from itertools import product
from re import Pattern

from sightline.filesystem.ignore.wildmatch import SPECIAL, needle, translate

Tables = tuple[dict[str, int], dict[str, int]]
"""For files and for folders: what is looked up -> the order of the last pattern saying so."""

CLEAR_MAX = 4096
"""Folders that a set remembers not to match."""

SPELLED_SUM_MAX = 10_000
"""Texts that the brackets of one set are spelled out as; further ones are matched as they are."""


class PatternSet:
    """One list of gitignore patterns; a later one overrides an earlier one. most: wildcards, and
    most_characters: of patterns with signs that mean more than themselves; past either no further
    pattern is read."""

    def __init__(
        self,
        patterns: Iterable[str],
        most: int | None = None,
        most_characters: int | None = None,
    ) -> None:
        self.characters = 0
        self._negated: list[bool] = []
        self._names: Tables = ({}, {})
        self._suffixes: Tables = ({}, {})
        self._paths: Tables = ({}, {})
        self._ends: list[str] | None = None
        self._held: dict[str, set[str]] = {}
        self._spelled = 0
        self._rest: list[tuple[int, bool, bool, str, str]] = []
        self._needles: dict[int | None, dict[str, list[tuple[int, str]]]] = {}
        self._compiled: dict[int, Pattern[str]] = {}
        self._clear: set[str] = set()
        for line in patterns:
            self._add(line, most_characters)
            if most is not None and len(self._rest) > most:
                return
            if most_characters is not None and self.characters > most_characters:
                return

    def __bool__(self) -> bool:
        return bool(self._negated)

    @property
    def wildcards(self) -> int:
        """How many of the patterns no table holds: each path is compared with all of them."""
        return len(self._rest)

    def matches(self, path: str) -> bool:
        """Whether a file at this path is matched, by itself or through a folder above it."""
        end = path.rfind("/")
        if end >= 0 and path[:end] not in self._clear and self.covers(path[:end]):
            return True
        return bool(self.verdict(path, folder=False))

    def covers(self, folder: str) -> bool:
        """Whether a folder is matched, by itself or through one above it. Those that are not are
        remembered: files are asked for folder by folder."""
        if len(self._clear) >= CLEAR_MAX:
            self._clear.clear()
        end = 0
        while end >= 0:
            end = folder.find("/", end + 1)
            each = folder if end < 0 else folder[:end]
            if each not in self._clear:
                if self.verdict(each, folder=True):
                    return True
                self._clear.add(each)
        return False

    def verdict(self, path: str, *, folder: bool) -> bool | None:
        """What the patterns say of this entry alone, relative to where they apply:
        True matched, False re-included by a "!" pattern, None nothing."""
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
        if self._rest:
            best = self._match_rest(path, name, best, folder=folder)
        return None if best < 0 else not self._negated[best]

    def concerned(self, folder: str, names: Sequence[str]) -> list[str]:
        """Of the files of one folder ("" or ending in "/"), those that a pattern may match; the
        others need not be asked about. It is cheap for all of them at once."""
        if self._ends is None:
            self._ends = self._made_ready()
        joined = "\0".join(names) + "\0"
        found = list(filter(self._names[False].__contains__, names))
        for ending in self._ends:
            if ending in joined:
                found += [name for name in names if name.endswith(ending[:-1])]
        if folder in self._held:
            found += filter(self._held[folder].__contains__, names)
        if self._rest:
            found += self._matching_rest(folder, names, joined)
        return found

    def _made_ready(self) -> list[str]:
        """Put in order what whole folders are asked by, which a hook does not; the endings."""
        for path in self._paths[False]:
            cut = path.rfind("/") + 1
            self._held.setdefault(path[:cut], set()).add(path[cut:])
        for order, only_folders, on_path, text, needed in self._rest:
            if not only_folders:
                alike = self._needles.setdefault(depth(text) if on_path else None, {})
                alike.setdefault(needed, []).append((order, text))
        return [f"{ending}\0" for ending in self._suffixes[False]]

    def _matching_rest(self, folder: str, names: Sequence[str], joined: str) -> Iterable[str]:
        """Those that a pattern of no table matches. What it needs is looked for in all at once."""
        deep = f"{folder}{joined}".replace("\0", f"\0{folder}")  # of each, its path
        for level, on_path in ((None, False), (folder.count("/"), True), (ANY_DEPTH, True)):
            above, text = (folder, deep) if on_path else ("", joined)
            for needed, patterns in self._needles.get(level, {}).items():
                if needed not in text:
                    continue
                holding = [name for name in names if needed in above + name]
                for order, pattern in patterns:
                    fits = self._expression(order, pattern, on_path=on_path).fullmatch
                    yield from [name for name in holding if fits(bytewise(above + name))]

    def _match_rest(self, path: str, name: str, best: int, *, folder: bool) -> int:
        for order, only_folders, on_path, text, needed in reversed(self._rest):
            if order < best:
                break
            asked = path if on_path else name
            if needed not in asked or (only_folders and not folder):
                continue
            # git compares bytes: "?" is one byte, not one character.
            if self._expression(order, text, on_path=on_path).fullmatch(bytewise(asked)):
                return order
        return best

    def _expression(self, order: int, text: str, *, on_path: bool) -> Pattern[str]:
        """A pattern that no table holds, compiled when a path first asks for it: a hook that
        asks for one path seldom needs any, and importing re takes it 5 ms."""
        if order not in self._compiled:
            expression = translate(bytewise(text), on_path=on_path)
            self._compiled[order] = re.compile(expression, re.DOTALL)
        return self._compiled[order]

    def _add(self, line: str, most_characters: int | None) -> None:
        text = trimmed(line)
        if not text or text.startswith("#"):
            return
        if not SPECIAL.isdisjoint(text.removeprefix("*.")):
            self.characters += len(text)
            if most_characters is not None and self.characters > most_characters:
                return  # taking it apart could take long
        negated = text.startswith("!")
        text = text[negated:]
        only_folders = text.endswith("/")
        text = text[: len(text) - only_folders]
        on_path = "/" in text
        text = unescaped(text.removeprefix("/"))
        if on_path and (bare := anywhere(text)):
            text, on_path = bare, False
        if not text:
            return
        self._negated.append(negated)
        self._classify(text, only_folders=only_folders, on_path=on_path)

    def _classify(self, text: str, *, only_folders: bool, on_path: bool) -> None:
        ending = not on_path and text.startswith("*.") and SPECIAL.isdisjoint(text[1:])
        if ending or SPECIAL.isdisjoint(text):
            self._put(text, ending=ending, only_folders=only_folders, on_path=on_path)
            return
        for each in self._spell(text, on_path=on_path):
            self._put(each, ending=each[0] == "*", only_folders=only_folders, on_path=on_path)
            text = ""
        if text:
            needed = needle(text)
            self._rest.append((len(self._negated) - 1, only_folders, on_path, text, needed))

    def _spell(self, text: str, *, on_path: bool) -> list[str]:
        """A pattern as those that tables can hold; [] where brackets are not all that is in it."""
        star = "*" if text.startswith("*.") and not on_path else ""
        bare = text.removeprefix(star)
        more = any(sign in bare for sign in "*?\\")
        if "[" not in bare or more or self._spelled >= SPELLED_SUM_MAX:
            return []
        spelled = [star + each for each in spelled_out(bare)]
        self._spelled += len(spelled)
        return spelled

    def _put(self, text: str, *, ending: bool, only_folders: bool, on_path: bool) -> None:
        order = len(self._negated) - 1
        if ending:
            tables, text = self._suffixes, text[1:]
        else:
            tables = self._paths if on_path else self._names
        tables[True][text] = order
        if not only_folders:
            tables[False][text] = order


def lines_of(data: bytes) -> list[str]:
    """The lines of an ignore file, as git splits them; names may be any bytes."""
    text = os.fsdecode(data.removeprefix(b"\xef\xbb\xbf"))
    return [line.removesuffix("\r") for line in text.split("\n")]


SPELLED_MAX = 8
"""Texts that one pattern is spelled out as."""

ANY_DEPTH = -1

_NOT_PLAIN = frozenset("[\\-/*?!^:")
"""Signs that mean more in brackets than themselves, or may."""


def trimmed(line: str) -> str:
    """A line without its trailing spaces, but one that a backslash escapes."""
    bare = line.rstrip(" ")
    slashes = len(bare) - len(bare.rstrip("\\"))
    return bare + " " if slashes % 2 and len(bare) < len(line) else bare


def anywhere(text: str) -> str:
    """The name that a path means in any folder, "**/name"; "" for any other."""
    while text.startswith("**/"):
        text = text[3:]
        if "/" not in text:
            return text
    return ""


def depth(text: str) -> int:
    """The folders above all that a pattern matches, where they are always so many. A slash in
    brackets is none."""
    return ANY_DEPTH if "**" in text or "[" in text else text.count("/")


def unescaped(text: str) -> str:
    """Without backslashes before what means itself anyway; in brackets they may be needed, and
    what "**" says depends on what begins with one."""
    if "\\" not in text or any(kept in text for kept in ("\\\\", "[", "**")):
        return text
    plain, *rest = text.split("\\")
    for each in rest:
        bare = each and each[0] not in "*?/"
        plain += each if bare else f"\\{each}"
    return plain


def spelled_out(text: str) -> list[str]:
    """All texts that a pattern with brackets and no other wildcard stands for; [] where they are
    many, or the brackets hold more than plain letters."""
    pieces: list[Sequence[str]] = []
    many = 1
    while "[" in text:
        before, _, rest = text.partition("[")
        members, closed, text = rest.partition("]")
        plain = members.isascii() and _NOT_PLAIN.isdisjoint(members)
        many *= len(members)
        if not (members and closed and plain and many <= SPELLED_MAX):
            return []
        pieces += ([before], members)
    return ["".join(each) for each in product(*pieces, [text])]


def bytewise(text: str) -> str:
    """Return a path or pattern with one character for each byte of its name on disk."""
    return text if text.isascii() else os.fsencode(text).decode("latin-1")
