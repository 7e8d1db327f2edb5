"""Load the effects of a session, or of all, from the timeline: what was done to files, and the state before."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from stat import S_IMODE
from sys import maxsize

from msgspec import Struct, structs

from sightline.changes import untracked
from sightline.changes.command_folders import Folders
from sightline.changes.command_texts import shown_command, worded
from sightline.changes.session_context import SessionContext
from sightline.changes.untracked import ManifestHistory
from sightline.checkpoints.rewind.undo_plan import Effect
from sightline.filesystem.tree_index import IGNORED
from sightline.model.events import (
    Cause,
    Changed,
    CommandEnded,
    CommandStarted,
    Fact,
    GitMoved,
    Moved,
    RewindEnded,
    RewindStarted,
    Seen,
    SessionForked,
    WriteIntended,
)
from sightline.model.manifest import EMPTY, Manifest
from sightline.model.path import folders_above, is_at_or_below
from sightline.model.revision import MISSING, UNKNOWN, Revision, as_link
from sightline.model.session_ids import NOBODY, archived
from sightline.model.timeline import Recorded, live, newest_first, of_kind
from sightline.text.causes import REWINDING, is_rewind

EFFECTS: tuple[type[Fact], ...] = (Changed, Moved)
"""The kinds of fact that record an effect."""


class Target(Struct, frozen=True):
    """The state that a rewind leads to: effects after `position` are undone. manifest: the tree at
    that position, where a checkpoint has it; name: the checkpoint's id or "position N". upto: for
    a rewind that is being finished, the position at which it began: of the effects after that,
    only its own are undone. commands: also undo what changed while a command of the session ran, or
    in layout alone after its edit, whoever changed it. past: the lineage of the session. everyone: undo the effects of all sessions; only:
    undo those at or below these paths alone, () for all."""

    position: int
    name: str
    manifest: Manifest | None
    past: Mapping[str, int]
    upto: int | None = None
    commands: bool = False
    everyone: bool = False
    only: tuple[str, ...] = ()

    def cause(self, session: str) -> Cause:
        """Return the cause that the rewind's own changes are recorded with."""
        return Cause("command", session, f"{REWINDING}{self.name}")

    def covers(self, position: int, cause: Cause) -> bool:
        """Return whether the rewind undoes an effect of its session."""
        by_rewind = cause.detail == f"{REWINDING}{self.name}"
        return self.upto is None or position <= self.upto or by_rewind

    def limited_to(self, paths: Iterable[str]) -> bool:
        """Return whether the rewind undoes effects on one of these paths, which are undone together."""
        return _reaches(self.only, paths)

    def limited_to_folder(self, folder: str) -> bool:
        """Return whether the rewind may set back a folder: also one above a path that it is limited to."""
        above = any(is_at_or_below(path, [folder]) for path in self.only)
        return above or self.limited_to([folder])


def load_effects(context: SessionContext, target: Target) -> list[Effect]:
    """Load what this session did to files after the target, and before it was forked what its parent did,
    or what all sessions did, in order of position."""
    kinds: list[type[Fact]] = [*EFFECTS, CommandEnded]
    since = live(context.store.timeline(after=target.position, kinds=kinds))
    prior, past = PriorState(context), authors_of(context, target)
    effects = [
        prior.complete(effect)
        for recorded in since
        for effect in _effects(target, recorded, prior, past)
    ]
    return _without_taken_back(context, target, past, effects)


def _reaches(only: tuple[str, ...], paths: Iterable[str]) -> bool:
    """Return whether a rewind that is limited to some paths, () for none, reaches one of others."""
    return not only or any(is_at_or_below(path, only) for path in paths)


