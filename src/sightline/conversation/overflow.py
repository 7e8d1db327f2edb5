"""A provider's error: of what kind it is, and which numbers it names.

What is asked of it is what to do next: send less, keep less free for the answer, send fewer bytes,
mend the history, wait, or none of these. So a limit that is not the window's is never taken for it.

Evidence: what stands in a provider's error, however deep its SDK and its gateways wrapped it.

Only fields that hold what a provider says are looked into. What was sent is none of them: a request
that comes back in an error may speak of windows itself.

Signs: the codes and words by which providers say what went wrong, and the numbers in them.

Each line is a message that some provider sends. What is no window's limit, though it speaks of
tokens, is looked for first.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct

from sightline.conversation.window.token_usage import input_tokens

Kind = Literal["overflow", "overflow_output", "payload_bytes", "malformed_history", "rate", "other"]
Numbers = tuple[int | None, int | None]

ATTEMPTS = 3
"""How often less is sent, after one error of this kind, before it is given up."""

SPARE = (0.95, 0.85, 0.7)
"""Parts of what would just fit that are aimed at, one attempt after another."""

BLIND = (0.75, 0.5, 0.3)
"""Parts of what was refused that are aimed at, where nobody named the window."""

CUT_SHORT = 0.5
"""Part of what was sent, as we count it, below which a provider cannot have read all of it: no
estimate is so far out."""

SMALLEST = 1_000
"""Tokens sent, below which how much was read says nothing."""

WINDOW_STATUS = (400, 413, 422)


class ProviderError(Struct, frozen=True):
    """overflow: what was sent does not fit the window; overflow_output: it would, but not with the
    room that was asked for the answer, or the answer was cut; payload_bytes: too many bytes, of
    pictures mostly; malformed_history: messages that no view of which may be sent so; rate: too
    much at once, wait; other: none of these. used, limit: tokens (bytes of payload_bytes), where
    the provider names them; of overflow_output the room for the answer counts as used."""

    kind: Kind
    used: int | None = None
    limit: int | None = None


def classify_error(error: Any, status: int | None = None) -> ProviderError:
    """What a provider's error is: an exception of any SDK, a response, its body, or text.
    status: of HTTP, where it stands nowhere in the error."""
    found = evidence(error)
    made = _classified(found, status if status is not None else found.status)
    if made.kind == "other" and isinstance(error, BaseException):
        context = error.__context__
        if context is not None and not error.__suppress_context__:
            return classify_error(context, status)
    return made


def _classified(found: Evidence, status: int | None) -> ProviderError:
    codes = {CODES[code] for code in found.codes if code in CODES}
    said = told(found.texts)
    if status == 429 or "rate" in codes or said.rate:
        # A code of the window's own is plain; words of a limit a minute are not about the window.
        return ProviderError("overflow", *said.numbers) if _plain(codes, status) else _RATE
    if "other" in codes or said.other:
        return _OTHER
    for kind in ("malformed_history", "payload_bytes", "overflow_output"):
        if kind in codes or said.kind == kind:
            return ProviderError(kind, *said.numbers)
    fits = status is None or status < 400 or status in WINDOW_STATUS
    if "overflow" in codes or (said.kind == "overflow" and fits):
        return ProviderError("overflow", *_numbers(found, said.numbers))
    if found.stops & STOPS:
        return ProviderError("overflow_output")
    return ProviderError("payload_bytes") if status == 413 else _OTHER


def _plain(codes: set[Kind], status: int | None) -> bool:
    return "overflow" in codes and "rate" not in codes and status != 429


def _numbers(found: Evidence, said: tuple[int | None, int | None]) -> tuple[int | None, int | None]:
    """What the words name, else the fields."""
    used, limit = said
    for name_used, name_limit in NUMBERS:
        used = used if used is not None else found.numbers.get(name_used)
        limit = limit if limit is not None else found.numbers.get(name_limit)
    return used, limit


_RATE, _OTHER = ProviderError("rate"), ProviderError("other")


def shrunk(error: ProviderError, sent: int, attempt: int = 1) -> int | None:
    """The tokens to come down to before the next attempt, as we count them. sent: our count of
    what was refused; attempt: 1 for the first since there was progress. None when sending less is
    no way out: no attempt is left, or the error is of another kind.

    The provider's own numbers say how far our count was off; each attempt aims lower."""
    if not error.kind.startswith("overflow") or not 1 <= attempt <= ATTEMPTS:
        return None
    spare = SPARE[attempt - 1]
    if error.limit is None:
        return int(sent * BLIND[attempt - 1])
    if error.used is None or error.used <= error.limit:
        fits = float(min(error.limit, sent))
    elif error.kind == "overflow_output":
        fits = sent - (error.used - error.limit)
        fits = fits if fits > 0 else sent * BLIND[attempt - 1]
    else:
        fits = sent * error.limit / error.used
    return int(fits * spare)


def silent_overflow(
    usage: Any, window: int | None = None, sent: int | None = None
) -> ProviderError | None:
    """What a provider did not say: that more was sent than its window holds (z.ai), or that it left
    out the front of it (Ollama). usage: of the answer, by the names of any provider; window: its
    tokens; sent: our count of what was sent. None when all is well, or nobody can tell."""
    used = input_tokens(usage)
    if used is None:
        return None
    if window is not None and used > window:
        return ProviderError("overflow", used, window)
    if sent is not None and sent >= SMALLEST and used < sent * CUT_SHORT:
        return ProviderError("overflow", sent, window)
    return None


DEPTH_MAX, LOOKED_AT_MAX, TEXT_MAX = 8, 400, 20_000
"""Of what is nested; things looked at in all; characters of a text."""

