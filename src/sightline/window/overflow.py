"""Classify a provider's error: the kind tells the caller's next step.

The answers are: send less, reserve less room for the answer, send fewer bytes, repair the history,
wait, or none of these. A rate limit that counts tokens is never taken for a full context window.

Only fields in which providers describe the error are read. A request that comes back inside an error
is ignored: its messages may talk about context windows themselves.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Literal

from msgspec import Struct

ErrorKind = Literal[
    "overflow", "overflow_output", "payload_bytes", "malformed_history", "rate", "other"
]

WINDOW_STATUS = (400, 413, 422)
"""HTTP statuses with which providers report a full context window."""


class ProviderError(Struct, frozen=True):
    """A classified error of a provider.

    kind: overflow: the messages do not fit into the context window; overflow_output: the messages
    fit, but not together with the room requested for the answer, or the answer was cut off;
    payload_bytes: too many bytes, mostly images; malformed_history: no provider accepts these
    messages in this order; rate: too many requests or tokens per time, wait; other: none of these.
    used, limit: tokens (bytes for payload_bytes), where the provider names them; for
    overflow_output the room for the answer counts as used.
    """

    kind: ErrorKind
    used: int | None = None
    limit: int | None = None


def classify_error(error: Any, status: int | None = None) -> ProviderError:
    """Classify a provider's error: the kind tells the next step.

    error: an exception of any SDK, a response, a response body, or text. status: the HTTP status,
    for an error that does not carry its own.
    """
    evidence = Evidence(error)
    result = _classify(evidence, evidence.status if status is None else status)
    if result.kind == "other" and isinstance(error, BaseException):
        context = error.__context__
        if context is not None and not error.__suppress_context__:
            return classify_error(context, status)
    return result


def _classify(evidence: Evidence, status: int | None) -> ProviderError:
    codes = {CODES[code] for code in evidence.codes if code in CODES}
    text = "\n".join(evidence.texts)
    kind, used, limit = _match(text)
    if status == 429 or "rate" in codes or RATE.search(text):
        # A code of the context window is certain; words about a limit per minute are not.
        if "overflow" in codes and "rate" not in codes and status != 429:
            return ProviderError("overflow", used, limit)
        return ProviderError("rate")
    if "other" in codes or OTHER.search(text):
        return ProviderError("other")
    certain: tuple[ErrorKind, ...] = ("malformed_history", "payload_bytes", "overflow_output")
    for candidate in certain:
        if candidate in codes or kind == candidate:
            return ProviderError(candidate, used, limit)
    fits = status is None or status < 400 or status in WINDOW_STATUS
    if "overflow" in codes or (kind == "overflow" and fits):
        used = evidence.numbers.get("n_prompt_tokens") if used is None else used
        limit = evidence.numbers.get("n_ctx") if limit is None else limit
        return ProviderError("overflow", used, limit)
    if evidence.stops & STOPS:
        return ProviderError("overflow_output")
    return ProviderError("payload_bytes" if status == 413 else "other")


def _match(text: str) -> tuple[ErrorKind | None, int | None, int | None]:
    """Return the kind of the first matching pattern, and its used and limit numbers."""
    matches = ((kind, pattern.search(text)) for kind, pattern in _patterns())
    kind, match = next(((kind, match) for kind, match in matches if match), (None, None))
    if match is None:
        return None, None, None
    digits = {name: re.sub("[,_]", "", n) for name, n in match.groupdict().items() if n}
    numbers = {name: int(n) for name, n in digits.items() if len(n) <= DIGITS_MAX}
    sent, limit = numbers.get("input"), numbers.get("limit")
    if sent is None:
        return kind, numbers.get("used"), limit
    # Messages that would fit alone overflow only because of the room for the answer.
    used = numbers.get("used", sent + numbers.get("room", 0))
    return "overflow_output" if limit is None or sent <= limit else "overflow", used, limit


DEPTH_MAX = 8
"""Levels of nesting that are read."""

VALUES_MAX = 400
"""Values that are read in one error."""

TEXT_MAX = 20_000
"""Characters of one text that are read."""

TEXTS_MAX = 100_000
"""Characters of all texts of one error that are read, the outermost first."""

DIGITS_MAX = 18
"""A number with more digits is no count of tokens."""

NESTED = (
    *("error", "errors", "err", "cause", "__cause__", "exceptions", "body", "response", "data"),
    *("param", "params", "value", "metadata", "raw", "detail", "details", "result", "payload"),
    *("lastError", "last_error", "originalError", "original_error", "inner_exception"),
    *("innererror", "responseBody", "response_body", "ResponseMetadata", "incomplete_details"),
    *("json_body", "llm_provider_error"),
)
"""Fields that wrap another error."""

ANSWERS = ("choices", "candidates")
"""Fields with the model's own words: only the reason why they ended is read."""

