"""Patches between checkpoints, as `git apply` takes them."""

from __future__ import annotations

from sightline.core.manifest import EMPTY, differences
from sightline.errors import CheckpointFailed
from sightline.render import exporting as words
from sightline.services import checkpoints
from sightline.services.results import Export, NotCovered
from sightline.services.unheard import covers
from sightline.workspace.gitpatch import Side, link_bytes, mode_of, patch, takes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sightline.core.manifest import Difference, Entry, Manifest
    from sightline.services.ground import Ground
    from sightline.services.results import Checkpoint


def between(ground: Ground, begins: Checkpoint | None, ends: Checkpoint | None) -> Export:
    """What leads from a checkpoint (None: from nothing) to another (None: to what stands now).
    CheckpointFailed, Unverifiable."""
    old = EMPTY if begins is None else checkpoints.manifest(ground, begins)
    new = checkpoints.now(ground) if ends is None else checkpoints.manifest(ground, ends)
    algorithm = _algorithm(ground)
    parts: list[bytes] = []
    lacks: list[NotCovered] = []
    for each in differences(old, new):
        why = _untold(ground, each, old, new)
        part = b"" if why else _part(ground, each, algorithm)
        if part:
            parts.append(part)
        else:
            lacks.append(NotCovered(each.path, why or words.RIGHTS))
    return Export(
        since=None if begins is None else begins.id,
        until=None if ends is None else ends.id,
        patch=b"".join(parts),
        branch=None,
        commit=None,
        parent=None,
        files=len(parts),
        not_contained=tuple(lacks),
    )


def _part(ground: Ground, each: Difference, algorithm: str) -> bytes:
    old, new = [
        None if entry is None else side(ground, each.path, entry)
        for entry in (each.before, each.after)
    ]
    return patch(each.path, old, new, algorithm)


def _untold(ground: Ground, each: Difference, old: Manifest, new: Manifest) -> str | None:
    """Why a path cannot be told of; None where it can: it may have stood there all the time, where
    one of the two did not cover it."""
    if not takes(each.path):
        return words.NO_NAME
    if each.before is None and old is not EMPTY and not covers(ground, old, each.path):
        return words.unsure(reason(old, each.path), came=True)
    if each.after is None and not covers(ground, new, each.path):
        return words.unsure(reason(new, each.path), came=False)
    return None


def reason(manifest: Manifest, path: str) -> str:
    """Why a path is not covered, by itself or with a folder above it."""
    above = [f"{path[:at]}/" for at, letter in enumerate(path) if letter == "/"]
    named = [
        manifest.omitted[each] for each in (path, f"{path}/", *above) if each in manifest.omitted
    ]
    return named[0] if named else "ignored"


def side(ground: Ground, path: str, entry: Entry) -> Side:
    """An entry as git holds it. CheckpointFailed when its text is not kept any more."""
    return Side(mode_of(entry), _data(ground, path, entry))


def _data(ground: Ground, path: str, entry: Entry) -> bytes:
    """The bytes of an entry: they are kept, or stand there now."""
    if entry.target is not None:
        return link_bytes(entry.target)
    data = ground.store.blob(entry.revision)
    if data is not None:
        return data
    found = ground.look(path)
    if found.revision == entry.revision and found.data is not None:
        return found.data
    raise CheckpointFailed(*words.text_gone(path))


def _algorithm(ground: Ground) -> str:
    """The hash of the repository that a patch is most likely for."""
    repository = ground.workspace.repository(".")
    return "sha1" if repository is None else repository.algorithm()