INSIDE = (
    *("error", "errors", "err", "cause", "__cause__", "exceptions", "body", "response", "data"),
    *("param", "params", "value", "metadata", "raw", "detail", "details", "result", "payload"),
    *(
        "lastError",
        "last_error",
        "originalError",
        "original_error",
        "inner_exception",
        "innererror",
    ),
    *("responseBody", "response_body", "ResponseMetadata", "incomplete_details"),
    *("json_body", "llm_provider_error"),
)
ANSWERS = ("choices", "candidates")
"""Where a model's own words stand: of these only why they ended is looked at."""

TEXTS = (
    *("message", "msg", "error_message", "errorMessage", "description", "error_description"),
    *("title", "reason", "args"),
)
CODE_FIELDS = (
    "code",
    "type",
    "status",
    "error_code",
    "errorCode",
    "error_type",
    "name",
    "__type",
    "reason",
)
STATUSES = ("status_code", "statusCode", "http_status", "status", "code", "HTTPStatusCode", "http_status_code")  # fmt: skip
STOP_FIELDS = ("stop_reason", "stopReason", "finish_reason", "finishReason", "native_finish_reason", "reason")  # fmt: skip
NUMBER_FIELDS = ("n_prompt_tokens", "n_ctx")
FIELDS = tuple(
    dict.fromkeys(
        (*INSIDE, *ANSWERS, *TEXTS, "text", *CODE_FIELDS, *STATUSES, *STOP_FIELDS, *NUMBER_FIELDS)
    )
)

_STATUS = re.compile(
    r"\b(?:error code|status(?: code)?|http(?:/[\d.]+)?)[:= ]{1,3}([1-5]\d\d)\b", re.IGNORECASE
)
_FIRST = re.compile(r"\s*([45]\d\d)\b(?! tokens)")


class Evidence:
    """What was found. status: of HTTP; codes: in lower case; stops: why an answer ended."""

    def __init__(self) -> None:
        self.status: int | None = None
        self.codes: set[str] = set()
        self.stops: set[str] = set()
        self.texts: list[str] = []
        self.numbers: dict[str, int] = {}


def evidence(error: Any) -> Evidence:
    """All of an error, from the outside in. What is nested in a circle is seen once."""
    found = Evidence()
    waiting: deque[tuple[Any, int]] = deque([(error, 0)])
    seen: dict[int, Any] = {}
    while waiting and len(seen) < LOOKED_AT_MAX:
        value, depth = waiting.popleft()
        if value is None or isinstance(value, bool) or id(value) in seen:
            continue
        seen[id(value)] = value  # held, so that no other thing gets its number
        if isinstance(value, str | bytes | bytearray):
            inside = _text(found, value)
        elif isinstance(value, Sequence | set | frozenset):
            inside = iter(value)
        else:
            inside = _fields(found, value)
        deeper = depth < DEPTH_MAX
        waiting += [(each, depth + 1) for each in inside if deeper or isinstance(each, str)]
    return found


def _text(found: Evidence, value: str | bytes | bytearray) -> Iterator[Any]:
    """A text, and what stands in it as JSON."""
    text = value if isinstance(value, str) else bytes(value).decode("utf-8", "replace")
    text = text[:TEXT_MAX]
    at = min((n for n in (text.find("{"), text.find("[{")) if n >= 0), default=-1)
    if at >= 0:
        try:
            inner, end = json.JSONDecoder().raw_decode(text, at)
        except (ValueError, RecursionError):
            inner = None
        if isinstance(inner, dict | list):
            yield inner
            text = text[:at] + text[end:]
    if text.strip():
        found.texts.append(text)
        said = _STATUS.search(text) or _FIRST.match(text)
        if said is not None and found.status is None:
            found.status = int(said[1])


def _fields(found: Evidence, value: Any) -> Iterator[Any]:
    """What stands in a mapping, or an SDK's object."""
    held = _held(value)
    if isinstance(value, BaseException):
        found.codes.add(type(value).__name__.lower())
        held.setdefault("message", str(value))
    for name in CODE_FIELDS:
        if isinstance(held.get(name), str):
            found.codes.add(held[name].lower())
    _stops(found, held)
    for name in STATUSES:
        status = _status(held.get(name))
        found.status = found.status if found.status is not None else status
    for name in NUMBER_FIELDS:
        if isinstance(held.get(name), int):
            found.numbers.setdefault(name, held[name])
    if "status_code" in held and isinstance(held.get("text"), str):
        yield held["text"]
    for name in (*TEXTS, *INSIDE):
        if name in held:
            yield held[name]


def _stops(found: Evidence, held: Mapping[str, Any]) -> None:
    answers = [each for name in ANSWERS for each in _listed(held.get(name))]
    for each in (held, *map(_held, answers)):
        found.stops |= {
            each[name].lower() for name in STOP_FIELDS if isinstance(each.get(name), str)
        }


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else ()


def _held(value: Any) -> dict[str, Any]:
    if isinstance(value, Mapping):
        small = {str(name)[:1].lower() + str(name)[1:]: each for name, each in value.items()}
        return {**small, **{str(name): each for name, each in value.items()}}
    if type(value).__module__ == "builtins" and not isinstance(value, BaseException):
        return {}
    held = {}
    for name in FIELDS:
        try:
            each = getattr(value, name, None)
        except Exception:  # noqa: BLE001, S112 - an SDK's property: of a stream that nobody read
            continue
        if each is not None and not callable(each):
            held[name] = each
    return held


def _status(value: Any) -> int | None:
    if isinstance(value, str) and value.isdecimal() and len(value) == 3:
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and 100 <= value < 600:
        return int(value)
    return None


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


class Said(Struct, frozen=True):
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
