"""List a session's running sub-tasks and the running agents that its agent sent, with their files."""

from __future__ import annotations

from collections.abc import Iterator

from sightline.changes.session_context import SessionContext
from sightline.filesystem.process import alive
from sightline.model.events import Changed, Fact, Moved, SessionForked, SubtaskStarted
from sightline.model.timeline import newest_first
from sightline.sessions.claims import active
from sightline.sessions.presence import is_present
from sightline.subtasks import words
from sightline.subtasks.attempt_effects import family
from sightline.subtasks.subtask import Graph, SubTask
from sightline.subtasks.task_registry import TaskRegistry


def running_note(context: SessionContext) -> str:
    """Return words on the sub-tasks and the agents that still work for a session; "" for none. An agent
    that forgot them would send another one to the same work."""
    return words.still_running([*_subtasks(context), *_agents(context)])


def summary_beside(graph: Graph, note: str) -> tuple[str, str]:
    """Return the summary of the sub-tasks that stands beside a running note, without those that the note
    names, and the summary of all. note: "" for none."""
    whole = words.summary_of(graph)
    named = [task.id for task in running_subtasks(graph)] if note else []
    return words.summary_of(graph, named) if named else whole, whole


def summaries(context: SessionContext, note: str) -> tuple[str, str]:
    """Return both summaries of a session's sub-tasks, as summary_beside does."""
    return summary_beside(TaskRegistry(context).graph(), note)


def running_subtasks(graph: Graph) -> list[SubTask]:
    """Return the sub-tasks that running_note names: those whose process works on them."""
    return [task for task in graph if task.state == "running" and alive(task.owner)]


def _subtasks(context: SessionContext) -> Iterator[str]:
    for task in running_subtasks(TaskRegistry(context).graph()):
        attempt = context.for_session(task.session or "")
        changed = [path for name in family(attempt) for path in _files(context, name)]
        files = dict.fromkeys([*changed, *task.files, *task.scope])
        yield words.running_subtask(task, list(files))


def _agents(context: SessionContext) -> Iterator[str]:
    """Yield words on the sessions that this one began, attempts at sub-tasks aside, and whose agents are
    present."""
    rows = context.store.timeline(session=context.session, kinds=[SubtaskStarted])
    attempts = {row.fact.session for row in rows if isinstance(row.fact, SubtaskStarted)}
    for state in context.store.sessions(parent=context.session):
        if state.id in attempts or not is_present(context, state):
            continue
        if any(True for _ in context.store.timeline(session=state.id, kinds=[SessionForked])):
            continue  # the user's own, which goes its own way
        name = state.id.removeprefix(f"{context.session}/").rpartition("-")[0] or state.agent
        claimed = [
            path for each in active(context) if each.session == state.id for path in each.paths
        ]
        files = list(dict.fromkeys([*_files(context, state.id), *claimed]))
        read = sorted(context.store.known(state.id)) if not files else []
        yield words.running_agent(name, files, read)


def _files(context: SessionContext, session: str) -> Iterator[str]:
    """Yield the files that a session changed, the newest first."""
    kinds: list[type[Fact]] = [Changed, Moved]
    for row in newest_first(context.store.timeline, session=session, kinds=kinds):
        if isinstance(row.fact, Changed | Moved):
            cause = row.fact.cause
            if cause.who == session or cause.kind == "command":
                yield row.fact.path
