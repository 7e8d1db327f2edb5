r"""Parse a file pattern and match paths.

A pattern with a "/" starts at the workspace's root; one without matches a name in any folder, as in
a .gitignore. "*", "?" and "[a-z]" stay within a name, "**" between slashes is any number of folders,
{a,b} is either. A backslash escapes the next sign; where an escape makes no sense, as in src\app.py,
backslashes separate folders. Case counts, the Unicode form of a letter does not. A path spelled exactly like
the pattern always matches, and brackets are plain letters, too: app/[id]/page.tsx finds itself, and
app/[id]/*.tsx the files of that folder.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from msgspec import Struct

from sightline.filesystem.ignore.wildmatch import translate, with_literal_brackets
from sightline.model.path import composed

Kind = Literal["path", "name", "glob"]

PATTERN_MAX = 1_000
"""Characters of a pattern."""

ALTERNATIVES_MAX = 64
"""Patterns without braces that one pattern may expand to."""

ANY_FOLDERS = "**"
_ESCAPE = re.compile(r"\\(.?)", re.DOTALL)
_MAGIC = frozenset("*?[")
_SPECIAL = frozenset("*?[]{},!-^\\/")


class LeadsOut(ValueError):
    """A pattern names a path outside the workspace."""


class Pattern(Struct, frozen=True):
    """A parsed pattern. literal: the one path or name that it matches, None for a glob; anywhere: it
    matches in any folder; globs: from the root, one for each choice of its braces."""

    text: str
    literal: str | None
    anywhere: bool
    globs: tuple[str, ...]

    @property
    def kind(self) -> Kind:
        """The kind: a path matches one file, a name every file of that name, a glob the rest."""
        return "glob" if self.literal is None else "name" if self.anywhere else "path"

    def matches(self, path: str) -> bool:
        """Return whether the pattern matches a canonical path, by its spelling or its meaning, in any
        Unicode form."""
        if self.is_spelled(path) or self.means(path):
            return True
        if path.isascii():
            return False
        form, wanted = composed(path), in_composed_form(self)
        return wanted.is_spelled(form) or wanted.means(form)

    def is_spelled(self, path: str) -> bool:
        """Return whether a canonical path, or its last part for a name, is spelled like the pattern."""
        text = self.text
        return path == text or ("/" not in text and path.endswith(f"/{text}"))

    def means(self, path: str) -> bool:
        """Return whether the pattern matches a canonical path by more than its spelling."""
        if self.literal is not None:
            return path == self.literal or (self.anywhere and path.endswith(f"/{self.literal}"))
        return any(compiled(glob).fullmatch(path) for glob in self.globs)


@lru_cache(maxsize=256)
def compiled(glob: str) -> re.Pattern[str]:
    """Return the regular expression of a glob from the root."""
    return re.compile(translate(glob, on_path=True), re.DOTALL)


def pattern(text: str) -> Pattern:
    """Parse a pattern. ValueError explains an invalid pattern and what to write instead; LeadsOut for
    one outside the workspace."""
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

    plain = _with_slashes(text)
    anywhere = "/" not in plain
    choices = [_parts(text, choice) for choice in expand(plain)]
    if len(choices) == 1 and not any(has_magic(part) for part in choices[0]):
        return Pattern(text, _ESCAPE.sub(r"\1", "/".join(choices[0])), anywhere, ())
    above = [ANY_FOLDERS] if anywhere else []
    wanted = ["/".join([*above, *parts]) for parts in choices if parts]
    globs = tuple([each for glob in wanted for each in with_literal_brackets(glob)])
    return Pattern(text, None, anywhere, globs)


def in_composed_form(wanted: Pattern) -> Pattern:
    """Return a pattern with its letters in Unicode's composed form, which matches composed paths."""
    text = composed(wanted.text)
    return wanted if text == wanted.text else pattern(text)


def absolute(text: str) -> bool:
    """Return whether a pattern begins at the root of a machine rather than of the workspace."""
    drive = text[1:2] == ":" and text[2:3] in ("/", "\\") and text[0].isalpha()
    return drive or text.startswith(("/", "\\\\"))


