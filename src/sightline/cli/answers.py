"""What every guarded verb answers: what was changed, or why nothing was."""

from __future__ import annotations

from collections.abc import Callable

from sightline.api import json_shapes
from sightline.api.session import Session
from sightline.cli import output
from sightline.cli.failures import Answered, code_of
from sightline.cli.output import Call
from sightline.errors import EditRefused, FileMissing, PathRefused, Unverifiable
from sightline.model.results import EditResult
from sightline.sessions.words import affected
from sightline.text.phrases import printable


def answer(call: Call, attempt: Callable[[Session], EditResult]) -> None:
    """Make an attempt in the session asked for, and print how it went."""
    with call.open() as session:
        try:
            result = attempt(session)
        except (EditRefused, FileMissing, PathRefused, Unverifiable) as error:
            _refused(call, error)
            raise Answered(code_of(error)) from error
    if call.json:
        output.json(json_shapes.edited(result))
        return
    for each in (result, *result.others):
        output.done(call, output.coloured(call, each.diff))
        if each.merged:
            output.note(call, f"Merged with what others changed in {printable(each.path)}.")
        if each.notice is not None:
            output.say(printable(each.notice.text.rstrip("\n")))
        if each.affected:
            output.note(call, printable(affected(each.affected, call.session_id)))


def _refused(call: Call, error: EditRefused | FileMissing | PathRefused | Unverifiable) -> None:
    output.failure(call, error.message, error.hint, diff=getattr(error, "diff", ""))
    if call.json:
        output.json(json_shapes.refused(error))
        return
    fresh = getattr(error, "text", None)
    if fresh is not None:
        output.text(fresh, end="")
    for other in getattr(error, "others", ()):
        output.failure(call, other.message, other.hint, diff=other.diff)
