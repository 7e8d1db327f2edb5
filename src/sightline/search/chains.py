"""A search request: a chain of patterns, from exact to broad, of which the first that matches wins."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

from msgspec import Meta, Struct, ValidationError, convert, structs

from sightline.search.guesses import Candidate
from sightline.search.patterns import absolute, pattern

Fallback = Literal["ask_user", "skip", "create_new"]

PATTERNS_MAX = 5
"""Patterns of a chain."""

REQUESTS_MAX = 50
TEXT_MAX = 500
"""Characters of a request's name, and of its reason."""

EXPECTED = (
    'Give an object with "patterns" (1 to 5 texts), and if you like with "name" and "reason" (texts '
    f'of at most {TEXT_MAX} characters), "required" (true or false) and "fallback" (ask_user, skip or '
    "create_new)."
)

_ALIASES = {
    "pattern": "patterns", "fallbackAction": "fallback", "fallback_action": "fallback",
    "isRequired": "required",
}  # fmt: skip
"""Other names of the fields, such as hosts use."""


class Request(Struct, frozen=True, forbid_unknown_fields=True):
    """A search request. name, reason: of the wanted file, in the asker's words; required: the work
    cannot go on without it; fallback: the next step when nothing is found."""

    patterns: tuple[str, ...]
    name: Annotated[str, Meta(max_length=TEXT_MAX)] = ""
    reason: Annotated[str, Meta(max_length=TEXT_MAX)] = ""
    required: bool = False
    fallback: Fallback = "skip"


class FindResult(Struct, frozen=True):
    """The result of a chain. matches: at most the limit, of `total`; pattern: the one that won, or
    None; tried: number of patterns tried. Without a match: fallback: the step to take now;
    candidates: guesses; question: for a person; create: the path to create, which does not exist
    yet. timed_out: the rest of the chain was not tried, or nothing was guessed."""

    matches: tuple[str, ...]
    pattern: str | None
    tried: int
    fallback: Fallback | None = None
    candidates: tuple[Candidate, ...] = ()
    question: str = ""
    create: str | None = None
    truncated: bool = False
    total: int = 0
    timed_out: bool = False
    request: Request = Request(())


def requests_of(raw: Any) -> tuple[Request, ...]:
    """Parse a host's requests: a pattern, a list of patterns (one chain), a request as a dictionary,
    a list of requests, or {"requests": […]}. Names of fields in snake or camel case. ValueError
    explains an invalid request."""
    if isinstance(raw, str | Request) or (isinstance(raw, dict) and "requests" not in raw):
        return (_request(raw),)
    if isinstance(raw, dict):
        raw = raw["requests"]
    if not isinstance(raw, list | tuple) or not raw:
        raise ValueError("Give a pattern, a list of 1 to 5 patterns, or a list of requests.")
    if all(isinstance(item, str) for item in raw):
        return (_request(raw),)
    if len(raw) > REQUESTS_MAX:
        raise ValueError(f"{len(raw)} requests are too many; {REQUESTS_MAX} is the most at once.")
    return tuple([_request(item) for item in raw])


def validate(request: Request) -> Request:
    """Return a valid request. ValueError explains an invalid one. A required request that would be
    skipped asks the user instead."""
    patterns = request.patterns
    if not 1 <= len(patterns) <= PATTERNS_MAX:
        raise ValueError(
            f"A chain has 1 to {PATTERNS_MAX} patterns, from exact to broad; this one has "
            f"{len(patterns)}."
        )
    for text in patterns:
        if not absolute(text):
            pattern(text)
    if request.fallback not in get_args(Fallback):
        known = ", ".join(get_args(Fallback))
        raise ValueError(f"There is no fallback {str(request.fallback)[:80]!r}. Known: {known}.")
    if request.required and request.fallback == "skip":
        return structs.replace(request, fallback="ask_user")
    return request


def _request(raw: Any) -> Request:
    if isinstance(raw, Request):
        return validate(raw)
    if isinstance(raw, str | list | tuple):
        raw = {"patterns": raw}
    if not isinstance(raw, dict):
        raise ValueError(f"A request is a pattern or a dictionary, not {str(raw)[:80]}.")  # noqa: TRY004
    if "pattern" in raw and "patterns" in raw:
        raise ValueError('Give "patterns" or "pattern", not both.')
    fields = {_ALIASES.get(name, name): value for name, value in raw.items() if value is not None}
    if isinstance(fields.get("patterns"), str):
        fields["patterns"] = [fields["patterns"]]
    try:
        return validate(convert(fields, Request))
    except ValidationError as error:
        raise ValueError(f"This request for files cannot be read: {error}. {EXPECTED}") from None