TEXTS = (
    *("message", "msg", "error_message", "errorMessage", "description", "error_description"),
    *("title", "reason", "args"),
)
CODE_FIELDS = (
    *("code", "type", "status", "error_code", "errorCode", "error_type", "name", "__type"),
    "reason",
)
STATUSES = (
    *("status_code", "statusCode", "http_status", "status", "code", "HTTPStatusCode"),
    "http_status_code",
)
STOP_FIELDS = (
    *("stop_reason", "stopReason", "finish_reason", "finishReason", "native_finish_reason"),
    "reason",
)
NUMBERS = ("n_prompt_tokens", "n_ctx")
"""Fields of llama.cpp with the tokens used and the limit."""

FIELDS = tuple(
    dict.fromkeys(
        (*NESTED, *ANSWERS, *TEXTS, "text", *CODE_FIELDS, *STATUSES, *STOP_FIELDS, *NUMBERS)
    )
)

_STATUS = re.compile(
    r"\b(?:error code|status(?: code)?|http(?:/[\d.]{1,8})?)[:= ]{1,3}([1-5]\d\d)\b", re.IGNORECASE
)
_LEADING_STATUS = re.compile(r"\s{0,99}([45]\d\d)\b(?! tokens)")


class Evidence:
    """The statements of one error, collected from the outside in.

    status: HTTP; codes: error codes and names of exceptions, in lower case; stops: reasons why an
    answer ended, in lower case; texts: messages; numbers: the fields in NUMBERS. A value that is
    nested in itself is read once.
    """

    def __init__(self, error: Any) -> None:
        self.status: int | None = None
        self.codes: set[str] = set()
        self.stops: set[str] = set()
        self.texts: list[str] = []
        self.numbers: dict[str, int] = {}
        queue: deque[tuple[Any, int]] = deque([(error, 0)])
        seen: dict[int, Any] = {}
        while queue and len(seen) < VALUES_MAX:
            value, depth = queue.popleft()
            if value is None or isinstance(value, bool) or id(value) in seen:
                continue
            seen[id(value)] = value  # a reference, so that no other value gets this id
            inner: Iterable[Any]
            if isinstance(value, str | bytes | bytearray):
                inner = self._add_text(value)
            elif isinstance(value, Sequence | set | frozenset):
                inner = value
            else:
                inner = self._add_fields(value)
            queue += [(v, depth + 1) for v in inner if depth < DEPTH_MAX or isinstance(v, str)]

    def _add_text(self, value: str | bytes | bytearray) -> list[Any]:
        """Add a text; return the JSON inside the text, which is added apart."""
        text = value if isinstance(value, str) else bytes(value).decode("utf-8", "replace")
        text = text[:TEXT_MAX]
        inner: list[Any] = []
        start = min((n for n in (text.find("{"), text.find("[{")) if n >= 0), default=-1)
        if start >= 0:
            try:
                parsed, end = json.JSONDecoder().raw_decode(text, start)
            except (ValueError, RecursionError):
                parsed = None
            if isinstance(parsed, dict | list):
                inner.append(parsed)
                text = text[:start] + text[end:]
        room = TEXTS_MAX - sum(map(len, self.texts))
        text = text[:room]
        if text.strip():
            self.texts.append(text)
            match = _STATUS.search(text) or _LEADING_STATUS.match(text)
            if match is not None and self.status is None:
                self.status = int(match[1])
        return inner

    def _add_fields(self, value: Any) -> list[Any]:
        """Add the fields of a mapping or of an SDK's object; return the values nested in them."""
        fields = _fields_of(value)
        if isinstance(value, BaseException):
            self.codes.add(type(value).__name__.lower())
            fields.setdefault("message", str(value))
        self.codes |= _lower_texts(fields, CODE_FIELDS)
        lists = (fields.get(name) for name in ANSWERS)
        answers = [answer for items in lists if isinstance(items, list | tuple) for answer in items]
        for holder in (fields, *map(_fields_of, answers)):
            self.stops |= _lower_texts(holder, STOP_FIELDS)
        values = [fields.get(name) for name in STATUSES]
        named = (str(v) for v in values if isinstance(v, int | str) and not isinstance(v, bool))
        if self.status is None:
            self.status = next((int(v) for v in named if re.fullmatch("[1-5][0-9]{2}", v)), None)
        for name in NUMBERS:
            if isinstance(fields.get(name), int):
                self.numbers.setdefault(name, fields[name])
        body = [fields["text"]] if "status_code" in fields and "text" in fields else []
        nested = [fields[name] for name in (*TEXTS, *NESTED) if name in fields]
        return [*(text for text in body if isinstance(text, str)), *nested]


