"""Forget stored texts that nobody needs; facts stay for ever.

A person decides how long texts are kept, in the settings and by running gc. Only automatic
checkpoints keep to their room without being asked (keep_to_room).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby
from time import sleep

from sightline.changes.manifests import Reader
from sightline.changes.session_context import SessionContext
from sightline.checkpoints.quota import drop_checkpoints
from sightline.checkpoints.swept_texts import Swept
from sightline.config.settings import Settings
from sightline.model.events import (
    CheckpointTaken,
    Condensed,
    Folded,
    MessageAppended,
    SessionEnded,
    SessionForked,
    WriteIntended,
)
from sightline.model.projections import SessionState
from sightline.model.revision import Revision
from sightline.model.timeline import TURNING, Recorded
from sightline.sessions.lifecycle import DELETED
from sightline.sessions.presence import is_present, last_sign
from sightline.store.retention import SIZE, Going, KeptText, Mentions, going, named

DAY_US = 24 * 3_600 * 1_000_000

BATCH = 50
"""Texts forgotten in one transaction: other writers wait some milliseconds for it."""

PAUSE_S = 0.003
"""The pause between two transactions. A waiting writer tries every millisecond, so it comes first."""

UNDER_WAY_US = 600 * 1_000_000
"""A text that was stored within this time may belong to a checkpoint that is not recorded yet."""


def gc(
    context: SessionContext,
    settings: Settings,
    *,
    age_us: int | None = None,
    room: int | None = None,
    dry_run: bool = False,
    on_step: Callable[[int], None] = lambda _: None,
) -> Swept:
    """Forget the texts that nobody needs: those last named longer ago than `age_us`, then the
    oldest until all take no more than `room` bytes. Without these, the settings decide. on_step:
    called with the number of texts that each step forgot. StoreError.

    Needed are the texts that a session believes which is present or was active since, those of
    pending writes, of checkpoints, of conversations that were not deleted, and for each file the
    text that the newest write of an agent replaced, if it did so since.
    """
    store = context.store
    age = settings.keep_days * DAY_US if age_us is None else age_us
    allowed = settings.keep_bytes if room is None else room
    before = context.clock() - age
    kept = store.texts()
    dropped = drop_checkpoints(context, kept, settings.checkpoint_bytes, dry_run=dry_run)
    needs = Needs(context, before, dropped)
    chosen = going(
        kept,
        needs.mentions.newest,
        needs.revisions,
        before=before,
        room=allowed,
        came_at=needs.recorded_at,
    )
    gone = tuple(chosen if dry_run else _forget(context, needs, chosen, on_step))
    returned = 0 if dry_run else store.tidy()
    size = sum(each.size for each in kept) - sum(each.size for each in gone)
    over = max(size - allowed, 0)
    return Swept(gone, len(kept) - len(gone), size, over, returned, dry_run, tuple(dropped))


def keep_to_room(context: SessionContext, settings: Settings) -> tuple[str, ...]:
    """Drop automatic checkpoints, oldest first and never the newest, where the texts of all
    checkpoints take more than `checkpoint_bytes`, and forget the texts that only those needed.
    Return the ids of the dropped checkpoints. Reads every stored text's row and every fact; do not
    call while a user waits. StoreError."""
    store, room = context.store, settings.checkpoint_bytes
    if store.room().texts <= room:
        return ()
    kept = store.texts()
    dropped = drop_checkpoints(context, kept, room, only_automatic=True)
    if dropped:
        before = context.clock() - settings.keep_days * DAY_US
        needs = Needs(context, before, dropped)
        reader = Reader(store)
        free = {text for each in dropped.values() for text in _texts_of(reader, each)}
        _forget(context, needs, [*_unneeded(context, needs, kept, free, before)])
        store.tidy()
    return tuple(dropped)


class Needs:
    """The texts that are needed, as of the newest fact that was read. Others go on recording
    meanwhile: learn() takes in their facts before each step. manifests: those of all checkpoints
    that were ever taken."""

    def __init__(self, context: SessionContext, before: int, dropped: Iterable[str] = ()) -> None:
        self._context = context
        self._reader = Reader(context.store)
        self._before = before
        self._upto = 0
        self._active: set[str] = set()
        self.mentions = Mentions()
        self.manifests: set[Revision] = set()
        self.revisions: set[Revision] = set()
        self._read_timeline()
        store = context.store
        for state in store.sessions():
            if self._is_active(state):
                self._add_beliefs(state.id)
        for intent in store.pending():
            if isinstance(intent.fact, WriteIntended):
                self.revisions.update(named(intent.fact))
        for checkpoint in self.mentions.manifests.keys() - set(dropped):
            self._add_manifest(self.mentions.manifests[checkpoint])
        replaced = self.mentions.replaced.values()
        self.revisions.update(revision for revision, at in replaced if at >= before)

    def _read_timeline(self) -> None:
        """Read all facts, and add the texts of conversations. A deleted conversation needs none,
        unless a fork continues it."""
        conversations: dict[str, set[Revision]] = {}
        forked: set[str] = set()
        deleted: set[str] = set()
        for recorded in self._new_facts():
            fact, session = recorded.fact, recorded.session
            self.mentions.learn(recorded)
            if isinstance(fact, CheckpointTaken):
                self.manifests.add(fact.manifest)
            elif isinstance(fact, (MessageAppended, Folded, Condensed)):
                conversations.setdefault(session, set()).update(named(fact))
            elif isinstance(fact, SessionForked):
                forked.add(fact.parent)
            elif isinstance(fact, SessionEnded) and fact.reason == DELETED:
                deleted.add(session)
        for session, texts in conversations.items():
            if session not in deleted - forked:
                self.revisions |= texts

    def learn(self) -> None:
        """Take in new facts: a text that a new fact names is needed, and so is all that a session
        believes which is active again, was forked or was rewound."""
        for recorded in self._new_facts():
            fact = recorded.fact
            self.revisions.update(named(fact))
            if recorded.session not in self._active or isinstance(fact, TURNING):
                self._add_beliefs(recorded.session)
            if isinstance(fact, CheckpointTaken):
                self._add_manifest(fact.manifest)

    def recorded_at(self, position: int) -> int:
        """Return when the fact at a position was recorded, in UTC microseconds."""
        [recorded] = self._context.store.timeline(after=position - 1, upto=position)
        return recorded.recorded_at

    def _new_facts(self) -> Iterator[Recorded]:
        for recorded in self._context.store.timeline(after=self._upto):
            self._upto = recorded.position
            yield recorded

    def _is_active(self, state: SessionState) -> bool:
        if state.ended is not None:
            return False
        if last_sign(self._context.store, state) >= self._before:
            return True
        return is_present(self._context, state)

    def _add_beliefs(self, session: str) -> None:
        self._active.add(session)
        known = self._context.store.known(session).values()
        self.revisions.update(each.belief.text for each in known)

    def _add_manifest(self, manifest: Revision) -> None:
        self.revisions.update(_texts_of(self._reader, manifest))


def _texts_of(reader: Reader, manifest: Revision) -> Iterator[Revision]:
    """Yield the texts that a manifest needs: those that it names, its own, and those of the
    manifests that it is a step from. StoreError where it is damaged."""
    found = reader.read(manifest)
    if found is not None:
        yield from reader.forerunners(manifest)
        yield from (row[0] for row in found.rows.values() if len(row) == 2)


def _forget(
    context: SessionContext,
    needs: Needs,
    chosen: Sequence[Going],
    on_step: Callable[[int], None] = lambda _: None,
) -> list[Going]:
    """Forget texts step by step and return those that were forgotten. A text that is needed again
    stays; one that another process forgot meanwhile is not returned."""
    gone: list[Going] = []
    for reason, group in groupby(chosen, lambda each: each.why):
        together = list(group)
        for first in range(0, len(together), BATCH):
            step = {each.revision: each for each in together[first : first + BATCH]}
            choose = partial(_still_unneeded, needs, step)
            forgotten = context.store.purge(
                choose, reason, session=context.session, at=context.clock()
            )
            gone += [step[revision] for revision in forgotten]
            on_step(len(forgotten))
            sleep(PAUSE_S)
    return gone


def _still_unneeded(needs: Needs, step: Iterable[Revision]) -> list[Revision]:
    needs.learn()
    return [revision for revision in step if revision not in needs.revisions]


def _unneeded(
    context: SessionContext,
    needs: Needs,
    kept: Iterable[KeptText],
    free: set[Revision],
    before: int,
) -> Iterator[Going]:
    """Yield the texts of dropped checkpoints that nothing else needs and that no fact named
    lately."""
    now = context.clock()
    for each in kept:
        if each.revision not in free or each.revision in needs.revisions:
            continue
        mention = needs.mentions.newest.get(each.revision)
        at = 0 if mention is None else mention.at
        is_manifest = mention is not None and each.revision in needs.manifests
        under_way = each.since and needs.recorded_at(each.since) > now - UNDER_WAY_US
        if (is_manifest or at < before) and not under_way:
            yield Going(each.revision, mention.path if mention else None, each.size, at, SIZE)
