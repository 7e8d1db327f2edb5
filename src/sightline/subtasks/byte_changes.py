"""Changes of an attempt that are not text: binary files, large files, symlinks and permissions.

A change is written only over what the attempt began with, by the session of the attempt, so that a
rewind takes it back. Judging and writing may be repeated: what is there already stays.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from stat import S_IMODE

from sightline.changes.attribution import detect_changes
from sightline.changes.session_context import SessionContext
from sightline.errors import PathRefused, Unverifiable
from sightline.filesystem.file_state import FileCopy, FileState, Link
from sightline.guard.evaluation import claims_on, forbids, policy_of
from sightline.guard.unfinished import locked
from sightline.guard.write_journal import Write, telling, write_all
from sightline.model.events import Cause, Changed
from sightline.model.revision import MISSING, link_of
from sightline.subtasks import words
from sightline.subtasks.subtask import ChangedFile, Conflict


def judge(context: SessionContext, file: ChangedFile) -> Conflict | None:
    """Return why a change may not be written; None where it may be."""
    try:
        located = context.workspace.locate(file.path)
        if policy_of(context, located) == "ask":
            return Conflict(file.path, "scope", words.needs_approval(file.path))
        if forbids(context, claims_on(context, located.path)):
            return Conflict(file.path, "claimed", words.is_claimed(file.path))
        found = context.look(located.name or located.path)
    except (PathRefused, Unverifiable) as error:
        return Conflict(file.path, getattr(error, "reason", "unverifiable"), error.message)
    return _differs(file, found)


def write(context: SessionContext, files: Sequence[ChangedFile], root: str) -> list[Conflict]:
    """Write the bytes and symlinks of changes that were judged, deletions first: they may be in the way.
    Return those that somebody changed since, and that the disk refused; others may be written then.
    root: of the workspace in the attempt's tree, where large files are."""
    gone = [file for file in files if file.after is None]
    here = [file for file in files if file.after]
    return _write(context, gone, root) or _write(context, here, root)


def _write(context: SessionContext, files: Sequence[ChangedFile], root: str) -> list[Conflict]:
    places = {file.path: _place(context, file) for file in files}
    conflicts: list[Conflict] = []
    writes: list[tuple[ChangedFile, Write]] = []
    with locked(context, *places.values()):
        for file in files:
            found = context.look(places[file.path])
            before, after = file.before or MISSING, file.after or MISSING
            conflict = _differs(file, found)
            if conflict is not None:
                conflicts.append(conflict)
            elif after not in (found.content, before):
                data = _data(context, file, root)
                writes.append((file, Write(found.path, before, after, found, data)))
        unrecorded = detect_changes(context, *[each.on_disk for _, each in writes])
        done = write_all(context, [each for _, each in writes], unrecorded=unrecorded)
    for (file, _), outcome in zip(writes, done, strict=True):
        if isinstance(outcome, Unverifiable):
            conflicts.append(Conflict(file.path, "unverifiable", outcome.message))
        elif not outcome:
            conflicts.append(Conflict(file.path, "modified", words.changed_bytes(file.path)))
    return conflicts


def set_modes(context: SessionContext, files: Sequence[ChangedFile]) -> list[Conflict]:
    """Make files executable, or not, as an attempt left them; return those that the disk refused."""
    conflicts = []
    for file in files:
        try:
            _set_mode(context, file)
        except Unverifiable as error:
            conflicts.append(Conflict(file.path, "unverifiable", error.message))
    return conflicts


def _set_mode(context: SessionContext, file: ChangedFile) -> None:
    if file.mode is None or file.after is None:
        return
    place = _place(context, file)
    with locked(context, place):
        found = context.look(place)
        if found.kind != "file" or found.signature is None:
            return
        mode = S_IMODE(found.signature.mode)
        wanted = mode | (mode & 0o444) >> 2 if file.mode & 0o100 else mode & ~0o111
        if wanted == mode:
            return
        after = context.workspace.set_mode(place, mode, wanted)
        cause = Cause("agent", context.session)
        bits = after.signature.mode if after.signature is not None else None
        fact = Changed(
            place, found.revision, after.revision, "mode", cause, bits,
            mode_before=found.signature.mode,
        )  # fmt: skip
        with telling(context, [place]):
            context.append([fact], found=[after], durable=True)


def _place(context: SessionContext, file: ChangedFile) -> str:
    """Return the canonical path of a file; of a symlink its own. PathRefused, Unverifiable."""
    located = context.workspace.locate(file.path)
    return located.name or located.path


def _data(context: SessionContext, file: ChangedFile, root: str) -> bytes | Link | FileCopy | None:
    """Return what a change leaves at its path. The bytes are kept, as apply() saw, or in the tree."""
    after = file.after
    if after is None or after == MISSING:
        return None
    target = link_of(after)
    if target is not None:
        return Link(target)
    if after in file.large:
        return FileCopy(os.path.join(root, file.path), after)
    return context.store.blob(after)


def _differs(file: ChangedFile, found: FileState) -> Conflict | None:
    """Return the conflict with a file whose content is neither the one at the beginning of the attempt
    nor the one at its end. New permissions alone never conflict."""
    ends = (file.before or MISSING, file.after or MISSING)
    if found.content in ends or ends[0] == ends[1]:
        return None
    if found.kind == "directory":
        return Conflict(file.path, "exists", words.is_folder(file.path))
    return Conflict(file.path, "modified", words.changed_bytes(file.path))
