"""Which lines a Grep showed. Only those whose number it gives, and that it shows whole."""

from __future__ import annotations

import os

from sightline.agents.claude_code.fields import optional
from sightline.services.attend import Shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    Line = tuple[str, int, str]

LONGEST = 20_000
"""Characters of an answer that the client hands to the model whole."""

PLACES_MAX = 30
"""Runs of lines that are noted of one search: each costs a look at its file."""

OMITTED = "[Omitted long "
"""What stands in place of a line that is too long."""


def searched(given: Mapping[str, Any], response: Any, cwd: str) -> list[Shown]:
    """The runs of lines that a search in files showed. ValueError."""
    if not isinstance(response, dict) or response.get("mode") != "content":
        return []
    content = optional(response, "content") or ""
    if len(content) > LONGEST:
        return []
    where = os.path.join(cwd, optional(given, "path") or "")
    lines = content.split("\n")
    numbered = _in_one(where, lines) if os.path.isfile(where) else _in_several(cwd, lines)
    return list(_runs(numbered))[:PLACES_MAX]


def _in_one(path: str, lines: Iterable[str]) -> Iterator[Line]:
    """Lines "12:text", and "13-text" around it."""
    for line in lines:
        if (found := _numbered(line)) is not None:
            yield path, *found


def _in_several(cwd: str, lines: Iterable[str]) -> Iterator[Line]:
    """Lines "name:12:text", and "name-13-text" around it once the name is known to be a file's."""
    files: dict[str, bool] = {}
    for line in lines:
        name, _, rest = line.partition(":")
        found = _numbered(rest, ":")
        if found is not None:
            if name not in files:
                files[name] = os.path.isfile(os.path.join(cwd, name))
            if files[name]:
                yield os.path.join(cwd, name), *found
                continue
        yield from _around(cwd, line, [name for name, there in files.items() if there])


def _around(cwd: str, line: str, names: list[str]) -> Iterator[Line]:
    for name in names:
        if line.startswith(f"{name}-"):
            found = _numbered(line.removeprefix(f"{name}-"), "-")
            if found is not None:
                yield os.path.join(cwd, name), *found


def _numbered(line: str, marks: str = ":-") -> tuple[int, str] | None:
    number = line[: len(line) - len(line.lstrip("0123456789"))]
    if not number or line[len(number) : len(number) + 1] not in tuple(marks):
        return None
    text = line[len(number) + 1 :].removesuffix("\r")
    return None if text.startswith(OMITTED) else (int(number), text)


def _runs(lines: Iterable[Line]) -> Iterator[Shown]:
    """Lines that follow one another, as one."""
    texts: list[str] = []
    path, first = "", 0
    for name, number, text in lines:
        if (name, number) != (path, first + len(texts)):
            if texts:
                yield _run(path, first, texts)
            path, first, texts = name, number, []
        texts.append(text)
    if texts:
        yield _run(path, first, texts)


def _run(path: str, first: int, texts: list[str]) -> Shown:
    lines = (first, first + len(texts) - 1)
    return Shown(path, lines, "".join([f"{text}\n" for text in texts]), "search")
