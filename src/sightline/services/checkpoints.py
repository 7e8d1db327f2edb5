"""Checkpoints: taken, listed, read back and compared.

A checkpoint is a place on the timeline and a manifest of the tree. It needs no git and touches
none. Its texts are on the platter before it is recorded; when anything of it cannot be kept,
nothing is recorded, and whoever asked for it is told.
"""

from __future__ import annotations

from os import urandom
from weakref import WeakKeyDictionary

from sightline.core.events import (
    ASKED,
    BlobPurged,
    CheckpointDropped,
    CheckpointTaken,
    MessageAppended,
    TurnBegan,
)
from sightline.core.manifest import EMPTY, Manifest, Whole, encode, replaced, stored
from sightline.core.revision import revision_of
from sightline.core.timeline import archived
from sightline.core.value import Value
from sightline.errors import CheckpointFailed, StoreError, UnknownName, Unverifiable
from sightline.render import checkpoints as words
from sightline.services.authors import moment
from sightline.services.covering import NO_TIME, NOTHING, everything, these
from sightline.services.manifests import Reader
from sightline.services.results import Checkpoint, NotCovered
from sightline.services.runs import changes
from sightline.workspace.deadline import DeadlinePassed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from sightline.core.manifest import Stored
    from sightline.core.revision import Revision
    from sightline.core.timeline import Recorded
    from sightline.services.covering import Covered, Seen
    from sightline.services.ground import Ground
    from sightline.store import Store
    from sightline.workspace import Found


class Standing(Value):
    """A manifest that is kept. steps: its forerunners back to `whole`; seen: what it was made of,
    where this process made it."""

    manifest: Manifest
    revision: Revision | None = None
    steps: int = 0
    whole: Whole | None = None
    seen: Seen | None = None


