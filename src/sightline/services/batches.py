"""Several files at once: all are judged before the first is written, and all or none change."""

from __future__ import annotations

from sightline.core.attempts import (
    Create,
    Delete,
    Patch,
    PatchSyntax,
    Replace,
    Several,
    WriteWhole,
    parse_patch,
)
from sightline.core.value import Value
from sightline.errors import EditRefused
from sightline.services.edits import Plan
from sightline.services.ground import TRIES
from sightline.services.moves import move
from sightline.services.results import BatchResult

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sightline.core.attempts import Attempt
    from sightline.services.ground import Ground
    from sightline.services.results import EditResult


class Change(Value):
    """What to do with one file of a batch: its whole content, or edits (old, new, count) made
    one after the other, or create, or delete."""

    path: str
    content: str | None = None
    edits: tuple[tuple[str, str, int | None], ...] = ()
    create: bool = False
    delete: bool = False

    def attempt(self) -> Attempt:
        """The attempt this stands for; ValueError when it says nothing or too much."""
        if self.delete:
            return Delete()
        if self.edits:
            parts = tuple(Replace(*edit) for edit in self.edits)
            return parts[0] if len(parts) == 1 else Several(parts)
        if self.content is None:
            raise ValueError(f"{self.path}: a change needs content, edits or delete")
        return Create(self.content) if self.create else WriteWhole(self.content)


def apply(ground: Ground, changes: Sequence[Change]) -> BatchResult:
    """All changes, or none: EditRefused for the first that cannot be, naming all in `others`."""
    return BatchResult(tuple(_apply(ground, [(c.path, c.attempt()) for c in changes])))


def patch(ground: Ground, unified_diff: str) -> EditResult:
    """The files of a unified diff, all or none. EditRefused also when it cannot be read."""
    try:
        files = parse_patch(unified_diff)
    except PatchSyntax as error:
        raise EditRefused(
            "not_found",
            "(patch)",
            f"The patch cannot be read: {error}.",
            hint="Give a unified diff with '--- a/path' and '+++ b/path' lines.",
        ) from error
    if len(files) == 1 and files[0].old and files[0].new and files[0].old != files[0].new:
        return _moving_patch(ground, files[0].old, files[0].new, Patch(files[0].hunks))
    wanted: list[tuple[str, Attempt]] = []
    for file in files:
        if file.old is None and file.new is not None:
            content = "".join(line for hunk in file.hunks for line in hunk.new)
            wanted.append((file.new, Create(content)))
        elif file.new is None and file.old is not None:
            wanted.append((file.old, Delete()))
        elif file.new is not None:
            wanted.append((file.new, Patch(file.hunks)))
    first, *others = _apply(ground, wanted)
    return first.replace(others=tuple(others))


def _moving_patch(ground: Ground, old: str, new: str, hunks: Patch) -> EditResult:
    moved = move(ground, old, new)
    if not hunks.hunks:
        return moved
    return _apply(ground, [(new, hunks)])[0]


def _apply(ground: Ground, wanted: Sequence[tuple[str, Attempt]]) -> list[EditResult]:
    located = [(ground.workspace.locate(path), attempt) for path, attempt in wanted]
    paths = [there.path for there, _ in located]
    if len(set(paths)) < len(paths):
        raise ValueError("two changes of one file: give its edits in one change")
    for _ in range(TRIES if paths else 0):
        with ground.workspace.lock(*paths):
            plans = [Plan(ground, there, attempt) for there, attempt in located]
            _all_may(plans)
            results = _commit_all(plans)
            if results is not None:
                return results
    if not paths:
        return []
    raise EditRefused(
        "unverifiable", paths[0], f"{paths[0]} keeps being changed by others.", hint="Try again."
    )


def _all_may(plans: Sequence[Plan]) -> None:
    """Raise for the first plan that may not be carried out, naming all of them."""
    bad: list[EditRefused] = []
    for plan in plans:
        if plan.protected and plan.ruling.decision != "refuse":
            plan.ruling = plan.ruling.replace(decision="refuse", reason="scope")
        if plan.ruling.decision == "refuse":
            bad.append(plan.refuse())
        elif plan.again is not None:
            bad.append(plan.refuse_again(plan.again))
    if bad:
        bad[0].others = tuple(bad[1:])
        raise bad[0]


def _commit_all(plans: Sequence[Plan]) -> list[EditResult] | None:
    """Write them in turn; when one slips or fails, those before it are put back."""
    done: list[tuple[Plan, EditResult]] = []
    try:
        for plan in plans:
            result = plan.commit()
            if result is None:
                _undo(done)
                return None
            done.append((plan, result))
    except EditRefused:
        _undo(done)
        raise
    return [result for _, result in done]


def _undo(done: Sequence[tuple[Plan, EditResult]]) -> None:
    """Put back what a batch wrote, file by file, where its own bytes still stand."""
    for plan, _ in reversed(done):
        plan.put_back()


def change(given: Change | Mapping[str, object]) -> Change:
    """A change from a mapping with the fields of Change (edits as mappings with old, new and
    count); ValueError that names what is wrong."""
    if isinstance(given, Change):
        return given
    fields = dict(given)
    unknown = sorted(set(fields) - set(Change._fields))
    if unknown or "path" not in fields:
        raise ValueError(f"a change has the fields {', '.join(Change._fields)}, not {unknown}")
    edits = fields.get("edits") or ()
    assert isinstance(edits, (list, tuple))
    fields["edits"] = tuple(_edit(edit) for edit in edits)
    return Change(**fields)  # type: ignore[arg-type]


def _edit(given: Mapping[str, object] | tuple[str, str, int | None]) -> tuple[str, str, int | None]:
    if isinstance(given, tuple):
        return given
    count = given.get("count", 1)
    if not isinstance(count, int | None):
        raise TypeError("an edit's count is a number, or null for all")
    return str(given["old"]), str(given["new"]), count
