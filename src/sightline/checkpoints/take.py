"""Take checkpoints, list them and load their manifests.

A checkpoint is a position on the timeline and a manifest of the tree. It needs no git and touches
none. All of its texts are stored before it is recorded; where one cannot be stored, nothing is
recorded, and the caller gets an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from os import urandom
from typing import cast

from msgspec import Struct, structs

from sightline.changes.commands import changes
from sightline.changes.manifests import NEWEST_MANIFEST, Reader, StoredManifest, stored_manifest
from sightline.changes.session_context import TRIES, SessionContext
from sightline.checkpoints import words
from sightline.checkpoints.capture import (
    NO_TIME,
    Capture,
    capture_changed,
    capture_paths,
    capture_tree,
    keep_texts,
)
from sightline.errors import (
    CheckpointFailed,
    StoreConflict,
    StoreError,
    UnknownName,
    Unverifiable,
    joined_hints,
)
from sightline.filesystem.deadline import DeadlinePassed
from sightline.filesystem.file_state import FileState
from sightline.model.events import (
    ASKED,
    BlobPurged,
    CheckpointDropped,
    CheckpointTaken,
    Fact,
    MessageAppended,
    TurnBegan,
)
from sightline.model.lookup import Lookup, look_up
from sightline.model.manifest import EMPTY, Manifest, Whole, encode, replaced, stored
from sightline.model.results import Checkpoint, CheckpointReason, NotCovered
from sightline.model.revision import Revision, revision_of
from sightline.model.session_ids import AT_SHELL, NOBODY, archived
from sightline.model.timeline import Position, Recorded, is_live, newest_first, of_kind
from sightline.model.units import moment
from sightline.model.validation import number_or_all
from sightline.notices.warnings import warn_of_ignore_files
from sightline.store.port import Timeline

ID = "cp-"
"""Prefix of the id of a checkpoint."""

REWIND = "rewind"
"""CheckpointTaken.why of a safety checkpoint: it was taken before a rewind."""


def is_of_workspace(session: str, why: str = ASKED) -> bool:
    """Return whether a checkpoint of a session is the workspace's, which no agent took: one of nobody or,
    as older versions recorded them, one that a person's shell asked for. why: as in CheckpointTaken."""
    return session == NOBODY or (session == AT_SHELL and why == ASKED)


class TakenCheckpoint(Struct, frozen=True):
    """A checkpoint that was just recorded. position: of the last fact in its append."""

    recorded: Recorded
    fact: CheckpointTaken
    manifest: Manifest
    position: int


def take(
    context: SessionContext,
    label: str = "",
    paths: Iterable[str] | None = None,
    *,
    durable: bool = True,
) -> Checkpoint:
    """Take a checkpoint that somebody asked for, as record() does, and return it."""
    taken = record(context, label, paths, durable=durable)
    return _checkpoint(context, taken.recorded, taken.fact, taken.manifest)


def record(
    context: SessionContext,
    label: str = "",
    paths: Iterable[str] | None = None,
    *,
    durable: bool = True,
    why: str = ASKED,
    until: float | None = None,
    followed_by: Sequence[Fact] = (),
) -> TakenCheckpoint:
    """Record a checkpoint of the whole tree.

    paths: all paths that can have changed since the newest checkpoint, where the caller knows
    them. durable: return when the checkpoint is on the platter; else it gets there with the next
    durable fact. why: as in CheckpointTaken. until: the time.monotonic() to end at; files that
    there is no time to read are not covered. followed_by: facts to record in the same append.
    CheckpointFailed, and nothing recorded, where a text cannot be read or stored."""
    try:
        for _ in range(TRIES - 1):
            with suppress(StoreConflict):
                return _record(context, label, paths, why, until, followed_by, durable=durable)
        return _record(context, label, paths, why, until, followed_by, durable=durable)
    except DeadlinePassed:
        raise CheckpointFailed(*words.late()) from None
    except (StoreError, Unverifiable, OSError) as error:
        raise CheckpointFailed(*words.failed(error)) from error


