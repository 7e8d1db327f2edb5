"""Text in a page: nothing in it can be markup."""

from __future__ import annotations

_SPECIAL = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;"})


def escape(text: str) -> str:
    """A text as it may stand between tags, and in the quotes of an attribute."""
    return text.translate(_SPECIAL)
