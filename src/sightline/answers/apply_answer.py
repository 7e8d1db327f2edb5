"""Apply a structured answer: judge its changes as one batch, write them, and record what came of it."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from msgspec import Struct, structs

from sightline.answers import words
from sightline.answers.answer import (
    Answer,
    AnswerResult,
    ApplyMode,
    ChangeState,
    JudgedChange,
    ProposedChange,
)
from sightline.answers.reading import patch_of, read_answer
from sightline.changes.session_context import SessionContext, located
from sightline.checkpoints.automatic import after_change, before_batch
from sightline.errors import AnswerInvalid, EditRefused, PathError, PathRefused
from sightline.guard.batch import content_attempts, joined_result
from sightline.guard.edit import AttemptMode, attempt_all
from sightline.guard.write_journal import telling
from sightline.messages.progress import AnswerRecord, SoughtFiles, read_progress
from sightline.messages.todos import Item, proposed
from sightline.model.agent_work import Todo
from sightline.model.attempts import (
    Attempt,
    Create,
    Delete,
    Replace,
    Several,
    WriteWhole,
)
from sightline.model.events import AnswerGiven
from sightline.model.results import EditResult
from sightline.model.revision import revision_of
from sightline.search import find, listing_requests
from sightline.search.chains import FindResult
from sightline.subtasks.dependency_graph import Proposal
from sightline.subtasks.proposals import Resolved, record, resolve
from sightline.subtasks.task_registry import TaskRegistry

PATHS_MAX = 20
"""Files of one request that are recorded for the next briefing."""

Outcome = EditResult | PathError


class Target(Struct, frozen=True):
    """The files of a change. number: of the change; path, moved_to: canonical."""

    number: int
    change: ProposedChange
    path: str
    moved_to: str | None


def apply_answer(context: SessionContext, raw: object, mode: ApplyMode = "all") -> AnswerResult:
    """Take in a structured answer: apply its changes, advance its to-dos, look for the files that it
    asks for, and note what the next briefing is to bring. mode: as in ApplyMode; a preview records
    nothing. AnswerInvalid, and nothing done, for an answer that cannot be read, a path outside of the
    workspace, a to-do that does not exist, and changes of one file that do not go together."""
    read = read_answer(raw)
    given, is_cut = read.answer, read.is_cut
    remarks: Any = {"slips": read.slips, "set_aside": read.set_aside}
    progress = read_progress(context)
    items = [Item(todo.text, todo.status, todo.ai_text) for todo in given.todos]
    listed = proposed(progress.todos, items, progress.turn)
    if not is_cut:
        _check_indexes(given, listed)
    _check_requests(context, given)
    registry = TaskRegistry(context)
    subtasks = _check_subtasks(context, given, registry)
    targets, outcomes = _located(context, given)
    outcomes |= _attempted(context, targets, "preview" if mode == "preview" else "judge")
    groups = _groups(targets)
    judged = _judged(given, groups, outcomes, set(), is_whole=mode == "all")
    allowed = {change.number for change in judged if change.state == "allowed"}
    if mode == "preview":
        result = AnswerResult(given, mode, is_cut, judged, None, listed, **remarks)
        return structs.replace(result, text=words.for_agent(result))
    checkpoint = before_batch(context, words.label(given)) if allowed else None
    applied: set[int] = set()
    chosen = [[each for each in group if each.number in allowed] for group in groups]
    for part in [[*chain.from_iterable(chosen)]] if mode == "all" else chosen:
        done = _attempted(context, part, "write")
        outcomes |= done
        if not any(isinstance(each, PathError) for each in done.values()):
            applied |= done.keys()
    results = [outcomes[number] for number in applied]
    paths = {each.path for each in results if isinstance(each, EditResult) and each.changed}
    with telling(context, paths):
        after_change(context, *sorted(paths))
        judged = _judged(given, groups, outcomes, applied, is_whole=mode == "all")
        todos = _advanced(given, listed, judged, progress.turn, is_cut=is_cut)
        files = find.find_each(context, given.file_requests) if given.file_requests else ()
        result = AnswerResult(given, mode, is_cut, judged, checkpoint, todos, files, **remarks)
        _record(context, result, progress.turn)
        if subtasks is not None:
            record(registry, subtasks)
            named = tuple(registry.task(each.id) for each in given.sub_tasks)
            result = structs.replace(result, subtasks=named)
    return structs.replace(result, text=words.for_agent(result))


def _check_indexes(answer: Answer, listed: Sequence[Todo]) -> None:
    wrong = tuple(
        (f"fileChanges[{number}].todoIndex", f"there is no to-do {change.todo_index}")
        for number, change in enumerate(answer.file_changes)
        if change.todo_index is not None and change.todo_index >= len(listed)
    )
    if wrong:
        raise AnswerInvalid(wrong, "Name a to-do by its place in todos, from 0 on.")


def _check_requests(context: SessionContext, answer: Answer) -> None:
    """Check the patterns of requests before the first file is written. AnswerInvalid."""
    wrong: list[tuple[str, str]] = []
    for number, request in enumerate(answer.file_requests):
        try:
            find.relative_request(context, request)
        except PathRefused as error:
            wrong.append((f"fileRequests[{number}].patterns", error.message))
    if wrong:
        raise AnswerInvalid(tuple(wrong), "Name files of the workspace, relative to its root.")


def _check_subtasks(
    context: SessionContext, answer: Answer, registry: TaskRegistry
) -> Resolved | None:
    """Check the sub-tasks before the first file is written, and return them with their patterns
    resolved; None where there are none. AnswerInvalid."""
    if not answer.sub_tasks:
        return None
    proposals = [Proposal(**structs.asdict(each)) for each in answer.sub_tasks]
    resolved = resolve(context, proposals)
    problems = resolved.find_problems(registry.graph().by_id)
    if problems:
        places = tuple(
            (f"subTasks[{each.number}]{f'.{each.field}' if each.field else ''}", each.message)
            for each in problems
        )
        raise AnswerInvalid(places, "Correct the sub-tasks. Nothing of the answer was applied.")
    return resolved


def _located(context: SessionContext, answer: Answer) -> tuple[list[Target], dict[int, Outcome]]:
    """Return the targets of the changes, and why some have none. AnswerInvalid for paths that lead
    out of the workspace, or that are none."""
    targets: list[Target] = []
    refused: dict[int, Outcome] = {}
    wrong: list[tuple[str, str]] = []
    for number, change in enumerate(answer.file_changes):
        place = f"fileChanges[{number}].path"
        try:
            path, moved_to = located(context, change.path).path, None
            if change.move_to is not None:
                place = f"fileChanges[{number}].moveTo"
                moved_to = located(context, change.move_to).path
        except PathRefused as error:
            if error.reason in ("outside", "invalid", "empty"):
                wrong.append((place, error.message))
            refused[number] = error
        except PathError as error:
            refused[number] = error
        else:
            if not (_attempts(change) or moved_to):
                message, hint = words.nothing_to_apply(change.path)
                refused[number] = EditRefused("no_change", change.path, message, hint=hint)
            targets.append(Target(number, change, path, moved_to))
    hint = "Name files of the workspace, relative to its root."
    if not wrong:
        wrong, hint = [*_clashes(targets)], "Give all edits of one file in one change."
    if wrong:
        raise AnswerInvalid(tuple(wrong), hint)
    return targets, refused


def _clashes(targets: Iterable[Target]) -> Iterator[tuple[str, str]]:
    """Yield the places of changes that do not go together with an earlier one of the same file."""
    first: dict[str, Target] = {}
    for target in targets:
        before, change = first.setdefault(target.path, target), target.change
        place, earlier = f"fileChanges[{target.number}]", f"fileChanges[{before.number}]"
        if before is target:
            continue
        if before.change.based_on != change.based_on:
            yield (
                f"{place}.basedOn",
                f"{earlier} changes this file, too, and names another revision",
            )
        elif before.change.delete or before.moved_to is not None or not change.is_edit:
            yield (
                f"{place}.path",
                f"{earlier} changes this file, too, and one answer can change a file only once",
            )


def _groups(targets: Iterable[Target]) -> list[list[Target]]:
    """Return the changes in groups that have no file in common, in order."""
    groups: list[tuple[set[str], list[Target]]] = []
    for target in targets:
        paths = {target.path, *filter(None, [target.moved_to])}
        members = [target]
        for other in [group for group in groups if group[0] & paths]:
            groups.remove(other)
            paths |= other[0]
            members = [*other[1], *members]
        groups.append((paths, members))
    ordered = [sorted(members, key=lambda each: each.number) for _, members in groups]
    return sorted(ordered, key=lambda members: members[0].number)


def _attempts(change: ProposedChange) -> list[Attempt]:
    """Return the attempts on the content of a file."""
    if change.delete:
        return [Delete()]
    if change.content is not None:
        return [Create(change.content) if change.create else WriteWhole(change.content)]
    if change.patch is not None:
        return [attempt for _, attempt in content_attempts(patch_of(change))]
    counts = [None if edit.count == "all" else edit.count for edit in change.edits]
    return [
        Replace(edit.old, edit.new, count) for edit, count in zip(change.edits, counts, strict=True)
    ]


def _attempted(
    context: SessionContext, targets: Sequence[Target], mode: AttemptMode
) -> dict[int, Outcome]:
    """Attempt these changes, all or none. Return the outcomes by the numbers of the changes; changes of
    one file have one outcome."""
    names: dict[str, str] = {}  # of a file, as the first change of it names it
    parts: dict[str, list[Attempt]] = {}
    renames: dict[str, str] = {}
    bases: dict[str, str] = {}
    for target in targets:
        change = target.change
        name = names.setdefault(target.path, change.path)
        if attempts := _attempts(change):
            parts.setdefault(name, []).extend(attempts)
        if change.move_to is not None:
            renames[name] = change.move_to
        if change.based_on is not None:
            bases[name] = change.based_on
    wanted = [
        (name, some[0] if len(some) == 1 else Several(tuple(some))) for name, some in parts.items()
    ]
    try:
        done = attempt_all(context, wanted, renames, bases=bases, mode=mode)
    except (EditRefused, PathRefused) as error:  # the disk refused
        return {target.number: error for target in targets}
    edits = dict(zip(parts, done, strict=False))
    moves = dict(zip(renames, done[len(parts) :], strict=True))
    return {
        target.number: _outcome(edits.get(name), moves.get(name))
        for target in targets
        if (name := names[target.path]) in parts or name in renames
    }


def _outcome(edit: Outcome | None, move: Outcome | None) -> Outcome:
    for each in (edit, move):
        if isinstance(each, PathError):
            return each
    assert not isinstance(edit, PathError)
    assert not isinstance(move, PathError)
    return joined_result(edit, move)


def _judged(
    answer: Answer,
    groups: Sequence[Sequence[Target]],
    outcomes: Mapping[int, Outcome],
    applied: Container[int],
    *,
    is_whole: bool,
) -> tuple[JudgedChange, ...]:
    """Return the changes with their states. applied: numbers of changes; is_whole: all changes go
    together, else those of a group do."""
    refused = {number for number, each in outcomes.items() if isinstance(each, PathError)}
    held = {
        target.number
        for group in groups
        for target in group
        if (is_whole and refused) or any(each.number in refused for each in group)
    }
    judged: list[JudgedChange] = []
    for number, change in enumerate(answer.file_changes):
        outcome = outcomes[number]
        if isinstance(outcome, PathError):
            judged.append(JudgedChange(number, change.path, "refused", refusal=outcome))
        else:
            state: ChangeState = "held" if number in held else "allowed"
            if number in applied:
                state = "applied"
            judged.append(JudgedChange(number, outcome.path, state, outcome))
    return tuple(judged)


def _advanced(
    answer: Answer,
    listed: Sequence[Todo],
    judged: Sequence[JudgedChange],
    turn: int,
    *,
    is_cut: bool,
) -> tuple[Todo, ...]:
    """Return the to-dos after the changes: done with all of its changes, in progress with some,
    unless the answer states another state."""
    todos = list(listed)
    changes: dict[int, list[JudgedChange]] = {}
    for change, each in zip(answer.file_changes, judged, strict=True):
        if change.todo_index is not None and change.todo_index < len(todos):
            changes.setdefault(change.todo_index, []).append(each)
    for index, own in changes.items():
        todo = todos[index]
        files = tuple(dict.fromkeys([*todo.files, *(each.path for each in own)]))
        state = todo.state
        stated = answer.todos[index].status if answer.todos else None
        if stated is None and any(each.state == "applied" for each in own):
            is_done = not is_cut and all(each.state == "applied" for each in own)
            state = "done" if is_done else "in_progress"
        if (state, files) != (todo.state, todo.files):
            todos[index] = structs.replace(todo, state=state, files=files, turn=turn)
    return tuple(todos)


def _record(context: SessionContext, result: AnswerResult, turn: int) -> None:
    given = result.answer
    record = AnswerRecord(
        given.summary,
        result.todos,
        tuple(step.html for step in given.next_steps),
        tuple(_sought(found) for found in result.files),
    ).encoded()
    applied = tuple(change.number for change in result.changes if change.state == "applied")
    name, sought = revision_of(record), len(result.files)
    fact = AnswerGiven(name, len(result.changes), applied, turn, sought)
    asked = listing_requests.facts(given.directory_requests)
    context.append([fact, *asked], blobs=[record])


def _sought(found: FindResult) -> SoughtFiles:
    offered = tuple(candidate.path for candidate in found.candidates)
    request = found.request
    paths = found.matches[:PATHS_MAX]
    return SoughtFiles(request.patterns, request.name, paths, offered, found.fallback)
