"""gitignore patterns, answered as git answers them.

Four out of five patterns in the wild are a plain name, "*.ext" or an anchored path. Those are
looked up in dictionaries; only the rest become regular expressions. That is eight times faster
than one expression per pattern, and the reason for not using a library here.
"""

from __future__ import annotations

import os

from sightline.workspace.wildmatch import SPECIAL, translate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from re import Pattern

    Tables = tuple[dict[str, int], dict[str, int]]
    """For files and for folders: what is looked up -> the order of the last pattern saying so."""

CLEAR_MAX = 4096
"""Folders that a set remembers not to match."""


class PatternSet:
    """One list of gitignore patterns; a later one overrides an earlier one."""

    def __init__(self, patterns: Iterable[str]) -> None:
        self._negated: list[bool] = []
        self._names: Tables = ({}, {})
        self._suffixes: Tables = ({}, {})
        self._paths: Tables = ({}, {})
        self._rest: list[tuple[int, bool, bool, str, str]] = []
        self._compiled: dict[int, Pattern[bytes]] = {}
        self._clear: set[str] = set()
        for line in patterns:
            self._add(line)

    def __bool__(self) -> bool:
        return bool(self._negated)

    def matches(self, path: str) -> bool:
        """Whether a file at this path is matched, by itself or through a folder above it."""
        end = path.rfind("/")
        if end >= 0 and path[:end] not in self._clear and self._covers(path[:end]):
            return True
        return bool(self.verdict(path, folder=False))

    def _covers(self, folder: str) -> bool:
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

    def _match_rest(self, path: str, name: str, best: int, *, folder: bool) -> int:
        for order, only_folders, on_path, text, needle in reversed(self._rest):
            if order < best:
                break
            asked = path if on_path else name
            if needle not in asked or (only_folders and not folder):
                continue
            # git compares bytes: "?" is one byte, not one character.
            if self._expression(order, text, on_path=on_path).fullmatch(os.fsencode(asked)):
                return order
        return best

    def _expression(self, order: int, text: str, *, on_path: bool) -> Pattern[bytes]:
        """A pattern that no table holds, compiled when a path first asks for it: a hook that
        asks for one path seldom needs any, and importing re takes it 5 ms."""
        if order not in self._compiled:
            import re

            self._compiled[order] = re.compile(translate(text, on_path=on_path), re.DOTALL)
        return self._compiled[order]

    def _add(self, line: str) -> None:
        text = _trimmed(line)
        if not text or text.startswith("#"):
            return
        negated = text.startswith("!")
        text = text[negated:]
        only_folders = text.endswith("/")
        text = text[: len(text) - only_folders]
        on_path = "/" in text
        text = text.removeprefix("/")
        if not text:
            return
        self._negated.append(negated)
        self._classify(text, len(self._negated) - 1, only_folders=only_folders, on_path=on_path)

    def _classify(self, text: str, order: int, *, only_folders: bool, on_path: bool) -> None:
        if SPECIAL.isdisjoint(text):
            tables = self._paths if on_path else self._names
        elif not on_path and text.startswith("*.") and SPECIAL.isdisjoint(text[1:]):
            tables, text = self._suffixes, text[1:]
        else:
            self._rest.append((order, only_folders, on_path, text, _needle(text)))
            return
        tables[True][text] = order
        if not only_folders:
            tables[False][text] = order


def _needle(text: str) -> str:
    """Characters that stand in all that a pattern matches; none where brackets or escapes hide
    them, nor of bytes that are no Unicode, which may be a part of a character elsewhere. "**/" can
    stand for nothing, so a slash beside a star need not be there."""
    if "[" in text or "\\" in text:
        return ""
    literal = [part.strip("/") for part in text.replace("?", "*").split("*")]
    needle = max(literal, key=len)
    return "" if any("\ud800" <= sign <= "\udfff" for sign in needle) else needle


def lines_of(data: bytes) -> list[str]:
    """The lines of an ignore file, as git splits them; names may be any bytes."""
    text = os.fsdecode(data.removeprefix(b"\xef\xbb\xbf"))
    return [line.removesuffix("\r") for line in text.split("\n")]


def _trimmed(line: str) -> str:
    # Trailing spaces go, except one that a backslash escapes.
    bare = line.rstrip(" ")
    slashes = len(bare) - len(bare.rstrip("\\"))
    return bare + " " if slashes % 2 and len(bare) < len(line) else bare
