"""Usage: how many tokens a provider says that it read, by the names of any of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

WHOLE = (
    *("prompt_eval_count", "prompt_tokens", "promptTokenCount", "prompt_token_count"),
    *("inputTokens", "input_tokens"),
)
"""Names of what was read. Of the first that is there; most providers count cached tokens in."""

BESIDE = (
    *("cache_read_input_tokens", "cache_creation_input_tokens"),
    *("cacheReadInputTokens", "cacheWriteInputTokens"),
)
"""Cached tokens that Anthropic and Bedrock count beside what was read."""


def input_tokens(usage: Any) -> int | None:
    """The tokens of what was sent, cached or not, of one answer's usage (a mapping or an object).
    None when it does not say."""
    whole = next((n for n in (_number(usage, name) for name in WHOLE) if n is not None), None)
    if whole is None:
        return None
    if _number(usage, "prompt_tokens") is not None:  # a gateway's copy of Anthropic's fields
        return whole
    return whole + sum(_number(usage, name) or 0 for name in BESIDE)


def _number(usage: Any, name: str) -> int | None:
    value = usage.get(name) if isinstance(usage, Mapping) else getattr(usage, name, None)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
