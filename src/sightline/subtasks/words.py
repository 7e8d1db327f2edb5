"""Word sub-tasks: errors, the hand-over to a child, and the summary for the parent's model."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from sightline.errors import Hint, NextCall
from sightline.model.path import quoted
from sightline.subtasks.subtask import Conflict, Graph, SubTask, TaskResult
from sightline.text.phrases import count, first_lines, lasted, named, shortened, unfound
from sightline.text.printable import one_line

SHAPE = (
    'Give objects such as {"id": "api", "goal": "…", "files": ["src/*.py"], "dependencies": [],'
    ' "scope": ["src/**"], "autoExecute": false, "budget": 50000}.'
)

NAMED = 6
"""Names that one sentence lists."""

GOAL = 60
"""Characters of a goal in a table."""

OUTPUT_SHOWN = 2_000
"""Characters at the end of a command's output that a text shows."""


def no_subtask(
    subtask: str, several: Sequence[str], nearest: Sequence[str], *, has_any: bool
) -> tuple[str, Hint]:
    """Word that no sub-task has a name, or several have. has_any: the session has sub-tasks."""
    list_all = NextCall("subtasks.graph") if has_any else "Propose one first."
    return unfound("sub-task", subtask, several, nearest, list_all)


def being_applied(subtask: str, *, is_alive: bool) -> tuple[str, str]:
    """Word that the changes of a sub-task are being applied, so that it cannot be moved."""
    hint = "Wait until it has ended."
    if not is_alive:
        hint = "Its process died meanwhile. The next run of the sub-tasks applies the rest and ends it."
    return f"Sub-task {subtask!r} ended well, and its changes are being applied.", hint


def retry_first(subtask: str, lost: Sequence[str]) -> tuple[str, Hint]:
    """Word that dependencies did not complete, so that a retry would be skipped at once."""
    names = named([repr(name) for name in lost], NAMED)
    return (
        f"Sub-task {subtask!r} depends on {names}, which did not complete.",
        Hint(f"Try {lost[0]!r} again first: ", NextCall("subtasks.retry", (lost[0],))),
    )


def no_runner(name: str) -> tuple[str, str]:
    """Word that nobody said who carries a sub-task out."""
    return (
        f"There is no runner {name!r} in this process.",
        "Pass a function that this process can import, or a command.",
    )


def lost_too_often(times: int) -> str:
    """Word that the process of an attempt died again and again."""
    return f"the process that carried it out died {times} times"


WORKER_STOPPED = "the worker that took it was stopped"
WITHDRAWN = "the order was withdrawn"

NO_POSTGRESQL = (
    "Other machines can only help with a database of PostgreSQL.",
    "Set tasks_database to its URL, here and where the workers run.",
)


def too_long(timeout_s: float) -> str:
    """Word that an attempt took too long."""
    return f"it took longer than {timeout_s:g} s"


def worker_died(worker: str) -> str:
    """Word that the worker of an attempt died. worker: its process."""
    return f"the worker that took it, process {worker.rsplit(':', 2)[1]}, died or lost its network"


def no_worker(seconds: float) -> str:
    """Word that nobody took an attempt for another machine."""
    return (
        f"no worker of this repository was there for {seconds:g} s: start one in a clone that has this"
        " commit, with the same tasks_database: sightline worker"
    )


def before_attempt(subtask: str, number: int) -> str:
    """Return the label of the checkpoint before an attempt in the shared tree."""
    return f"before attempt {number} at sub-task {subtask}"


def lost_attempt(attempt: int, left: Sequence[str]) -> str:
    """Word that the process of an attempt died. left: files that could not be set back."""
    stays = f"; not restored: {named([*map(quoted, left)], NAMED)}" if left else ""
    return f"the process of attempt {attempt} died{stays}"


def output_left_out(size: int) -> str:
    """Word that the middle of an output is not kept. size: in bytes."""
    return f"[{size:,} bytes are left out]"


