"""The command tour: play a recorded session through the guard, in a throw-away folder."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from importlib.resources import files
from tempfile import TemporaryDirectory
from typing import Any, Self

from msgspec import Struct, structs

from sightline.api.json_shapes import fields, shape
from sightline.api.opening import open_session
from sightline.api.session import Session
from sightline.changes.session_context import SessionContext
from sightline.cli import output
from sightline.cli.failures import NO, Answered
from sightline.cli.options import command
from sightline.cli.output import Call
from sightline.cli.words import status_lines
from sightline.config.settings import load_settings
from sightline.errors import EditRefused
from sightline.history.session_history import Page, SessionFiles, status
from sightline.model.path import quoted
from sightline.model.results import EditResult
from sightline.text import phrases

SOURCE = {
    "product": "Claude Code",
    "repository": "entireio/cli",
    "commit": "394f81fab87f71aa8938d91ff7a067c524ff344b",
    "path": "entire/checkpoints/v1:30/e81e82f6ba/0/full.jsonl",
    "licence": "MIT",
    "copyright": "Copyright (c) 2026 Entire Inc.",
}
"""The origin of the recording; data/tour/ATTRIBUTION.md has the text of the licence."""


class Edit(Struct, frozen=True):
    """An edit that the agent asked for. refusal: the answer of its own tool, "" if it edited."""

    old: str
    new: str
    refusal: str


class File(Struct, frozen=True):
    """One file in the recording.

    path: in the workspace. reads: its whole text at each read. edits: in order. ended: its text
    after the last edit.
    """

    path: str
    reads: tuple[str, ...]
    edits: tuple[Edit, ...]
    ended: str

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


def load() -> dict[str, File]:
    """Return the files of the recording, by name."""
    text = (files("sightline") / "data" / "tour" / "session.jsonl").read_text(encoding="utf-8")
    records = [json.loads(line) for line in text.splitlines()]
    answers = {part["tool_use_id"]: (record, part) for record, part in _parts(records, "user")}
    reads: dict[str, list[str]] = {}
    edits: dict[str, list[Edit]] = {}
    ended: dict[str, str] = {}
    for record, call in _parts(records, "assistant"):
        asked = call["input"]
        path = asked["file_path"].removeprefix(record["cwd"] + "/")
        answer, part = answers.get(call["id"], ({}, {}))
        result = answer.get("toolUseResult")
        if call["name"] == "Read":
            reads.setdefault(path, []).append(result["file"]["content"])
            continue
        old, new = asked["old_string"], asked["new_string"]
        content = part["content"] if part.get("is_error") else ""
        refusal = content.removeprefix("<tool_use_error>").removesuffix("</tool_use_error>")
        edits.setdefault(path, []).append(Edit(old, new, refusal))
        if isinstance(result, dict):
            ended[path] = result["originalFile"].replace(old, new, 1)
    recorded = [File(path, tuple(reads[path]), tuple(edits[path]), ended[path]) for path in edits]
    return {file.name: file for file in recorded}


def _parts(records: list[dict[str, Any]], kind: str) -> Iterator[tuple[Any, Any]]:
    """Yield the records of the agent ("assistant") or of its tools ("user"), with their parts."""
    for record in records:
        if record["type"] == kind:
            for part in record["message"]["content"]:
                yield record, part


LATER_NS = 2_000_000_000
"""The time that saving again adds to a file; more than any file system rounds off."""


class Outcome(Struct, frozen=True):
    """The outcome of a verb of the library, in a word or two, with its messages."""

    ended: str
    message: str = ""
    diff: str = ""
    hint: str = ""


class Stage:
    """The agent's verbs, each with its Outcome, and the deeds of others behind its back.

    folder: an empty one, which the caller throws away. No setting or store of the user is used.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self.root = os.path.join(folder, "project")
        os.mkdir(self.root)
        self.session = self._open("block")

    @property
    def context(self) -> SessionContext:
        """The context of the session."""
        return self.session._context  # noqa: SLF001 - faces compose the parts

    def resume(self, policy: str) -> None:
        """Open the session again by its id, with another policy for stale edits."""
        self.session = self._open(policy)

    def put(self, path: str, text: str) -> None:
        """Save a file as somebody else."""
        file = os.path.join(self.root, *path.split("/"))
        os.makedirs(os.path.dirname(file), exist_ok=True)
        with open(file, "wb") as stream:
            stream.write(text.encode())

    def save_again(self, path: str) -> None:
        """Save the same bytes again as somebody else, so that only the file's time is new."""
        file = os.path.join(self.root, *path.split("/"))
        before = os.stat(file).st_mtime_ns
        with open(file, "rb") as stream:
            self.put(path, stream.read().decode())
        os.utime(file, ns=(before + LATER_NS, before + LATER_NS))

    def read(self, path: str) -> Outcome:
        view = self.session.read(path)
        return Outcome("shown", phrases.shown((view.lines,), view.total_lines), view.diff or "")

    def check(self, path: str) -> Outcome:
        verdict = self.session.check(path)
        return Outcome(verdict.state, phrases.verdict(verdict.state, path, "others"), verdict.diff)

    def status(self) -> Page[SessionFiles]:
        """Return the status of this workspace."""
        return status(self.context)

    def changes(self) -> Outcome:
        found = self.session.changes()
        states = ", ".join(change.state for change in found)
        return Outcome(states or "nothing", "\n".join(change.summary for change in found))

    def edit(self, path: str, *edits: Edit) -> Outcome:
        """Make these edits, up to the first that does not simply go through."""
        done = Outcome("nothing")
        diff = ""
        for edit in edits:
            try:
                done = _done(self.session.edit(path, edit.old, edit.new))
            except EditRefused as refusal:
                self.session.acknowledge(refusal)  # the agent gets it with its next message
                return _refused(refusal)
            diff += done.diff
            if done.ended != "applied":
                return done
        return structs.replace(done, message=f"{_size(diff)}, nothing to report", diff=diff)

    def write(self, path: str, text: str) -> Outcome:
        try:
            return _done(self.session.write(path, text))
        except EditRefused as refusal:
            self.session.acknowledge(refusal)
            return _refused(refusal)

    def compare(self, texts: Mapping[str, str]) -> Outcome:
        """Compare files with texts, byte for byte."""
        for path, text in texts.items():
            with open(os.path.join(self.root, *path.split("/")), "rb") as stream:
                if stream.read() != text.encode():
                    return Outcome("different", f"{quoted(path)} differs.")
        return Outcome("identical", f"{phrases.count(len(texts), 'file')}, the same byte for byte")

    def _open(self, policy: str) -> Session:
        # The environment and home of the user are left out: their settings could change the story.
        settings = load_settings(
            self.root,
            environ={},
            home=self._folder,
            platform=sys.platform,
            flags={"policy": policy, "state_home": os.path.join(self._folder, "state")},
        )
        return open_session(self.root, id="tour", agent="claude-code", settings=settings)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.session.close()


