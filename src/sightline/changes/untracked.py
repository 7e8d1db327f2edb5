"""Files that nobody has looked at, as far as a checkpoint knows them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping

from sightline.changes import manifests
from sightline.changes.detect import change
from sightline.changes.manifests import Reader
from sightline.changes.session_context import SessionContext
from sightline.model.events import Cause, Change, Changed, CheckpointTaken
from sightline.model.manifest import Entry, Manifest
from sightline.model.revision import MISSING, UNKNOWN, Revision, StatSignature, known
from sightline.model.timeline import Recorded, archived

KIND: Change = "kind"

SLACK_NS = 2_000_000_000
"""By how much the clock of a disk may differ from ours, and its times be coarse."""


def look(
    ground: SessionContext, walked: Mapping[str, StatSignature], most: int | None = None
) -> tuple[str, ...] | None:
    """Look at the files that were changed since the newest checkpoint and that nobody looked at:
    what a command changes in them can be told from what somebody else did before it. walked: what
    stands where now; most: files that there is time for. Those of the checkpoint that are gone;
    None where there is none, or no time."""
    last = newest(ground, ground.store.position())
    if last is None:
        return None
    since_ns = last.recorded_at * 1_000 - SLACK_NS
    heard = set(ground.store.paths())
    new = [
        path
        for path, now in walked.items()
        if path not in heard and max(now.ctime_ns, now.mtime_ns) >= since_ns
    ]
    if most is not None and len(new) > most:
        return None
    entries = manifest(ground, last)
    for path in new:
        entry = entries.get(path)
        if entry is None and not covers(ground, entries, path):
            continue  # it may have been there all the time
        found, was = ground.look(path), entry.revision if entry is not None else MISSING
        led = entry.target if entry is not None else None
        if found.kind == "file" and known(found.revision) and (found.revision != was or led):
            before, what = (was, change(was, found.revision)) if led is None else (UNKNOWN, KIND)
            fact = Changed(path, before, found.revision, what, Cause("external"), led=led)
            ground.append([fact], blobs=ground.keepable(path, found.data), found=[found])
    heard.update(walked)
    return tuple(path for path in entries if path not in heard and is_gone(ground, path))


def is_gone(ground: SessionContext, path: str) -> bool:
    """Whether nothing stands there, as far as can be told."""
    try:
        return ground.workspace.stat(path) is None
    except OSError:
        return False


def newest(ground: SessionContext, upto: int) -> Recorded | None:
    """The newest checkpoint until a position, whosever it is."""
    last = [*ground.store.timeline(kinds=[CheckpointTaken], upto=upto, newest=1)]
    if last and archived(last[0].session):
        last = [r for r in _taken(ground) if r.position <= upto][-1:]
    return last[0] if last else None


def manifest(ground: SessionContext, taken: Recorded) -> Mapping[str, Entry]:
    """How the tree stood at a checkpoint; empty where that is not kept any more."""
    found = manifests.kept(ground, _manifest(taken))
    return {} if found is None else found


class ManifestHistory:
    """What checkpoints say of files. To be asked in order of position: each is read once."""

    def __init__(self, ground: SessionContext) -> None:
        self._ground = ground
        self._taken = _taken(ground)
        self._reader = Reader(ground.store)
        self._last: tuple[Revision, Mapping[str, Entry]] | None = None

    def entry(self, path: str, upto: int) -> Entry | None:
        """What stood at a path at the newest checkpoint until a position; None where nothing did,
        and where that is not kept any more."""
        at = bisect_right(self._taken, upto, key=lambda taken: taken.position)
        return self._read(_manifest(self._taken[at - 1])).get(path) if at else None

    def taken(self, upto: int) -> int:
        """The position of that checkpoint; 0 where there is none."""
        at = bisect_right(self._taken, upto, key=lambda taken: taken.position)
        return self._taken[at - 1].position if at else 0

    def _read(self, revision: Revision) -> Mapping[str, Entry]:
        if self._last is None or self._last[0] != revision:
            found = manifests.at_hand(self._ground, revision) or self._reader.read(revision)
            self._last = revision, found or {}
        return self._last[1]


def _taken(ground: SessionContext) -> list[Recorded]:
    every = ground.store.timeline(kinds=[CheckpointTaken])
    return [recorded for recorded in every if not archived(recorded.session)]


def _manifest(taken: Recorded) -> Revision:
    assert isinstance(taken.fact, CheckpointTaken)
    return taken.fact.manifest


def covers(ground: SessionContext, manifest: Mapping[str, Entry], path: str) -> bool:
    """Whether a file that is not in a manifest was not there."""
    omitted = manifest.omitted if isinstance(manifest, Manifest) else {}
    folders = [f"{path[:at]}/" for at, letter in enumerate(path) if letter == "/"]
    return omitted.keys().isdisjoint([path, *folders]) and ground.workspace.listed(path)
