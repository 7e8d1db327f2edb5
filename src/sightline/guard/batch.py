"""Change several files at once: judge all of them, then write all or none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike, fspath

from msgspec import Struct, ValidationError, convert, structs

from sightline.changes.session_context import SessionContext
from sightline.errors import EditRefused
from sightline.guard.edit import apply_all
from sightline.model.attempts import (
    Attempt,
    Create,
    Delete,
    Patch,
    Replace,
    Several,
    WriteWhole,
)
from sightline.model.patches import FilePatch, PatchSyntax, parse_patch
from sightline.model.path import quoted
from sightline.model.results import BatchResult, EditResult


class Change(Struct, frozen=True):
    """One file of a batch. Give one of: content, the whole new text (with create:
    of a new file); edits, (old, new, count) applied one after the other; delete.

    path: from the workspace's root.
    """

    path: str | PathLike[str]
    content: str | None = None
    edits: tuple[tuple[str, str, int | None], ...] = ()
    create: bool = False
    delete: bool = False

    def attempt(self) -> Attempt:
        """Return the attempt that this change describes. ValueError unless exactly one of content,
        edits and delete is given."""
        if [self.delete, bool(self.edits), self.content is not None].count(True) != 1:
            raise ValueError(
                f"{quoted(fspath(self.path))}: a change has content, or edits, or delete"
            )
        if self.delete:
            return Delete()
        if self.content is not None:
            return Create(self.content) if self.create else WriteWhole(self.content)
        parts = tuple(Replace(*edit) for edit in self.edits)
        return parts[0] if len(parts) == 1 else Several(parts)


def apply(context: SessionContext, changes: Sequence[Change]) -> BatchResult:
    """Carry out all changes, or none. EditRefused for the first that is refused, with the other
    refusals in `others`."""
    done = apply_all(context, [(fspath(change.path), change.attempt()) for change in changes])
    return BatchResult(tuple(done))


def paths_of(text: str) -> list[str]:
    """Return the files that a patch changes, by the names they have before. EditRefused when the patch
    cannot be read."""
    return [path for file in _files(text) for path in [file.old or file.new] if path]


def _files(text: str) -> list[FilePatch]:
    try:
        files = parse_patch(text)
    except PatchSyntax as error:
        raise EditRefused(
            "not_found",
            "(patch)",
            f"The patch cannot be read: {error}.",
            hint="Give a unified diff with '--- a/path' and '+++ b/path' lines, or a patch between"
            " '*** Begin Patch' and '*** End Patch'.",
        ) from error
    for file in files:
        if file.beyond:
            name = quoted(file.new or file.old or "")
            raise EditRefused(
                "not_found",
                "(patch)",
                f"The patch asks for {file.beyond} of {name}, which no edit of a text can make.",
                hint="Leave this file out of the patch, and change it with another tool.",
            )
    return files


def patch(context: SessionContext, text: str) -> EditResult:
    """Apply a patch to all of its files, or to none. EditRefused, also when the patch cannot be read.
    The results of the second file and on are in `others`."""
    files = _files(text)
    parts: dict[str, list[Attempt]] = {}  # a patch may have several sections on one file
    for file in files:
        for name, attempt in content_attempts(file):
            parts.setdefault(name, []).append(attempt)
    wanted = [
        (name, some[0] if len(some) == 1 else Several(tuple(some))) for name, some in parts.items()
    ]
    renames = {file.old: file.new for file in files if file.old and file.new and _is_rename(file)}
    done = apply_all(context, wanted, renames)
    edited = dict(zip((name for name, _ in wanted), done, strict=False))
    moved: dict[str, EditResult] = dict(zip(renames, done[len(wanted) :], strict=True))
    names = dict.fromkeys(file.old if file.old is not None else file.new for file in files)
    first, *others = [
        joined_result(edited.get(name), moved.get(name)) for name in names if name is not None
    ]
    return structs.replace(first, others=tuple(others))


def _is_rename(file: FilePatch) -> bool:
    return file.old is not None and file.new is not None and file.old != file.new


def content_attempts(file: FilePatch) -> list[tuple[str, Attempt]]:
    """Return the attempt on a file's content, none for a pure rename. A renamed file is changed
    before it is renamed."""
    if file.old is None:
        assert file.new is not None
        return [(file.new, Create("".join(line for hunk in file.hunks for line in hunk.new)))]
    if file.new is None:
        return [(file.old, Delete())]
    return [(file.old, Patch(file.hunks))] if file.hunks or not _is_rename(file) else []


def joined_result(edit: EditResult | None, move: EditResult | None) -> EditResult:
    """Return one result for the change of a file's content and its move. At least one is given."""
    if edit is None or move is None:
        result = edit or move
        assert result is not None
        return result
    return structs.replace(
        move,
        merged=edit.merged,
        notice=edit.notice,
        diff=move.diff + edit.diff,
        affected=edit.affected,
    )


class EditFields(Struct, forbid_unknown_fields=True):
    """The replacement of a text in a batch. count: how often the old text occurs; null for any number."""

    old: str
    new: str
    count: int | None = 1


class ChangeFields(Struct, forbid_unknown_fields=True):
    """One file of a batch as JSON has it: see Change."""

    path: str
    content: str | None = None
    edits: tuple[EditFields, ...] | None = None
    create: bool = False
    delete: bool = False


def change(fields: Change | ChangeFields | Mapping[str, object]) -> Change:
    """Return a Change from a mapping with the fields of Change; an edit is a mapping with old, new
    and count, or a tuple of these. ValueError names what is wrong."""
    if isinstance(fields, Change):
        return fields
    checked = fields if isinstance(fields, ChangeFields) else _checked(fields)
    return Change(
        checked.path,
        checked.content,
        tuple((edit.old, edit.new, edit.count) for edit in checked.edits or ()),
        checked.create,
        checked.delete,
    )


def _checked(fields: Mapping[str, object]) -> ChangeFields:
    given: object = fields  # agents write these
    path = fields.get("path") if isinstance(given, Mapping) else None
    if isinstance(path, PathLike):
        given = fields = {**fields, "path": fspath(path)}
    edits = given.get("edits") if isinstance(given, Mapping) else None
    if isinstance(edits, Sequence) and not isinstance(edits, str):
        named = [
            dict(zip(_EDIT, edit, strict=False)) if isinstance(edit, tuple) else edit
            for edit in edits
        ]
        given = {**fields, "edits": named}
    try:
        return convert(given, ChangeFields)
    except ValidationError as error:
        raise ValueError(f"a change of a batch cannot be read: {error}") from error


_EDIT = ("old", "new", "count")
