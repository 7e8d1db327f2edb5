"""The changes of an attempt: collected, applied as one batch, taken back; and its result as stored."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import chain
from operator import attrgetter

from msgspec import structs

from sightline.changes.session_context import SessionContext
from sightline.changes.untracked import is_gone, manifest, newest
from sightline.checkpoints.automatic import before_batch
from sightline.checkpoints.compare import compared
from sightline.checkpoints.rewind.rewinder import rewind, was_taken_back
from sightline.errors import EditRefused, PathError, PathRefused, StoreError, Unverifiable
from sightline.filesystem.git.repository import prefix_of
from sightline.filesystem.git_control import git_top
from sightline.guard.edit import AttemptMode, attempt_all
from sightline.guard.evaluation import outside_scope
from sightline.guard.reads import saw
from sightline.guard.write_journal import telling
from sightline.messages.progress import AnswerRecord, read_progress
from sightline.messages.todos import Item, renewed
from sightline.model.agent_work import Todo
from sightline.model.attempts import Attempt, Create, Delete, WriteWhole
from sightline.model.diff import diff, unified
from sightline.model.events import (
    AnswerGiven,
    BatchEnded,
    Changed,
    CheckpointTaken,
    CommandEnded,
    Fact,
    Moved,
    RewindEnded,
    RewindStarted,
    SessionStarted,
    SubtaskEnded,
    SubtaskStarted,
)
from sightline.model.manifest import EMPTY, Change, FileDifference
from sightline.model.revision import (
    MISSING,
    UNKNOWN,
    Revision,
    is_link,
    revision_of,
)
from sightline.model.text import Text, decode, lines_of
from sightline.model.timeline import Recorded
from sightline.subtasks import byte_changes, words
from sightline.subtasks.file_bytes import FileBytes, is_executable
from sightline.subtasks.runners import Outcome
from sightline.subtasks.subtask import (
    ChangedFile,
    ChangedText,
    ChangeKind,
    Conflict,
    Graph,
    SubTask,
    TaskResult,
    decode_result,
    with_applied,
)
from sightline.text.causes import is_rewind


def collect(context: SessionContext, outcome: Outcome) -> tuple[TaskResult, tuple[bytes, ...]]:
    """Return the result of a run in another tree with its changed files, and their texts. A change that
    cannot be applied is a conflict."""
    result = outcome.result
    files: list[ChangedFile] = []
    texts: list[bytes] = []
    conflicts = list(result.conflicts)
    elsewhere: list[str] = []
    for name, before, after in outcome.changes:
        if not name.startswith(outcome.prefix):
            elsewhere.append(name)
            continue
        path = name.removeprefix(outcome.prefix)
        files.append(_changed(path, before, after))
        why = _unfit(context, path, before, after)
        if why:
            conflicts.append(Conflict(path, why[0], why[1]))
        else:
            both = (before, after)
            texts += [each.data for each in both if each.data is not None and each.kind == "file"]
    if elsewhere:
        text = f"It changed files outside of the workspace: {', '.join(elsewhere[:5])}."
        conflicts.append(Conflict(elsewhere[0], "outside", text))
    outside = (*result.outside, *elsewhere)
    found = structs.replace(result, files=tuple(files), conflicts=tuple(conflicts), outside=outside)
    return found, tuple(texts)


def recorded(context: SessionContext, result: TaskResult) -> TaskResult:
    """Return a result with the files that an attempt changed in the shared tree: its session, and the
    sessions of agents that it started. A change that a command made is not taken back by a rewind for
    certain; one outside of the scope is a conflict."""
    rows = _rows(context, family(context))
    named = {row.fact.path for row in rows if isinstance(row.fact, Changed | Moved)}
    outside: dict[str, None] = dict.fromkeys(result.outside)
    files = []
    conflicts = list(result.conflicts)
    for row in rows:
        fact = row.fact
        if (
            isinstance(fact, Changed)
            and fact.cause.kind != "agent"
            and fact.cause.confidence != "certain"
        ):
            outside[fact.path] = None
    for path, (first, last) in _ends(context, rows).items():
        before = None if first == MISSING else first
        now = None if last == MISSING else last
        kind: ChangeKind = "created" if before is None else "deleted" if now is None else "changed"
        if before not in (now, UNKNOWN):
            files.append(ChangedFile(path, kind, before, now, applied=True))
        if path not in named:
            outside[path] = None
        if outside_scope(context, path):
            message = f"It wrote {path!r}, outside of its scope."
            conflicts.append(Conflict(path, "scope", message))
    return structs.replace(
        result, files=tuple(files), conflicts=tuple(conflicts), outside=tuple(outside)
    )


def with_writes_at_home(context: SessionContext, result: TaskResult) -> TaskResult:
    """Return a result whose changes were applied with the files, too, that the attempt wrote in the
    workspace itself while it ran."""
    known = {file.path for file in result.files}
    written = recorded(context, structs.replace(result, files=())).files
    return structs.replace(
        result, files=(*result.files, *(file for file in written if file.path not in known))
    )


def _ends(
    context: SessionContext, rows: Sequence[Recorded]
) -> dict[str, tuple[Revision, Revision]]:
    """Return the files that an attempt changed, each with its first revision and its last. rows: of
    _rows(). A file that a command removed, and that no session had read, is that of a checkpoint; UNKNOWN
    where none has it, as of a file that may hold secrets."""
    first: dict[str, Revision] = {}
    last: dict[str, Revision] = {}
    for row in rows:
        fact = row.fact
        if isinstance(fact, CommandEnded):
            gone = [path for path in fact.paths if path not in last and is_gone(context, path)]
            checkpoint = newest(context, row.position) if gone else None
            entries = manifest(context, checkpoint) if checkpoint is not None else EMPTY
            first |= {path: entries[path].content if path in entries else UNKNOWN for path in gone}
            last |= dict.fromkeys(gone, MISSING)
        elif isinstance(fact, Changed):
            first.setdefault(fact.path, fact.before)
            last[fact.path] = fact.after
        elif isinstance(fact, Moved):
            first.setdefault(fact.src, fact.revision)
            first.setdefault(fact.path, MISSING)
            last |= {fact.src: MISSING, fact.path: fact.revision}
    return {path: (first[path], last[path]) for path in last}


def apply(
    context: SessionContext, graph: Graph, task: SubTask, result: TaskResult, root: str
) -> TaskResult:
    """Write the changes of an attempt; return the result with the conflicts, or with its files applied.
    root: of the workspace in the attempt's tree, where large files are.
    Its texts are one batch, all or none, which is written once (_is_applied). The guard judges each file by the text that the attempt began with: changes of others to other lines
    are merged, and those to the same lines are conflicts. What is not text follows, once nothing
    stands against any file."""
    is_begun = _is_applied(context)
    wanted: list[tuple[str, Attempt]] = []
    by_bytes: list[ChangedFile] = []
    conflicts: list[Conflict] = []
    for file in result.files:
        step = _step(context, file, is_begun=is_begun)
        if isinstance(step, Conflict):
            conflicts.append(step)
        elif step is None:
            by_bytes.append(file)
        else:
            wanted.append((file.path, step))
    if not is_begun:
        conflicts += filter(None, (byte_changes.judge(context, file) for file in by_bytes))
        conflicts += _judged(context, wanted, is_written=False)
        if not conflicts and result.files:
            before_batch(context, f"before the changes of sub-task {task.id}")
            conflicts = _judged(context, wanted, is_written=True)
    left: tuple[str, ...] = ()
    if not conflicts:
        with telling(context, [path for path, _ in wanted]):  # the batch is on disk
            conflicts = byte_changes.write(context, by_bytes, root)
            conflicts = conflicts or byte_changes.set_modes(context, result.files)
            if conflicts:
                left = take_back(context)
    if conflicts:
        by_path = {file.path: file for file in result.files}
        named = tuple(
            _with_siblings(context, graph, task, _with_texts(context, each, by_path.get(each.path)))
            for each in conflicts
        )
        return structs.replace(result, conflicts=named, outside=(*result.outside, *left))
    large = [file.path for file in result.files if file.large]
    return with_applied(structs.replace(result, outside=(*result.outside, *large)))


def _step(
    context: SessionContext, file: ChangedFile, *, is_begun: bool
) -> Attempt | Conflict | None:
    """Return the edit that carries out a change, or why it cannot be carried out; None for one of bytes.
    is_begun: the batch is on disk, so that nothing is judged any more."""
    conflict = _unreachable(context, file)
    if conflict is not None or file.large:
        return conflict
    data = [_kept(context, each) for each in (file.before, file.after)]
    if None in data:
        return Conflict(file.path, "unverifiable", f"The text of {file.path!r} is gone.")
    before, after = map(decode, data)
    if before is None or after is None or _is_link(file):
        return None
    if not _is_edit(file, before, after, data):
        return None
    try:
        if file.before is not None and not is_begun:
            saw(context, file.path, text=before.plain, via="handover")
    except PathError as error:
        return Conflict(file.path, "unverifiable", error.message)
    return _attempt(file, after.plain)


def tree_root(context: SessionContext, folder: str) -> str:
    """Return the workspace in the tree of an attempt. folder: of the tree."""
    root = os.path.realpath(context.workspace.root)
    top = git_top(root)
    return os.path.join(folder, prefix_of(root, top).rstrip("/")) if top else folder


def _is_applied(context: SessionContext) -> bool:
    """Return whether the batch of an attempt is on disk: all of the batch was written, and no rewind took
    the batch back. Other writes of the session tell nothing: a child may write in the workspace, too."""
    applied = 0
    for row in context.store.timeline(session=context.session, kinds=[BatchEnded]):
        fact = row.fact
        if isinstance(fact, BatchEnded) and fact.batch == _batch(context):
            applied = row.position if fact.outcome == "done" else 0
    return applied > 0 and not was_taken_back(context, applied)


def _batch(context: SessionContext) -> str:
    """Return the name of the batch of an attempt. The session of an attempt has its number in its name."""
    return f"changes of {context.session}"


def take_back(context: SessionContext) -> tuple[str, ...]:
    """Set back the files that an attempt and the agents that it started changed in the workspace,
    and those of the checkpoint before it that a command removed; return those that stay, because
    somebody else changed them since or a command did. What was taken back once stays as it is."""
    begun = [*context.store.timeline(session=context.session, kinds=[SessionStarted], limit=1)]
    if not begun:
        return ()
    sessions = family(context)
    rows = [
        row
        for row in _rows(context, sessions)
        if not (isinstance(row.fact, Changed | Moved) and is_rewind(row.fact.cause))
    ]
    if not rows:
        return ()
    start = _checkpoint_before(context, rows) or begun[0]
    is_done = _is_taken_back(context, start.position, rows)
    entries = manifest(context, start) if start is not begun[0] else EMPTY
    before = {path: first for path, (first, _) in _ends(context, rows).items()}
    commands = [row.fact for row in rows if isinstance(row.fact, CommandEnded)]
    by_command = {path for command in commands for path in command.paths}
    removed = {path for path in by_command & before.keys() if is_gone(context, path)}
    kept = {
        path
        for path in removed & entries.keys()
        if entries[path].target is not None
        or context.store.blob(entries[path].revision) is not None
    }
    left = sorted(removed - kept)
    for session in reversed(sessions[1:]):
        child = rewind(context.for_session(session), begun[0].position, dry_run=is_done)
        left += [each.path for each in child.left_alone]
    report = rewind(
        context,
        start.fact.checkpoint if isinstance(start.fact, CheckpointTaken) else start.position,
        dry_run=is_done,
        force_paths=() if is_done else kept,
    )
    left += [each.path for each in report.left_alone]
    return tuple(
        path
        for path in dict.fromkeys(left)
        if path in before and context.look(path).content != before[path]
    )


def _checkpoint_before(context: SessionContext, rows: Sequence[Recorded]) -> Recorded | None:
    """Return the checkpoint before all that an attempt did. rows: of the attempt's work."""
    first = min((row.position for row in rows), default=None)
    taken = context.store.timeline(
        session=context.session, kinds=[CheckpointTaken], upto=first, limit=1
    )
    return next(iter(taken), None)


