"""Take in proposals of sub-tasks: check them, resolve their files, record them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct, ValidationError, convert, structs

from sightline.changes.session_context import SessionContext
from sightline.errors import PathError, SubtaskError
from sightline.model.events import Fact, SubtaskApproved, SubtaskProposed
from sightline.search import find
from sightline.sessions.path_patterns import is_path, path_pattern
from sightline.subtasks import words
from sightline.subtasks.dependency_graph import (
    FILES_MAX,
    Problem,
    Proposal,
    error_of,
    find_problems,
)
from sightline.subtasks.subtask import SubTask
from sightline.subtasks.subtask_fold import TaskFold
from sightline.subtasks.task_registry import TaskRegistry

SPELLINGS = {
    "dependsOn": "dependencies",
    "depends_on": "dependencies",
    "autoExecute": "auto_execute",
}


def proposal(value: Proposal | Mapping[str, Any]) -> Proposal:
    """Return a proposal, or the proposal of a mapping with its fields. SubtaskError."""
    if isinstance(value, Proposal):
        return value
    if not isinstance(value, Mapping):
        raise SubtaskError(
            "invalid", "", f"A proposal is an object, not {value!r:.60}.", words.SHAPE
        )
    fields = {SPELLINGS.get(str(name), str(name)): each for name, each in value.items()}
    unknown = [name for name in fields if name not in Proposal.__struct_fields__]
    name = str(fields.get("id", ""))
    if unknown:
        raise SubtaskError(
            "invalid", name, f"A proposal has no field {unknown[0]!r:.60}.", words.SHAPE
        )
    try:
        return convert({"id": "", "goal": "", **fields}, Proposal)
    except ValidationError as error:
        raise SubtaskError("invalid", name, f"{error} (sub-task {name!r}).", words.SHAPE) from error


class Resolved(Struct, frozen=True):
    """Proposals with their patterns resolved to files, each with its number among all that were made,
    and the reasons to refuse some because of their files."""

    proposals: tuple[tuple[int, Proposal], ...]
    problems: tuple[Problem, ...]

    def new(self, known: Mapping[str, SubTask]) -> list[Proposal]:
        """Return the proposals without those that stand as sub-tasks already, word for word."""
        return [each for _, each in self.proposals if not _stands(each, known.get(each.id))]

    def find_problems(self, known: Mapping[str, SubTask]) -> list[Problem]:
        """Return every reason to refuse the proposals beside the sub-tasks that there are."""
        numbered = [pair for pair in self.proposals if not _stands(pair[1], known.get(pair[1].id))]
        found = [
            structs.replace(each, number=numbered[each.number][0])
            for each in find_problems([each for _, each in numbered], known)
        ]
        return sorted([*self.problems, *found], key=lambda each: each.number)


def resolve(context: SessionContext, proposals: Iterable[Proposal]) -> Resolved:
    """Resolve the patterns of proposals to files of the workspace, and their scopes. Each search is a
    fact of the session, so this happens before a decision at a position."""
    problems: list[Problem] = []
    resolved: list[tuple[int, Proposal]] = []
    for number, each in enumerate(proposals):
        files, scope = each.files, each.scope
        if len(files) <= FILES_MAX and len(scope) <= FILES_MAX:
            files = _files(context, number, each, problems)
            scope = _scope(context, number, each, problems)
        plain = structs.replace(
            each,
            goal=each.goal.strip(),
            files=files,
            scope=scope,
            dependencies=tuple(dict.fromkeys(each.dependencies)),
        )
        resolved.append((number, plain))
    return Resolved(tuple(resolved), tuple(problems))


def propose(
    context: SessionContext, registry: TaskRegistry, values: Iterable[Proposal | Mapping[str, Any]]
) -> list[SubTask]:
    """Record proposals of sub-tasks, all or none, and return them as they stand then. Where the
    settings allow it, those with auto_execute are approved at once. SubtaskError."""
    proposals = [proposal(each) for each in values]
    record(registry, resolve(context, proposals))
    return [registry.task(each.id) for each in proposals]


def record(registry: TaskRegistry, resolved: Resolved) -> None:
    """Record resolved proposals, all or none. SubtaskError."""

    def decision(fold: TaskFold) -> Sequence[Fact]:
        problems = resolved.find_problems(fold.tasks)
        if problems:
            raise error_of(problems)
        return facts_of(registry.context, resolved.new(fold.tasks))

    registry.decide(decision)


def facts_of(context: SessionContext, proposals: Iterable[Proposal]) -> list[Fact]:
    """Return the facts of checked proposals."""
    facts: list[Fact] = []
    allowed = context.settings.subtasks == "auto"
    for each in proposals:
        facts.append(SubtaskProposed(each.id, *structs.astuple(each)[1:]))
        if each.auto_execute and allowed:
            facts.append(SubtaskApproved(each.id, "setting"))
    return facts


def _stands(proposal: Proposal, task: SubTask | None) -> bool:
    return task is not None and all(
        getattr(task, field) == getattr(proposal, field) for field in Proposal.__struct_fields__
    )


def _files(
    context: SessionContext, number: int, each: Proposal, problems: list[Problem]
) -> tuple[str, ...]:
    files: dict[str, None] = {}
    for place, name in enumerate(each.files):
        field = f"files[{place}]"
        try:
            if is_path(context, name):
                files[context.workspace.locate(name).path] = None
                continue
            matches = find.find(context, name, limit=FILES_MAX + 1).matches
        except (PathError, ValueError) as error:
            message = error.message if isinstance(error, PathError) else str(error)
            problems.append(Problem(number, field, "invalid", each.id, message))
            continue
        if not matches:
            text = f"Sub-task {each.id!r}: no file matches {name!r}."
            problems.append(Problem(number, field, "no_match", each.id, text))
        files |= dict.fromkeys(matches)
    return tuple(files)


def _scope(
    context: SessionContext, number: int, each: Proposal, problems: list[Problem]
) -> tuple[str, ...]:
    patterns: dict[str, None] = {}
    for place, text in enumerate(each.scope):
        try:
            patterns[path_pattern(context, text)] = None
        except PathError as error:
            problems.append(Problem(number, f"scope[{place}]", "invalid", each.id, error.message))
    return tuple(patterns)
