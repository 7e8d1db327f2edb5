"""The command tour: play a recorded session through the guard, in a throw-away folder."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from importlib.resources import files as data_files
from shlex import quote
from shutil import which
from tempfile import TemporaryDirectory
from typing import Any, Self

import click
from msgspec import Struct, structs

from sightline.api.folders import discover
from sightline.api.json_shapes import fields, shape
from sightline.api.opening import open_session
from sightline.api.session import Session
from sightline.api.workspace import open_workspace
from sightline.cli import output
from sightline.cli.failures import NO, Answered
from sightline.cli.options import command
from sightline.cli.output import Call
from sightline.cli.words import status_lines
from sightline.config.settings import Settings, load_settings
from sightline.errors import EditRefused, WorkspaceError
from sightline.model.path import quoted
from sightline.model.results import EditResult, Status
from sightline.text import phrases
from sightline.text.printable import printable

DATA = data_files("sightline") / "data" / "tour"
SOURCE = json.loads((DATA / "source.json").read_text(encoding="utf-8"))
AGENT = SOURCE.pop("agent")
"""The origin of the recording, and the product that made it; data/tour/ATTRIBUTION.md has the text of the licence."""


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
    text = (DATA / "session.jsonl").read_text(encoding="utf-8")
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
        self.safety = ""

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

    def status(self) -> Status:
        """Return the status of this workspace."""
        with open_workspace(self.root, settings=self._settings("block")) as workspace:
            return workspace.status()

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

    def rewind(self, to: str) -> Outcome:
        """Rewind to a checkpoint. `safety` then has the checkpoint that takes the rewind back."""
        plan = self.session.rewind(to, dry_run=True)
        self.safety = self.session.rewind(to).safety_checkpoint or ""
        diff = "".join(each.diff or "" for each in plan.diffs or ())
        if plan.left_alone or not diff:
            return Outcome("left alone")
        return Outcome("rewound", _size(diff), diff)

    def compare(self, texts: Mapping[str, str]) -> Outcome:
        """Compare files with texts, byte for byte."""
        for path, text in texts.items():
            with open(os.path.join(self.root, *path.split("/")), "rb") as stream:
                if stream.read() != text.encode():
                    return Outcome("different", f"{quoted(path)} differs.")
        return Outcome("identical", f"{phrases.count(len(texts), 'file')}, the same byte for byte")

    def _open(self, policy: str) -> Session:
        # The environment and home of the user are left out: their settings could change the story.
        settings = self._settings(policy)
        return open_session(self.root, id="tour", agent=AGENT, settings=settings)

    def _settings(self, policy: str) -> Settings:
        return load_settings(
            self.root,
            environ={},
            home=self._folder,
            platform=sys.platform,
            flags={"policy": policy, "state_home": os.path.join(self._folder, "state")},
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.session.close()


def _done(result: EditResult) -> Outcome:
    if result.merged:
        return Outcome("merged", f"{_size(result.diff)}, what others changed stays", result.diff)
    if result.notice is None:
        return Outcome("applied", diff=result.diff)
    message, _, more = result.notice.text.partition("\n")
    diff, _, lines = more.partition("\n```\n")
    return Outcome("applied, with a notice", message, diff, lines.strip())


def _refused(refusal: EditRefused) -> Outcome:
    return Outcome(
        f"refused: {refusal.reason}",
        refusal.message,
        refusal.diff,
        output.worded(refusal.next_step),
    )


def _size(diff: str) -> str:
    """Return the number of lines that a diff adds and removes: "+5 -2 lines"."""
    lines = [line for line in diff.splitlines() if not line.startswith(("+++ ", "--- "))]
    added = sum(line.startswith("+") for line in lines)
    return f"+{added} -{sum(line.startswith('-') for line in lines)} lines"


class Step(Struct, frozen=True):
    """One step.

    told: the event, for the reader. verb: of the library. expected: the outcome it must have. note:
    the difference from the recording. brief: whether the diff is left out. moment: the heading of
    the steps that begin here.
    """

    told: str
    verb: str
    expected: str
    outcome: Outcome
    note: str = ""
    brief: bool = False
    moment: str = ""

    @property
    def ended_as_told(self) -> bool:
        return self.outcome.ended == self.expected


def play(stage: Stage, files: Mapping[str, File]) -> Iterator[Step]:
    """Play the steps one by one, as the caller iterates; data/tour/steps.json has their words."""
    text = (DATA / "steps.json").read_text(encoding="utf-8")
    names = {
        "code": "telemetry.go",
        "test": "telemetry_test.go",
        "refusal": files["telemetry.go"].edits[0].refusal,
    }
    for words, outcome in zip(json.loads(text), _outcomes(stage, files), strict=True):
        told, note = words.pop("told").format(**names), words.pop("note", "").format(**names)
        yield Step(told, outcome=outcome, note=note, **words)


def _outcomes(stage: Stage, files: Mapping[str, File]) -> Iterator[Outcome]:
    code, test = files["telemetry.go"], files["telemetry_test.go"]
    refused, again, imports, command, helper, last = code.edits
    # An edit that the recording refuses, too. The policy is "block": nothing is merged.
    stage.put(code.path, code.reads[0].replace(again.old, refused.old))
    yield stage.read(code.path)
    begun = stage.session.checkpoint("when the agent had read the file").id
    stage.put(code.path, code.reads[0])
    yield stage.changes()
    yield stage.edit(code.path, refused)
    yield stage.edit(code.path, again, imports, command)
    # A change beside the agent's edits while no session is open; then the default policy.
    stage.session.close()
    stage.put(code.path, code.reads[1])
    stage.resume("merge")
    yield stage.changes()
    yield stage.edit(code.path, helper)
    text = stage.session.believed(code.path) or ""
    yield stage.write(code.path, text.replace(last.old, last.new))
    yield stage.rewind(begun)
    yield stage.rewind(stage.safety)
    # A save without a change, which a guard by time stamps would report.
    stage.read(code.path)
    stage.put(test.path, test.reads[0])
    stage.read(test.path)
    stage.save_again(test.path)
    yield stage.check(test.path)
    yield stage.edit(test.path, *test.edits)
    yield stage.compare({file.path: file.ended for file in (code, test)})


INDENT = "    "

PAUSE = "Enter goes on, q leaves: "


@command(example="tour")
@click.option("--no-pause", is_flag=True, help="Play all steps without a pause.")
def tour(call: Call, *, no_pause: bool) -> None:
    """See a real agent's session judged, step by step.

    On a terminal, the tour waits for Enter after each step. Its files stand in a throw-away folder.
    Exit code 1: a step did not end as expected.
    """
    pausing = not no_pause and not call.json and output.can_ask() and sys.stdout.isatty()
    steps: list[Step] = []
    if not call.json:
        title = f"A real session of {SOURCE['product']}, judged by Sightline"
        output.prose(
            f"{output.style(call, title, 'cyan')}\n"
            f"Recording: github.com/{SOURCE['repository']}, {SOURCE['licence']}, "
            f"{SOURCE['copyright']}\n"
            "Its files stand in a throw-away folder. Nothing of yours is read or changed."
        )
    left = False
    with TemporaryDirectory(prefix="sightline-tour-") as folder, Stage(folder) as stage:
        for step in play(stage, load()):
            steps.append(step)
            if not call.json:
                _tell(call, len(steps), step)
            if not step.ended_as_told:
                break
            if pausing and not _goes_on():
                left = True
                break
        if call.json:
            told = ("told", "note", "verb", "expected", "ended_as_told", "moment")
            played = [
                {"step": number, **fields(step, *told), **shape(step.outcome)}
                for number, step in enumerate(steps, 1)
            ]
            sessions = shape(stage.status().sessions)
            output.json(
                {"source": SOURCE, "steps": played, "sessions": sessions, "next": [_next()]}
            )
        elif step.ended_as_told and not left:
            output.text("\nWhat 'sightline status' says of it all:\n")
            for line in status_lines(call, stage.status(), str):
                output.prose(f"    {line}".rstrip())
    if not step.ended_as_told:
        output.failure(
            call,
            f"Step {len(steps)} was to end with {step.expected!r}, not {step.outcome.ended!r}.",
            "This is a fault of Sightline: please report it, with what 'tour --json' prints.",
        )
        raise Answered(NO)
    if not call.json:
        output.text(f"\n{output.wrapped(f'The throw-away folder is gone again. {_where()}')}")
        output.prose(f"    {_next()}")


def _goes_on() -> bool:
    """Wait for a key; return whether the user wants the next step."""
    output.say("")
    click.echo(PAUSE, err=True, nl=False)
    try:
        while (key := click.getchar()) not in ("\r", "\n", "q", "Q"):
            pass
    except EOFError:
        key = "q"
    finally:
        click.echo("\r\x1b[K\x1b[A", err=True, nl=False, color=True)
    return key in ("\r", "\n")


def _next() -> str:
    """Return the command to go on with, as it works in this terminal."""
    program = "sightline" if which("sightline") else f"{quote(sys.executable)} -m sightline"
    return f"{program} up"


def _where() -> str:
    """Return the words before the next command: where to type it."""
    try:
        root = discover()
    except WorkspaceError:
        return "Next, go to a folder of yours that an agent works in, and type:"
    return f"Next, watch your own folder {printable(root)}:"


def _tell(call: Call, number: int, step: Step) -> None:
    """Print a step: the event, its outcome, and the words of the library."""
    outcome = step.outcome
    if step.moment:
        output.text(f"\n{output.style(call, output.wrapped(step.moment), 'cyan')}")
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
