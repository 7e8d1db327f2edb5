"""Gather what the rules judge: a file on disk, and what a session knows of it."""

from __future__ import annotations

from sightline.changes.session_context import Known, SessionContext
from sightline.filesystem.file_state import FileState
from sightline.guard.edit_case import EditCase, Evidence, Rules
from sightline.model.attempts import Attempt, lines_of_attempt
from sightline.model.line_marks import unmarked_lines


def edit_case(
    context: SessionContext,
    on_disk: FileState,
    known: Known,
    policy: str = "merge",
    attempt: Attempt | None = None,
) -> EditCase:
    """Return what the rules judge. policy: of the path, as the settings name it. attempt: the one to
    judge, whose lines are looked for among the marks of a text that is not kept."""
    marks = known.marks
    if marks is not None and attempt is not None:
        marks = unmarked_lines(marks, context.store.marks_key(), lines_of_attempt(attempt))
    evidence = Evidence(
        on_disk.kind,
        on_disk.data,
        known.knowledge.belief if known.knowledge else None,
        known.believed if marks is None else marks,
        on_disk.why,
        known.retargeted,
        marks is not None,
        on_disk.revision,
    )
    return EditCase(
        evidence, Rules("merge" if policy == "ask" else policy, context.settings.unseen)
    )