def _is_taken_back(context: SessionContext, start: int, rows: Sequence[Recorded]) -> bool:
    """Return whether a rewind to the start of an attempt ended after all that the attempt did: another
    one would undo the first. start: a position; rows: of the attempt's work."""
    last = max((row.position for row in rows), default=start)
    kinds: list[type[Fact]] = [RewindStarted, RewindEnded]
    rewinds = [*context.store.timeline(session=context.session, kinds=kinds, after=last)]
    facts = [row.fact for row in rewinds]
    targets = [fact.to for fact in facts if isinstance(fact, RewindStarted)]
    return start in targets and isinstance(facts[-1], RewindEnded)


def take_back_earlier(parent: SessionContext, task: SubTask) -> tuple[str, ...]:
    """Set back what the earlier attempts at a sub-task left in the workspace, the newest first; return the
    files that stay."""
    started = parent.store.timeline(session=parent.session, kinds=[SubtaskStarted])
    earlier = [
        row.fact.session
        for row in started
        if isinstance(row.fact, SubtaskStarted)
        and row.fact.subtask == task.id
        and row.fact.attempt < task.attempt
    ]
    left = (take_back(parent.for_session(each)) for each in reversed(earlier) if each is not None)
    return tuple(dict.fromkeys(chain.from_iterable(left)))


