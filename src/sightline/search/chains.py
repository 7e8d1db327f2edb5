"""A search request: a chain of patterns, from exact to broad, of which the first that matches wins."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from msgspec import Meta, Struct, structs

from sightline.search.guesses import Candidate
from sightline.search.patterns import absolute, pattern

Fallback = Literal["ask_user", "skip", "create_new"]

PATTERNS_MAX = 5
"""Patterns of a chain."""

REQUESTS_MAX = 50
TEXT_MAX = 500
"""Characters of a request's name, and of its reason."""


class Request(Struct, frozen=True, forbid_unknown_fields=True):
    """A search request. name, reason: of the wanted file, in the asker's words; required: the work
    cannot go on without it; fallback: the next step when nothing is found."""

    patterns: Annotated[
        tuple[str, ...],
        Meta(
            min_length=1,
            max_length=PATTERNS_MAX,
            description="Patterns such as src/**/*.ts, from exact to broad; the first match wins.",
        ),
    ]
    name: Annotated[str, Meta(max_length=TEXT_MAX)] = ""
    reason: Annotated[str, Meta(max_length=TEXT_MAX)] = ""
    required: bool = False
    fallback: Fallback = "skip"


class FoundFiles(Struct, frozen=True):
    """The result of a search as JSON has it: see FindResult. name, reason, required: as it was asked."""

    matches: tuple[str, ...]
    pattern: str | None
    tried: int
    fallback: Fallback | None
    candidates: tuple[Candidate, ...]
    question: str | None
    create: str | None
    truncated: bool
    total: int
    timed_out: bool
    name: str
    reason: str
    required: bool


class FindResult(Struct, frozen=True):
    """The result of a chain. matches: at most the limit, of `total`; pattern: the one that won, or
    None; tried: number of patterns tried. Without a match: fallback: the step to take now;
    candidates: guesses; question: for a person; create: the path to create, which does not exist
    yet. timed_out: the rest of the chain was not tried, or nothing was guessed.

    truncated: more files match than the limit; request: as it was asked.
    """

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

    def as_view(self) -> FoundFiles:
        """Return the result with the words of the request on the wanted file."""
        found = (self.matches, self.pattern, self.tried, self.fallback, self.candidates)
        then = (self.question or None, self.create, self.truncated, self.total, self.timed_out)
        asked = self.request
        return FoundFiles(*found, *then, asked.name, asked.reason, asked.required)


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
