"""Compose what a child begins with: goal, scope, the parent's summary, files, what was done before."""

from __future__ import annotations

import os

from sightline.changes.session_context import SessionContext
from sightline.errors import PathError
from sightline.messages.progress import read_progress
from sightline.model.revision import revision_of
from sightline.model.text import decode
from sightline.subtasks import attempt_effects as effects
from sightline.subtasks import words
from sightline.subtasks.subtask import Graph, SubTask
from sightline.text.phrases import spans
from sightline.text.tokens import estimate

TOKENS = 8_000
"""Tokens of files' texts in a hand-over. A sub-task's own budget may be smaller: a quarter of it."""

FILE_BYTES = 200_000


def compose(
    parent: SessionContext, graph: Graph, task: SubTask, root: str
) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return the text for the child, and the files that it shows with their texts. root: the folder
    that the child works in, whose files count."""
    progress = read_progress(parent)
    by_id = graph.by_id
    dependencies = [by_id[name] for name in task.dependencies]
    room = TOKENS if task.budget is None else min(TOKENS, task.budget // 4)
    files: list[tuple[str, str, str | None]] = []
    handed: list[tuple[str, str]] = []
    for path in task.files:
        data = _bytes(root, path) if parent.settings.may_store(path) else None
        text = decode(data)
        known = _known(parent, path, data)
        shown = text.plain if text is not None else None
        if shown is not None and (tokens := estimate(shown)) <= room:
            room -= tokens
            handed.append((path, shown))
        else:
            shown = None
        files.append((path, known if data is not None else "This file does not exist yet.", shown))
    prompt = words.handed_over(
        task,
        summary=progress.answer.summary if progress.answer else "",
        todos=[todo.text for todo in progress.todos if todo.state in ("proposed", "in_progress")],
        dependencies=[(each, effects.result_of(parent, each)) for each in dependencies],
        files=files,
    )
    return prompt, tuple(handed)


def _known(parent: SessionContext, path: str, data: bytes | None) -> str:
    try:
        knowledge = parent.store.knowledge(parent.session, parent.workspace.locate(path).path)
    except PathError:
        knowledge = None
    if knowledge is None or data is None:
        return words.known_before("", 0, is_current=False)
    belief = knowledge.belief
    is_current = belief.text == revision_of(data)
    return words.known_before(spans(belief.shown), belief.lines, is_current=is_current)


def _bytes(root: str, path: str) -> bytes | None:
    """Return the bytes of a regular file; None where there is none, or a large one."""
    name = os.path.join(root, path)
    if os.path.islink(name) or not os.path.isfile(name) or os.path.getsize(name) > FILE_BYTES:
        return None
    with open(name, "rb") as file:
        return file.read()
