"""A chain of patterns, from exact to broad, of which the first that matches wins: what is asked,
and what was found."""

from __future__ import annotations

from collections.abc import Mapping
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
_OTHERS = {"fallbackAction": "fallback", "fallback_action": "fallback", "isRequired": "required"}
"""How other programs call a field."""


class Request(Struct, frozen=True):
    """What is looked for. name, reason: what it is and what it is for, in the asker's words;
    required: the work cannot go on without; fallback: what then, where nothing is found."""

    patterns: tuple[str, ...]
    name: str = ""
    reason: str = ""
    required: bool = False
    fallback: Fallback = "skip"


class FindResult(Struct, frozen=True):
    """What a chain found. matches: at most as many as were asked for, of `total`; pattern: the one
    that won, or None; tried: how many were. Where nothing was found, fallback is what is to be
    done now, candidates what may have been meant, question what a person can be asked, and create
    the path to be created, which nobody has done. timed_out: the rest of the chain was not tried,
    or nothing was guessed."""

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
    """The requests in what a host was given: a pattern, a list of patterns (one chain), a request
    as a dictionary, a list of those, or {"requests": […]}. Names of fields in snake or camel case.
    ValueError says what is wrong."""
    if isinstance(raw, str | Request) or (isinstance(raw, dict) and "requests" not in raw):
        return (_request(raw),)
    if isinstance(raw, dict):
        raw = raw["requests"]
    if not isinstance(raw, list | tuple) or not raw:
        raise ValueError("Give a pattern, a list of 1 to 5 patterns, or a list of requests.")
    if all(isinstance(each, str) for each in raw):
        return (_request(raw),)
    if len(raw) > REQUESTS_MAX:
        raise ValueError(f"{len(raw)} requests are too many; {REQUESTS_MAX} is the most at once.")
    return tuple([_request(each) for each in raw])


def checked(request: Request) -> Request:
    """A request that can be carried out as it is. ValueError says what is wrong. What is required
    cannot be skipped, so somebody is asked."""
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
        return checked(raw)
    if isinstance(raw, str):
        return checked(Request((raw,)))
    if isinstance(raw, list | tuple):
        return checked(Request(tuple(raw)))
    if not isinstance(raw, dict):
        raise ValueError(f"A request is a pattern or a dictionary, not {str(raw)[:80]}.")  # noqa: TRY004
    given = _fields(raw)
    patterns = given.get("patterns", given.get("pattern"))
    if isinstance(patterns, str):
        patterns = [patterns]
    if not isinstance(patterns, list | tuple):
        raise ValueError('A request needs "patterns", a list of 1 to 5, or "pattern".')  # noqa: TRY004
    required = given.get("required", False)
    if not isinstance(required, bool):
        raise ValueError('"required" is true or false.')  # noqa: TRY004
    name, reason = _text(given, "name"), _text(given, "reason")
    fallback: Any = given.get("fallback") or "skip"
    return checked(Request(tuple(patterns), name, reason, required, fallback))


def _fields(raw: Mapping[Any, Any]) -> dict[str, Any]:
    """By our names. A field that nobody knows is a mistake, or a rule that would not be kept."""
    given = {_OTHERS.get(name, name): value for name, value in raw.items()}
    unknown = [str(name)[:80] for name in given if name not in _FIELDS]
    if unknown:
        known = ", ".join(sorted(_FIELDS))
        raise ValueError(f"A request has no {unknown[0]!r}. Known: {known}.")
    if "pattern" in given and "patterns" in given:
        raise ValueError('Give "patterns" or "pattern", not both.')
    return given


def _text(given: Mapping[str, Any], field: str) -> str:
    value = given.get(field) or ""
    if not isinstance(value, str) or len(value) > TEXT_MAX:
        raise ValueError(f'"{field}" is a text of at most {TEXT_MAX} characters.')
    return value
