"""Calibrate estimates of tokens by the counts that providers reported for earlier requests.

The provider's size of the last request is the anchor: only what came or went since is estimated. How
many of a provider's tokens one estimated token is, is learned for each model from how the sizes of
two requests differ, so that what is sent beside the messages (system text, tools) does not count.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from msgspec import Struct, structs

from sightline.messages.tool_calls import field
from sightline.model.events import RequestMeasured

RATIO_MIN, RATIO_MAX = 0.5, 2.0
"""Bounds of a model's correction: outside, the counts are not of the same texts."""

PAIR_MIN = 100
"""Estimated tokens by which two requests must differ to teach something."""

PRIOR = 1_000
"""Estimated tokens for which the uncorrected estimate is trusted as much as a measured difference."""

DECAY = 0.8
"""Weight of a pair of requests relative to the next pair."""

CUT = 0.6
"""A request that has less than this part of its estimate was cut by the provider."""

CUT_MIN = 1_000
"""Tokens that must be missing before a request counts as cut."""

READ_MIN = 1_000
"""Tokens that a provider reads at least of a request that it cuts: no window is smaller. A smaller number
counts something else."""

JUMP_MIN = 20_000
"""Tokens by which a request may differ from its prediction, as when tools are added."""

AGREED = 0.1
"""Part by which two doubted sizes may differ to confirm each other."""

Measured = Sequence[RequestMeasured]


class Calibration(Struct, frozen=True):
    """The calibration of one model. ratio: its tokens for each estimated one. anchor: estimate and
    real tokens of the last measured request, None where there is none. limit: the context window, as a
    refusal named it last."""

    ratio: float = 1.0
    anchor: tuple[int, int] | None = None
    limit: int | None = None

    def tokens(self, estimate: int, prefix: int = 0) -> int:
        """Return the tokens of a request by the estimate of its messages. prefix: tokens before the
        messages; an anchor includes them."""
        if self.anchor is None:
            return prefix + round(estimate * self.ratio)
        before, tokens = self.anchor
        return max(tokens + round((estimate - before) * self.ratio), 0)

    def estimate(self, tokens: int, prefix: int = 0) -> int:
        """Return the estimate of messages whose request has a number of tokens; may be below 0."""
        if self.anchor is None:
            return int((tokens - prefix) / self.ratio)
        before, anchored = self.anchor
        return int(before + (tokens - anchored) / self.ratio) if self.ratio else before

    def of_text(self, tokens: int) -> int:
        """Return the estimate of a text alone that has a number of tokens."""
        return int(tokens / self.ratio) if self.ratio else tokens


def calibrate(own: Measured, others: Iterable[Measured] = ()) -> Calibration:
    """Return the calibration after the measured requests of a model.

    own: of one conversation, oldest first; others: of each other session with this model.
    """
    ratio = _learn([*others, own])
    calibration = Calibration(ratio)
    doubted: tuple[int, int] | None = None
    limit: int | None = None
    for each in own:
        limit = each.limit or limit
        if not each.refused and limit is not None and (each.tokens or 0) > limit:
            limit = None  # a larger request was accepted
        if each.refused and each.tokens is None:
            # All that is known of a refused request is that it is above the limit.
            predicted = calibration.tokens(each.estimate)
            tokens = predicted if limit is None else max(predicted, limit + 1)
            calibration = _anchored(ratio, each.estimate, tokens, limit)
        elif each.tokens is not None:
            now = each.estimate, each.tokens
            doubt = Calibration(ratio, doubted) if doubted else None
            is_same = doubt is not None and abs(doubt.tokens(now[0]) - now[1]) <= now[1] * AGREED
            if is_plausible(calibration, *now) or is_same:
                calibration, doubted = _anchored(ratio, *now, limit if each.refused else None), None
            elif not each.refused:
                doubted = now
    return structs.replace(calibration, limit=limit)


def _anchored(ratio: float, estimate: int, tokens: int, refused_above: int | None) -> Calibration:
    """Return the calibration by one measured request. refused_above: the limit that it was above.
    What is sent beside the messages is never below 0, and less than half of a window."""
    whole = tokens / max(estimate, 1)
    ratio = min(ratio, whole)
    if refused_above is not None and tokens - estimate * ratio > refused_above / 2:
        ratio = whole
    return Calibration(ratio, (estimate, tokens))