def family(context: SessionContext) -> list[str]:
    """Return the session of an attempt, and those of agents that the attempt started, parents first."""
    sessions = [context.session]
    for session in sessions:
        sessions += [state.id for state in context.store.sessions(parent=session)]
    return sessions


def _rows(context: SessionContext, sessions: Sequence[str]) -> list[Recorded]:
    """Return what sessions changed, and their commands, in the order of the timeline."""
    kinds: list[type[Fact]] = [Changed, Moved, CommandEnded]
    rows = (context.store.timeline(session=session, kinds=kinds) for session in sessions)
    return sorted(chain.from_iterable(rows), key=attrgetter("position"))


def stored(context: SessionContext, task: SubTask) -> TaskResult:
    """Return the stored result of a sub-task. StoreError where its text is not kept."""
    result = result_of(context, task)
    if result is None:
        raise StoreError(
            f"The result of sub-task {task.id!r} is not kept any more.", "Retry the sub-task."
        )
    return result


def result_of(context: SessionContext, task: SubTask) -> TaskResult | None:
    """Return the result of a sub-task; None where there is none, or its text is not kept."""
    data = context.store.blob(task.record) if task.record is not None else None
    return None if data is None else decode_result(data)


def completion(
    parent: SessionContext, task: SubTask, result: TaskResult
) -> tuple[list[Fact], list[bytes]]:
    """Return the facts that complete a sub-task, and their texts. The to-dos of the child come to those of
    its parent; one with a text that the list has already takes the child's state."""
    encoded = result.encoded()
    record = revision_of(encoded)
    facts: list[Fact] = [
        SubtaskEnded(task.id, "completed", result.summary, task.attempt, record=record)
    ]
    if not result.todos:
        return facts, [encoded]
    states = {"in_progress", "done", "dropped"}
    progress = read_progress(parent)
    merged: dict[str, Todo] = {todo.text: todo for todo in progress.todos}
    for each in result.todos:
        state = each.state if each.state in states else "proposed"
        item = Item(each.text, state, each.detail)  # type: ignore[arg-type]
        merged[each.text] = renewed(merged.get(each.text), item, progress.turn)
    todos = AnswerRecord(todos=tuple(merged.values())).encoded()
    facts.append(AnswerGiven(revision_of(todos), turn=progress.turn))
    return facts, [encoded, todos]


