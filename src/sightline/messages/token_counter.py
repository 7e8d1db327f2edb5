"""Choose the token counter for a model: the host's own, an installed tokenizer, or the estimate of
text.tokens. Nothing is downloaded.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from hashlib import blake2b
from importlib import import_module
from typing import Any

from sightline.text.tokens import Counter, Family, estimate

Count = Callable[[str], int]

GOOD, ROUGH = 0.05, 0.10
"""Margins of error: of a model's own tokenizer, and of everything else."""

CTOK_VERSIONS: dict[Family, str] = {"anthropic": "4.5", "anthropic-5": "4.8"}
"""Family -> the version of Claude's tokenizer that ctok is asked for."""

CACHED_MAX = 50_000
"""Counts of a slow counter that are cached, by content."""

_CLAUDE_VERSION = re.compile(r"claude-(?:[a-z]+-)?(\d)(?:[-.](\d)(?!\d))?")
_OPENAI = re.compile(r"(?:^|[/.:])(?:gpt-|chatgpt|o\d\b|codex)")
_OLDER_OPENAI = re.compile(r"gpt-(?:3\.5|4(?![\do.]))")


def counter(model: str | None = None, own: Count | None = None) -> Counter:
    """Return the best counter for a model's texts: the host's own, ctok for Claude, splintr for
    others, else the estimate. own: tokens of a text, by the host."""
    family = family_of(model)
    if own is not None:
        return Counter(cached(own), "the host's counter", family, GOOD)
    if family != "o200k":
        count, name, margin = _ctok(CTOK_VERSIONS[family]), "ctok", GOOD
    else:
        model_name = (model or "").lower()
        vocabulary = "cl100k_base" if _OLDER_OPENAI.search(model_name) else "o200k_base"
        count, name = _splintr(vocabulary), f"splintr ({vocabulary})"
        margin = GOOD if _OPENAI.search(model_name) else ROUGH
    if count is None:
        return Counter(partial(estimate, family=family), "estimate", family, ROUGH)
    return Counter(count, name, family, margin)


def family_of(model: str | None) -> Family:
    """Return the family of a model's tokenizer. model: the name as any provider spells it."""
    name = (model or "").lower()
    if "claude" not in name and "anthropic" not in name:
        return "o200k"
    match = _CLAUDE_VERSION.search(name)
    if match is None:
        return "anthropic-5"
    version = int(match[1]), int(match[2] or 0)
    return "anthropic-5" if version >= (4, 7) else "anthropic"


def _ctok(version: str) -> Count | None:
    module = _import("ctok")
    if module is None:
        return None
    count = module.token_count
    frame: int = count("a", version) - 1  # tokens that a message adds to its text

    def count_text(text: str) -> int:
        return count(_encodable(text), version) - frame if text else 0

    return cached(count_text)


def cached(count: Count) -> Count:
    """Return a counter that counts each text once. It remembers hashes, not texts."""
    counts: dict[bytes, int] = {}

    def count_once(text: str) -> int:
        name = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        if name not in counts:
            if len(counts) >= CACHED_MAX:
                counts.clear()
            counts[name] = count(text)
        return counts[name]

    return count_once


def _splintr(vocabulary: str) -> Count | None:
    module = _import("splintr")
    if module is None:
        return None
    encode = module.Tokenizer.from_pretrained(vocabulary).encode
    return lambda text: len(encode(_encodable(text)))


def _import(name: str) -> Any:
    """Import an optional module; None when the module itself is not installed."""
    try:
        return import_module(name)
    except ModuleNotFoundError as missing:
        if missing.name != name:
            raise
        return None


def _encodable(text: str) -> str:
    """Replace lone surrogates, which no tokenizer accepts."""
    return text.encode("utf-8", "replace").decode()
