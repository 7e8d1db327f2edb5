"""Signs: the codes and words by which providers say what went wrong, and the numbers in them.

Each line is a message that some provider sends. What is no window's limit, though it speaks of
tokens, is looked for first.
"""

from __future__ import annotations

import re

from sightline.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Literal

    Kind = Literal[
        "overflow", "overflow_output", "payload_bytes", "malformed_history", "rate", "other"
    ]
    Numbers = tuple[int | None, int | None]

CODES: Mapping[str, Kind] = {
    "context_length_exceeded": "overflow",
    "context_window_exceeded": "overflow",
    "exceed_context_size_error": "overflow",
    "contextwindowexceedederror": "overflow",  # LiteLLM
    "contextoverflowerror": "overflow",  # LangChain
    "context_overflow": "overflow",
    "lengthfinishreasonerror": "overflow_output",
    "request_too_large": "payload_bytes",
    "rate_limit_exceeded": "rate",
    "rate_limit_error": "rate",
    "ratelimiterror": "rate",
    "ratelimitreached": "rate",
    "too_many_requests": "rate",
    "throttlingexception": "rate",
    "resource_exhausted": "rate",
    "insufficient_quota": "rate",
    "overloaded_error": "rate",
    "string_above_max_length": "other",
}
"""In lower case, names of exceptions among them."""

STOPS = {"model_context_window_exceeded", "length", "max_tokens", "max_output_tokens"}
"""Why an answer ended, where it had no room left."""

NUMBERS = (("n_prompt_tokens", "n_ctx"),)
"""Fields of what was used, and of the limit (llama.cpp)."""

N = r"(?P<{}>\d{{1,3}}(?:[,_]\d{{3}})+|\d+)"
USED, LIMIT, INPUT, ROOM = (N.format(name) for name in ("used", "limit", "input", "room"))


def _any(*words: str) -> re.Pattern[str]:
    return re.compile("|".join(words), re.IGNORECASE)


RATE = _any(
    *(r"rate[ _-]?limit", r"\bper[ -](?:minute|min|second|hour|day)\b", r"\b[TR]P[MD]\b"),
    *(r"\bquota\b", r"too many requests", r"throttl", r"tier capacity exceeded", r"overloaded"),
    r"please wait before trying again",
)
OTHER = _any(
    *(r"string_above_max_length", r"string too long\. expected a string with maximum length"),
    r"maximum allowed number of output tokens",
    r"supports at most [\d,]+ (?:completion|output) tokens",
    r"minimum token count to start caching",
    r"cached content is (?:too small|of [\d,]+ tokens)",
)

