"""What a planned rewind does to the text of files."""

from __future__ import annotations

from sightline.core.revision import MISSING
from sightline.core.rewinding import Put, Rights
from sightline.core.text import decode
from sightline.services import undoing
from sightline.services.comparing import FileDifference, compared
from sightline.services.rewind import target_of
from sightline.services.unheard import covers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from sightline.core.manifest import Change
    from sightline.core.rewinding import Step
    from sightline.services.ground import Ground
    from sightline.services.results import RewindReport
    from sightline.services.undoing import Target
    from sightline.workspace import Found


def preview(
    ground: Ground, plan: RewindReport, force_paths: Iterable[str] = ()
) -> list[FileDifference]:
    """What a plan does to files, in order of path; what is only moved is not among it.
    force_paths: those it was made with."""
    target = target_of(ground, plan.to if plan.checkpoint is None else plan.checkpoint)
    touched = {*plan.restored, *plan.removed, *plan.merged}
    shown: dict[str, FileDifference] = {}
    for group in undoing.effects(ground, target) if touched else ():
        planned, found = undoing.planned(ground, group)
        shown |= {each.path: each for each in _steps(ground, planned.steps, found)}
    forced = {ground.workspace.locate(path).path for path in force_paths}
    shown |= {path: _forced(ground, target, path) for path in forced}
    return [each for path, each in sorted(shown.items()) if path in touched]


def _steps(
    ground: Ground, steps: Iterable[Step], found: Mapping[str, Found]
) -> Iterator[FileDifference]:
    """Rights first: of a file that gets both, its text says more."""
    standing = {each.revision: each.data for each in found.values()}
    for step in steps:
        if isinstance(step, Rights):
            yield FileDifference(step.path, "mode", None, None, "")
    for step in steps:
        if isinstance(step, Put):
            # A file that is moved back first has its bytes from elsewhere.
            there, before = step.before != MISSING, standing.get(step.before)
            if there and before is None:
                before = ground.store.blob(step.before)
            yield _put(step.path, there=there, before=before, after=step.data)


def _forced(ground: Ground, target: Target, path: str) -> FileDifference:
    """A path that gets its bytes of then. Where the checkpoint does not say which, no diff."""
    now, manifest = ground.look(path), target.manifest or {}
    there = now.revision != MISSING
    if path in manifest:
        data = ground.store.blob(manifest[path].revision)
        if data is not None:
            return _put(path, there=there, before=now.data, after=data)
    elif target.manifest is not None and covers(ground, manifest, path):
        return _put(path, there=there, before=now.data, after=None)
    return FileDifference(path, "changed", None, None)


def _put(path: str, *, there: bool, before: bytes | None, after: bytes | None) -> FileDifference:
    change: Change = "removed" if after is None else "changed" if there else "added"
    made = FileDifference(path, change, None, None)
    return compared(
        made,
        _lines(before) if there else [],
        [] if after is None else _lines(after),
    )


def _lines(data: bytes | None) -> list[str] | None:
    text = None if data is None else decode(data)
    return None if text is None else text.lines