def siblings_on(context: SessionContext, graph: Graph, task: SubTask, path: str) -> tuple[str, ...]:
    """Return the sub-tasks whose newest attempt changed a file after an attempt began. context: of the
    attempt. Their changes may be on the timeline before their ends are."""
    begun = context.store.timeline(session=context.session, kinds=[SessionStarted], limit=1)
    start = next((row.position for row in begun), 0)
    by_session = {other.session: other.id for other in graph if other.id != task.id}
    rows = context.store.timeline(path=path, kinds=[Changed, Moved], after=start)
    found = (by_session[row.session] for row in rows if row.session in by_session)
    return tuple(dict.fromkeys(found))


def _judged(
    context: SessionContext, wanted: Sequence[tuple[str, Attempt]], *, is_written: bool
) -> list[Conflict]:
    """Judge changes, and write them where all are allowed; return the conflicts."""
    try:
        mode: AttemptMode = "write" if is_written else "judge"
        done = attempt_all(context, wanted, mode=mode, batch=_batch(context))
    except (EditRefused, PathRefused) as error:  # the disk refused
        return [Conflict(error.path, error.reason, error.message)]
    conflicts = []
    for (path, _), outcome in zip(wanted, done, strict=True):
        if isinstance(outcome, EditRefused):
            conflicts.append(Conflict(path, outcome.reason, outcome.message, (), outcome.diff))
    return conflicts


def _with_siblings(
    context: SessionContext, graph: Graph, task: SubTask, conflict: Conflict
) -> Conflict:
    """Return a conflict with the siblings that changed its file meanwhile."""
    if conflict.reason == "scope":
        return conflict
    others = siblings_on(context, graph, task, conflict.path)
    message = words.sibling_conflict(conflict, others)
    return structs.replace(conflict, siblings=others, message=message)


def _with_texts(context: SessionContext, conflict: Conflict, file: ChangedFile | None) -> Conflict:
    """Return a conflict with both texts of its file: the one on disk, and the attempt's."""
    if file is None or file.large:
        return conflict
    before, after = (_lines(context, each) for each in (file.before, file.after))
    if before is None or after is None:
        return conflict
    wanted, on_disk = unified(before, after, diff(before, after)), conflict.diff
    if not on_disk:
        try:
            found = context.look(conflict.path)
            now = [] if found.content == MISSING else lines_of(found.data)
        except (PathRefused, Unverifiable):
            now = None
        on_disk = unified(before, now, diff(before, now)) if now is not None else ""
    return structs.replace(conflict, diff=on_disk, wanted=wanted)


