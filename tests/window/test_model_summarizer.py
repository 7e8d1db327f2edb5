"""A summary by any model that Pydantic AI can reach."""

from __future__ import annotations

import sys

import pytest
from tests.messages.talks import chatter

import sightline
from sightline.errors import CondenseRefused, SightlineError


def test_without_pydantic_ai_its_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pydantic_ai", None)
    monkeypatch.setitem(sys.modules, "pydantic_ai.direct", None)
    with pytest.raises(SightlineError, match="not installed") as missing:
        sightline.model_summarizer("openai:gpt-5")
    assert ".[agent]" in missing.value.hint


def test_a_model_of_pydantic_ai_sums_up(s):
    function = pytest.importorskip("pydantic_ai.models.function")
    messages = pytest.importorskip("pydantic_ai.messages")
    asked = []

    def answer(history, info):
        asked.append(history[0].parts[0].content)
        return messages.ModelResponse(parts=[messages.TextPart("Totals were made right.")])

    summarizer = sightline.model_summarizer(function.FunctionModel(answer))
    made = chatter(s).condense(summarizer, keep_tokens=200)
    assert "Totals were made right." in made.summary
    assert "--- the conversation ---" in asked[0]


def test_an_error_of_the_model_is_worded(s):
    function = pytest.importorskip("pydantic_ai.models.function")

    def fails(history, info):
        raise RuntimeError("no key")

    summarizer = sightline.model_summarizer(function.FunctionModel(fails))
    with pytest.raises(CondenseRefused, match="RuntimeError: no key"):
        chatter(s).condense(summarizer, keep_tokens=200)
