"""References of many texts as they are kept: packed, and unpacked when they are asked for."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from json import loads
from typing import Any

from msgspec import structs

from sightline.codegraph.reference import Reference
from sightline.model.json_text import compact_json
from sightline.model.revision import Revision

Key = tuple[str, Revision]
"""The ending of a source's name, and its revision: a text never imports otherwise."""

FEW = 16
"""Words that are looked for by one expression; more of them are looked up one by one."""

_BETWEEN = re.compile(r"[./:\\]")


def packed(references: Iterable[Reference]) -> str:
    """References in one line of ASCII."""
    return compact_json([list(structs.astuple(each)) for each in references])


def unpacked(text: str) -> tuple[Reference, ...]:
    """What was packed."""
    return tuple([Reference(*map(_field, each)) for each in loads(text)])


def _field(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def naming(words: Collection[str]) -> Callable[[str], bool]:
    """Says of packed references whether one of them may name one of these words."""
    if len(words) > FEW:
        every = frozenset(words)
        return lambda text: not every.isdisjoint(_words(loads(text)))
    asked = [compact_json(word)[1:-1] for word in words]
    if not asked:
        return lambda _text: False
    either = "|".join(map(re.escape, asked))
    found = re.compile(rf'(?<=["./:\\])(?:{either})(?=["./:\\])').search
    return lambda text: found(text) is not None


def _words(value: Any) -> Iterator[str]:
    """All that packed references may find a file by."""
    if isinstance(value, str):
        yield from _BETWEEN.split(value)
    elif isinstance(value, list):
        for each in value:
            yield from _words(each)


class References:
    """What texts refer to. kept, more: those of an earlier process, and how to get at them, which
    is done when one is asked for."""

    def __init__(
        self, kept: Iterable[Key] = (), more: Callable[[], Sequence[str]] | None = None
    ) -> None:
        self._texts: dict[Key, str] = {}
        self._kept = {key: at for at, key in enumerate(kept)}
        self._more = more
        self._read: Sequence[str] | None = None

    def __contains__(self, key: Key) -> bool:
        return key in self._texts or key in self._kept

    def put(self, key: Key, text: str) -> None:
        """Learn packed references."""
        self._texts[key] = text

    def text(self, key: Key) -> str:
        """Packed references. KeyError."""
        text = self._texts.get(key)
        if text is not None:
            return text
        at = self._kept[key]
        if self._read is None:
            self._read = self._more() if self._more is not None else ()
        return self._read[at]

    def only(self, used: Collection[Key]) -> None:
        """Forget all others."""
        self._texts = {key: text for key, text in self._texts.items() if key in used}
        self._kept = {key: at for key, at in self._kept.items() if key in used}

    def __iter__(self) -> Iterator[Key]:
        yield from self._texts
        yield from (key for key in self._kept if key not in self._texts)
