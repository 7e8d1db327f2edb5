"""The command tour: play a recorded session through the guard, in a throw-away folder."""

from __future__ import annotations

from tempfile import TemporaryDirectory
from textwrap import fill
from typing import Any

from msgspec import structs

from sightline.api.json_shapes import shape
from sightline.cli import output
from sightline.cli.failures import NO, Answered
from sightline.cli.options import command
from sightline.cli.output import Call
from sightline.cli.tour.recording import SOURCE, load
from sightline.cli.tour.stage import Stage
from sightline.cli.tour.story import Step, play
from sightline.cli.words import status_lines
from sightline.text import phrases

WIDTH = 79

NEXT = (
    ("sightline read FILE", "Sightline notes what you were shown."),
    ("sightline check FILE", "Change the file in an editor first: the answer is no."),
    ("sightline why FILE", "How it came to that answer, fact by fact."),
)


@command()
def tour(call: Call) -> None:
    """See a real agent's session judged, step by step, in a throw-away folder.

    Files, reads and edits come from a recording; what Sightline says of them is said now. Exit
    code 1 if a step does not end as told.
    """
    steps: list[Step] = []
    if not call.json:
        _begin(call)
    with TemporaryDirectory(prefix="sightline-tour-") as folder, Stage(folder) as stage:
        for step in play(stage, load()):
            steps.append(step)
            if not call.json:
                _tell(call, len(steps), step)
            if not step.ended_as_told:
                break
        if call.json:
            output.json(_shape(steps, stage))
        elif step.ended_as_told:
            _status(call, stage)
    if not step.ended_as_told:
        output.failure(
            call,
            f"Step {len(steps)} was to end with {step.expected!r}, not {step.outcome.ended!r}.",
            "This is a fault of Sightline: please report it, with what 'tour --json' prints.",
        )
        raise Answered(NO)
    if not call.json:
        _end()


def _begin(call: Call) -> None:
    title = "A real session of Claude Code, judged by Sightline"
    output.text(
        f"{output.style(call, title, 'cyan')}\n"
        f"Recording: github.com/{SOURCE['repository']}, {SOURCE['licence']}, "
        f"{SOURCE['copyright']}\n"
        "Its files stand in a throw-away folder. Nothing of yours is read or changed."
    )


def _tell(call: Call, number: int, step: Step) -> None:
    """Print a step: the event, its outcome, and the words of the library."""
    outcome = step.outcome
    arrow = f"{step.verb} -> {outcome.ended}"
    answer = _wrapped(f"{arrow}: {outcome.message}" if outcome.message else arrow)
    colour = _COLOURS.get(outcome.ended, "green") if step.ended_as_told else "red"
    output.text(f"\n{_wrapped(step.told, f'{number:>2}. ')}")
    output.text(answer.replace(arrow, output.style(call, arrow, colour), 1))
    if outcome.diff and not step.brief:
        output.text(_diff(call, outcome.diff))
    if outcome.hint:
        output.text(_wrapped(outcome.hint))
    if step.note:
        output.text(_wrapped(f"({step.note})"))


_COLOURS = {"stale": "yellow", "refused: stale": "yellow"}


def _diff(call: Call, diff: str) -> str:
    """Return a diff without the lines that name the file, indented, with narrow tabs."""
    hunks = diff[diff.index("@@") :].expandtabs(4).splitlines()
    return "\n".join(f"    | {output.coloured(call, line).rstrip()}".rstrip() for line in hunks)


def _wrapped(words: str, start: str = "    ") -> str:
    return fill(
        words, WIDTH, initial_indent=start, subsequent_indent="    ", break_long_words=False
    )


def _status(call: Call, stage: Stage) -> None:
    """Print the status of the session's files."""
    output.text("\nWhat 'sightline status' says of it all:\n")
    for line in status_lines(call, stage.ground, stage.status()):
        output.text(f"    {line}".rstrip())


def _end() -> None:
    output.text("\nThe folder is gone again. To try it on a file of your own project:")
    for line in phrases.table(NEXT):
        output.text(f"    {line}")
    output.text("Programs call sightline.open_session(). Agents: sightline init connects them.")


def _shape(steps: list[Step], stage: Stage) -> dict[str, Any]:
    return {
        "source": SOURCE,
        "steps": [_step_shape(number, step) for number, step in enumerate(steps, 1)],
        "sessions": [shape(each) for each in stage.status()],
        "next": [command for command, _ in NEXT],
    }


def _step_shape(number: int, step: Step) -> dict[str, Any]:
    return {
        "step": number,
        "told": step.told,
        "note": step.note,
        "verb": step.verb,
        "expected": step.expected,
        "ended_as_told": step.ended_as_told,
        **structs.asdict(step.outcome),
    }