WORDS: tuple[tuple[Kind, str], ...] = (
    ("malformed_history", r"`?tool_use`? ids were found without `?tool_result"),
    ("malformed_history", r"unexpected `?tool_use_id`? found in `?tool_result"),
    ("malformed_history", r"each `?tool_use`? must have a single result"),
    ("malformed_history", r"`?tool_use`? ids must be unique"),
    ("malformed_history", r"with 'tool_calls' must be followed by tool messages"),
    ("malformed_history", r"role 'tool' must be a response to a prec?eed?ing message"),
    ("malformed_history", r"no tool (?:output|call) found for function call"),
    ("malformed_history", r"provided without its required following item"),
    ("malformed_history", r"failed to parse tool call arguments as json"),
    ("malformed_history", r"missing a `?thought_?signature"),
    ("malformed_history", r"function call turn comes immediately after"),
    ("malformed_history", r"number of function response parts"),
    ("malformed_history", r"not the same number of function calls and responses"),
    ("malformed_history", r"expected `thinking` or `redacted_thinking`"),
    ("malformed_history", r"`thinking` or `redacted_thinking` blocks .{0,60}cannot be modified"),
    ("malformed_history", r"roles must alternate"),
    ("malformed_history", r"text content blocks must (?:be non-empty|contain non-whitespace)"),
    ("payload_bytes", rf"{USED} bytes > {LIMIT} bytes"),
    ("payload_bytes", rf"payload size exceeds the limit: {LIMIT} bytes"),
    ("payload_bytes", r"payload size exceeds|request entity too large|payload too large"),
    ("payload_bytes", r"request exceeds the maximum size|request_too_large"),
    ("overflow", rf"prompt is too long: {USED} tokens > {LIMIT}"),
    ("overflow", rf"exceed context limit: {INPUT} \+ {ROOM} > {LIMIT}"),
    ("overflow", r"max_tokens'?\"? must be at least 1, got -\d+"),
    ("overflow", (rf"context length is {LIMIT} tokens.{{1,40}}?request has {INPUT} input tokens"
        rf"(?: \({ROOM} >)?")),
    ("overflow", (rf"context length is {LIMIT} tokens.{{1,60}}?has {INPUT} input tokens plus"
        rf" {ROOM}")),
    ("overflow", rf"has {INPUT} input tokens plus {ROOM} ['`\"]?max_(?:completion_)?tokens"),
    ("overflow", (rf"context length is {LIMIT} tokens.{{1,40}}?requested (?:about )?{USED} tokens"
        rf" \({INPUT} (?:in|of) (?:the |your )?(?:messages|prompt|text input|input)"
        rf"[^)]{{0,80}}?{ROOM} (?:in|for) the (?:completion|output)")),
    ("overflow", (rf"context length is {LIMIT} tokens.{{1,80}}?(?:requested|resulted in|contains?)"
        rf" (?:about |at least )?{USED}")),
    ("overflow", rf"maximum context length (?:is|of) {LIMIT}"),
    ("overflow", (rf"exceed the configured limit of {LIMIT} tokens"
        rf"(?:.{{1,40}}?resulted in {USED})?")),
    ("overflow", (rf"input token count \({USED}\) exceeds the maximum number of tokens allowed"
        rf" \({LIMIT}\)")),
    ("overflow", r"input token count .{0,20}?exceeds the maximum"),
    ("overflow", rf"prompt contains {USED} tokens.{{1,60}}?model with {LIMIT} maximum context"),
    ("overflow", rf"maximum prompt length is {LIMIT} but the request contains {USED}"),
    ("overflow", rf"current length is {USED} while limit is {LIMIT}"),
    ("overflow", rf"prompt token count of {USED} exceeds the limit of {LIMIT}"),
    ("overflow", rf"exceeded model token limit: {LIMIT}(?: \(requested: {USED}\))?"),
    ("overflow", rf"range of input length should be \[1, {LIMIT}\]"),
    ("overflow", (rf"requested input length (?:of )?{USED} exceeds .{{0,20}}?maximum input length"
        rf"(?: of)? {LIMIT}")),
    ("overflow", r"requested input length .{0,40}?exceeds .{0,20}?maximum input length"),
    ("overflow", rf"request \({USED} tokens\) exceeds the available context size \({LIMIT}"),
    ("overflow", rf"n_keep: {USED} >= n_ctx: {LIMIT}"),
    ("overflow", rf"first {USED} tokens when context .{{0,80}}?context length of only {LIMIT}"),
    ("overflow", rf"must be <= {LIMIT}\. given: {INPUT} `inputs` tokens and {ROOM}"),
    ("overflow", rf"`inputs` must have less than {LIMIT} tokens\. given: {USED}"),
    ("overflow", rf"prompt cannot exceed {LIMIT} - received {USED}"),
    ("overflow", rf"input text length should not exceed {LIMIT}"),
    ("overflow", r"maximum context length"),
    ("overflow", r"prompt is too long|prompt too long|prompt has too many tokens"),
    ("overflow", r"input is too long|too many input tokens|input tokens exceed|too many tokens"),
    ("overflow", r"expected maxLength: \d+"),
    ("overflow", (r"exceeds? (?:the |this |your )?(?:model'?s )?(?:available |maximum )?context"
        r" (?:size|window|length|limit)")),
    ("overflow", r"context (?:window|length|size) (?:was |has been |is )?exceed"),
    ("overflow", r"context_(?:length|window)_exceeded|exceed_context_size_error"),
    ("overflow", r"tokens to keep from the initial prompt is greater than the context length"),
    ("overflow", r"reduce the length of the messages or completion"),
    ("overflow", r"`inputs` tokens \+ `max_new_tokens` must be <=|input text length should not"),
    ("overflow", r"\s*4(?:00|13) .{0,60}?\(no body\)"),
    ("overflow_output", r"could not parse response content as the length limit was reached"),
    ("overflow_output", r"model_context_window_exceeded"),
)  # fmt: skip
"""Kind and words, the ones with numbers before those that they contain. input and room: what was
sent, and what was asked for the answer, where both are told."""

SIGNS = tuple((kind, re.compile(words, re.IGNORECASE | re.DOTALL)) for kind, words in WORDS)

DIGITS_MAX = 18
"""More are no count of tokens."""


class Said(Value):
    """What texts say: whether of a rate, whether of a limit that is no window's, else which kind,
    and the numbers of that: used, limit."""

    rate: bool
    other: bool
    kind: Kind | None = None
    numbers: Numbers = (None, None)


def told(texts: Iterable[str]) -> Said:
    """What these texts say, all together."""
    text = "\n".join(texts)
    rate, other = RATE.search(text) is not None, OTHER.search(text) is not None
    for kind, words in SIGNS:
        found = words.search(text)
        if found is not None:
            return Said(rate, other, *_kind(kind, found.groupdict()))
    return Said(rate, other)


def _kind(kind: Kind, found: Mapping[str, str | None]) -> tuple[Kind, Numbers]:
    """An overflow is one of the answer's room where what was sent would fit alone."""
    said = {name: n.replace(",", "").replace("_", "") for name, n in found.items() if n}
    read = {name: int(n) for name, n in said.items() if len(n) <= DIGITS_MAX}
    sent, limit = read.get("input"), read.get("limit")
    if sent is None:
        return kind, (read.get("used"), limit)
    used = read.get("used", sent + read.get("room", 0))
    if limit is None or sent <= limit:
        return "overflow_output", (used, limit)
    return "overflow", (used, limit)