def load_folders(context: SessionContext, target: Target) -> Folders:
    """Load which folders the writes, commands and rewinds of this session, and before it was forked of its
    parent, made and removed after the target. A folder that came and went counts as what it did first, so a
    rewind sets back the state before. A file that was created and deleted again leaves no effect, but its
    folder."""
    kinds: list[type[Fact]] = [*EFFECTS, WriteIntended, RewindEnded, CommandEnded]
    past, intents = authors_of(context, target), dict[int, WriteIntended]()
    came_first: dict[str, bool] = {}
    for recorded in live(context.store.timeline(after=target.position, kinds=kinds)):
        fact, position = recorded.fact, recorded.position
        came: tuple[str, ...] = ()
        went: tuple[str, ...] = ()
        if isinstance(fact, WriteIntended):
            intents[position] = fact
        elif isinstance(fact, RewindEnded | CommandEnded):
            if position <= min(past.get(recorded.session, -1), target.upto or position):
                came, went = fact.folders_made, fact.folders_removed
        elif isinstance(fact, Changed | Moved) and fact.intent in intents:
            author = owner(fact.cause)
            is_own = author is not None and position <= past.get(author, -1)
            if is_own and target.covers(position, fact.cause):
                intent = intents[fact.intent]
                came, went = intent.makes, intent.gives_way
        for path in came:
            came_first.setdefault(path, True)
        for path in went:
            came_first.setdefault(path, False)
    wanted = [(path, came) for path, came in came_first.items() if target.limited_to_folder(path)]
    return Folders(
        tuple(path for path, came in wanted if came),
        tuple(path for path, came in wanted if not came),
    )


def authors_of(context: SessionContext, target: Target) -> Mapping[str, int]:
    """Map each session whose work a rewind undoes to the position where this work ends: the
    sessions of this session's own past, or all sessions and the rewinds of all."""
    if not target.everyone:
        return target.past
    upto = context.store.position()
    ids = [state.id for state in context.store.sessions() if not archived(state.id)]
    return dict.fromkeys([NOBODY, *ids], upto)


def lineage(context: SessionContext) -> dict[str, int]:
    """Return session -> the last position that belongs to this session's own past, for this session, whose
    past has no end yet, and each session that it was forked from."""
    past: dict[str, int] = {}
    session, upto = context.session, maxsize
    while session not in past:
        past[session] = upto
        forked = context.store.timeline(session=session, kinds=[SessionForked], limit=1)
        for fact in of_kind(SessionForked, forked):
            session, upto = fact.parent, min(upto, fact.position)
    return past


class PastRewind(Struct, frozen=True):
    """A rewind of files that ended. session: whose work it took back, model.session_ids.NOBODY for all
    sessions'; to, began, ended: positions, of its target and of its facts; only: as in RewindStarted."""

    session: str
    to: int
    began: int
    ended: int
    only: tuple[str, ...] = ()

    def reaches(self, paths: Iterable[str]) -> bool:
        """Return whether the rewind is not limited to other paths."""
        return _reaches(self.only, paths)


def past_rewinds(context: SessionContext, sessions: Collection[str]) -> list[PastRewind]:
    """Return the rewinds that took back files of these sessions, oldest first."""
    past: list[PastRewind] = []
    started: dict[str, tuple[int, RewindStarted]] = {}
    columns = {*sessions, NOBODY}
    log = context.store.timeline(kinds=[RewindStarted, RewindEnded])
    for recorded in log if len(columns) > FEW else _of_columns(context, columns):
        session, fact = recorded.session, recorded.fact
        if isinstance(fact, RewindStarted):
            started[session] = recorded.position, fact
        elif session in started:
            began, start = started.pop(session)
            if start.with_files and session in columns:
                ended = recorded.position
                past.append(PastRewind(session, start.to, began, ended, start.only))
    return past


FEW = 3
"""Columns of the timeline that are read one by one; for more, one reading of all is cheaper."""


def _of_columns(context: SessionContext, sessions: Iterable[str]) -> list[Recorded]:
    kinds: list[type[Fact]] = [RewindStarted, RewindEnded]
    each = [context.store.timeline(session=session, kinds=kinds) for session in sessions]
    return sorted(chain.from_iterable(each), key=lambda recorded: recorded.position)


