"""Checkpoints: taken, listed, read back and compared.

A checkpoint is a place on the timeline and a manifest of the tree. It needs no git and touches
none. Its texts are on the platter before it is recorded; when anything of it cannot be kept,
nothing is recorded, and whoever asked for it is told.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from os import urandom

from msgspec import structs

from sightline.changes.authors import moment
from sightline.changes.commands import changes
from sightline.changes.manifests import NEWEST_MANIFEST, Reader, StoredManifest, kept
from sightline.changes.session_context import SessionContext
from sightline.checkpoints import words
from sightline.checkpoints.capture import NO_TIME, NOTHING, Covered, capture_paths, capture_tree
from sightline.errors import CheckpointFailed, StoreError, UnknownName, Unverifiable
from sightline.filesystem.deadline import DeadlinePassed
from sightline.filesystem.file_state import FileState
from sightline.model.events import (
    ASKED,
    BlobPurged,
    CheckpointDropped,
    CheckpointTaken,
    MessageAppended,
    TurnBegan,
)
from sightline.model.manifest import EMPTY, Manifest, Stored, Whole, encode, replaced, stored
from sightline.model.results import Checkpoint, NotCovered
from sightline.model.revision import Revision, revision_of
from sightline.model.timeline import Recorded, archived


def take(
    ground: SessionContext,
    label: str = "",
    paths: Iterable[str] | None = None,
    *,
    durable: bool = True,
    why: str = ASKED,
    until: float | None = None,
    looked: Mapping[str, FileState] = NOTHING,
) -> Checkpoint:
    """Take a checkpoint of the whole tree. paths: all that can have changed since the newest one,
    where the caller knows. durable: on the platter before this returns, else with the next fact
    that is. why: as in CheckpointTaken. until: by time.monotonic(); what there is no time for is
    not covered. looked: what the caller read a moment ago. CheckpointFailed, and nothing recorded,
    when it cannot be kept."""
    try:
        last = _newest(ground)
        covered = _covered(ground, last, paths, until, looked)
        found = covered.manifest
        if found.omitted and not found:
            late = NO_TIME in found.omitted.values()
            raise CheckpointFailed(*(words.late() if late else words.empty(len(found.omitted))))
        taken = covered.step
        texts = list(covered.texts)
        standing = structs.replace(last, seen=covered.seen)
        if last.revision is None or taken.size:
            made = stored(found, taken, last.revision, last.steps, last.whole)
            texts.append(encode(made))
            standing = _standing(covered, made, revision_of(texts[-1]), last.whole)
        name = f"cp-{urandom(4).hex()}"
        assert standing.revision is not None
        fact = CheckpointTaken(name, label, standing.revision, _message(ground), len(found), why)
        like = replaced(last.manifest, taken)
        [recorded] = ground.append([fact], blobs=texts, durable=durable, like=like)
    except DeadlinePassed:
        raise CheckpointFailed(*words.late()) from None
    except (StoreError, Unverifiable, OSError) as error:
        raise CheckpointFailed(*words.failed(error)) from error
    NEWEST_MANIFEST[ground.store] = standing
    return _told(ground, recorded, found)


def named(ground: SessionContext, id: str) -> Checkpoint:
    """The checkpoint of an id, or the newest of a label, of one that somebody gave before others.
    UnknownName when there is none."""
    every = _taken(ground)
    of_id = [each for each in every if _fact(each).checkpoint == id]
    of_label = [each for each in every if id and _fact(each).label == id]
    if not of_id + of_label:
        raise UnknownName(*words.unknown(id))
    asked = [each for each in of_label if _fact(each).why == ASKED]
    recorded = (of_id + asked[::-1] + of_label[::-1])[0]
    return _told(ground, recorded, kept(ground, _fact(recorded).manifest))


def listed(ground: SessionContext) -> list[Checkpoint]:
    """The checkpoints of all sessions, oldest first."""
    return [checkpoint for checkpoint, _ in with_manifests(ground)]


def with_manifests(ground: SessionContext) -> Iterator[tuple[Checkpoint, Manifest | None]]:
    """The same with what each covers; None where that is not kept any more."""
    reader = Reader(ground.store)
    for recorded in _taken(ground):
        found = reader.read(_fact(recorded).manifest)
        yield _told(ground, recorded, found), found


def manifest(ground: SessionContext, checkpoint: Checkpoint) -> Manifest:
    """Path -> what stood there at a checkpoint. CheckpointFailed when its manifest is not kept
    any more."""
    found = kept(ground, checkpoint.manifest)
    if found is None:
        raise CheckpointFailed(*words.forgotten(checkpoint.id))
    return found


def now(ground: SessionContext) -> Manifest:
    """How the tree stands now, as a checkpoint would cover it; nothing is kept. Unverifiable."""
    last = _newest(ground)
    return capture_tree(ground, last.manifest, lambda _: None, seen=last.seen).manifest


def _covered(
    ground: SessionContext,
    last: StoredManifest,
    paths: Iterable[str] | None,
    until: float | None,
    looked: Mapping[str, FileState],
) -> Covered:
    if paths is not None and last.revision is not None:
        covered = capture_paths(
            ground, last.manifest, _located(ground, last.manifest, paths), last.seen
        )
        if covered is not None:
            return covered
    # What nobody was there to see came before this.
    changes(ground, looked=looked).record(ground)
    return capture_tree(ground, last.manifest, ground.store.keep, until, last.seen, looked)


def _standing(
    covered: Covered, made: Stored, revision: Revision, whole: Whole | None
) -> StoredManifest:
    """A manifest as it is kept from now on. whole: the one that the one before began with."""
    if made.base is None:
        whole = Whole(revision, covered.manifest)
    return StoredManifest(covered.manifest, revision, made.steps, whole, covered.seen)


def _located(ground: SessionContext, last: Manifest, paths: Iterable[str]) -> set[str]:
    """Canonical paths. One that was covered is one; a symlink, and where it leads, are two."""
    asked: set[str] = set()
    for path in paths:
        if path in last:
            asked.add(path)
            continue
        found = ground.workspace.locate(path)
        asked |= {found.path, found.name or found.path}
    return asked


def _newest(ground: SessionContext) -> StoredManifest:
    """The manifest that the next step starts from; of nothing where none can be read, and where
    texts of it were forgotten since."""
    taken = [*ground.store.timeline(kinds=[CheckpointTaken], newest=1)]
    if not taken or archived(taken[-1].session):
        return StoredManifest(EMPTY)
    recorded = taken[-1]
    revision = _fact(recorded).manifest
    last = NEWEST_MANIFEST.get(ground.store)
    if last is None or last.revision != revision:
        reader = Reader(ground.store)
        found = reader.read(revision)
        if found is None:
            return StoredManifest(EMPTY)
        last = NEWEST_MANIFEST[ground.store] = StoredManifest(
            found, revision, reader.steps, reader.whole
        )
    purged = _purged(ground, recorded.position)
    if purged and any(row[0] in purged for row in last.manifest.rows.values()):
        return StoredManifest(EMPTY)
    return last


def _purged(ground: SessionContext, after: int) -> set[Revision]:
    """The texts that were forgotten since a position."""
    facts = [each.fact for each in ground.store.timeline(kinds=[BlobPurged], after=after)]
    gone = [fact for fact in facts if isinstance(fact, BlobPurged)]
    return {revision for fact in gone for revision in (fact.revision, *fact.others)}


def _taken(ground: SessionContext) -> list[Recorded]:
    """The checkpoints that stand."""
    timeline = ground.store.timeline
    facts = [each.fact for each in timeline(kinds=[CheckpointDropped])]
    gone = {fact.checkpoint for fact in facts if isinstance(fact, CheckpointDropped)}
    every = [each for each in timeline(kinds=[CheckpointTaken]) if not archived(each.session)]
    return [each for each in every if _fact(each).checkpoint not in gone]


def _fact(recorded: Recorded) -> CheckpointTaken:
    assert isinstance(recorded.fact, CheckpointTaken)
    return recorded.fact


def _message(ground: SessionContext) -> str | None:
    """The newest message of this session's conversation."""
    for recorded in ground.store.timeline(
        session=ground.session, kinds=[MessageAppended], newest=1
    ):
        assert isinstance(recorded.fact, MessageAppended)
        return recorded.fact.message
    return None


def _told(ground: SessionContext, recorded: Recorded, found: Manifest | None) -> Checkpoint:
    """A checkpoint as it is answered. found: its manifest, None where that is not kept."""
    fact, session = _fact(recorded), recorded.session
    omitted = found.omitted if found is not None else {}
    return Checkpoint(
        fact.checkpoint,
        fact.label,
        moment(recorded.happened_at),
        session,
        _turn(ground, recorded),
        recorded.position,
        fact.manifest,
        fact.covers,
        tuple([NotCovered(path, why) for path, why in sorted(omitted.items())]),
        fact.message,
        fact.why,
    )


def _turn(ground: SessionContext, recorded: Recorded) -> int:
    begun = ground.store.timeline(
        session=recorded.session, kinds=[TurnBegan], upto=recorded.position, newest=1
    )
    return max((each.fact.number for each in begun if isinstance(each.fact, TurnBegan)), default=0)
