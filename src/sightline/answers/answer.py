"""Values in a structured answer. The JSON Schema that a model is given is made from them."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from sightline.errors import NextCall, PathError
from sightline.model.agent_work import State, Todo
from sightline.model.results import Edited, EditResult, Refused
from sightline.search.chains import REQUESTS_MAX as FILE_REQUESTS_MAX
from sightline.search.chains import FindResult, FoundFiles, Request
from sightline.search.listing_requests import REQUESTS_MAX as LISTINGS_MAX
from sightline.search.listing_requests import ListingRequest
from sightline.subtasks.subtask import SubTask

ITEMS_MAX = 1_000
"""To-dos of an answer, and changes of files."""

FEW = 100
"""Sub-tasks, next steps and commands of an answer."""

Name = Annotated[str, Meta(min_length=1)]
Index = Annotated[int, Meta(ge=0)]


class ProposedTodo(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A step of the work."""

    text: Annotated[Name, Meta(description="What is to be done, for the user to read.")]
    ai_text: Annotated[
        str, Meta(description="Details for yourself: you are shown them when you go on.")
    ] = ""
    status: Annotated[
        State | None, Meta(description="Leave it out for a step whose changes are in fileChanges.")
    ] = None
    index: Annotated[Index | None, Meta(description="Its place in todos, from 0 on.")] = None


class ProposedEdit(Struct, frozen=True, forbid_unknown_fields=True):
    """The replacement of a text in a file."""

    old: Annotated[Name, Meta(description="The text to replace, exactly as in the file.")]
    new: str
    count: Annotated[
        Annotated[int, Meta(ge=1)] | Literal["all"],
        Meta(description="How often `old` stands in the file."),
    ] = 1


