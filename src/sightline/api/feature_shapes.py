"""Answers as JSON: the shapes for answers of the packages that json_shapes.FEATURES names."""

from __future__ import annotations

from sightline.answers.answer import AnswerResult, JudgedChange
from sightline.api.json_shapes import FIELDS, Shape, fields, shape
from sightline.briefing.compose import Briefing, Part
from sightline.codegraph.related_files import Related
from sightline.search.chains import FindResult
from sightline.search.listing import DirectoryListing
from sightline.search.stats import FindStats

FIELDS[Briefing] = "text tokens parts left_out"
FIELDS[Part] = "name text tokens"
FIELDS[DirectoryListing] = (
    "path entries folders files ignored left_out deeper closed depth limit filter complete"
)


@shape.register
def _(change: JudgedChange) -> Shape:
    """`change` is what was written, or would be; `refusal` is as for a refused edit."""
    change_of = {} if change.result is None else {"change": shape(change.result)}
    for each in change_of.values():
        del each["applied"]
    refusal = {} if change.refusal is None else {"refusal": shape(change.refusal)}
    return {**fields(change, "number", "path", "state"), **change_of, **refusal}


@shape.register
def _(answered: AnswerResult) -> Shape:
    """The commands and the next steps are for the user; nothing runs them."""
    given = fields(answered.answer, "summary", "next_steps", "sub_tasks", "commands")
    names = ("mode", "is_cut", "slips", "changes", "checkpoint", "todos", "files")
    listings = shape(answered.answer.directory_requests)
    return {**given, **fields(answered, *names), "listings": listings}


@shape.register
def _(result: FindResult) -> Shape:
    found = fields(result, "matches", "pattern", "tried", "fallback", "candidates", "question")
    found["question"] = result.question or None
    found |= fields(result, "create", "truncated", "total", "timed_out")
    return found | fields(result.request, "name", "reason", "required")


@shape.register
def _(related: Related) -> Shape:
    counts = fields(related, "left_out", "complete", "sources", "unread", "unreadable", "too_large")
    rest = {**counts, "unkept": related.unkept}
    return {"path": related.path, "files": [*map(shape, related)], **rest}


@shape.register
def _(stats: FindStats) -> Shape:
    return {
        "searches": shape(stats.searches),
        "kinds": [{"kind": kind, **shape(tally)} for kind, tally in stats.kinds],
        "timed_out": stats.timed_out,
        "failing": [{"pattern": text, "times": times} for text, times in stats.failing],
    }
