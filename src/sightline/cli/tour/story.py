"""The story: the steps in their order, each with its expected outcome."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

from sightline.cli.tour.recording import File
from sightline.cli.tour.stage import Outcome, Stage


class Step(Struct, frozen=True):
    """One step.

    told: the event, for the reader. verb: of the library. expected: the outcome it must have. note:
    the difference from the recording. brief: whether the diff is left out.
    """

    told: str
    verb: str
    expected: str
    outcome: Outcome
    note: str = ""
    brief: bool = False

    @property
    def ended_as_told(self) -> bool:
        return self.outcome.ended == self.expected


def play(stage: Stage, files: Mapping[str, File]) -> Iterator[Step]:
    """Play the steps one by one, as the caller iterates."""
    code, test = files["telemetry.go"], files["telemetry_test.go"]
    yield from _stale(stage, code)
    yield from _elsewhere(stage, code)
    yield from _unchanged(stage, test)
    yield Step(
        "Both files are compared with the end of the recording.",
        "compare",
        "identical",
        stage.compare({file.path: file.ended for file in (code, test)}),
    )


def _stale(stage: Stage, code: File) -> Iterator[Step]:
    """Play the edit that the recording refuses, too. The policy is "block": nothing is merged."""
    refused, again = code.edits[:2]
    stage.put(code.path, code.reads[0].replace(again.old, refused.old))
    yield Step(
        f"The agent reads {code.name}, a file of a Go program.",
        "read",
        "shown",
        stage.read(code.path),
        "The recording starts just after. Four lines are rebuilt from step 3.",
    )
    stage.put(code.path, code.reads[0])
    yield Step(
        "Somebody else changes four of its lines, as in the recording.",
        "changes",
        "stale",
        stage.changes(),
    )
    yield Step(
        "The agent does not know, and edits those lines as it remembers them.",
        "edit",
        "refused: stale",
        stage.edit(code.path, refused),
        'The policy here is "block". Claude Code itself refused it too, without the diff: '
        f'"{refused.refusal}"',
    )
    yield Step(
        "It tries again. The diff was all it needed.",
        "edit",
        "applied",
        stage.edit(code.path, again),
        "In the recording it had to read the whole file again first.",
        brief=True,
    )


def _elsewhere(stage: Stage, code: File) -> Iterator[Step]:
    """Play a change beside the agent's edits while no session is open; then the default policy."""
    imports, command, helper, last = code.edits[2:]
    yield Step(
        "Two more edits. The agent's own changes are not reported to it as foreign.",
        "edit",
        "applied",
        stage.edit(code.path, imports, command),
        brief=True,
    )
    stage.session.close()
    stage.put(code.path, code.reads[1])
    stage.resume("merge")
    yield Step(
        "The session ends. Somebody takes a line away, as recorded. It is resumed.",
        "changes",
        "stale",
        stage.changes(),
        'From here on the policy is "merge", which is the default.',
    )
    yield Step(
        "The agent adds a function elsewhere in the file. That is let through.",
        "edit",
        "applied, with a notice",
        stage.edit(code.path, helper),
        "In the recording it reads the whole file once more before; here it does so later.",
    )
    text = stage.session.believed(code.path) or ""
    yield Step(
        "It writes the whole file from memory, where that line still stands.",
        "write",
        "merged",
        stage.write(code.path, text.replace(last.old, last.new)),
        "Recorded as an edit; the tour makes it a write of the whole file.",
    )
    yield Step(
        "Now it reads the file again, and is told what it had missed.",
        "read",
        "shown",
        stage.read(code.path),
    )


def _unchanged(stage: Stage, test: File) -> Iterator[Step]:
    """Play a save without a change, which a guard by time stamps would report."""
    stage.put(test.path, test.reads[0])
    stage.read(test.path)
    stage.save_again(test.path)
    yield Step(
        f"The agent reads {test.name}. The user saves it with nothing changed.",
        "check",
        "fresh",
        stage.check(test.path),
        "The tour plays the user here; the recording has no such save.",
    )
    yield Step(
        "Two edits of that file. A newer time stamp is no reason to complain.",
        "edit",
        "applied",
        stage.edit(test.path, *test.edits),
        brief=True,
    )
