"""Counting: which counter there is for a model, the best that is here. Nothing is downloaded."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from functools import partial
from hashlib import sha256
from importlib import import_module
from typing import Any

from sightline.text.tokens import Counter, Family, estimate

Count = Callable[[str], int]

GOOD, ROUGH = 0.05, 0.10
"""Margins: of a model's own tokenizer, and of all else."""

CLAUDE_VERSIONS: dict[Family, str] = {"claude": "4.5", "claude-5": "4.8"}
"""As ctok names them."""

TIKTOKEN_FILES = {
    "o200k_base": (
        "fb374d419588a4632f3f557e76b4b70aebbca790",
        "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    ),
    "cl100k_base": (
        "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
        "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    ),
}
"""Vocabulary -> its file in $TIKTOKEN_CACHE_DIR and the digest that tiktoken wants it to have; it
downloads whatever is not there as it should be, so that is looked at first."""

_CLAUDE_VERSION = re.compile(r"claude-(?:[a-z]+-)?(\d)(?:[-.](\d)(?!\d))?")
_OPENAI = re.compile(r"(?:^|[/.:])(?:gpt-|chatgpt|o\d\b|codex)")
_OLDER_OPENAI = re.compile(r"gpt-(?:3\.5|4(?![\do.]))")

REMEMBERED_MAX = 20_000
"""Texts whose counts are kept."""


def counter(model: str | None = None, given: Count | None = None) -> Counter:
    """What counts the tokens of a model's texts: the user's own function, ctok for Claude, splintr
    or tiktoken where they are installed, else the estimate."""
    family = family_of(model)
    if given is not None:
        return Counter(given, "yours", family, GOOD)
    if family != "o200k":
        found = _ctok(CLAUDE_VERSIONS[family])
        return Counter(found, "ctok", family, GOOD) if found else _estimate(family)
    name = (model or "").lower()
    margin = GOOD if _OPENAI.search(name) else ROUGH
    vocabulary = "cl100k_base" if _OLDER_OPENAI.search(name) else "o200k_base"
    for tool, load in (("splintr", _splintr), ("tiktoken", _tiktoken)):
        if (made := load(vocabulary)) is not None:
            return Counter(made, f"{tool} ({vocabulary})", family, margin)
    return _estimate(family)


def family_of(model: str | None) -> Family:
    """The family of a model's tokenizer, by its name as any provider spells it."""
    name = (model or "").lower()
    if "claude" not in name:
        return "o200k"
    told = _CLAUDE_VERSION.search(name)
    if told is None:
        return "claude-5"
    version = int(told[1]), int(told[2] or 0)
    return "claude-5" if version >= (4, 7) else "claude"


def _estimate(family: Family) -> Counter:
    return Counter(partial(estimate, family=family), "estimate", family, ROUGH)


def _ctok(version: str) -> Count | None:
    module = _module("ctok")
    if module is None:
        return None
    count = module.token_count
    frame: int = count("a", version) - 1
    return Remembering(lambda text: count(text, version) - frame if text else 0)


def _splintr(vocabulary: str) -> Count | None:
    module = _module("splintr")
    if module is None:
        return None
    encode = module.Tokenizer.from_pretrained(vocabulary).encode
    return lambda text: len(encode(_sendable(text)))


def _tiktoken(vocabulary: str) -> Count | None:
    folder = os.environ.get("TIKTOKEN_CACHE_DIR")
    if not folder or not _is_whole(os.path.join(folder, TIKTOKEN_FILES[vocabulary][0]), vocabulary):
        return None
    module = _module("tiktoken")
    if module is None:
        return None
    encode = module.get_encoding(vocabulary).encode_ordinary
    return lambda text: len(encode(_sendable(text)))


def _is_whole(path: str, vocabulary: str) -> bool:
    try:
        with open(path, "rb") as file:
            return sha256(file.read()).hexdigest() == TIKTOKEN_FILES[vocabulary][1]
    except OSError:
        return False


def _module(name: str) -> Any:
    """None where it is not installed. One that is broken says so itself."""
    try:
        return import_module(name)
    except ModuleNotFoundError as missing:
        if missing.name != name:
            raise
        return None


def _sendable(text: str) -> str:
    """Without halves of letters, which no tokenizer takes."""
    return text.encode("utf-8", "replace").decode()


class Remembering:
    """A slow counter that counts no text twice, told by its digest."""

    def __init__(self, count: Count) -> None:
        self._count = count
        self._known: dict[bytes, int] = {}

    def __call__(self, text: str) -> int:
        """The tokens of a text."""
        text = _sendable(text)
        name = sha256(text.encode()).digest()
        if name not in self._known:
            if len(self._known) >= REMEMBERED_MAX:
                del self._known[next(iter(self._known))]
            self._known[name] = self._count(text)
        return self._known[name]