def with_outside(reason: str, outside: Sequence[str], notes: Sequence[str] = ()) -> str:
    """Word why an attempt failed. outside: what it changed past the guard; notes: in git."""
    changed = (
        f"; changed outside the guard: {named([*map(quoted, outside)], NAMED)}" if outside else ""
    )
    return "; ".join([f"{reason}{changed}", *notes])


def conflict_reason(conflicts: Sequence[Conflict]) -> str:
    """Word why changes were not applied."""
    return " ".join(one_line(each.message) for each in conflicts[:NAMED])


def sibling_conflict(conflict: Conflict, siblings: Sequence[str]) -> str:
    """Word that a sub-task and its siblings changed a file."""
    if not siblings:
        return conflict.message
    names = named([repr(name) for name in siblings], NAMED)
    if conflict.reason == "conflict":
        return f"Sub-task {names} changed the same lines of {quoted(conflict.path)} meanwhile."
    return f"{quoted(conflict.path)} was changed by sub-task {names} meanwhile. {conflict.message}"


def both_sides(subtask: str, conflict: Conflict, most: int | None = None, see_all: str = "") -> str:
    """Return both texts of a conflict as diffs of the text that the attempt began with; "" where there is
    none. most: lines of each; see_all: names what shows the others."""
    path = quoted(conflict.path)
    names = named([repr(name) for name in conflict.siblings], NAMED)
    now = f"in the workspace now{f', by sub-task {names}' if names else ''}"
    sides = [
        (now, conflict.diff),
        (f"as sub-task {subtask!r} left it, not applied", conflict.wanted),
    ]
    parts = []
    for whose, text in sides:
        if text:
            shown = text if most is None else first_lines(text, most, see_all)
            parts.append(f"--- {path} when sub-task {subtask!r} began\n+++ {path} {whose}\n{shown}")
    return "".join(part if part.endswith("\n") else f"{part}\n" for part in parts)


def still_conflicts(subtask: str, conflicts: Sequence[Conflict]) -> tuple[str, Hint]:
    """Word that the changes of a sub-task still cannot be applied."""
    return (
        f"The changes of sub-task {subtask!r} are not applied: {conflict_reason(conflicts)}",
        settle(subtask, conflicts[0]),
    )


def settle(subtask: str, conflict: Conflict) -> Hint:
    """Say how a conflict is settled, in two lines."""
    path = conflict.path
    merge = NextCall("subtasks.merge", (subtask,), {"keep": path})
    alone = f"If you want this change, make it in {quoted(path)} yourself. Then apply the rest: "
    if conflict.reason == "scope":
        scope = "\nTo let a sub-task make it, propose one with this file in its scope."
        return Hint(alone, merge, scope)
    of_both = f"Put what you want of both into {quoted(path)}, then apply the rest: "
    return Hint(
        of_both if conflict.diff else alone,
        merge,
        "\nOr do its work again on the files as they are now: ",
        NextCall("subtasks.retry", (subtask,)),
    )


def try_again(subtask: str) -> Hint:
    """Say how a sub-task that failed goes on."""
    return Hint("Try it again: ", NextCall("subtasks.retry", (subtask,)))


def not_changed(subtask: str, paths: Sequence[str]) -> tuple[str, Hint]:
    """Word that a sub-task did not change the files that are to be kept."""
    return (
        f"Sub-task {subtask!r} did not change {named([*map(quoted, paths)], NAMED)}.",
        Hint("See what it changed: ", NextCall("subtasks.diff", (subtask,))),
    )


