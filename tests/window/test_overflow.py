"""Errors as providers send them: each row of the table, and each trap that others fell into."""

from __future__ import annotations

import json
import re
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.window.provider_errors import OPENAI_OVER, OTHERS, OVERFLOWS, anthropic

import sightline
from sightline.window import overflow
from sightline.window.overflow import ProviderError, classify_error


@pytest.mark.parametrize("name", OVERFLOWS)
def test_an_overflow_is_told_with_its_numbers(name):
    error, status, used, limit = OVERFLOWS[name]
    assert classify_error(error, status) == ProviderError("overflow", used, limit)


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_no_overflow_is_not_taken_for_one(name):
    error, status, kind = OTHERS[name]
    assert classify_error(error, status).kind == kind


class APIStatusError(Exception):
    """As the SDKs of OpenAI and Anthropic have it."""

    def __init__(self, message, body=None, status_code=400, code=None):
        super().__init__(message)
        self.message = message
        self.body = body
        self.status_code = status_code
        self.code = code
        self.response = SimpleNamespace(status_code=status_code, text=json.dumps(body))
        self.request = SimpleNamespace(text="prompt is too long: 9 tokens > 8 maximum")


def test_an_exception_of_an_sdk_is_looked_into():
    error = APIStatusError("Error code: 400", OPENAI_OVER, code="context_length_exceeded")
    assert classify_error(error) == ProviderError("overflow", 130521, 128000)


def raised(inner, outer, cause):
    """An error while another was handled: because of it, or hiding it."""
    try:
        raise inner
    except type(inner):
        raise outer from cause


def test_an_error_that_was_raised_from_another_is_told_by_the_inner_one():
    inner = APIStatusError("no", anthropic("prompt is too long: 210 tokens > 200 maximum"))
    with pytest.raises(ConnectionError) as caught:
        raised(inner, ConnectionError("Connection error."), inner)
    assert classify_error(caught.value) == ProviderError("overflow", 210, 200)


def test_an_error_while_another_was_handled_is_told_by_itself():
    inner = APIStatusError("rate limit", status_code=429)
    with pytest.raises(ValueError, match="too long") as caught:
        raised(inner, ValueError("prompt is too long"), None)
    assert classify_error(caught.value).kind == "overflow"


def test_what_was_sent_is_no_evidence():
    assert (
        classify_error(APIStatusError("Bad request", {"error": {"message": "no"}})).kind == "other"
    )


def test_what_the_model_said_is_no_evidence():
    answer = {"choices": [{"finish_reason": "stop", "message": {"content": "prompt is too long"}}]}
    assert classify_error(answer).kind == "other"


class Unread:
    """A response of a stream, whose text cannot be had."""

    status_code = 400

    @property
    def text(self):
        raise RuntimeError("read() was not called")


def test_a_response_that_nobody_read_is_no_obstacle():
    error = APIStatusError("prompt is too long: 210 tokens > 200 maximum")
    error.response = Unread()  # type: ignore[assignment]
    assert classify_error(error) == ProviderError("overflow", 210, 200)


def nested(depth):
    inner = anthropic("prompt is too long: 210 tokens > 200 maximum")["error"]
    for _ in range(depth):
        inner = {"error": inner}
    return inner


@pytest.mark.parametrize(("depth", "kind"), [(0, "overflow"), (7, "overflow"), (9, "other")])
def test_eight_levels_are_looked_through(depth, kind):
    assert classify_error(nested(depth)).kind == kind


def test_a_circle_ends():
    body: dict[str, Any] = {"message": "prompt is too long"}
    body["error"] = body
    body["errors"] = [body, {"cause": body}]
    assert classify_error(body).kind == "overflow"


@pytest.mark.wide
@given(st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(
        st.sampled_from(["error", "cause", "body", "message", "code", "status", "choices", "x"]), inner),
))  # fmt: skip
def test_anything_is_classified(error):
    made = classify_error(error)
    assert made == classify_error(error)


def test_it_is_public():
    assert sightline.classify_error(OPENAI_OVER).limit == 128000


def test_a_number_that_is_no_count_of_tokens_is_left_out():
    text = f"prompt is too long: {'9' * 10_000} tokens > 200000 maximum"
    assert classify_error(text) == ProviderError("overflow", None, 200_000)


def test_no_pattern_for_an_error_repeats_without_a_bound():
    """So each search is linear in the text, whatever the text is. A number alone may be of any length, for
    no search begins within it."""
    numbers = (overflow.USED, overflow.LIMIT, overflow.INPUT, overflow.ROOM)
    assert all(number.startswith(r"(?<!\d)(?<!\d[,_])") for number in numbers)
    patterns = [*(pattern for _, pattern in overflow._patterns()), overflow.RATE, overflow.OTHER]
    for pattern in [*patterns, overflow._STATUS, overflow._LEADING_STATUS]:
        text = pattern.pattern
        for number in numbers:
            text = text.replace(number, "0")
        parsed = vars(re)["_parser"].parse(text, pattern.flags)
        assert "MAXREPEAT" not in repr(parsed), pattern.pattern


@pytest.mark.parametrize("hostile", ["1", "111,", " ", "context length is 1 tokens "])
def test_of_a_huge_error_only_a_bounded_part_is_read(hostile):
    text = hostile * (300_000 // len(hostile))
    evidence = overflow.Evidence({"errors": [{"message": f"{n} {text}"} for n in range(50)]})
    assert sum(map(len, evidence.texts)) <= overflow.TEXTS_MAX
    told = {
        "errors": [{"message": "prompt is too long: 12 tokens > 10 maximum"}, {"message": text}]
    }
    assert overflow.classify_error(told) == overflow.ProviderError("overflow", 12, 10)
