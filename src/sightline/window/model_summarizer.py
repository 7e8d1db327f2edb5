"""Sum up by any model that Pydantic AI can reach (extra `agent`)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from sightline.errors import SightlineError
from sightline.text.installing import installing
from sightline.window.condense import TIMEOUT_S, Summarizer

ANSWER_TOKENS = 4_000
"""Tokens that the model may answer with."""


@contextmanager
def needing_pydantic_ai() -> Iterator[None]:
    """Run a block that imports Pydantic AI. SightlineError where Pydantic AI is not installed."""
    try:
        yield
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] != "pydantic_ai":
            raise
        raise SightlineError(
            "A model can only be asked through Pydantic AI, which is not installed.",
            installing("agent"),
        ) from missing


def model_summarizer(
    model: Any, *, timeout_s: float = TIMEOUT_S, max_tokens: int = ANSWER_TOKENS
) -> Summarizer:
    """Return a summarizer for condense() and recover() that asks a model.

    model: a name as Pydantic AI has it ("anthropic:claude-haiku-4-5"), or one of its model objects.
    timeout_s: of one request; max_tokens: of the answer. SightlineError where Pydantic AI is not
    installed; errors of the model come out of the summarizer, and condense() words them.
    """
    with needing_pydantic_ai():
        direct = import_module("pydantic_ai.direct")
        messages = import_module("pydantic_ai.messages")

    def summarize(request: str, /) -> str:
        asked = [messages.ModelRequest.user_text_prompt(request)]
        settings = {"timeout": timeout_s, "max_tokens": max_tokens}
        answer = asyncio.run(direct.model_request(model, asked, model_settings=settings))
        return "".join(part.content for part in answer.parts if part.part_kind == "text")

    return summarize