def handed_over(
    task: SubTask,
    *,
    summary: str,
    todos: Sequence[str],
    dependencies: Sequence[tuple[SubTask, TaskResult | None]],
    files: Sequence[tuple[str, str, str | None]],
) -> str:
    """Return the text that a child begins with. summary, todos: of the parent. files: the path, what
    the parent knew, and the text now; None where it is not shown."""
    parts = [
        f"# Sub-task {task.id}\n\n{task.goal}",
        "Work on this goal alone. Others work on the rest of the task.",
    ]
    if task.scope:
        scope = ", ".join(map(quoted, task.scope))
        parts.append(f"You may write only these files: {scope}. A write elsewhere is refused.")
    if task.budget is not None:
        parts.append(f"Budget: {task.budget:,} tokens.")
    if summary or todos:
        lines = [summary] if summary else []
        lines += [f"- {todo}" for todo in todos]
        parts.append("## The task this belongs to\n\n" + "\n".join(lines))
    if dependencies:
        lines = []
        for each, result in dependencies:
            lines.append(f"- {each.id}: {one_line(each.result or each.goal)}")
            lines += [
                f"  - {file.kind}: {quoted(file.path)}" for file in (result.files if result else ())
            ]
        parts.append("## Done before\n\n" + "\n".join(lines))
    if files:
        blocks = []
        for path, known, text in files:
            block = f"### {quoted(path)}\n{known}"
            if text is not None:
                fence = "```" if "```" not in text else "`````"
                block += f"\n{fence}\n{text.removesuffix(chr(10))}\n{fence}"
            blocks.append(block)
        parts.append("## Files\n\n" + "\n\n".join(blocks))
    parts.append("End with a short summary of what you did and what is left to do.")
    return "\n\n".join(parts) + "\n"


def known_before(lines: str, total: int, *, is_current: bool) -> str:
    """Word what the parent knew of a file. lines: the lines that it was shown, as words, "" for none."""
    if not lines:
        return "The parent was not shown this file."
    text = f"The parent was shown {lines} of {total}."
    return text if is_current else f"{text} The file changed since."


def summary_of(graph: Graph, named: Collection[str] = ()) -> str:
    """Return a summary of all sub-tasks for the parent's model; "" for none. named: ids of sub-tasks that
    stand in the words on what still runs, and in no row."""
    if not len(graph):
        return ""
    rows = ["## Sub-tasks", ""]
    unnamed = [task for task in graph if task.id not in named]
    if unnamed:
        rows += ["| id | state | goal | result |", "|---|---|---|---|"]
    for task in unnamed:
        said = one_line(task.result or task.reason or "")
        rows.append(
            f"| {_cell(task.id)} | {task.state} | {_cell(_cut(one_line(task.goal), GOAL))} |"
            f" {_cell(_cut(said, 2 * GOAL))} |"
        )
    return "\n".join([*rows, *([""] if unnamed else []), counted(graph)])


def counted(graph: Graph) -> str:
    """Return the number of sub-tasks in each state: "3 sub-tasks: 2 completed, 1 failed"."""
    states = ", ".join(f"{number} {state}" for state, number in graph.counts.items())
    return f"{count(len(graph), 'sub-task')}{f': {states}' if states else ''}"


def outcome(task: SubTask, result: TaskResult | None) -> list[str]:
    """Return the state of a sub-task, its reason, its summary and its files, as lines."""
    lines = [f"Sub-task {task.id} {_is_now(task)}{_took(task)}."]
    if task.reason:
        lines.append(f"Why: {task.reason.rstrip('.')}.")
    if task.result and task.result != task.reason:
        lines.append(task.result)
    if result is None:
        return lines
    return lines + [
        f"- {file.kind}{'' if file.applied else ', not applied'}: {quoted(file.path)}"
        for file in result.files
    ]


def left_over(task: SubTask, result: TaskResult | None) -> list[str]:
    """Return what an attempt left beside the files that came home, and what it printed, as lines."""
    lines: list[str] = []
    if result is None:
        return lines
    if result.outside:
        paths = named([*map(quoted, result.outside)], NAMED)
        lines.append(f"Changed outside the guard; no rewind takes it back: {paths}.")
    lines += _left_beside(task, result)
    output = result.output.strip()
    if output and task.state != "completed" and output != (task.result or "").strip():
        lines += ["Output:", result.output[-OUTPUT_SHOWN:].rstrip()]
    return lines


def _took(task: SubTask) -> str:
    """Word how long a sub-task took that ended; "" where nobody worked at it."""
    if task.state == "skipped" or task.started_at is None or task.ended_at is None:
        return ""
    return f" after {lasted(max((task.ended_at - task.started_at).total_seconds(), 0))}"


