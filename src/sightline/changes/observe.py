"""Observe one path: the file on disk, what the session knows of it, and what changed in between."""

from __future__ import annotations

from msgspec import Struct

from sightline.changes.attribution import detect_changes
from sightline.changes.renames import renamed, resolve_rename
from sightline.changes.session_context import Known, SessionContext
from sightline.filesystem.file_state import FileState, ResolvedPath
from sightline.model.events import Fact


class Observation(Struct, frozen=True):
    """One path, looked at once. on_disk: the file. known: what the session knows of it.
    renamed_to: where the file is now, when it was renamed. unrecorded: changes by others that are
    not on the timeline yet."""

    on_disk: FileState
    known: Known
    renamed_to: ResolvedPath | None
    unrecorded: list[Fact]


def observe(
    context: SessionContext, located: ResolvedPath, *, is_edit: bool = False
) -> Observation:
    """Look at a path, whose lock the caller holds. A rename that is found is recorded. is_edit: as in
    SessionContext.look."""
    on_disk = context.look(located.path, is_edit=is_edit)
    known = resolve_rename(context, located, on_disk)
    return Observation(
        on_disk,
        known,
        renamed(context, on_disk, known),
        detect_changes(context, on_disk, known=known),
    )
