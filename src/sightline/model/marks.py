"""Put U+FFFD in place of each lone surrogate: a byte of a file that is no text, or half of a character.
A provider refuses a request with a lone surrogate."""

from __future__ import annotations

import re
from typing import Any

REPLACEMENT = "\ufffd"

_LONE = re.compile("[\ud800-\udfff]")


def has_lone(text: str) -> bool:
    """Return whether a text has a lone surrogate."""
    return not text.isascii() and _LONE.search(text) is not None


def sendable(text: str) -> str:
    """Return a text as it can be sent. The length stays."""
    return text if text.isascii() else _LONE.sub(REPLACEMENT, text)


_HALF = re.compile("[\ud800-\udc7f\udd00-\udfff]")


def without_halves(text: str) -> str:
    """Return a text with U+FFFD in place of each half of a character. Bytes that are no text stay."""
    return text if text.isascii() else _HALF.sub(REPLACEMENT, text)


def all_sendable(value: Any) -> Any:
    """Return a copy of a JSON value whose texts can be sent, names of fields too."""
    if isinstance(value, str):
        return sendable(value)
    if isinstance(value, dict):
        return {sendable(key): all_sendable(field) for key, field in value.items()}
    return [all_sendable(item) for item in value] if isinstance(value, (list, tuple)) else value