def is_plausible(calibration: Calibration, estimate: int, tokens: int) -> bool:
    """Return whether a request with this estimate can have so many tokens: neither cut, nor the sum
    of several requests, nor a number of something else."""
    if tokens <= 0 or _is_far_below(calibration, estimate, tokens):
        return False
    if calibration.anchor is None:
        return tokens <= RATIO_MAX * estimate + 5 * JUMP_MIN
    predicted = calibration.tokens(estimate)
    return abs(tokens - predicted) <= max(predicted // 2, JUMP_MIN)


def is_cut(calibration: Calibration, estimate: int, tokens: int, prefix: int = 0) -> bool:
    """Return whether a provider has read less than it was sent, without a word. prefix: tokens that
    were sent before the messages, as far as they are known."""
    return tokens >= READ_MIN and _is_far_below(calibration, estimate, tokens, prefix)


def _is_far_below(calibration: Calibration, estimate: int, tokens: int, prefix: int = 0) -> bool:
    own = prefix + round(estimate * calibration.ratio)  # an anchor may be wrong
    expected = min(calibration.tokens(estimate, prefix), own)
    return tokens < CUT * expected and expected - tokens > CUT_MIN


def _learn(sessions: Iterable[Measured]) -> float:
    """Return the tokens for each estimated one, by least squares over how consecutive requests of a
    session differ; older pairs weigh less."""
    weight, product = float(PRIOR**2), float(PRIOR**2)
    for session in sessions:
        known = [(each.estimate, each.tokens) for each in session if each.tokens is not None]
        for (first, first_tokens), (second, second_tokens) in pairwise(known):
            estimated, real = second - first, second_tokens - first_tokens
            is_like = RATIO_MIN * 0.8 <= real / (estimated or 1) <= RATIO_MAX * 1.25
            if abs(estimated) < PAIR_MIN or not is_like:
                continue
            weight = weight * DECAY + estimated * estimated
            product = product * DECAY + estimated * real
    return min(max(product / weight, RATIO_MIN), RATIO_MAX)


# --- usage, as providers tell it

HOLDERS = ("usage", "usageMetadata", "usage_metadata", "response", "message", "body")
"""Fields of an answer that hold the usage, or the answer itself."""

INPUT = (
    *("input_tokens", "prompt_tokens", "promptTokenCount", "prompt_token_count", "inputTokens"),
    *("prompt_eval_count", "request_tokens", "promptTokens", "total_input_tokens"),
)
"""Fields with the tokens of a request. OpenAI's and Gemini's contain the cached ones."""

CACHED = (
    *("cache_creation_input_tokens", "cache_read_input_tokens"),
    *("cacheReadInputTokens", "cacheWriteInputTokens"),
)
"""Fields of Anthropic and Bedrock with tokens that come on top."""

DEPTH_MAX = 4


def input_tokens(usage: object, depth: int = DEPTH_MAX) -> int | None:
    """Return the tokens of the last request by a provider's usage: an SDK's object, its JSON, or an
    answer that holds one; None where none is told."""
    if isinstance(usage, (int, float)) and not isinstance(usage, bool):
        return _whole(usage)
    rounds = field(usage, "iterations")  # Anthropic: the request and server-side compactions
    if isinstance(rounds, (list, tuple)) and rounds:
        usage = rounds[-1]
    own = next((n for n in (_whole(field(usage, name)) for name in INPUT) if n is not None), None)
    if own is not None:
        return own + sum(_whole(field(usage, name)) or 0 for name in CACHED)
    for name in HOLDERS if depth else ():
        inner = field(usage, name)
        if inner is not None and (isinstance(inner, Mapping) or hasattr(inner, "__dict__")):
            found = input_tokens(inner, depth - 1)
            if found is not None:
                return found
    return None


def _whole(value: Any) -> int | None:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return int(value) if is_number and 0 <= value < 2**53 else None