def has_magic(part: str) -> bool:
    """Return whether a part of a glob may match more than one name."""
    return not _MAGIC.isdisjoint(_ESCAPE.sub("", part))


def _with_slashes(text: str) -> str:
    """Replace backslashes that separate folders by slashes."""
    if "\\" not in text or "/" in text:
        return text
    after = [text[at + 1 : at + 2] for at, char in enumerate(text) if char == "\\"]
    escapes = all(char in _SPECIAL for char in after if char) and after[-1] != ""
    return text if escapes else text.replace("\\", "/")


def _parts(text: str, choice: str) -> list[str]:
    """Return the parts between the slashes of one choice of the braces, without "." and ".."."""
    if absolute(choice):
        raise ValueError(
            f"The pattern {text[:80]!r} is absolute. Write it from the workspace's root, or begin "
            "it with **/."
        )
    parts: list[str] = []
    for part in choice.split("/"):
        if part == "..":
            if not parts or has_magic(parts[-1]):
                raise LeadsOut(
                    f"The pattern {text[:80]!r} leads out of the workspace by '..'. Write it from "
                    "the workspace's root."
                )
            parts.pop()
        elif part not in ("", "."):
            parts.append(part if part == ANY_FOLDERS else _normalize(part))
    if choice.endswith("/") or (choice and not parts):
        parts.append(ANY_FOLDERS)
    return parts


def _normalize(part: str) -> str:
    """Escape a "[" that nothing closes, and merge neighbouring stars, for wildmatch."""
    pieces: list[str] = []
    at = 0
    while at < len(part):
        end = at + 1
        if part[at] == "\\":
            end += 1
        elif part[at] == "[":
            end = closing_bracket(part, at) + 1
            if end == 1:
                pieces.append("\\")
                end = at + 1
        if part[at] != "*" or pieces[-1:] != ["*"]:
            pieces.append(part[at:end])
        at = end
    return "".join(pieces)


def expand(text: str) -> tuple[str, ...]:
    """Return the patterns without braces that a pattern expands to, in order, each once. As in a
    shell, braces without a comma, and unclosed ones, stay as they are. ValueError: too many."""
    expanded: dict[str, None] = {}
    waiting = [text]
    while waiting:
        choice = waiting.pop()
        cuts = _first_group(choice)
        if cuts:
            inner = reversed([choice[a + 1 : b] for a, b in pairwise(cuts)])
            waiting += [choice[: cuts[0]] + part + choice[cuts[-1] + 1 :] for part in inner]
        else:
            expanded[choice] = None
        if len(expanded) + len(waiting) > ALTERNATIVES_MAX:
            raise ValueError(
                f"The braces of {text[:80]!r} stand for more than {ALTERNATIVES_MAX} patterns. "
                "Use fewer, or a * in their place."
            )
    return tuple(expanded)


def _first_group(text: str) -> list[int]:
    """Return the places of the brace, the commas and the closing brace of the first outermost group
    with a comma; an empty list without one."""
    opened: list[list[int]] = []
    groups: list[list[int]] = []
    at = 0
    while at < len(text):
        char = text[at]
        if char == "\\":
            at += 1
        elif char == "[":
            at = closing_bracket(text, at) or at
        elif char == "{":
            opened.append([at])
        elif char == "," and opened:
            opened[-1].append(at)
        elif char == "}" and opened:
            group = [*opened.pop(), at]
            if len(group) > 2:
                groups.append(group)
        at += 1
    return min(groups, default=[])


def closing_bracket(text: str, at: int) -> int:
    """Return the place of the "]" that closes the "[" at this place; 0 for a literal "["."""
    end = at + 1
    if text[end : end + 1] in ("!", "^"):
        end += 1
    first = end
    while end < len(text) and (text[end] != "]" or end == first):
        if text[end] == "/":
            return 0
        named = text.find(":]", end + 2) if text[end : end + 2] == "[:" else -1
        is_class = named > 0 and text[end + 2 : named].isalpha()
        end = named + 2 if is_class else end + 1 + (text[end] == "\\")
    return end if end < len(text) else 0