def _done(result: EditResult) -> Outcome:
    if result.merged:
        return Outcome("merged", f"{_size(result.diff)}, what others changed stays", result.diff)
    if result.notice is None:
        return Outcome("applied", diff=result.diff)
    message, _, diff = result.notice.text.partition("\n")
    return Outcome("applied, with a notice", message, diff)


def _refused(refusal: EditRefused) -> Outcome:
    return Outcome(f"refused: {refusal.reason}", refusal.message, refusal.diff, refusal.hint)


def _size(diff: str) -> str:
    """Return the number of lines that a diff adds and removes: "+5 -2 lines"."""
    lines = [line for line in diff.splitlines() if not line.startswith(("+++ ", "--- "))]
    added = sum(line.startswith("+") for line in lines)
    return f"+{added} -{sum(line.startswith('-') for line in lines)} lines"


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
    refused, again, imports, command, helper, last = code.edits
    # An edit that the recording refuses, too. The policy is "block": nothing is merged.
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
    # A change beside the agent's edits while no session is open; then the default policy.
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
    # A save without a change, which a guard by time stamps would report.
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
    yield Step(
        "Both files are compared with the end of the recording.",
        "compare",
        "identical",
        stage.compare({file.path: file.ended for file in (code, test)}),
    )


INDENT = "    "

