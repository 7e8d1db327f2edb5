"""Several files at once: all are judged before the first is written, and all or none change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, structs

from sightline.changes.session_context import TRIES, SessionContext
from sightline.errors import EditRefused, PathError
from sightline.filesystem.file_state import ResolvedPath
from sightline.guard.edit import commit, put_back, told_of_move
from sightline.guard.evaluation import Evaluation, place_of
from sightline.guard.move import move
from sightline.model.attempts import (
    Attempt,
    Create,
    Delete,
    FilePatch,
    Patch,
    PatchSyntax,
    Replace,
    Several,
    WriteWhole,
    parse_patch,
)
from sightline.model.results import BatchResult, EditResult


class Change(Struct, frozen=True):
    """What to do with one file of a batch: its whole content, or edits (old, new, count) made
    one after the other, or create, or delete."""

    path: str
    content: str | None = None
    edits: tuple[tuple[str, str, int | None], ...] = ()
    create: bool = False
    delete: bool = False

    def attempt(self) -> Attempt:
        """The attempt this stands for; ValueError when it says nothing or too much."""
        if [self.delete, bool(self.edits), self.content is not None].count(True) != 1:
            raise ValueError(f"{self.path}: a change has content, or edits, or delete")
        if self.delete:
            return Delete()
        if self.content is not None:
            return Create(self.content) if self.create else WriteWhole(self.content)
        parts = tuple(Replace(*edit) for edit in self.edits)
        return parts[0] if len(parts) == 1 else Several(parts)


def apply(ground: SessionContext, changes: Sequence[Change]) -> BatchResult:
    """All changes, or none: EditRefused for the first that cannot be, naming all in `others`."""
    wanted = [(c.path, c.attempt()) for c in changes]
    done = _carry_out(ground, wanted)
    return BatchResult(tuple(result for _, result in done))


def paths_of(unified_diff: str) -> list[str]:
    """Return the files that a unified diff changes, by the names they have before. EditRefused
    when the diff cannot be read."""
    return [path for file in _files(unified_diff) for path in [file.old or file.new] if path]


def _files(unified_diff: str) -> list[FilePatch]:
    try:
        return parse_patch(unified_diff)
    except PatchSyntax as error:
        raise EditRefused(
            "not_found",
            "(patch)",
            f"The patch cannot be read: {error}.",
            hint="Give a unified diff with '--- a/path' and '+++ b/path' lines.",
        ) from error


def patch(ground: SessionContext, unified_diff: str) -> EditResult:
    """The files of a unified diff, all or none. EditRefused also when it cannot be read."""
    files = _files(unified_diff)
    wanted = _joined([pair for file in files for pair in _wanted(file)])
    done = _carry_out(ground, wanted)
    moved = _move_all(ground, [file for file in files if _renames(file)], done)
    edited = {name: result for (name, _), (_, result) in zip(wanted, done, strict=True)}
    named = {(file.old, file.new): file for file in files}
    first, *others = [_patched(file, edited, moved) for file in named.values()]
    return structs.replace(first, others=tuple(others))


def _joined(wanted: Sequence[tuple[str, Attempt]]) -> list[tuple[str, Attempt]]:
    """One attempt for each file: a patch may have several sections on one."""
    parts: dict[str, list[Attempt]] = {}
    for name, attempt in wanted:
        parts.setdefault(name, []).append(attempt)
    return [
        (name, some[0] if len(some) == 1 else Several(tuple(some))) for name, some in parts.items()
    ]


def _renames(file: FilePatch) -> bool:
    return file.old is not None and file.new is not None and file.old != file.new


def _wanted(file: FilePatch) -> list[tuple[str, Attempt]]:
    """The attempt on a file's bytes, none for a pure rename. A renamed file is changed first."""
    if file.old is None:
        assert file.new is not None
        return [(file.new, Create("".join(line for hunk in file.hunks for line in hunk.new)))]
    if file.new is None:
        return [(file.old, Delete())]
    return [(file.old, Patch(file.hunks))] if file.hunks or not _renames(file) else []


def _move_all(
    ground: SessionContext,
    files: Sequence[FilePatch],
    done: Sequence[tuple[Evaluation, EditResult]],
) -> dict[str, EditResult]:
    """Carry out a patch's renames, or put back what was done of it."""
    moved: dict[str, EditResult] = {}
    try:
        for file in files:
            assert file.old is not None
            assert file.new is not None
            moved[file.old] = move(ground, file.old, file.new)
    except PathError:
        for old, result in reversed(moved.items()):
            move(ground, result.path, old)
        with ground.workspace.lock(*(plan.path for plan, _ in done)):
            _undo(done)
        raise
    return moved