def attempt_begun(task: SubTask) -> str:
    """Word that a worker begins an attempt at a sub-task."""
    again = f", attempt {task.attempt}" if task.attempt > 1 else ""
    return f"Taking {one_line(task.id)}{again}: {one_line(task.goal)}"


def no_changes(task: SubTask) -> str:
    """Word that no change of a sub-task is kept."""
    if task.state == "running":
        return f"{task.id} is running. Its changes are in a tree of its own, and are applied when it ends."
    if not task.attempt:
        return f"No attempt at {task.id} was made yet."
    if task.state == "failed":
        return f"No change of {task.id} is kept: its attempt failed, and its tree is gone."
    return f"{task.id} changed no file."


def attempt_ended(task: SubTask, seconds: float) -> str:
    """Word what became of an attempt that a worker made. seconds: that it took."""
    state = task.state if task.is_ended else "is left to other workers"
    said = one_line((task.result if task.state == "completed" else task.reason) or "")
    return f"{one_line(task.id)} {state} after {lasted(seconds)}{f': {said}' if said else ''}"


REPOSITORY_GONE = "it is a git repository no longer"
EMPTY_FOLDER = "empty folder"


def in_repository(at: str, sentence: str) -> str:
    """Word something of a repository within the workspace. at: its path, "" for the workspace's own."""
    return f"{quoted(at)}: {sentence}" if at else sentence


def ref_changed(name: str, old: str | None, new: str | None) -> str:
    """Word that a branch, a tag or another ref was made, moved or deleted. old, new: objects."""
    kinds = {"refs/heads/": "branch", "refs/tags/": "tag", "refs/remotes/": "remote branch"}
    start = next((each for each in kinds if name.startswith(each)), "")
    ref = f"{kinds.get(start, 'ref')} {quoted(name.removeprefix(start))}"
    if old is None:
        return f"{ref} was made at {_short(new)}"
    if new is None:
        return f"{ref} was deleted; it was at {_short(old)}"
    return f"{ref} moved from {_short(old)} to {_short(new)}"


def head_moved(old: str, old_commit: str, new: str, new_commit: str) -> str:
    """Word that HEAD moved. old, new: the branches, "" for none; with their commits."""
    return f"HEAD moved from {_head(old, old_commit)} to {_head(new, new_commit)}"


def stash_dropped(name: str, message: str) -> str:
    """Word that an entry of the stash went."""
    return f"stash entry {_short(name)} was dropped: {one_line(message)}"


def stash_added(name: str, message: str) -> str:
    """Word that an entry came into the stash."""
    return f"stash entry {_short(name)} was added: {one_line(message)}"


def tree_added(folder: str) -> str:
    """Word that a git worktree was made."""
    return f"a git worktree was made in {quoted(folder)}"


def tree_removed(folder: str) -> str:
    """Word that a git worktree was removed."""
    return f"the git worktree in {quoted(folder)} was removed"


def settings_changed(files: Sequence[str]) -> str:
    """Word that files of git's settings changed."""
    return f"git's settings changed: {named([*map(quoted, files)], NAMED)}"


def repository_made(path: str) -> str:
    """Word that a child made a repository."""
    return f"{quoted(path)} is a git repository of its own; the workspace has its files, not its history"


def submodule_used(path: str) -> str:
    """Word that a child checked out a submodule and changed it."""
    return f"{quoted(path)} is a submodule that it checked out and changed"


def left_behind(path: str, kind: str) -> str:
    """Word that something is not brought back. kind: of a file."""
    return (
        f"{quoted(path)} is {'an' if kind[0] in 'aeiou' else 'a'} {kind}, which is not copied back"
    )


def kind_of_special(*, is_pipe: bool, is_socket: bool) -> str:
    """Return the name of a special file's kind."""
    return "pipe" if is_pipe else "socket" if is_socket else "device"


