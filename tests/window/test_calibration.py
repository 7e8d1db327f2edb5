"""Estimates follow what the provider counted, and believe no number that cannot be true."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.messages.talks import call, result, talk, tokens

import sightline
from sightline.model.events import RequestMeasured
from sightline.testing import MemoryWorkspace, make_session
from sightline.window.calibration import Calibration, calibrate, input_tokens


def measured(*pairs):
    return [RequestMeasured("m", estimate, tokens) for estimate, tokens in pairs]


def refused(estimate, tokens, limit):
    return RequestMeasured("m", estimate, tokens, limit, True)


USAGES = {
    "anthropic": (
        {"input_tokens": 4, "cache_creation_input_tokens": 1_000, "cache_read_input_tokens": 9_000, "output_tokens": 50},
        10_004,
    ),
    "anthropic, with a compaction by the server": (
        {"input_tokens": 9, "iterations": [{"input_tokens": 180_000}, {"input_tokens": 20_000, "cache_read_input_tokens": 5}]},
        20_005,
    ),
    "chat": ({"prompt_tokens": 700, "prompt_tokens_details": {"cached_tokens": 600}}, 700),
    "responses": ({"input_tokens": 700, "input_tokens_details": {"cached_tokens": 600}}, 700),
    "gemini": ({"usageMetadata": {"promptTokenCount": 321, "cachedContentTokenCount": 300}}, 321),
    "bedrock": ({"usage": {"inputTokens": 10, "cacheReadInputTokens": 90}}, 100),
    "ollama": ({"prompt_eval_count": 26, "eval_count": 290}, 26),
    "an object": (SimpleNamespace(usage=SimpleNamespace(input_tokens=12)), 12),
    "a number": (77, 77),
    "an event of a stream": ({"type": "response.completed", "response": {"usage": {"input_tokens": 5}}}, 5),
    "nothing": ({"output_tokens": 5}, None),
    "no number": ({"input_tokens": "many"}, None),
    "below 0": ({"input_tokens": -4}, None),
}  # fmt: skip


@pytest.mark.parametrize("name", USAGES)
def test_a_usage_is_read_in_the_words_of_each_provider(name):
    usage, expected = USAGES[name]
    assert input_tokens(usage) == expected


@pytest.mark.wide
@given(st.recursive(st.none() | st.integers() | st.floats() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["usage", "input_tokens", "iterations", "message"]), inner)))  # fmt: skip
def test_anything_may_be_a_usage(usage):
    found = input_tokens(usage)
    assert found is None or found >= 0


def test_only_what_came_since_the_last_request_is_estimated():
    known = calibrate(measured((10_000, 23_000)))
    assert known.tokens(10_500) == 23_500
    assert known.tokens(8_000) == 21_000
    assert known.estimate(23_500) == 10_500


def test_what_a_model_counts_for_an_estimated_token_is_learned_from_differences():
    pairs = [(n * 5_000, 20_000 + n * 6_500) for n in range(1, 7)]  # 20,000 beside the messages
    known = calibrate(measured(*pairs))
    assert known.ratio == pytest.approx(1.3, abs=0.02)
    assert known.tokens(40_000) == pytest.approx(20_000 + 8 * 6_500, rel=0.01)
    assert calibrate([], [measured(*pairs)]).tokens(10_000) == pytest.approx(13_000, rel=0.02)


def test_a_correction_has_bounds():
    assert calibrate(measured((1_000, 100_000), (2_000, 100_001))).ratio >= 0.5
    assert calibrate(measured((1_000, 10_000), (2_000, 12_400), (3_000, 14_900))).ratio <= 2.0


@pytest.mark.parametrize("sums", [(50_000, 101_000, 153_000, 206_000)])
def test_usages_that_were_added_up_poison_nothing(sums):
    estimates = (49_000, 50_000, 51_000, 52_000)
    known = calibrate(measured(*zip(estimates, sums, strict=True)))
    assert known.tokens(52_000) == pytest.approx(53_000, rel=0.02)


def test_a_number_that_was_doubted_is_believed_when_it_comes_again():
    known = calibrate(measured((10_000, 12_000), (10_100, 60_000), (10_200, 60_100)))
    assert known.tokens(10_200) == 60_100


def test_a_small_usage_teaches_nothing():
    known = calibrate(measured((20_000, 25_000), (21_000, 2_048)))
    assert known.tokens(21_000) == pytest.approx(26_000, rel=0.02)


def test_a_refusal_without_numbers_says_that_it_is_more_than_the_limit():
    known = calibrate([refused(150_000, None, 200_000)])
    assert known.tokens(150_000) == 200_001
    assert known.limit == 200_000
    assert calibrate([refused(9_000, None, 8_000)]).tokens(9_000) == 9_000


def test_a_larger_request_that_was_accepted_ends_a_limit():
    known = calibrate([refused(9_000, 9_500, 8_000), *measured((9_100, 9_600))])
    assert known.limit is None


@given(st.lists(st.tuples(st.integers(0, 10**6), st.none() | st.integers(0, 10**7), st.none() | st.integers(1, 10**7), st.booleans()), max_size=6), st.integers(0, 10**6))  # fmt: skip
def test_any_reports_give_finite_numbers(rows, estimate):
    facts = [RequestMeasured("m", e, t, limit, was) for e, t, limit, was in rows]
    known = calibrate(facts)
    assert isinstance(known, Calibration)
    assert known.tokens(estimate) >= 0
    assert isinstance(known.estimate(estimate), int)


# --- in a session


def test_a_request_is_measured_for_its_model_and_its_session(s):
    s.turn(model="claude-sonnet-4-5")
    conversation = talk(s, 8)
    here = tokens(conversation.view())
    size = conversation.record_usage({"input_tokens": here + 15_000}, prefix=15_000)
    assert (size.problem, size.warning) == (None, "")
    assert conversation.record_usage(here + 15_000).predicted == here + 15_000
    s.turn(model="gpt-5")
    assert conversation.record_usage(here).predicted < here + 15_000


def test_the_answer_may_be_appended_before_its_usage_is_told(s):
    conversation = talk(s, 8)
    here = tokens(conversation.view())
    conversation.append({"role": "assistant", "content": "a long answer " * 500})
    conversation.record_usage(here + 300)
    size = conversation.record_usage(here + 300)
    assert size.predicted == here + 300


def test_a_hard_budget_is_that_of_the_provider_once_it_told_its_count(s):
    conversation = talk(s)
    here = tokens(conversation.view())
    conversation.record_usage(here + 10_000, prefix=10_000)
    view = conversation.view(sightline.Budget(hard=here + 6_000))
    assert tokens(view) + 10_000 <= here + 6_000


def test_another_session_of_the_model_learns_from_the_first():
    place = MemoryWorkspace({})
    first = make_session(place, id="one")
    first.turn(model="m")
    conversation = first.conversation
    conversation.append({"role": "user", "content": "go"})
    for n in range(5):
        conversation.append(call(n, "Bash", {"command": f"run {n}"}))
        conversation.append(result(n, "line of words\n" * 300))
        here = tokens(conversation.view())
        size = conversation.record_usage(5_000 + round(here * 1.4))
    assert size.ratio == pytest.approx(1.4, abs=0.05)
    second = make_session(place, id="two")
    second.turn(model="m")
    other = talk(second, 4)
    predicted = other.record_usage(round(tokens(other.view()) * 1.4)).predicted
    assert predicted == pytest.approx(tokens(other.view()) * 1.4, rel=0.05)


def test_a_usage_without_a_number_is_refused(s):
    with pytest.raises(ValueError, match="has no number of input tokens"):
        talk(s, 1).record_usage({"cost": 3})
    with pytest.raises(ValueError, match="no message yet"):
        make_session(id="t").conversation.record_usage(5)


def test_a_sum_of_requests_is_warned_of(s):
    conversation = talk(s, 4)
    conversation.record_usage(tokens(conversation.view()))
    size = conversation.record_usage(900_000)
    assert "may be the sum of several requests" in size.warning
    assert size.problem is None


def test_a_count_that_no_window_is_as_small_as_is_no_cut_request(s):
    """A scripted model says 50, whatever it is sent."""
    s.conversation.append({"role": "user", "content": "word " * 4_000})
    size = s.conversation.record_usage(50)
    assert (size.problem, "no provider reads as few" in size.warning) == (None, True)
    size = s.conversation.record_usage(1_024)  # half of the smallest window
    assert size.problem is not None
    assert size.problem.kind == "overflow"


def test_a_host_counts_by_its_own_function(s):
    asked = []

    def count(text):
        asked.append(text)
        return len(text)

    conversation = talk(s, 4)
    conversation.count_with(count)
    view = conversation.view(sightline.Budget(hard=5_000))
    assert len(json.dumps(view)) < 7_000
    times = len(asked)
    conversation.view(sightline.Budget(hard=5_000))
    assert len(asked) == times
    assert len(set(asked)) == len(asked)
