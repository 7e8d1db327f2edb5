"""What was found by a chain of patterns, in words for a model or a person, and as JSON."""

from __future__ import annotations

from sightline.render.views import count, one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sightline.core.finding.chains import FindResult, Request
    from sightline.core.finding.guesses import Candidate

HIDDEN = "it is there, and an ignore file keeps it out of lists; it can be read by its path"
FOLDER = "a folder, not a file"
LINKED = "the file that the path leads to"
"""Why a path that was named is not found."""


def found(result: FindResult) -> str:
    """The whole answer: paths one to a line, and what else is to be known."""
    if result.matches:
        lines = [*map(one_line, result.matches), *_more(result)]
        if result.tried > 1:
            lines.append(f"(found by {one_line(result.pattern or '')}; nothing matched before it)")
        return "\n".join(lines)
    lines = [_nothing(result)]
    if result.candidates:
        lines += ["Did you mean:", *(f"  {_candidate(each)}" for each in result.candidates)]
    return "\n".join([*lines, *_next(result)])


def question(result: FindResult) -> str:
    """What a host can ask its user; the candidates are the choices."""
    request = result.request
    what = one_line(request.name or " or ".join(request.patterns))
    asked = f"Which file is {what}?" if result.candidates else f"Where is {what}?"
    why = f" It is needed for: {one_line(request.reason)}." if request.reason else ""
    return f"{asked}{why} {_nothing(result)}"


def as_json(result: FindResult) -> dict[str, Any]:
    """For programs."""
    return {
        "schema": 1,
        "matches": list(result.matches),
        "pattern": result.pattern,
        "tried": result.tried,
        "fallback": result.fallback,
        "candidates": [
            {"path": each.path, "score": each.score, "reason": each.reason}
            for each in result.candidates
        ],
        "question": result.question or None,
        "create": result.create,
        "truncated": result.truncated,
        "total": result.total,
        "timed_out": result.timed_out,
        "name": result.request.name,
        "reason": result.request.reason,
        "required": result.request.required,
    }


def _more(result: FindResult) -> list[str]:
    if not result.truncated:
        return []
    shown, every = len(result.matches), f"{result.total:,}"
    return [f"({shown:,} of {every} shown; name a folder, or a longer part of the name)"]


def _nothing(result: FindResult) -> str:
    patterns = result.request.patterns[: result.tried]
    said = f"No file matches {_listed(patterns)}." if patterns else "No file was found."
    left = len(result.request.patterns) - result.tried
    if left:
        return f"{said} Time ran out before {count(left, 'more pattern')} could be tried."
    if result.timed_out:
        return f"{said} Time ran out before like names could be looked for."
    return said


def _listed(patterns: tuple[str, ...]) -> str:
    shown = [one_line(each) for each in patterns]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} or {shown[-1]}"


def _candidate(each: Candidate) -> str:
    return f"{one_line(each.path)} ({one_line(each.reason)})"


def _next(result: FindResult) -> list[str]:
    """What to do now."""
    if result.fallback == "create_new" and result.create is not None:
        return [f"To be created, if you mean a new file: {one_line(result.create)}. Nothing was."]
    if result.fallback == "ask_user":
        return [f"{_needed(result.request)}Ask the user: {result.question}"]
    return ["Go on without it, or ask again by a broader pattern such as **/name*."]


def _needed(request: Request) -> str:
    return "It is required. " if request.required else ""
