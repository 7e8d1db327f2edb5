"""The token counter chosen for a model. A tokenizer that is not installed is replaced by a module
with the functions in use."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace

import pytest

from sightline.messages.token_counter import counter, family_of


@pytest.mark.parametrize(
    ("model", "family"),
    [
        (None, "o200k"),
        ("gpt-5.6", "o200k"),
        ("gemini-3-pro", "o200k"),
        ("claude-3-5-sonnet-20241022", "anthropic"),
        ("claude-opus-4-20250514", "anthropic"),
        ("claude-opus-4-6", "anthropic"),
        ("anthropic.claude-sonnet-4-5-20250929-v1:0", "anthropic"),
        ("anthropic/claude-sonnet-4.5", "anthropic"),
        ("claude-opus-4-7", "anthropic-5"),
        ("claude-opus-4.8", "anthropic-5"),
        ("claude-sonnet-5", "anthropic-5"),
        ("claude-mythos-5-1", "anthropic-5"),
        ("claude-of-tomorrow", "anthropic-5"),
    ],
)
def test_a_model_is_of_a_family(model, family):
    assert family_of(model) == family


@pytest.fixture
def nothing_installed(monkeypatch):
    for name in ("ctok", "splintr", "tiktoken"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR", raising=False)
    return monkeypatch


def installed(monkeypatch, name, **names):
    module = ModuleType(name)
    module.__dict__.update(names)
    monkeypatch.setitem(sys.modules, name, module)


@pytest.mark.parametrize("model", [None, "gpt-5", "claude-sonnet-5"])
def test_without_a_tokenizer_it_is_estimated_with_the_widest_margin(nothing_installed, model):
    made = counter(model)
    assert (made.name, made.margin) == ("estimate", 0.10)
    assert made("a few words of text") >= 4


def test_claude_is_counted_by_ctok_without_what_it_adds_to_a_message(nothing_installed):
    def token_count(text, version):
        return {"4.5": 7, "4.8": 6}[version] + len(text)

    installed(nothing_installed, "ctok", token_count=token_count)
    for model in ("claude-opus-4-5", "claude-sonnet-5"):
        made = counter(model)
        assert (made.name, made("four"), made("")) == ("ctok", 4, 0)
    assert counter("gpt-5").name == "estimate"


@pytest.mark.parametrize(
    ("model", "name", "margin"),
    [
        ("gpt-5", "splintr (o200k_base)", 0.05),
        ("gpt-4o-mini", "splintr (o200k_base)", 0.05),
        ("gpt-4-turbo", "splintr (cl100k_base)", 0.05),
        ("azure/gpt-3.5-turbo", "splintr (cl100k_base)", 0.05),
        ("deepseek-chat", "splintr (o200k_base)", 0.10),
        (None, "splintr (o200k_base)", 0.10),
    ],
)
def test_others_are_counted_by_splintr(nothing_installed, model, name, margin):
    tokenizer = SimpleNamespace(from_pretrained=lambda _: SimpleNamespace(encode=list))
    installed(nothing_installed, "splintr", Tokenizer=tokenizer)
    made = counter(model)
    assert (made.name, made.margin, made("four"), made("\ud800")) == (name, margin, 4, 1)


def test_ctok_counts_a_text_once(nothing_installed):
    counted = []

    def token_count(text, version):
        counted.append(text)
        return 6 + len(text)

    installed(nothing_installed, "ctok", token_count=token_count)
    count = counter("claude-sonnet-5")
    assert [count(text) for text in ("one", "three", "one")] == [3, 5, 3]
    assert counted[1:] == ["one", "three"]