def _fields_of(value: Any) -> dict[str, Any]:
    """Return the fields of a mapping, also by names in lower case, or the attributes of an object
    that are in FIELDS."""
    if isinstance(value, Mapping):
        lower = {str(name)[:1].lower() + str(name)[1:]: field for name, field in value.items()}
        return {**lower, **{str(name): field for name, field in value.items()}}
    if type(value).__module__ == "builtins" and not isinstance(value, BaseException):
        return {}
    fields = {}
    for name in FIELDS:
        try:
            field = getattr(value, name, None)
        except Exception:  # noqa: BLE001, S112 - a property of an SDK, such as the text of an unread stream
            continue
        if field is not None and not callable(field):
            fields[name] = field
    return fields


def _lower_texts(fields: Mapping[str, Any], names: Iterable[str]) -> set[str]:
    return {fields[name].lower() for name in names if isinstance(fields.get(name), str)}


CODES: dict[str, ErrorKind] = {
    **dict.fromkeys(
        (
            *("context_length_exceeded", "context_window_exceeded", "exceed_context_size_error"),
            *("contextwindowexceedederror", "contextoverflowerror", "context_overflow"),
        ),
        "overflow",
    ),
    **dict.fromkeys(
        (
            *("rate_limit_exceeded", "rate_limit_error", "ratelimiterror", "ratelimitreached"),
            *("too_many_requests", "throttlingexception", "resource_exhausted"),
            *("insufficient_quota", "overloaded_error"),
        ),
        "rate",
    ),
    "lengthfinishreasonerror": "overflow_output",
    "request_too_large": "payload_bytes",
    "string_above_max_length": "other",
}
"""Error codes and names of exceptions, in lower case."""

STOPS = {"model_context_window_exceeded", "length", "max_tokens", "max_output_tokens"}
"""Reasons for which an answer ends when it has no room left."""

RATE = re.compile(
    r"rate[ _-]?limit|\bper[ -](?:minute|min|second|hour|day)\b|\b[TR]P[MD]\b|\bquota\b"
    r"|too many requests|throttl|tier capacity exceeded|overloaded|please wait before trying again",
    re.IGNORECASE,
)
OTHER = re.compile(
    r"string_above_max_length|string too long\. expected a string with maximum length"
    r"|maximum allowed number of output tokens"
    r"|supports at most [\d,]{1,27} (?:completion|output) tokens|minimum token count to start caching"
    r"|cached content is (?:too small|of [\d,]{1,27} tokens)",
    re.IGNORECASE,
)
"""Limits in tokens other than the context window."""

USED, LIMIT, INPUT, ROOM = (
    rf"(?<!\d)(?<!\d[,_])(?P<{name}>\d{{1,3}}(?:[,_]\d{{3}})+|\d+)"
    for name in ("used", "limit", "input", "room")
)
"""Numbers in a message. input and room: the tokens sent, and the tokens requested for the answer. A
number begins where none goes on, so that a search looks at each digit once."""