def _without_taken_back(
    context: SessionContext, target: Target, authors: Mapping[str, int], effects: list[Effect]
) -> list[Effect]:
    """Leave out effects on a path that an earlier rewind took back to the byte, and that rewind's
    own: undoing both would bring back for a moment, or for good, what the user took back."""
    latest = max(authors.values())
    rewinds = [
        past
        for past in past_rewinds(context, authors)
        if past.ended <= authors.get(past.session, latest)
    ]
    for past in sorted(rewinds, key=lambda each: each.ended, reverse=True):
        by_path: dict[str, list[Effect]] = {}
        for each in effects if past.to >= target.position else ():
            for path in each.paths if past.to < each.position <= past.ended else ():
                by_path.setdefault(path, []).append(each)
        exact = {
            path
            for path, of in by_path.items()
            if of[0].before == of[-1].after != UNKNOWN
            and of[-1].position > past.began
            and (of[0].before == MISSING or all(each.mode is None for each in of))
            and not any(each.src for each in of)
        }
        effects = [
            each
            for each in effects
            if not (past.to < each.position <= past.ended and each.path in exact)
        ]
    return effects


def _effects(
    target: Target, recorded: Recorded, prior: PriorState, past: Mapping[str, int]
) -> Iterator[Effect]:
    fact, position, at = recorded.fact, recorded.position, recorded.happened_at
    if isinstance(fact, CommandEnded):
        is_own = position <= past.get(recorded.session, -1)
        if is_own and position <= (target.upto or position):
            yield from _removed_by_command(target, recorded, prior)
        return
    if not isinstance(fact, (Changed, Moved)):
        return
    cause, session = fact.cause, owner(fact.cause)
    if session is None or position > past.get(session, -1) or not target.covers(position, cause):
        return
    certain = target.commands or is_certain(cause)
    is_layout = cause.kind == "formatter"
    command = prior.worded(cause).detail if cause.kind == "command" else None
    if isinstance(fact, Moved):
        if fact.intent is not None:  # else the changes at both paths are on record themselves
            revision = fact.revision
            yield Effect(
                fact.path, revision, revision, position, at, fact.src, certain, session=session
            )
        return
    mode = S_IMODE(fact.mode) if fact.mode is not None else None
    before = S_IMODE(fact.mode_before) if fact.mode_before is not None else None
    if fact.change == "mode" and mode is not None:
        after = fact.after
        yield Effect(
            fact.path,
            after,
            after,
            position,
            at,
            certain=certain,
            command=command,
            mode=mode,
            prior_mode=before,
            session=session,
        )
        return
    yield Effect(
        fact.path,
        revision_or_link(fact.before, fact.led),
        revision_or_link(fact.after, fact.target),
        position,
        at,
        certain=certain,
        is_layout=is_layout,
        command=command,
        mode=mode if fact.before == MISSING or before is not None else None,
        prior_mode=before,
        removes_file=fact.after == MISSING or fact.target is not None,
        session=session,
    )


def _removed_by_command(target: Target, recorded: Recorded, prior: PriorState) -> Iterator[Effect]:
    """Yield the files that a command removed and that no session had read: only the checkpoint has
    their content."""
    fact, manifest = recorded.fact, target.manifest
    assert isinstance(fact, CommandEnded)
    command = prior.command(recorded) if fact.paths else None
    for path in fact.paths if manifest is not None else ():
        entry = manifest.get(path) if manifest is not None else None
        if entry is None or prior.is_on_record(path, recorded.position):
            continue
        yield Effect(
            path,
            entry.content,
            MISSING,
            recorded.position,
            recorded.happened_at,
            certain=target.commands or path in fact.named,
            command=command,
            prior_mode=S_IMODE(entry.mode) if entry.kind == "file" else None,
            removes_file=True,
            session=recorded.session,
        )


def owner(cause: Cause) -> str | None:
    """Return the session that made a change: by an edit, by a command, or by a formatter that ran
    after its edit."""
    if cause.kind == "formatter":
        return cause.detail
    return cause.who if cause.kind in ("agent", "session", "command") else None


def is_own(cause: Cause, session: str) -> bool:
    """Return whether a session made a change."""
    return owner(cause) == session


def is_certain(cause: Cause) -> bool:
    """Return whether the session surely made a change of its own cause: a rewind of it did, a command
    that names the file, or a formatter that was seen at work. Older facts do not say on what
    evidence a command was certain, or a formatter likely."""
    if cause.kind == "formatter":
        return cause.evidence == "watched"
    return cause.kind != "command" or is_rewind(cause) or cause.evidence == "named"


