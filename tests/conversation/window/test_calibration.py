"""What a provider says it read, and what that does to our counts."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.conversation.window.calibration import HIGHEST, LOWEST, Calibration
from sightline.conversation.window.token_usage import input_tokens

MODEL = "some-model"


def test_only_what_came_since_the_last_answer_is_estimated():
    calibration = Calibration()
    assert calibration.tokens(MODEL, 50_000) == 50_000
    assert calibration.learn(MODEL, 50_000, {"prompt_tokens": 60_000})
    assert calibration.factor(MODEL) == pytest.approx(1.2)
    assert calibration.tokens(MODEL, 50_000) == 60_000
    assert calibration.tokens(MODEL, 51_000) == 61_200
    assert calibration.tokens(MODEL, 40_000) == 48_000  # something was folded


def test_other_models_have_other_factors():
    calibration = Calibration()
    calibration.learn(MODEL, 50_000, {"prompt_tokens": 60_000})
    assert calibration.factor("another") == 1.0


def test_a_factor_follows_slowly():
    calibration = Calibration()
    calibration.learn(MODEL, 10_000, {"prompt_tokens": 10_000})
    calibration.learn(MODEL, 10_000, {"prompt_tokens": 15_000})
    assert calibration.factor(MODEL) == pytest.approx(1.1)


@pytest.mark.parametrize("usage", [{"prompt_tokens": 4_000}, {}, None])
def test_what_cannot_be_true_teaches_nothing(usage):
    """Ollama leaves out the front of what it was sent, and says so in its usage alone."""
    calibration = Calibration()
    assert not calibration.learn(MODEL, 10_000, usage)
    assert calibration.tokens(MODEL, 10_000) == 10_000


def test_a_short_call_says_where_the_window_stands_and_no_more():
    calibration = Calibration()
    assert calibration.learn(MODEL, 100, {"prompt_tokens": 900})
    assert calibration.factor(MODEL) == 1.0
    assert calibration.tokens(MODEL, 150) == 950


def test_another_window_keeps_the_factor():
    calibration = Calibration()
    calibration.learn(MODEL, 50_000, {"prompt_tokens": 60_000})
    calibration.forget(MODEL)
    assert calibration.tokens(MODEL, 10_000) == 12_000


@given(st.lists(st.tuples(st.integers(-5, 10**6), st.integers(-5, 10**7))))
def test_a_factor_stays_within_its_bounds(pairs):
    calibration = Calibration()
    for counted, used in pairs:
        calibration.learn(MODEL, counted, {"prompt_tokens": used})
    assert LOWEST <= calibration.factor(MODEL) <= HIGHEST
    assert calibration.tokens(MODEL, 1_000) >= 0


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        ({"input_tokens": 5, "cache_read_input_tokens": 90, "cache_creation_input_tokens": 7}, 102),
        ({"inputTokens": 5, "cacheReadInputTokens": 90, "cacheWriteInputTokens": 7}, 102),
        ({"input_tokens": 100, "input_tokens_details": {"cached_tokens": 90}}, 100),
        ({"prompt_tokens": 100, "cache_read_input_tokens": 90}, 100),
        ({"promptTokenCount": 100, "cachedContentTokenCount": 90}, 100),
        ({"prompt_eval_count": 100}, 100),
        (SimpleNamespace(input_tokens=5, cache_read_input_tokens=None), 5),
        ({"output_tokens": 5}, None),
        ({"input_tokens": "5"}, None),
        (None, None),
    ],
)
def test_usage_is_read_by_the_names_of_any_provider(usage, tokens):
    assert input_tokens(usage) == tokens