def _patched(
    file: FilePatch, edited: Mapping[str, EditResult], moved: Mapping[str, EditResult]
) -> EditResult:
    name = file.old if file.old is not None else file.new
    assert name is not None
    if name not in moved:
        return edited[name]
    if name not in edited:
        return moved[name]
    edit = edited[name]
    return structs.replace(
        moved[name],
        merged=edit.merged,
        notice=edit.notice,
        diff=moved[name].diff + edit.diff,
        affected=edit.affected,
    )


def _carry_out(
    ground: SessionContext, wanted: Sequence[tuple[str, Attempt]]
) -> list[tuple[Evaluation, EditResult]]:
    if not wanted:
        return []
    asked = [place_of(ground, path) for path, _ in wanted]
    there = list(asked)
    if len({located.path for located in asked}) < len(asked):
        raise ValueError("two changes of one file: give its edits in one change")
    for _ in range(TRIES):
        with ground.workspace.lock(*(located.path for located in there)):
            plans = [
                Evaluation(ground, located, attempt)
                for located, (_, attempt) in zip(there, wanted, strict=True)
            ]
            if any(plan.elsewhere for plan in plans):  # renamed since: follow, as one edit does
                there = [plan.elsewhere or plan.located for plan in plans]
                continue
            _all_may(plans)
            done = _commit_all(plans)
            if done is not None:
                return _following(asked, done)
    raise EditRefused(
        "unverifiable",
        asked[0].path,
        f"{asked[0].path} keeps being changed by others.",
        hint="Try again when the program that writes it has finished.",
    )


def _following(
    asked: Sequence[ResolvedPath], done: Sequence[tuple[Evaluation, EditResult]]
) -> list[tuple[Evaluation, EditResult]]:
    """Results that say so where a rename was followed."""
    return [
        (plan, told_of_move(result, None if plan.path == located.path else located.path))
        for located, (plan, result) in zip(asked, done, strict=True)
    ]


def _all_may(plans: Sequence[Evaluation]) -> None:
    """Raise for the first plan that may not be carried out, naming all of them."""
    bad: list[EditRefused] = []
    for plan in plans:
        if plan.protected and plan.ruling.decision != "refuse":
            plan.ruling = structs.replace(plan.ruling, decision="refuse", reason="scope")
        if plan.ruling.decision == "refuse":
            bad.append(plan.refuse())
        elif plan.again is not None:
            bad.append(plan.refuse_again(plan.again))
    if bad:
        bad[0].others = tuple(bad[1:])
        raise bad[0]


def _commit_all(plans: Sequence[Evaluation]) -> list[tuple[Evaluation, EditResult]] | None:
    """Write them in turn; when one slips or fails, those before it are put back."""
    done: list[tuple[Evaluation, EditResult]] = []
    try:
        for plan in plans:
            result = commit(plan)
            if result is None:
                _undo(done)
                return None
            done.append((plan, result))
    except EditRefused:
        _undo(done)
        raise
    return done


def _undo(done: Sequence[tuple[Evaluation, EditResult]]) -> None:
    """Put back what a batch wrote, file by file, where its own bytes still stand."""
    for plan, _ in reversed(done):
        put_back(plan)


def change(given: Change | Mapping[str, object]) -> Change:
    """A change from a mapping with the fields of Change (edits as mappings with old, new and
    count); ValueError that names what is wrong."""
    if isinstance(given, Change):
        return given
    fields = _checked(given, "a change", _CHANGE, ("path",))
    return Change(**{**fields, "edits": tuple(_edit(edit) for edit in fields.get("edits") or ())})


def _edit(given: object) -> tuple[str, str, int | None]:
    if isinstance(given, tuple):
        given = dict(zip(_EDIT, given, strict=False))
    fields = _checked(given, "an edit", _EDIT, ("old", "new"))
    return fields["old"], fields["new"], fields.get("count", 1)


_CHANGE = {
    "path": str, "content": str | None, "edits": list | tuple | None, "create": bool,
    "delete": bool,
}  # fmt: skip
_EDIT = {"old": str, "new": str, "count": int | None}


def _checked(
    given: Any, what: str, kinds: Mapping[str, Any], needed: Sequence[str]
) -> dict[str, Any]:
    """A mapping's fields; ValueError when one is missing, unknown or of the wrong kind. Agents
    write these, so what is wrong is named."""
    fields = dict(given) if hasattr(given, "keys") else {}
    missing = [name for name in needed if name not in fields]
    unknown = [str(name) for name in fields if name not in kinds]
    if missing or unknown:
        raise ValueError(
            f"{what} is a mapping with the fields {', '.join(kinds)}: "
            f"{', '.join([*(f'no {name!r}' for name in missing), *map(repr, unknown)])}"
        )
    for name, value in fields.items():
        if not isinstance(value, kinds[name]):
            said = f"{what} cannot have {value!r:.60} as its {name}"
            raise ValueError(said)  # noqa: TRY004 - one error for all that an agent may get wrong
    return fields