def changed_texts(context: SessionContext, task: SubTask) -> tuple[ChangedText, ...]:
    """Return the changes of the newest attempt at a sub-task, in order of path. An attempt in a tree of its own
    that has not ended well has none."""
    result = result_of(context, task)
    if result is None and task.isolation == "shared" and task.session is not None:
        result = recorded(context.for_session(task.session), TaskResult())
    files = result.files if result is not None else ()
    return tuple(_text_of(context, file) for file in sorted(files, key=attrgetter("path")))


def _text_of(context: SessionContext, file: ChangedFile) -> ChangedText:
    changes: dict[ChangeKind, Change] = {"created": "added", "deleted": "removed"}
    texts = compared(
        FileDifference(file.path, changes.get(file.kind, "changed"), None, None),
        _lines(context, file.before),
        _lines(context, file.after),
    )
    return ChangedText(file.path, file.kind, file.applied, texts.diff, texts.added, texts.removed)


def _lines(context: SessionContext, named: Revision | None) -> Sequence[str] | None:
    """Return the lines of a revision of an attempt's file: [] for no file, None where they are not kept or no
    text."""
    if named is None or named == MISSING:
        return []
    return None if is_link(named) else lines_of(context.store.blob(named))


def _unreachable(context: SessionContext, file: ChangedFile) -> Conflict | None:
    """Return the conflict with a symlink at the path of a file, or above it, that the attempt did not
    begin with: a symlink would lead a write elsewhere."""
    above = os.path.dirname(file.path)
    try:
        folder = context.workspace.locate(above) if above else None
        if folder is not None:
            is_dangling = context.look(folder.path).kind == "symlink"
            if folder.name is not None or is_dangling:
                return Conflict(file.path, "kind_changed", words.below_symlink(file.path))
        if not _is_link(file) and context.workspace.locate(file.path).name is not None:
            return Conflict(file.path, "kind_changed", words.is_symlink(file.path))
    except PathError as error:
        return Conflict(file.path, "outside", error.message)
    return None


def _attempt(file: ChangedFile, text: str) -> Attempt:
    if file.kind == "deleted":
        return Delete()
    return Create(text) if file.kind == "created" else WriteWhole(text)


def _kept(context: SessionContext, named: Revision | None) -> bytes | None:
    return b"" if named is None or is_link(named) else context.store.blob(named)


def _changed(path: str, before: FileBytes, after: FileBytes) -> ChangedFile:
    kind: ChangeKind = (
        "created" if before.is_missing else "deleted" if after.is_missing else "changed"
    )
    mode = after.mode if is_executable(before) != is_executable(after) else None
    large = tuple(each.digest for each in (before, after) if each.kind == "large")
    return ChangedFile(path, kind, before.revision, after.revision, mode, large=large)


def _is_edit(file: ChangedFile, before: Text, after: Text, data: Sequence[bytes | None]) -> bool:
    """Return whether an edit of a text leaves these very bytes: an edit keeps line ends and encoding,
    which the attempt may have changed. data: of both."""
    if file.kind == "deleted":
        return True
    is_changed = file.kind == "created" or data[0] != data[1]
    return is_changed and before.is_encoded(after.plain, data[1] or b"")


def _is_link(file: ChangedFile) -> bool:
    return any(each is not None and is_link(each) for each in (file.before, file.after))


def _unfit(
    context: SessionContext, path: str, before: FileBytes, after: FileBytes
) -> tuple[str, str] | None:
    """Return why a change cannot be applied, as a reason and a sentence; None where it can be."""
    kinds = {before.kind, after.kind}
    if "other" in kinds:
        return "kind_changed", f"{path!r} is a special file, which is not applied."
    if "secret" in kinds or not context.may_store(path):
        return "secret", f"{path!r} may hold secrets: its text is never kept, so it is not applied."
    if after.kind == "link" and _leads_out(path, os.fsdecode(after.data or b"")):
        return "outside", f"{path!r} is a symlink that leads out of the workspace: not applied."
    return None


def _leads_out(path: str, target: str) -> bool:
    """Return whether a symlink at a path would lead out of the workspace."""
    leads = os.path.normpath(os.path.join(os.path.dirname(path), target))
    return os.path.isabs(target) or leads.split(os.sep)[0] == os.pardir
