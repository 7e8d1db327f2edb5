"""A search request: a chain of patterns, from exact to broad, of which the first that matches wins."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct, structs

from sightline.search.guesses import Candidate
from sightline.search.patterns import absolute, pattern

Fallback = Literal["ask_user", "skip", "create_new"]

PATTERNS_MAX = 5
"""Patterns of a chain."""

REQUESTS_MAX = 50
TEXT_MAX = 500
"""Characters of a request's name, and of its reason."""

FALLBACKS = ("ask_user", "skip", "create_new")
_FIELDS = {"patterns", "pattern", "name", "reason", "required", "fallback"}
_ALIASES = {"fallbackAction": "fallback", "fallback_action": "fallback", "isRequired": "required"}
"""Names of the fields in other programs."""


class Request(Struct, frozen=True):
    """A search request. name, reason: of the wanted file, in the asker's words; required: the work
    cannot go on without it; fallback: the next step when nothing is found."""

    patterns: tuple[str, ...]
    name: str = ""
    reason: str = ""
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
        if not isinstance(text, str):
            raise ValueError(f"A pattern is a text, not {str(text)[:80]}.")  # noqa: TRY004
        if not absolute(text):
            pattern(text)
    if request.fallback not in FALLBACKS:
        known = ", ".join(FALLBACKS)
        raise ValueError(f"There is no fallback {str(request.fallback)[:80]!r}. Known: {known}.")
    if request.required and request.fallback == "skip":
        return structs.replace(request, fallback="ask_user")
    return request


def _request(raw: Any) -> Request:
    if isinstance(raw, Request):
        return validate(raw)
    if isinstance(raw, str | list | tuple):
        return validate(Request((raw,) if isinstance(raw, str) else tuple(raw)))
    if not isinstance(raw, dict):
        raise ValueError(f"A request is a pattern or a dictionary, not {str(raw)[:80]}.")  # noqa: TRY004
    fields = {_ALIASES.get(name, name): value for name, value in raw.items()}
    if unknown := [str(name)[:80] for name in fields if name not in _FIELDS]:
        known = ", ".join(sorted(_FIELDS))
        raise ValueError(f"A request has no {unknown[0]!r}. Known: {known}.")
    if "pattern" in fields and "patterns" in fields:
        raise ValueError('Give "patterns" or "pattern", not both.')
    patterns = fields.get("patterns", fields.get("pattern"))
    if isinstance(patterns, str):
        patterns = [patterns]
    if not isinstance(patterns, list | tuple):
        raise ValueError('A request needs "patterns", a list of 1 to 5, or "pattern".')  # noqa: TRY004
    required = fields.get("required", False)
    if not isinstance(required, bool):
        raise ValueError('"required" is true or false.')  # noqa: TRY004
    name, reason = fields.get("name") or "", fields.get("reason") or ""
    for field, value in (("name", name), ("reason", reason)):
        if not isinstance(value, str) or len(value) > TEXT_MAX:
            raise ValueError(f'"{field}" is a text of at most {TEXT_MAX} characters.')
    fallback: Any = fields.get("fallback") or "skip"
    return validate(Request(tuple(patterns), name, reason, required, fallback))