NEXT = (
    ("sightline read FILE", "Sightline notes what you were shown."),
    ("sightline check FILE", "Change the file in an editor first: the answer is no."),
    ("sightline why FILE", "How it came to that answer, fact by fact."),
)


@command(example="tour")
def tour(call: Call) -> None:
    """See a real agent's session judged, step by step.

    It plays in a throw-away folder.
    Files, reads and edits come from a recording; what Sightline says of them is said now. Exit
    code 1: a step did not end as expected.
    """
    steps: list[Step] = []
    if not call.json:
        title = "A real session of Claude Code, judged by Sightline"
        output.text(
            f"{output.style(call, title, 'cyan')}\n"
            f"Recording: github.com/{SOURCE['repository']}, {SOURCE['licence']}, "
            f"{SOURCE['copyright']}\n"
            "Its files stand in a throw-away folder. Nothing of yours is read or changed."
        )
    with TemporaryDirectory(prefix="sightline-tour-") as folder, Stage(folder) as stage:
        for step in play(stage, load()):
            steps.append(step)
            if not call.json:
                _tell(call, len(steps), step)
            if not step.ended_as_told:
                break
        if call.json:
            told = ("told", "note", "verb", "expected", "ended_as_told")
            played = [
                {"step": number, **fields(step, *told), **shape(step.outcome)}
                for number, step in enumerate(steps, 1)
            ]
            sessions, commands = shape(stage.status().sessions), [command for command, _ in NEXT]
            output.json({"source": SOURCE, "steps": played, "sessions": sessions, "next": commands})
        elif step.ended_as_told:
            output.text("\nWhat 'sightline status' says of it all:\n")
            for line in status_lines(call, stage.context, stage.status()):
                output.text(f"    {line}".rstrip())
    if not step.ended_as_told:
        output.failure(
            call,
            f"Step {len(steps)} was to end with {step.expected!r}, not {step.outcome.ended!r}.",
            "This is a fault of Sightline: please report it, with what 'tour --json' prints.",
        )
        raise Answered(NO)
    if not call.json:
        output.text("\nThe folder is gone again. To try it on a file of your own project:")
        for line in phrases.table(NEXT):
            output.text(f"    {line}")
        output.text("Programs call sightline.open_session(). Agents: sightline init connects them.")


def _tell(call: Call, number: int, step: Step) -> None:
    """Print a step: the event, its outcome, and the words of the library."""
    outcome = step.outcome
    arrow = f"{step.verb} -> {outcome.ended}"
    said = f"{arrow}: {outcome.message}" if outcome.message else arrow
    answer = output.wrapped(said, INDENT, INDENT)
    colour = _COLOURS.get(outcome.ended, "green") if step.ended_as_told else "red"
    output.text(f"\n{output.wrapped(step.told, f'{number:>2}. ', INDENT)}")
    output.text(answer.replace(arrow, output.style(call, arrow, colour), 1))
    if outcome.diff and not step.brief:
        hunks = outcome.diff[outcome.diff.index("@@") :].expandtabs(4).splitlines()
        for line in hunks:  # without the lines that name the file
            output.text(f"    | {output.coloured(call, line).rstrip()}".rstrip())
    if outcome.hint:
        output.text(output.wrapped(outcome.hint, INDENT, INDENT))
    if step.note:
        output.text(output.wrapped(f"({step.note})", INDENT, INDENT))


_COLOURS = {"stale": "yellow", "refused: stale": "yellow"}