def take(
    ground: Ground,
    label: str = "",
    paths: Iterable[str] | None = None,
    *,
    durable: bool = True,
    why: str = ASKED,
    until: float | None = None,
    looked: Mapping[str, Found] = NOTHING,
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
        standing = last.replace(seen=covered.seen)
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
    _LAST[ground.store] = standing
    return _told(ground, recorded, found)


def named(ground: Ground, id: str) -> Checkpoint:
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


def listed(ground: Ground) -> list[Checkpoint]:
    """The checkpoints of all sessions, oldest first."""
    return [checkpoint for checkpoint, _ in with_manifests(ground)]


def with_manifests(ground: Ground) -> Iterator[tuple[Checkpoint, Manifest | None]]:
    """The same with what each covers; None where that is not kept any more."""
    reader = Reader(ground.store)
    for recorded in _taken(ground):
        found = reader.read(_fact(recorded).manifest)
        yield _told(ground, recorded, found), found


def manifest(ground: Ground, checkpoint: Checkpoint) -> Manifest:
    """Path -> what stood there at a checkpoint. CheckpointFailed when its manifest is not kept
    any more."""
    found = kept(ground, checkpoint.manifest)
    if found is None:
        raise CheckpointFailed(*words.forgotten(checkpoint.id))
    return found


def kept(ground: Ground, revision: Revision) -> Manifest | None:
    """A manifest by its revision; None when it is not kept any more. StoreError."""
    found = at_hand(ground, revision)
    if found is None:
        found = Reader(ground.store).read(revision)
        if found is not None:
            _READ[ground.store] = Standing(found, revision)
    return found


def at_hand(ground: Ground, revision: Revision) -> Manifest | None:
    """A manifest that was read or made before; None where it was not, or others were since."""
    for last in (_LAST.get(ground.store), _READ.get(ground.store)):
        if last is not None and last.revision == revision:
            return last.manifest
    return None


def now(ground: Ground) -> Manifest:
    """How the tree stands now, as a checkpoint would cover it; nothing is kept. Unverifiable."""
    last = _newest(ground)
    return everything(ground, last.manifest, lambda _: None, seen=last.seen).manifest


def _covered(
    ground: Ground,
    last: Standing,
    paths: Iterable[str] | None,
    until: float | None,
    looked: Mapping[str, Found],
) -> Covered:
    if paths is not None and last.revision is not None:
        covered = these(ground, last.manifest, _located(ground, last.manifest, paths), last.seen)
        if covered is not None:
            return covered
    # What nobody was there to see came before this.
    changes(ground, looked=looked).record(ground)
    return everything(ground, last.manifest, ground.store.keep, until, last.seen, looked)


def _standing(covered: Covered, made: Stored, revision: Revision, whole: Whole | None) -> Standing:
    """A manifest as it is kept from now on. whole: the one that the one before began with."""
    if made.base is None:
        whole = Whole(revision, covered.manifest)
    return Standing(covered.manifest, revision, made.steps, whole, covered.seen)


def _located(ground: Ground, last: Manifest, paths: Iterable[str]) -> set[str]:
    """Canonical paths. One that was covered is one; a symlink, and where it leads, are two."""
    asked: set[str] = set()
    for path in paths:
        if path in last:
            asked.add(path)
            continue
        found = ground.workspace.locate(path)
        asked |= {found.path, found.name or found.path}
    return asked


def _newest(ground: Ground) -> Standing:
    """The manifest that the next step starts from; of nothing where none can be read, and where
    texts of it were forgotten since."""
    taken = [*ground.store.timeline(kinds=[CheckpointTaken], newest=1)]
    if not taken or archived(taken[-1].session):
        return Standing(EMPTY)
    recorded = taken[-1]
    revision = _fact(recorded).manifest
    last = _LAST.get(ground.store)
    if last is None or last.revision != revision:
        reader = Reader(ground.store)
        found = reader.read(revision)
        if found is None:
            return Standing(EMPTY)
        last = _LAST[ground.store] = Standing(found, revision, reader.steps, reader.whole)
    purged = _purged(ground, recorded.position)
    if purged and any(row[0] in purged for row in last.manifest.rows.values()):
        return Standing(EMPTY)
    return last


def _purged(ground: Ground, after: int) -> set[Revision]:
    """The texts that were forgotten since a position."""
    facts = [each.fact for each in ground.store.timeline(kinds=[BlobPurged], after=after)]
    gone = [fact for fact in facts if isinstance(fact, BlobPurged)]
    return {revision for fact in gone for revision in (fact.revision, *fact.others)}


_LAST: WeakKeyDictionary[Store, Standing] = WeakKeyDictionary()
"""The newest manifest that was read or made, by store: reading it takes longer than a step."""

_READ: WeakKeyDictionary[Store, Standing] = WeakKeyDictionary()
"""The manifest that was asked for last: who asks for a checkpoint by its name asks for it next."""


def _taken(ground: Ground) -> list[Recorded]:
    """The checkpoints that stand."""
    timeline = ground.store.timeline
    facts = [each.fact for each in timeline(kinds=[CheckpointDropped])]
    gone = {fact.checkpoint for fact in facts if isinstance(fact, CheckpointDropped)}
    every = [each for each in timeline(kinds=[CheckpointTaken]) if not archived(each.session)]
    return [each for each in every if _fact(each).checkpoint not in gone]


def _fact(recorded: Recorded) -> CheckpointTaken:
    assert isinstance(recorded.fact, CheckpointTaken)
    return recorded.fact


def _message(ground: Ground) -> str | None:
    """The newest message of this session's conversation."""
    for recorded in ground.store.timeline(
        session=ground.session, kinds=[MessageAppended], newest=1
    ):
        assert isinstance(recorded.fact, MessageAppended)
        return recorded.fact.message
    return None


def _told(ground: Ground, recorded: Recorded, found: Manifest | None) -> Checkpoint:
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


def _turn(ground: Ground, recorded: Recorded) -> int:
    begun = ground.store.timeline(
        session=recorded.session, kinds=[TurnBegan], upto=recorded.position, newest=1
    )
    return max((each.fact.number for each in begun if isinstance(each.fact, TurnBegan)), default=0)
