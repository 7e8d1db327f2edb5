r"""A pattern that files are asked for by, and what it matches.

A pattern with a "/" is read from the workspace's root; one without matches a name in any folder, as
in a .gitignore. "*" and "?" and "[a-z]" stay within a name, "**" between slashes is any number of
folders, {a,b} is either. A backslash takes the meaning off what follows it; where that makes no
sense, as in src\app.py, backslashes separate. Case counts. A name that is written exactly as the
pattern matches always, so app/[id]/page.tsx finds itself.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

from msgspec import Struct

from sightline.filesystem.ignore.wildmatch import translate
from sightline.search.glob_braces import closing, expand

Kind = Literal["path", "name", "glob"]

PATTERN_MAX = 1_000
"""Characters of a pattern."""

ANY_FOLDERS = "**"
_ESCAPE = re.compile(r"\\(.?)", re.DOTALL)
_MAGIC = frozenset("*?[")
_SPECIAL = frozenset("*?[]{},!-^\\/")


class LeadsOut(ValueError):
    """A pattern is about what is outside the workspace."""


class Pattern(Struct, frozen=True):
    """What files are asked for by, as pattern() makes it. kind: "path" is one file, "name" every
    file of that name, "glob" the rest."""

    text: str
    kind: Kind

    def matches(self, path: str) -> bool:
        """Return whether the pattern means a canonical path."""
        return self.exactly(path) or meaning(self.text).match(path)

    def exactly(self, path: str) -> bool:
        """Return whether a path is written as the pattern is."""
        text = self.text
        return path == text or ("/" not in text and path.endswith(f"/{text}"))

    @property
    def meaning(self) -> Meaning:
        """Return what the text means."""
        return meaning(self.text)


class Meaning(Struct, frozen=True):
    """A pattern as it is looked up. literal: the one path or name that it can be, else None;
    anywhere: in whatever folder; globs: from the root, one for each choice of its braces."""

    literal: str | None
    anywhere: bool
    globs: tuple[str, ...]

    def match(self, path: str) -> bool:
        """Return whether the pattern means a canonical path, by more than its spelling."""
        if self.literal is not None:
            return path == self.literal or (self.anywhere and path.endswith(f"/{self.literal}"))
        return any(compiled(glob).fullmatch(path) for glob in self.globs)


@lru_cache(maxsize=256)
def compiled(glob: str) -> re.Pattern[str]:
    """Return the expression of all the paths that a glob from the root means."""
    return re.compile(translate(glob, on_path=True), re.DOTALL)


def pattern(text: str) -> Pattern:
    """Return the pattern that a text is. ValueError says why it is none, and what to write instead."""
    said = meaning(text)
    if said.literal is None:
        return Pattern(text, "glob")
    return Pattern(text, "name" if said.anywhere else "path")


def absolute(text: str) -> bool:
    """Return whether a pattern begins at the root of a machine rather than of the workspace."""
    drive = text[1:2] == ":" and text[2:3] in ("/", "\\") and text[0].isalpha()
    return drive or text.startswith(("/", "\\\\"))


@lru_cache(maxsize=256)
def meaning(text: str) -> Meaning:
    """What a pattern's text says. ValueError as pattern()."""
    _check(text)
    plain = _slashed(text)
    anywhere = "/" not in plain
    each = [_components(text, one) for one in expand(plain)]
    if len(each) == 1 and not any(magic(part) for part in each[0]):
        return Meaning(_ESCAPE.sub(r"\1", "/".join(each[0])), anywhere, ())
    above = [ANY_FOLDERS] if anywhere else []
    globs = tuple(["/".join([*above, *parts]) for parts in each if parts])
    return Meaning(None, anywhere, globs)


def magic(part: str) -> bool:
    """Return whether a part of a glob may match more than one name."""
    return not _MAGIC.isdisjoint(_ESCAPE.sub("", part))


def _spelled(part: str) -> str:
    """Return a part of a pattern as wildmatch reads it: a "[" that nothing closes is escaped, and
    stars beside each other are one."""
    if part == ANY_FOLDERS:
        return part
    done: list[str] = []
    at = 0
    while at < len(part):
        end = at + 1
        if part[at] == "\\":
            end += 1
        elif part[at] == "[":
            end = closing(part, at) + 1
            if end == 1:
                done.append("\\")
                end = at + 1
        if part[at] != "*" or done[-1:] != ["*"]:
            done.append(part[at:end])
        at = end
    return "".join(done)


def _check(text: str) -> None:
    if not text:
        raise ValueError("The pattern is empty. Name a file, or write a glob such as **/*.py.")
    if len(text) > PATTERN_MAX:
        raise ValueError(
            f"The pattern has {len(text):,} characters, and {PATTERN_MAX:,} is the most. "
            "Leave out folders with **."
        )
    if "\0" in text:
        raise ValueError(f"The pattern {text[:80]!r} holds a NUL character, as no name can.")
    if not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text):
        raise ValueError(f"The pattern {text[:80]!r} is not valid Unicode.")


def _slashed(text: str) -> str:
    """With "/" between the folders, also where a backslash was meant to be that."""
    if "\\" not in text or "/" in text:
        return text
    after = [text[at + 1 : at + 2] for at, char in enumerate(text) if char == "\\"]
    escapes = all(char in _SPECIAL for char in after if char) and after[-1] != ""
    return text if escapes else text.replace("\\", "/")


def _components(text: str, one: str) -> list[str]:
    """The parts between the slashes of one choice of the braces, without "." and ".."."""
    if absolute(one):
        raise ValueError(
            f"The pattern {text[:80]!r} is absolute. Write it from the workspace's root, or begin "
            "it with **/."
        )
    parts: list[str] = []
    for part in one.split("/"):
        if part == "..":
            if not parts or magic(parts[-1]):
                raise LeadsOut(
                    f"The pattern {text[:80]!r} leads out of the workspace by '..'. Write it from "
                    "the workspace's root."
                )
            parts.pop()
        elif part not in ("", "."):
            parts.append(_spelled(part))
    if one.endswith("/") or (one and not parts):
        parts.append(ANY_FOLDERS)
    return parts
