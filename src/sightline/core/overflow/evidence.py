"""Evidence: what stands in a provider's error, however deep its SDK and its gateways wrapped it.

Only fields that hold what a provider says are looked into. What was sent is none of them: a request
that comes back in an error may speak of windows itself.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Mapping, Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

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
CODES = (
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
STOPS = ("stop_reason", "stopReason", "finish_reason", "finishReason", "native_finish_reason", "reason")  # fmt: skip
NUMBERS = ("n_prompt_tokens", "n_ctx")
FIELDS = tuple(
    dict.fromkeys((*INSIDE, *ANSWERS, *TEXTS, "text", *CODES, *STATUSES, *STOPS, *NUMBERS))
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
    for name in CODES:
        if isinstance(held.get(name), str):
            found.codes.add(held[name].lower())
    _stops(found, held)
    for name in STATUSES:
        status = _status(held.get(name))
        found.status = found.status if found.status is not None else status
    for name in NUMBERS:
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
        found.stops |= {each[name].lower() for name in STOPS if isinstance(each.get(name), str)}


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