class ProposedChange(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """The change of one file. Give one of content, edits, patch and delete; or moveTo, alone or with
    one of the first three."""

    path: Annotated[Name, Meta(description="The file, relative to the workspace.")]
    todo_index: Annotated[
        Index | None, Meta(description="The place in todos, from 0 on, of the step it belongs to.")
    ] = None
    content: Annotated[str | None, Meta(description="The whole new text of the file.")] = None
    create: Annotated[bool, Meta(description="The file is new: refuse if it exists.")] = False
    edits: Annotated[
        tuple[ProposedEdit, ...], Meta(description="Replacements, one after the other.")
    ] = ()
    patch: Annotated[
        str | None, Meta(description="A patch of this file: a unified diff, or *** Begin Patch.")
    ] = None
    delete: bool = False
    move_to: Annotated[Name | None, Meta(description="The new path of the file.")] = None
    based_on: Annotated[
        Name | None, Meta(description="The revision of the text that you were shown.")
    ] = None

    @property
    def is_edit(self) -> bool:
        """Return whether the change replaces parts of a file's text, and nothing else."""
        return bool(self.edits or self.patch is not None) and self.move_to is None


class ProposedSubtask(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A part of the work that can be done on its own."""

    id: Name
    goal: Annotated[Name, Meta(description="What it is to accomplish.")]
    files: tuple[str, ...] = ()
    dependencies: Annotated[
        tuple[str, ...], Meta(description="The ids of the sub-tasks that must be done before.")
    ] = ()
    auto_execute: Annotated[bool, Meta(description="Begin without asking the user.")] = False
    scope: Annotated[
        tuple[str, ...],
        Meta(description="Paths or patterns of the files that it may write; all by default."),
    ] = ()
    budget: Annotated[
        Annotated[int, Meta(ge=1)] | None, Meta(description="Tokens that it may use.")
    ] = None


class NextStep(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A step to offer to the user."""

    html: Annotated[Name, Meta(description="What the user reads.")]
    input_text: Annotated[str, Meta(description="The message that the step stands for.")] = ""


class ProposedCommand(Struct, frozen=True, forbid_unknown_fields=True):
    """A command that the user may run. Sightline never runs it."""

    command: Name
    reason: str = ""


class Plan(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """The answer of a planning pass: what a model wants to see before it begins."""

    file_requests: Annotated[
        tuple[Request, ...],
        Meta(max_length=FILE_REQUESTS_MAX, description="Files that the work needs."),
    ] = ()
    directory_requests: Annotated[
        tuple[ListingRequest, ...],
        Meta(max_length=LISTINGS_MAX, description="Folders to see listed."),
    ] = ()


class Answer(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """The answer of a model. All changes of files of one task stand in one answer."""

    summary: Annotated[str, Meta(description="What you did, or need, in a few sentences.")] = ""
    todos: Annotated[tuple[ProposedTodo, ...], Meta(max_length=ITEMS_MAX)] = ()
    file_changes: Annotated[tuple[ProposedChange, ...], Meta(max_length=ITEMS_MAX)] = ()
    file_requests: Annotated[
        tuple[Request, ...],
        Meta(max_length=FILE_REQUESTS_MAX, description="Files that you want to see next."),
    ] = ()
    directory_requests: Annotated[
        tuple[ListingRequest, ...],
        Meta(max_length=LISTINGS_MAX, description="Folders that you want to see listed next."),
    ] = ()
    sub_tasks: Annotated[tuple[ProposedSubtask, ...], Meta(max_length=FEW)] = ()
    next_steps: Annotated[tuple[NextStep, ...], Meta(max_length=FEW)] = ()
    commands: Annotated[tuple[ProposedCommand, ...], Meta(max_length=FEW)] = ()


ApplyMode = Literal["all", "each", "preview"]
"""How the changes of an answer are applied: all or none; each that can be; or none, to look."""

ChangeState = Literal["applied", "allowed", "held", "refused"]
"""The state of a change. allowed: it can be applied; held: it can, but another one that goes with it
cannot."""


class ChangeView(Struct, frozen=True, omit_defaults=True):
    """A judged change as JSON has it: see JudgedChange. change: what was written, or would be."""

    number: int
    path: str
    state: ChangeState
    change: Edited | None = None
    refusal: Refused | None = None


class AnswerView(Struct, frozen=True):
    """The result of an answer as JSON has it: see AnswerResult. The commands and the next steps are for the
    user; nothing runs them. listings: the folders that it asks to have listed."""

    summary: str
    next_steps: tuple[NextStep, ...]
    sub_tasks: tuple[ProposedSubtask, ...]
    commands: tuple[ProposedCommand, ...]
    mode: ApplyMode
    is_cut: bool
    slips: tuple[str, ...]
    set_aside: tuple[str, ...]
    changes: tuple[ChangeView, ...]
    checkpoint: str | None
    todos: tuple[Todo, ...]
    files: tuple[FoundFiles, ...]
    listings: tuple[ListingRequest, ...]


def in_answer(call: NextCall) -> str:
    """Return a call as an answer makes it: the fields of an edit; "" for other calls."""
    if not call.again or call.verb != "session.edit":
        return ""
    return ", ".join(f'"{name}": {value}' for name, value in call.named.items())


class JudgedChange(Struct, frozen=True):
    """A change of an answer, judged. number: its place in fileChanges, from 0 on. result: what it did,
    or would do; None for a refused one. refusal: why it was refused; changes of one file are refused
    together.

    path: from the workspace's root. state: applied, allowed, held or refused.
    """

    number: int
    path: str
    state: ChangeState
    result: EditResult | None = None
    refusal: PathError | None = None

    def as_view(self) -> ChangeView:
        """Return the change with its result or refusal as JSON has them."""
        done = None if self.result is None else self.result.edited
        refusal = None if self.refusal is None else Refused.answer_to(self.refusal, in_answer)
        return ChangeView(self.number, self.path, self.state, done, refusal)


class AnswerResult(Struct, frozen=True):
    """The result of a structured answer. is_cut: the text ended early, and only its whole items count.
    checkpoint: taken before the changes; None without changes. todos: the session's list now. files:
    the results of its requests for files, in order. subtasks: its sub-tasks as they stand now. text:
    for the agent; pass the result to Session.acknowledge when the agent has it. slips: trailing commas
    and comments in its JSON, with their places; they were read as if they were not there. set_aside: the
    places of fields that no answer has; they were left out.

    mode: how the changes were applied.
    """

    answer: Answer
    mode: ApplyMode
    is_cut: bool = False
    changes: tuple[JudgedChange, ...] = ()
    checkpoint: str | None = None
    todos: tuple[Todo, ...] = ()
    files: tuple[FindResult, ...] = ()
    text: str = ""
    subtasks: tuple[SubTask, ...] = ()
    slips: tuple[str, ...] = ()
    set_aside: tuple[str, ...] = ()

    @property
    def refused(self) -> bool:
        """Return whether a change was refused."""
        return any(change.state == "refused" for change in self.changes)

    def __str__(self) -> str:
        return self.text

    def as_view(self) -> AnswerView:
        """Return the result with the words of the answer to the user."""
        given = self.answer
        return AnswerView(
            *(given.summary, given.next_steps, given.sub_tasks, given.commands),
            *(self.mode, self.is_cut, self.slips, self.set_aside),
            tuple(change.as_view() for change in self.changes),
            *(self.checkpoint, self.todos),
            tuple(file.as_view() for file in self.files),
            given.directory_requests,
        )