MESSAGES: dict[ErrorKind, tuple[str, ...]] = {
    "malformed_history": (
        r"`?tool_use`? ids were found without `?tool_result",
        r"unexpected `?tool_use_id`? found in `?tool_result",
        r"each `?tool_use`? must have a single result",
        r"`?tool_use`? ids must be unique",
        r"with 'tool_calls' must be followed by tool messages",
        r"role 'tool' must be a response to a prec?eed?ing message",
        r"no tool (?:output|call) found for function call",
        r"provided without its required following item",
        r"failed to parse tool call arguments as json",
        r"missing a `?thought_?signature",
        r"function call turn comes immediately after",
        r"number of function response parts",
        r"not the same number of function calls and responses",
        r"expected `thinking` or `redacted_thinking`",
        r"`thinking` or `redacted_thinking` blocks .{0,60}cannot be modified",
        r"roles must alternate",
        r"text content blocks must (?:be non-empty|contain non-whitespace)",
    ),
    "payload_bytes": (
        rf"{USED} bytes > {LIMIT} bytes",
        rf"payload size exceeds the limit: {LIMIT} bytes",
        r"payload size exceeds|request entity too large|payload too large",
        r"request exceeds the maximum size|request_too_large",
    ),
    "overflow": (
        rf"prompt is too long: {USED} tokens > {LIMIT}",
        rf"exceed context limit: {INPUT} \+ {ROOM} > {LIMIT}",
        r"max_tokens'?\"? must be at least 1, got -\d",
        rf"context length is {LIMIT} tokens.{{1,40}}?request has {INPUT} input tokens(?: \({ROOM} >)?",
        rf"context length is {LIMIT} tokens.{{1,60}}?has {INPUT} input tokens plus {ROOM}",
        rf"has {INPUT} input tokens plus {ROOM} ['`\"]?max_(?:completion_)?tokens",
        rf"context length is {LIMIT} tokens.{{1,40}}?requested (?:about )?{USED} tokens \({INPUT} (?:in|of) (?:the |your )?(?:messages|prompt|text input|input)[^)]{{0,80}}?{ROOM} (?:in|for) the (?:completion|output)",
        rf"context length is {LIMIT} tokens.{{1,80}}?(?:requested|resulted in|contains?) (?:about |at least )?{USED}",
        rf"maximum context length (?:is|of) {LIMIT}",
        rf"exceed the configured limit of {LIMIT} tokens(?:.{{1,40}}?resulted in {USED})?",
        rf"input token count \({USED}\) exceeds the maximum number of tokens allowed \({LIMIT}\)",
        r"input token count .{0,20}?exceeds the maximum",
        rf"prompt contains {USED} tokens.{{1,60}}?model with {LIMIT} maximum context",
        rf"maximum prompt length is {LIMIT} but the request contains {USED}",
        rf"current length is {USED} while limit is {LIMIT}",
        rf"prompt token count of {USED} exceeds the limit of {LIMIT}",
        rf"exceeded model token limit: {LIMIT}(?: \(requested: {USED}\))?",
        rf"range of input length should be \[1, {LIMIT}\]",
        rf"requested input length (?:of )?{USED} exceeds .{{0,20}}?maximum input length(?: of)? {LIMIT}",
        r"requested input length .{0,40}?exceeds .{0,20}?maximum input length",
        rf"request \({USED} tokens\) exceeds the available context size \({LIMIT}",
        rf"n_keep: {USED} >= n_ctx: {LIMIT}",
        rf"first {USED} tokens when context .{{0,80}}?context length of only {LIMIT}",
        rf"must be <= {LIMIT}\. given: {INPUT} `inputs` tokens and {ROOM}",
        rf"`inputs` must have less than {LIMIT} tokens\. given: {USED}",
        rf"prompt cannot exceed {LIMIT} - received {USED}",
        rf"input text length should not exceed {LIMIT}",
        r"maximum context length",
        r"prompt is too long|prompt too long|prompt has too many tokens",
        r"input is too long|too many input tokens|input tokens exceed|too many tokens",
        r"expected maxLength: \d",
        r"exceeds? (?:the |this |your )?(?:model'?s )?(?:available |maximum )?context (?:size|window|length|limit)",
        r"context (?:window|length|size) (?:was |has been |is )?exceed",
        r"context_(?:length|window)_exceeded|exceed_context_size_error",
        r"tokens to keep from the initial prompt is greater than the context length",
        r"reduce the length of the messages or completion",
        r"`inputs` tokens \+ `max_new_tokens` must be <=|input text length should not",
        r"4(?:00|13) .{0,60}?\(no body\)",
    ),
    "overflow_output": (
        r"could not parse response content as the length limit was reached",
        r"model_context_window_exceeded",
    ),
}
"""Messages of providers, by kind. A message with numbers comes before a part of the same message."""


@cache
def _patterns() -> list[tuple[ErrorKind, re.Pattern[str]]]:
    """Return the messages as patterns. Compiled at the first error: each start would take 6 ms more."""
    return [
        (kind, re.compile(message, re.IGNORECASE | re.DOTALL))
        for kind, messages in MESSAGES.items()
        for message in messages
    ]
