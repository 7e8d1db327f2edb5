"""Forgetting kept texts that nobody needs any more; facts stay for ever.

Nothing here runs by itself (but checkpoints.gc: what was kept by itself). What a person may want
back is his to give up: he says so once, in his settings, and again by asking for it.

Checkpoints that nobody asked for keep to their room by themselves.

What somebody asked for, and what the facts of a session name, is a person's to give up (gc).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby
from time import sleep

from sightline.changes.session_context import SessionContext
from sightline.checkpoints.quota import Holding, prune, prune_unasked
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
from sightline.sessions.presence import last_sign, present
from sightline.store.retention import SIZE, Going, KeptText, Mentions, going, named

DAY_US = 24 * 3_600 * 1_000_000

AT_ONCE = 50
"""Texts forgotten in one transaction: some milliseconds for which other writers wait."""

REST_S = 0.003
"""Between two of them. A writer that waits looks every millisecond, so that it comes first."""


def gc(
    context: SessionContext,
    settings: Settings,
    *,
    age_us: int | None = None,
    room: int | None = None,
    dry_run: bool = False,
    begun: Callable[[int], None] = lambda _: None,
) -> Swept:
    """Forget the texts that nobody needs: those last named longer ago than `age_us`, then the
    oldest until all take no more than `room` bytes; the settings say where these do not. begun:
    told how many texts each step forgot. StoreError.

    Needed are the texts that a session believes which is present or was heard of since, those of
    writes under way, those of checkpoints, those of conversations that were not deleted, and of
    each file the text that the newest write of an agent replaced, if it did since.
    """
    store = context.store
    age = settings.keep_days * DAY_US if age_us is None else age_us
    allowed = settings.keep_bytes if room is None else room
    before = context.clock() - age
    kept = store.texts()
    dropped = prune(context, kept, settings.checkpoint_bytes, dry_run=dry_run)
    needs = Needs(context, before, dropped)
    wanted = going(
        kept,
        needs.mentions.newest,
        needs.revisions,
        before=before,
        room=allowed,
        came_at=needs.recorded_at,
    )
    gone = tuple(wanted if dry_run else forget(context, needs, wanted, begun))
    returned = 0 if dry_run else store.tidy()
    size = sum(each.size for each in kept) - sum(each.size for each in gone)
    over = max(size - allowed, 0)
    return Swept(gone, len(kept) - len(gone), size, over, returned, dry_run, dropped)


class Needs:
    """Which texts are needed, as of the newest fact that was learned. Others go on recording:
    what their facts need is learned before each step, while they wait. manifests: of all
    checkpoints that were ever taken."""

    def __init__(self, context: SessionContext, before: int, dropped: Iterable[str] = ()) -> None:
        self._context = context
        self._holding = Holding(context.store)
        self._before = before
        self._upto = 0
        self._at_work: set[str] = set()
        self.mentions = Mentions()
        self.manifests: set[Revision] = set()
        self.revisions: set[Revision] = set()
        said = Said()
        for recorded in self._news():
            self.mentions.learn(recorded)
            said.learn(recorded)
            if isinstance(recorded.fact, CheckpointTaken):
                self.manifests.add(recorded.fact.manifest)
        self.revisions.update(said.needed())
        store = context.store
        for state in store.sessions():
            if self._works(state):
                self._believes(state.id)
        for intent in store.pending():
            if isinstance(intent.fact, WriteIntended):
                self.revisions.update(named(intent.fact))
        for checkpoint in self.mentions.manifests.keys() - set(dropped):
            self._holds(self.mentions.manifests[checkpoint])
        replaced = self.mentions.replaced.values()
        self.revisions.update(revision for revision, at in replaced if at >= before)

    def learn(self) -> None:
        """Take in what was recorded since. What a new fact names is needed, and so is all that a
        session believes which is back, was forked or was taken back."""
        for recorded in self._news():
            fact = recorded.fact
            self.revisions.update(named(fact))
            if recorded.session not in self._at_work or isinstance(fact, TURNING):
                self._believes(recorded.session)
            if isinstance(fact, CheckpointTaken):
                self._holds(fact.manifest)

    def recorded_at(self, position: int) -> int:
        """When the fact of a position was recorded."""
        store = self._context.store
        return next(r.recorded_at for r in store.timeline(after=position - 1, upto=position))

    def _news(self) -> Iterator[Recorded]:
        for recorded in self._context.store.timeline(after=self._upto):
            self._upto = recorded.position
            yield recorded

    def _works(self, state: SessionState) -> bool:
        if state.ended is not None:
            return False
        return last_sign(self._context.store, state) >= self._before or present(
            self._context, state
        )

    def _believes(self, session: str) -> None:
        self._at_work.add(session)
        known = self._context.store.known(session).values()
        self.revisions.update(each.belief.text for each in known)

    def _holds(self, manifest: Revision) -> None:
        self.revisions.update(self._holding.of(manifest))


class Said:
    """The texts of conversations. One that was deleted needs none, unless a fork goes on with it."""

    def __init__(self) -> None:
        self._texts: dict[str, set[Revision]] = {}
        self._forked: set[str] = set()
        self._deleted: set[str] = set()

    def learn(self, recorded: Recorded) -> None:
        """Take in one more fact."""
        fact = recorded.fact
        if isinstance(fact, (MessageAppended, Folded, Condensed)):
            self._texts.setdefault(recorded.session, set()).update(named(fact))
        elif isinstance(fact, SessionForked):
            self._forked.add(fact.parent)
        elif isinstance(fact, SessionEnded) and fact.reason == DELETED:
            self._deleted.add(recorded.session)

    def needed(self) -> Iterator[Revision]:
        """What stays."""
        for session, texts in self._texts.items():
            if session not in self._deleted - self._forked:
                yield from texts


def forget(
    context: SessionContext,
    needs: Needs,
    wanted: Sequence[Going],
    begun: Callable[[int], None] = lambda _: None,
) -> list[Going]:
    """Forget these step by step; those that went. What is needed by now stays, and what somebody
    else forgot meanwhile went with him."""
    gone: list[Going] = []
    for why, group in groupby(wanted, lambda each: each.why):
        together = list(group)
        for first in range(0, len(together), AT_ONCE):
            step = {each.revision: each for each in together[first : first + AT_ONCE]}
            choose = partial(_still, needs, step)
            went = context.store.purge(choose, why, session=context.session, at=context.clock())
            gone += [step[revision] for revision in went]
            begun(len(went))
            sleep(REST_S)
    return gone


def _still(needs: Needs, step: dict[Revision, Going]) -> list[Revision]:
    needs.learn()
    return [revision for revision in step if revision not in needs.revisions]


UNDER_WAY_US = 600 * 1_000_000
"""A text that was kept ahead of its checkpoint within this time may be waiting for it."""


def keep_to_room(context: SessionContext, settings: Settings) -> tuple[str, ...]:
    """Drop checkpoints that were taken by themselves, the oldest first and never the newest, where
    the texts of all take more than `checkpoint_bytes`, and forget the texts that only those needed.
    The ids of what was dropped. It reads all that is kept: not for who is waited for. StoreError.
    """
    store, room = context.store, settings.checkpoint_bytes
    if store.room().texts <= room:
        return ()
    kept = store.texts()
    dropped = prune_unasked(context, kept, room)
    if dropped:
        before = context.clock() - settings.keep_days * DAY_US
        needs = Needs(context, before, dropped)
        free = set(_of(context, dropped.values()))
        forget(context, needs, list(_going(context, needs, kept, free, before)))
        store.tidy()
    return tuple(dropped)


def _of(context: SessionContext, manifests: Iterable[Revision]) -> Iterator[Revision]:
    """The texts that checkpoints need."""
    holding = Holding(context.store)
    for manifest in manifests:
        yield from holding.of(manifest)


def _going(
    context: SessionContext,
    needs: Needs,
    kept: Iterable[KeptText],
    free: set[Revision],
    before: int,
) -> Iterator[Going]:
    """Those of the texts that nothing else needs, and that no fact named lately."""
    now = context.clock()
    for each in kept:
        if each.revision not in free or each.revision in needs.revisions:
            continue
        mention = needs.mentions.newest.get(each.revision)
        at = 0 if mention is None else mention.at
        lists = mention is not None and each.revision in needs.manifests
        waiting = each.since and needs.recorded_at(each.since) > now - UNDER_WAY_US
        if (lists or at < before) and not waiting:
            yield Going(each.revision, mention.path if mention else None, each.size, at, SIZE)