class PriorState:
    """The state of files before an effect, from the timeline and the checkpoints. Ask in order of
    position."""

    def __init__(self, context: SessionContext) -> None:
        self._context = context

    @cached_property
    def _manifests(self) -> ManifestHistory:
        return ManifestHistory(self._context)

    def complete(self, effect: Effect) -> Effect:
        """Return an effect with the state before it, where the effect's own fact lacks that."""
        if effect.src is not None:
            return effect
        if effect.before in (UNKNOWN, MISSING):
            effect = structs.replace(effect, before=self._before(effect))
        only_mode = effect.mode is not None and effect.before == effect.after
        if effect.prior_mode is None and (only_mode or effect.removes_file):
            mode = self._mode(effect.path, effect.position - 1)
            return structs.replace(effect, prior_mode=mode)
        return effect

    def worded(self, cause: Cause) -> Cause:
        """Return a cause with the text of its command as its detail."""
        return worded(self._context.store, cause)

    def command(self, ended: Recorded) -> str | None:
        """Return the text of the command that ended, for people."""
        started = self._started(ended)
        return None if started is None else shown_command(self._context.store, started.command)

    def uncovered(self, ended: Recorded) -> Iterator[tuple[str, str]]:
        """Yield the files and folders (ending in "/") that went while a command ran and that no checkpoint
        covered then, each with the reason."""
        assert isinstance(ended.fact, CommandEnded)
        if not ended.fact.paths:
            return
        started = self._started(ended)
        checkpoint = untracked.newest(self._context, ended.position)
        last = untracked.manifest(self._context, checkpoint) if checkpoint is not None else EMPTY
        reasons = untracked.left_out(last)
        for path in ended.fact.paths:
            name = path if path in reasons else f"{path}/"
            if name in reasons:
                yield name, reasons[name]
            elif started is not None and path in started.uncovered:
                above = (last.omitted.get(folder) for folder in folders_above(path))
                yield path, next(filter(None, above), IGNORED)

    def _started(self, ended: Recorded) -> CommandStarted | None:
        assert isinstance(ended.fact, CommandEnded)
        timeline, upto = self._context.store.timeline, ended.position
        begun = newest_first(timeline, upto=upto, session=ended.session, kinds=[CommandStarted])
        run = ended.fact.run
        return next((fact for fact in of_kind(CommandStarted, begun) if fact.run == run), None)

    def is_on_record(self, path: str, upto: int) -> bool:
        """Return whether the timeline has a fact about a file up to a position."""
        return self._newest(path, [*EFFECTS, GitMoved, Seen], upto) is not None

    def _newest(self, path: str, kinds: Sequence[type[Fact]], upto: int) -> Fact | None:
        """Return the newest fact of these kinds about a file."""
        facts = self._context.store.timeline(path=path, kinds=kinds, upto=upto, newest=1)
        return next((each.fact for each in facts), None)

    def _mode(self, path: str, upto: int) -> int | None:
        """Return the last recorded permission bits of a file."""
        entry = self._manifests.entry(path, upto)
        after = self._manifests.position(upto) if entry is not None and entry.kind == "file" else 0
        timeline = self._context.store.timeline
        for fact in of_kind(
            Changed, newest_first(timeline, upto=upto, path=path, kinds=[Changed], after=after)
        ):
            if fact.mode is not None:
                return S_IMODE(fact.mode)
        return S_IMODE(entry.mode) if entry is not None else None

    def _before(self, effect: Effect) -> Revision:
        """Return the state before an effect whose fact does not know it: a symlink's target from
        the timeline, or the entry of the newest checkpoint if no fact names the path before."""
        path, before = effect.path, effect.before
        if self.is_on_record(path, effect.position - 1):
            is_open = before == UNKNOWN
            fact = self._newest(path, EFFECTS, effect.position - 1) if is_open else None
            return revision_or_link(before, fact.target) if isinstance(fact, Changed) else before
        entry = self._manifests.entry(path, effect.position)
        if entry is None or (before == MISSING and entry.kind == "file"):
            return before
        return entry.content


def revision_or_link(revision: Revision, target: str | None) -> Revision:
    """Return what a rewind compares: the revision of a file, or the target of a symlink."""
    return revision if target is None else as_link(target)