def _record(
    context: SessionContext,
    label: str,
    paths: Iterable[str] | None,
    why: str,
    until: float | None,
    followed_by: Sequence[Fact],
    *,
    durable: bool,
) -> TakenCheckpoint:
    """Record a checkpoint, as record() does, and let errors pass. StoreConflict where a text that
    was stored before was deleted meanwhile."""
    began = context.store.position()
    last = _newest(context)
    captured: Capture | None = None
    read: tuple[FileState, ...] = ()
    if paths is not None and last.revision is not None:
        asked = _canonical(context, last.manifest, paths)
        captured = capture_paths(context, last.manifest, asked)
    if captured is None:
        found = changes(context)  # changes of known files that nobody recorded yet
        if found.facts:
            found.record(context)
        if last.tree is not None and last.settings == context.settings:
            captured = capture_changed(context, last.manifest, last.tree, until)
        captured = captured or capture_tree(
            context, last.manifest, context.store.keep, context.store.stored_among, until
        )
        read = () if found.facts else found.fresh  # unchanged files, for the stat cache
    current = captured.manifest
    if current.omitted and not current:
        late = NO_TIME in current.omitted.values()
        raise CheckpointFailed(*(words.late() if late else words.empty(len(current.omitted))))
    texts = list(captured.texts)
    newest = last
    if last.revision is None or captured.step.size:
        kept_as = stored(current, captured.step, last.revision, last.steps, last.whole)
        texts.append(encode(kept_as))
        revision = revision_of(texts[-1])
        whole = Whole(revision, current) if kept_as.base is None else last.whole
        newest = StoredManifest(current, revision, kept_as.steps, whole)
    newest = structs.replace(newest, tree=captured.tree, settings=context.settings)
    name = f"{ID}{urandom(4).hex()}"
    assert newest.revision is not None
    messages = context.store.timeline(session=context.session, kinds=[MessageAppended], newest=1)
    message = next((each.message for each in of_kind(MessageAppended, messages)), None)
    fact = CheckpointTaken(name, label, newest.revision, message, len(current), why)
    like = replaced(last.manifest, captured.step)
    recorded = context.append(
        [fact, *followed_by],
        blobs=texts,
        found=read,
        needed=[row[0] for row in captured.step.put.values()],
        needed_since=began,
        durable=durable,
        like=like,
    )
    NEWEST_MANIFEST[context.store] = newest
    warn_of_ignore_files(context)
    return TakenCheckpoint(recorded[0], fact, current, recorded[-1].position)


def keep_ahead(context: SessionContext, pause: Callable[[], None]) -> None:
    """Store the texts that the next checkpoint of the whole tree would have to read, so that its
    caller waits for few. pause: see capture.keep_texts. StoreError, Unverifiable."""
    keep_texts(context, _newest(context).manifest, pause)


def _canonical(context: SessionContext, last: Manifest, paths: Iterable[str]) -> set[str]:
    """Return the canonical paths to capture. A path of the last manifest is one; a symlink and its
    target are two."""
    asked: set[str] = set()
    for path in paths:
        if path in last:
            asked.add(path)
            continue
        located = context.workspace.locate(path)
        asked |= {located.path, located.name or located.path}
    return asked


def _newest(context: SessionContext) -> StoredManifest:
    """Return the manifest to store the next one's difference from; an empty one where no manifest
    can be read, and where some of its texts were purged since."""
    taken = [*context.store.timeline(kinds=[CheckpointTaken], newest=1)]
    if not taken or archived(taken[-1].session):
        return StoredManifest(EMPTY)
    recorded = taken[-1]
    revision = fact_of(recorded).manifest
    last = NEWEST_MANIFEST.get(context.store)
    if last is None or last.revision != revision:
        reader = Reader(context.store)
        manifest = reader.read(revision)
        if manifest is None:
            return StoredManifest(EMPTY)
        last = StoredManifest(manifest, revision, reader.steps, reader.whole)
        NEWEST_MANIFEST[context.store] = last
    purged: set[Revision] = set()
    log = context.store.timeline(kinds=[BlobPurged], after=recorded.position)
    for fact in of_kind(BlobPurged, log):
        purged |= {fact.revision, *fact.others}
    if purged and any(row[0] in purged for row in last.manifest.rows.values()):
        return StoredManifest(EMPTY)
    return last


def named(context: SessionContext, *names: str) -> list[Checkpoint]:
    """Return the checkpoint of each name, which is found as find() does. UnknownName."""
    return [
        _checkpoint(context, recorded, fact, stored_manifest(context, fact.manifest))
        for recorded, fact in _find_all(context, names)
    ]


def _find_all(
    context: SessionContext, names: Iterable[str]
) -> list[tuple[Recorded, CheckpointTaken]]:
    """Find checkpoints as find() does. UnknownName, with all names that are unknown."""
    found: list[tuple[Recorded, CheckpointTaken]] = []
    unknown: list[UnknownName] = []
    for name in names:
        try:
            found.append(find(context, name))
        except UnknownName as error:
            unknown.append(error)
    if unknown:
        hints = [each.next_step for each in unknown]
        different = (hint for number, hint in enumerate(hints) if hint not in hints[:number])
        raise UnknownName(" ".join(each.message for each in unknown), joined_hints(different))
    return found


def find(context: SessionContext, name: str) -> tuple[Recorded, CheckpointTaken]:
    """Find the checkpoint of an id, or the newest one of a label; a label that somebody gave comes before
    one of an automatic checkpoint. The beginning of an id or a label will do where it fits one only.
    UnknownName."""
    every: list[tuple[Recorded, CheckpointTaken]] = []
    of_label: list[tuple[Recorded, CheckpointTaken]] = []
    dropped: set[str] = set()
    for recorded in newest_first(
        context.store.timeline, kinds=[CheckpointTaken, CheckpointDropped]
    ):
        fact = recorded.fact
        if archived(recorded.session):
            continue
        if isinstance(fact, CheckpointDropped):
            dropped.add(fact.checkpoint)
        elif isinstance(fact, CheckpointTaken) and fact.checkpoint not in dropped:
            if fact.checkpoint == name:
                return recorded, fact
            every.append((recorded, fact))
            if name and fact.label == name:
                of_label.append((recorded, fact))
                if fact.why == ASKED and not name.startswith(ID):
                    break
    asked = [each for each in of_label if each[1].why == ASKED]
    for each in (*asked, *of_label):
        return each
    return _begun_with(name, every)


