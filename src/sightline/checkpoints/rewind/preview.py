"""What a planned rewind does to the text of files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import structs

from sightline.changes.session_context import SessionContext
from sightline.changes.untracked import covers
from sightline.checkpoints.compare import compared
from sightline.checkpoints.rewind.effects import Target
from sightline.checkpoints.rewind.undo_plan import Put, Rename, Rights, Step
from sightline.filesystem.file_state import FileState
from sightline.model.manifest import EMPTY, Change
from sightline.model.results import FileDifference, RewindReport
from sightline.model.revision import MISSING, is_link
from sightline.model.text import decode


def shown(
    ground: SessionContext,
    target: Target,
    plan: RewindReport,
    diffs: Mapping[str, FileDifference],
    forced: Iterable[str],
) -> RewindReport:
    """A plan with what it does to the text of files, in order of path; what is only moved is not
    among it. diffs: of its steps, by path; forced: the paths that get their bytes of then."""
    touched = {*plan.restored, *plan.removed, *plan.merged}
    every = {**diffs, **{path: _forced(ground, target, path) for path in forced}}
    return structs.replace(
        plan, diffs=tuple(each for path, each in sorted(every.items()) if path in touched)
    )


def ends(steps: Sequence[Step], found: Mapping[str, FileState]) -> Iterator[FileDifference]:
    """What lies between what stands now and what stands after all steps: a file may be changed,
    moved back and changed again."""
    yield from [
        FileDifference(s.path, "mode", None, None, "") for s in steps if isinstance(s, Rights)
    ]
    links = {s.path: s for s in steps if isinstance(s, Put) and _of_link(s)}
    yield from [_link(step) for step in links.values()]
    stood = {path: each.data for path, each in found.items() if each.kind == "file"}
    data = dict(stood)
    came = {path: path for path in data}
    for step in steps:
        _take(step, data, came)
    for path, after in data.items():
        if path in links:
            continue
        src = came.get(path) or (path if path in stood and path not in came.values() else None)
        before = stood[src] if src is not None else None
        if before != after:
            yield _put(path, before, after, src)
    for path, was in stood.items():
        replaced = path in came and data[path] == stood[came[path]]  # by a file as it is elsewhere
        if path not in links and path not in came.values() and (path not in data or replaced):
            yield _put(path, was, None, path)


def _of_link(step: Put) -> bool:
    return is_link(step.before) or is_link(step.after)


def _link(step: Put) -> FileDifference:
    """What becomes of a path where a symlink stands, or is to stand: there is no text."""
    change: Change = "kind"
    if step.after == MISSING:
        change = "removed"
    elif step.before == MISSING:
        change = "added"
    elif is_link(step.before) and is_link(step.after):
        change = "changed"
    return FileDifference(step.path, change, None, None)


def _take(step: Step, data: dict[str, bytes | None], came: dict[str, str]) -> None:
    """Take a step in thought. data: what stands at each path; came: where that stood before."""
    if isinstance(step, Rename):
        data[step.path] = data.pop(step.src)
        if step.src in came:
            came[step.path] = came.pop(step.src)
    elif isinstance(step, Put) and step.data is not None:
        data[step.path] = step.data
    elif isinstance(step, Put):
        data.pop(step.path, None)
        came.pop(step.path, None)


def _forced(ground: SessionContext, target: Target, path: str) -> FileDifference:
    """A path that gets its bytes of then. Where the checkpoint does not say which, no diff."""
    now, manifest = ground.look(path), target.manifest or EMPTY
    src = path if now.revision != MISSING else None
    if path in manifest:
        data = ground.store.blob(manifest[path].revision)
        if data is not None:
            return _put(path, now.data, data, src)
    elif target.manifest is not None and covers(ground, manifest, path):
        return _put(path, now.data, None, src)
    return FileDifference(path, "changed", None, None)


def _put(path: str, before: bytes | None, after: bytes | None, src: str | None) -> FileDifference:
    """What becomes of a path. src: where the file stood before, None of one that is new."""
    change: Change = "removed" if after is None else "changed" if src else "added"
    made = FileDifference(path, change, None, None)
    old, new = _lines(before) if src else [], [] if after is None else _lines(after)
    return compared(made, old, new, src)


def _lines(data: bytes | None) -> list[str] | None:
    text = None if data is None else decode(data)
    return None if text is None else text.lines
