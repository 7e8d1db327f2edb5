"""Forget stored texts that nobody needs, and checkpoints that take too much room; facts stay.

A person decides how long texts are kept, in the settings and by running gc. Only automatic
checkpoints keep to their room without being asked (keep_to_room).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from time import sleep

from msgspec import Struct

from sightline.changes.command_texts import text_of_command
from sightline.changes.manifests import Reader
from sightline.changes.session_context import SessionContext
from sightline.checkpoints.take import with_manifests
from sightline.config.settings import Settings
from sightline.model.events import (
    ASKED,
    CheckpointDropped,
    CheckpointTaken,
    CommandStarted,
    Condensed,
    Folded,
    MessageAppended,
    SessionEnded,
    SessionForked,
    WriteIntended,
)
from sightline.model.projections import SessionState
from sightline.model.revision import Revision
from sightline.model.timeline import TURNING, Recorded, of_kind
from sightline.sessions.lifecycle import DELETED
from sightline.sessions.presence import is_present, last_sign
from sightline.store.retention import (
    COMMAND,
    SIZE,
    Going,
    KeptText,
    KeptTexts,
    Mention,
    Mentions,
    Swept,
    SweptText,
    going,
    named,
)

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
    commands: Iterable[str] = (),
    on_step: Callable[[int], None] = lambda _: None,
) -> Swept:
    """Forget the texts that nobody needs: those last named longer ago than `age_us`, then the
    oldest until all take no more than `room` bytes. Without these, the settings decide. commands:
    forget each stored shell command that has one of these texts. on_step: called with the number of texts that each step forgot. ValueError, StoreError.

    Needed are the texts of shell commands, those that a session believes which is present or was active since, those of
    pending writes, of checkpoints, of conversations that were not deleted, and for each file the
    text that the newest write of an agent replaced, if it did so since.
    """
    store = context.store
    forgotten = _forget_commands(context, tuple(commands), dry_run=dry_run)
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
    gone = chosen if dry_run else _forget(context, needs, chosen, on_step)
    returned = 0 if dry_run else store.tidy()
    freed = sum(each.size for each in gone)
    size = sum(each.size for each in kept) - freed
    stay = KeptTexts(len(kept) - len(gone), size)
    texts = tuple(map(SweptText.from_going, gone))
    work = (max(size - allowed, 0), returned, tuple(dropped), forgotten)
    return Swept(dry_run, texts, freed, stay, *work)


def _forget_commands(context: SessionContext, texts: Sequence[str], *, dry_run: bool) -> int:
    """Forget the commands that have one of these texts; return the number of different commands.
    ValueError."""
    if "" in texts:
        raise ValueError("the text of the commands to forget is empty, so every command has it")
    if not texts:
        return 0
    store = context.store
    begun = of_kind(CommandStarted, store.timeline(kinds=[CommandStarted]))
    kept = {
        command: text_of_command(store, command) for command in {each.command for each in begun}
    }
    chosen = [each for each, command in kept.items() if any(text in command for text in texts)]
    if dry_run or not chosen:
        return len(chosen)
    session, at = context.session, context.clock()
    return len(store.purge(lambda: chosen, COMMAND, session=session, at=at, secret=True))


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
        free -= needs.revisions
        chosen: list[Going] = []  # what nothing else needs, and no fact named lately
        for each in kept:
            if each.revision in free - needs.revisions:
                mention = needs.mentions.newest.get(each.revision, Mention(0, None))
                is_old = mention.at < before or each.revision in needs.manifests
                now = context.clock()
                under_way = each.since and needs.recorded_at(each.since) > now - UNDER_WAY_US
                if is_old and not under_way:
                    chosen.append(Going(each.revision, mention.path, each.size, mention.at, SIZE))
        _forget(context, needs, chosen)
        store.tidy()
    return tuple(dropped)


class Needs:
    """The texts that are needed, as of the newest fact that was read. Others go on recording
    meanwhile: still_unneeded() takes in their facts before each step. manifests: those of all checkpoints
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
        for intent in of_kind(WriteIntended, store.pending()):
            self.revisions.update(named(intent))
        for checkpoint in self.mentions.manifests.keys() - set(dropped):
            self._add_manifest(self.mentions.manifests[checkpoint])
        replaced = self.mentions.replaced.values()
        self.revisions.update(revision for revision, at in replaced if at >= before)

    def _read_timeline(self) -> None:
        """Read all facts, and add the texts of commands and of conversations. A deleted conversation needs none,
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
            elif isinstance(fact, CommandStarted):
                self.revisions.add(fact.command)
            elif isinstance(fact, SessionForked):
                forked.add(fact.parent)
            elif isinstance(fact, SessionEnded) and fact.reason == DELETED:
                deleted.add(session)
        for session, texts in conversations.items():
            if session not in deleted - forked:
                self.revisions |= texts

    def still_unneeded(self, revisions: Iterable[Revision]) -> list[Revision]:
        """Return those of these texts that no new fact made needed: a text that a new fact names is
        needed, and so is all that a session believes which is active again, was forked or was
        rewound."""
        for recorded in self._new_facts():
            fact = recorded.fact
            self.revisions.update(named(fact))
            if recorded.session not in self._active or isinstance(fact, TURNING):
                self._add_beliefs(recorded.session)
            if isinstance(fact, CheckpointTaken):
                self._add_manifest(fact.manifest)
        return [revision for revision in revisions if revision not in self.revisions]

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
            choose = partial(needs.still_unneeded, step)
            forgotten = context.store.purge(
                choose, reason, session=context.session, at=context.clock()
            )
            gone += [step[revision] for revision in forgotten]
            on_step(len(forgotten))
            sleep(PAUSE_S)
    return gone


# --- checkpoints that are dropped to make room

SPARE = 8
"""Automatic dropping frees one part in so many of the room in addition, so that it is not due again
soon."""


class Candidate(Struct, frozen=True):
    """A checkpoint and the texts that it names. stays: it is never dropped; automatic: nobody asked
    for it."""

    checkpoint: str
    texts: frozenset[Revision]
    stays: bool = False
    automatic: bool = False


def drop_checkpoints(
    context: SessionContext,
    kept: Iterable[KeptText],
    room: int,
    *,
    only_automatic: bool = False,
    dry_run: bool = False,
) -> dict[str, Revision]:
    """Drop checkpoints until the texts of the others take no more than `room` bytes. Return the ids
    of the dropped ones with their manifests. The newest one stays, and those that somebody gave a
    label. only_automatic: keep all that somebody asked for. StoreError."""
    sizes = {each.revision: each.size for each in kept}
    manifests: dict[str, Revision] = {}
    candidates: list[Candidate] = []
    for checkpoint, manifest in with_manifests(context):
        manifests[checkpoint.id] = checkpoint.manifest
        rows = [] if manifest is None else manifest.rows.values()
        texts = frozenset(row[0] for row in rows if len(row) == 2)
        asked = checkpoint.why == ASKED
        stays = asked and (only_automatic or bool(checkpoint.label))
        candidates.append(Candidate(checkpoint.id, texts, stays, not asked))
    dropped = choose_dropped(candidates, sizes, room)
    if dropped and only_automatic:
        dropped = choose_dropped(candidates, sizes, room - room // SPARE)
    if dropped and not dry_run:
        context.append([CheckpointDropped(each, SIZE) for each in dropped])
    return {each: manifests[each] for each in dropped}


def choose_dropped(
    candidates: Iterable[Candidate], sizes: Mapping[Revision, int], room: int
) -> list[str]:
    """Choose the checkpoints to drop: automatic ones first, then others, each oldest first.
    candidates: oldest first; the newest one stays. sizes: bytes of the stored texts."""
    every = list(candidates)
    droppable = [each for each in every[:-1] if not each.stays]
    droppable.sort(key=lambda each: not each.automatic)
    staying = [each for each in every[:-1] if each.stays] + every[-1:]
    last_user: dict[Revision, int] = {}
    for index, each in enumerate(droppable + staying):
        last_user.update(dict.fromkeys(each.texts, index))
    freed = [0] * len(every)
    for revision, index in last_user.items():
        freed[index] += sizes.get(revision, 0)
    total, dropped = sum(freed), []
    for each, size in zip(droppable, freed, strict=False):
        if total <= room:
            break
        dropped.append(each.checkpoint)
        total -= size
    return dropped