def _begun_with(
    name: str, every: Sequence[tuple[Recorded, CheckpointTaken]]
) -> tuple[Recorded, CheckpointTaken]:
    """Find a checkpoint by the beginning of its id or label, those that somebody asked for first.
    UnknownName. every: all checkpoints, newest first."""
    found = Lookup()
    for some in ([each for each in every if each[1].why == ASKED], every):
        newest: dict[str, tuple[Recorded, CheckpointTaken]] = {}
        for each in some:
            newest.setdefault(each[1].checkpoint, each)
            newest.setdefault(each[1].label or each[1].checkpoint, each)
        known = {word: (word.removeprefix(ID),) for word in newest}
        found = look_up(name, known) if name != ID else found
        ids = {newest[each][1].checkpoint for each in found.several}
        if found.id or len(ids) == 1:
            return newest[found.id or found.several[0]]
        if found.several:
            break
    nearest = [each for each in found.nearest if not each.startswith(ID)]  # ids are alike by chance
    raise UnknownName(*words.unknown(name, found.several, nearest))


def drop(context: SessionContext, names: Iterable[str]) -> list[str]:
    """Drop checkpoints by id or label, all or none, and return their ids. UnknownName."""
    ids = dict.fromkeys(fact.checkpoint for _, fact in _find_all(context, names))
    context.append([CheckpointDropped(each, ASKED) for each in ids], durable=True)
    return list(ids)


def listed(
    context: SessionContext, newest: int | None = None, before: Checkpoint | str | None = None
) -> list[Checkpoint]:
    """List the checkpoints of all sessions, oldest first, or a page, as with_manifests() does."""
    return [checkpoint for checkpoint, _ in with_manifests(context, newest, before)]


def with_manifests(
    context: SessionContext, newest: int | None = None, before: Checkpoint | str | None = None
) -> Iterator[tuple[Checkpoint, Manifest | None]]:
    """Yield the checkpoints of all sessions, oldest first, with their manifests; None where the
    store does not have a manifest any more. before: only those taken before this one, by its id or
    label; newest: only the last N of them. UnknownName, ValueError."""
    most = number_or_all("newest", newest)
    reader, end = Reader(context.store), None
    if before is not None:
        end = find(context, before)[0].position if isinstance(before, str) else before.position
    for recorded in recorded_checkpoints(context.store, most, end):
        fact = fact_of(recorded)
        manifest = reader.read(fact.manifest)
        yield _checkpoint(context, recorded, fact, manifest), manifest


def recorded_checkpoints(
    store: Timeline, newest: int | None = None, before: Position | None = None
) -> list[Recorded]:
    """Return the facts of the checkpoints that were not dropped, oldest first. before: only those
    before this position; newest: only the last N of them."""
    dropped: set[str] = set()

    def not_dropped() -> Iterator[Recorded]:
        facts = newest_first(store.timeline, kinds=[CheckpointTaken, CheckpointDropped])
        for recorded in filter(is_live, facts):
            if isinstance(recorded.fact, CheckpointDropped):
                dropped.add(recorded.fact.checkpoint)
            elif fact_of(recorded).checkpoint not in dropped:
                yield recorded

    older = (each for each in not_dropped() if before is None or each.position < before)
    return [*islice(older, newest)][::-1]


def load_manifest(context: SessionContext, checkpoint: Checkpoint | CheckpointTaken) -> Manifest:
    """Load the manifest of a checkpoint. CheckpointFailed where the store does not have it."""
    found = stored_manifest(context, checkpoint.manifest)
    if found is None:
        name = checkpoint.id if isinstance(checkpoint, Checkpoint) else checkpoint.checkpoint
        raise CheckpointFailed(*words.forgotten(name))
    return found


def now(context: SessionContext) -> Manifest:
    """Return the manifest that a checkpoint of the current tree would have; nothing is stored.
    Unverifiable."""
    return capture_tree(context, _newest(context).manifest, lambda _: None, set).manifest


def fact_of(recorded: Recorded) -> CheckpointTaken:
    """Return the fact of a recorded checkpoint."""
    assert isinstance(recorded.fact, CheckpointTaken)
    return recorded.fact


def _checkpoint(
    context: SessionContext, recorded: Recorded, fact: CheckpointTaken, manifest: Manifest | None
) -> Checkpoint:
    omitted = manifest.omitted if manifest is not None else {}
    turns = context.store.timeline(
        session=recorded.session, kinds=[TurnBegan], upto=recorded.position, newest=1
    )
    return Checkpoint(
        fact.checkpoint,
        fact.label,
        moment(recorded.happened_at),
        recorded.session,
        max((fact.number for fact in of_kind(TurnBegan, turns)), default=0),
        recorded.position,
        fact.manifest,
        fact.covers,
        tuple(NotCovered(path, why) for path, why in sorted(omitted.items())),
        fact.message,
        cast("CheckpointReason", fact.why),
    )
