"""Which counter there is for a model. What is not installed here is stood for by a module that has
as much of it as is used."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace

import pytest

from sightline.conversation.token_counter import Remembering, counter, family_of


@pytest.mark.parametrize(
    ("model", "family"),
    [
        (None, "o200k"),
        ("gpt-5.6", "o200k"),
        ("gemini-3-pro", "o200k"),
        ("claude-3-5-sonnet-20241022", "claude"),
        ("claude-opus-4-20250514", "claude"),
        ("claude-opus-4-6", "claude"),
        ("anthropic.claude-sonnet-4-5-20250929-v1:0", "claude"),
        ("anthropic/claude-sonnet-4.5", "claude"),
        ("claude-opus-4-7", "claude-5"),
        ("claude-opus-4.8", "claude-5"),
        ("claude-sonnet-5", "claude-5"),
        ("claude-mythos-5-1", "claude-5"),
        ("claude-of-tomorrow", "claude-5"),
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


def test_the_users_own_function_comes_first(nothing_installed):
    made = counter("claude-sonnet-5", len)
    assert (made("four"), made.name, made.family) == (4, "yours", "claude-5")


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


def test_tiktoken_is_left_alone_where_it_would_download(nothing_installed, tmp_path):
    def get_encoding(name):
        raise AssertionError("it would download")

    installed(nothing_installed, "tiktoken", get_encoding=get_encoding)
    assert counter("gpt-5").name == "estimate"
    nothing_installed.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    assert counter("gpt-5").name == "estimate"
    (tmp_path / "fb374d419588a4632f3f557e76b4b70aebbca790").write_bytes(b"damaged")
    assert counter("gpt-5").name == "estimate"


def test_no_text_is_counted_twice():
    counted = []

    def count(text):
        counted.append(text)
        return len(text)

    remembering = Remembering(count)
    assert [remembering(text) for text in ("one", "three", "one")] == [3, 5, 3]
    assert counted == ["one", "three"]