def not_handed_over(paths: Sequence[str]) -> str:
    """Word that repositories within the workspace are not in the tree of an attempt."""
    each = (
        "is a git repository of its own, and is"
        if len(paths) == 1
        else ("are git repositories of their own, and are")
    )
    return f"{named([*map(quoted, paths)], NAMED)} {each} not in this folder"


def _head(branch: str, commit: str) -> str:
    return quoted(branch.removeprefix("refs/heads/")) if branch else _short(commit)


def _short(name: str | None) -> str:
    return (name or "nothing")[:10]


def _left_beside(task: SubTask, result: TaskResult) -> list[str]:
    """Word what an attempt left beside files."""
    if not result.notes and not result.kept:
        return []
    is_shared = task.isolation == "shared"
    lines = []
    if result.notes:
        lines.append("In git:" if is_shared else "In its own tree, not in the workspace:")
        lines += [f"- {note}" for note in result.notes]
    if result.kept:
        kept = quoted(result.kept)
        lines.append(f"The tree is kept in {kept}.")
        lines.append(f"Take a branch from there: git fetch {kept} BRANCH. Remove it: rm -rf {kept}")
    return lines


def still_running(lines: Sequence[str]) -> str:
    """Word what still works for a session; "" for nothing."""
    if not lines:
        return ""
    rows = [f"- {line}" for line in lines[:NAMED]]
    if len(lines) > NAMED:
        rows.append(f"- and {len(lines) - NAMED} more")
    return "\n".join(["Still running; do not send another agent to the same work:", *rows])


def running_subtask(task: SubTask, files: Sequence[str]) -> str:
    """Word that a sub-task runs. files: that it works on, also as patterns."""
    goal = shortened(one_line(task.goal), 2 * GOAL)
    return f"sub-task {one_line(task.id)}: {goal}{_with_files(files, 'works on')}"


def running_agent(name: str, files: Sequence[str], read: Sequence[str]) -> str:
    """Word that an agent of the session works. name: of its kind; files: that it changed or claims; read:
    that it read, where it changed none."""
    what = _with_files(files, "changed") if files else _with_files(read, "has read")
    return f"sub-agent {one_line(name)}{what}"


def _with_files(files: Sequence[str], verb: str) -> str:
    return f" ({verb} {named([*map(quoted, files)], NAMED)})" if files else ""


def needs_approval(path: str) -> str:
    """Word that a change may not be written without the user."""
    return (
        f"{quoted(path)} is outside of the scope, or protected: a change needs the user's approval."
    )


def is_claimed(path: str) -> str:
    """Word that another session claims a file."""
    return f"{quoted(path)} is claimed by another session."


def below_symlink(path: str) -> str:
    """Word that a folder above a file is a symlink in the workspace."""
    return f"A folder above {quoted(path)} is a symlink in the workspace."


def is_symlink(path: str) -> str:
    """Word that a file is a symlink in the workspace."""
    return f"{quoted(path)} is a symlink in the workspace now."


def is_folder(path: str) -> str:
    """Word that a folder is in the way of a file."""
    return f"{quoted(path)} is a folder in the workspace."


def changed_bytes(path: str) -> str:
    """Word that a file without text changed at home, too."""
    return f"{quoted(path)} changed since the attempt began, and is no text that could be merged."


def too_large_to_send(kind: str, size: int, most: int) -> str:
    """Return the sentence on files that are too many bytes for another machine. kind: of the files."""
    return (
        f"The {kind} files have {size / 1e6:.0f} MB, and another machine gets {most / 1e6:.0f} MB"
        " at most. Commit what is large, or let git ignore it."
    )


def _is_now(task: SubTask) -> str:
    return {"running": "is running", "proposed": "waits for approval"}.get(
        task.state, f"is {task.state}" if task.state in ("pending", "ready") else task.state
    )


def overlaps(pairs: Iterable[tuple[str, str, str]]) -> list[str]:
    """Return a sentence for each file that two siblings share: (one, other, path)."""
    return [f"{one!r} and {other!r} share {quoted(path)}." for one, other, path in pairs]


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
