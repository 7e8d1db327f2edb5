"""SessionContext: the ports that every verb of a session works with, and what a session knows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from os import urandom
from time import time_ns

from msgspec import Struct

from sightline.changes.linked_secrets import Inode, secret_inodes
from sightline.config.settings import Settings
from sightline.errors import Hint, PathRefused
from sightline.filesystem.file_state import FileState, Pieces, ResolvedPath
from sightline.filesystem.port import Workspace
from sightline.filesystem.process import alive, machine
from sightline.filesystem.scan import settled
from sightline.model.attempts import EDIT_MAX
from sightline.model.belief import Held
from sightline.model.events import (
    Belief,
    CheckpointMissed,
    CheckpointTaken,
    Fact,
    Refused,
    Seen,
    TurnBegan,
    WarningRaised,
)
from sightline.model.line_marks import marked, unmarked_lines
from sightline.model.projections import Knowledge
from sightline.model.revision import MISSING, UNKNOWN, Revision, Stamp, revision_of
from sightline.model.text import Text, decode, joined, lines_of
from sightline.model.timeline import Recorded
from sightline.store.port import Append, Store

TRIES = 20
"""Times that a verb decides again because the disk or the store changed meanwhile."""


DUE: list[type[Fact]] = [TurnBegan, CheckpointTaken, CheckpointMissed]
"""A checkpoint is due when the newest of these facts is TurnBegan."""


def now_us() -> int:
    """Return the machine's time as UTC microseconds since 1970."""
    return time_ns() // 1000


class SessionContext:
    """A session and its ports. clock: returns UTC microseconds. owner: names this process as
    "host:pid:start". approve: asks the user to approve a write, given path and diff; None where no
    user can be asked. missed: why an automatic checkpoint failed, for the caller to report. shown: the
    paths that were recorded as shown, since the caller last emptied the list. unrecorded: the store had no
    room for the ends of writes, whose intents are to be settled once it has. scopes: the user must
    approve a write to any other file than one that each of these scopes covers, by one of its paths and patterns."""

    def __init__(
        self,
        session: str,
        store: Store,
        workspace: Workspace,
        settings: Settings,
        clock: Callable[[], int],
        owner: str,
        approve: Callable[[str, str], bool] | None = None,
    ) -> None:
        self.session = session
        self.store = store
        self.workspace = workspace
        self.settings = settings
        self.clock = clock
        self.owner = owner
        self.approve = approve
        self.missed = Hint()
        self.shown: list[str] = []
        self.unrecorded = False
        self.scopes: tuple[tuple[str, ...], ...] = ()
        self._tracked: Tracked | None = None
        self._linked_secrets: set[Inode] = set()
        self._linked_at_ns = 0

    def for_session(self, session: str) -> SessionContext:
        """Return a context of another session with the same ports, without approval by a user."""
        return SessionContext(
            session, self.store, self.workspace, self.settings, self.clock, self.owner
        )

    def was_refused(self, refusal: Refused) -> bool:
        """Return whether the session's timeline has this very refusal: sent again, the attempt is meant."""
        recorded = self.store.timeline(session=self.session, path=refusal.path, kinds=[Refused])
        return any(each.fact == refusal for each in recorded)

    def append(
        self,
        facts: Sequence[Fact],
        *,
        blobs: Iterable[bytes] | dict[Revision, bytes] = (),
        found: Iterable[FileState] = (),
        expect: dict[str, int] | None = None,
        needed: Iterable[Revision] = (),
        needed_since: int | None = None,
        durable: bool = False,
        like: Mapping[Revision, Revision] | None = None,
    ) -> list[Recorded]:
        """Append facts of this session, with the stamps of the files found. See Store.append."""
        stats = {f.path: stamp for f in found if (stamp := stamp_of(f))}
        if self._tracked is not None and stats:
            self._tracked.learn(stats)
        self.shown += [fact.path for fact in facts if isinstance(fact, Seen)]
        return self.store.append(
            Append(
                self.session,
                facts,
                at=self.clock(),
                texts=blobs,
                stats=stats,
                expect=expect or {},
                needed=needed,
                needed_since=needed_since,
                durable=durable,
                like=like or {},
            )
        )

    def active_sessions(self, since_us: int | None = None) -> set[str]:
        """Return the ids of the sessions that a living process of this machine holds, and of sessions whose
        newest fact is of the last `since_us` microseconds; by default of `away_s`."""
        held = self.store.held_on(machine())
        ids = {name for name, owner in held.items() if alive(owner)}
        return ids.union(self.store.active_since(self._away_since(since_us)))

    def knowers(self, path: str) -> dict[str, Knowledge]:
        """Return the knowledge of a canonical path of the sessions that may be present
        (sessions.presence), by id: whether a process lives is not asked."""
        return self.store.knowers(path, machine(), self._away_since())

    def _away_since(self, since_us: int | None = None) -> int:
        away_us = int(self.settings.away_s * 1_000_000)
        return self.clock() - (away_us if since_us is None else since_us)

    def tracked(self) -> Tracked:
        """Return this session's knowledge with the stat cache, reloaded when the timeline grew."""
        position = self.store.position()
        if self._tracked is None or self._tracked.position != position:
            known = self.store.known(self.session)
            self._tracked = Tracked(position, known, self.store.stamps(known))
            self._tracked.refused = self.workspace.refused(known)
        return self._tracked

    def look(self, path: str, beyond: Pieces | None = None, *, is_edit: bool = False) -> FileState:
        """Read the file at a canonical path, within the size and time limits of the settings. beyond:
        takes the bytes of a file above the size limit. is_edit: the limit is that of edits."""
        settings = self.settings
        limit = max(settings.max_file_bytes, EDIT_MAX) if is_edit else settings.max_file_bytes
        return self.workspace.read(path, limit=limit, deadline_s=settings.deadline_s, beyond=beyond)

    def checkpoint_due(self) -> bool:
        """Return whether a turn began and no checkpoint of this session was tried since."""
        newest = self.store.timeline(session=self.session, kinds=DUE, newest=1)
        return any(isinstance(entry.fact, TurnBegan) for entry in newest)

    def keepable(
        self, path: str, *texts: bytes | None, on_disk: FileState | None = None
    ) -> list[bytes]:
        """Return those of a file's texts that exist, when they may be stored (see may_store). Of texts
        that may not, keep the marks of their lines."""
        if not self.may_store(path, on_disk):
            for text in texts:
                self._keep_marks(text)
            return []
        return [text for text in texts if text is not None]

    def _keep_marks(self, data: bytes | None) -> None:
        text = decode(data)
        if data is None or text is None:
            return
        revision = revision_of(data)
        if self.store.marks(revision) is None:
            marks = marked(text, self.store.marks_key())
            if marks is not None:
                self.store.keep_marks(revision, marks)

    def may_store(self, path: str, on_disk: FileState | None = None) -> bool:
        """Return whether the text of this file may be kept: neither its name nor another name of
        the same file is one of secrets. on_disk: the file as it was read just now; None to look at
        it. OSError, Unverifiable."""
        if not self.settings.may_store(path):
            return False
        if on_disk is None or on_disk.signature is None:
            found = self.workspace.linked(path)
        else:
            found = on_disk.signature if on_disk.names > 1 else None
        if found is None:
            return True
        if not settled(found.mtime_ns, found.ctime_ns, self._linked_at_ns):
            # A new name changes the times of the file, so an older look may not know it.
            self._linked_at_ns = time_ns()
            tree = self.workspace.tree(self.workspace.remembered())
            self._linked_secrets = secret_inodes(self.workspace, self.settings, tree)
        return (found.dev, found.ino) not in self._linked_secrets


class Tracked:
    """A session's files as of one position. suspects: files that were not the believed text when
    they were last read. An outdated stamp costs a hash and is no error."""

    def __init__(
        self, position: int, known: dict[str, Knowledge], stamps: dict[str, Stamp]
    ) -> None:
        self.position = position
        self.known = known
        self.stamps = stamps
        self.refused: set[str] = set()
        self.suspects = {
            path
            for path, knowledge in known.items()
            if path not in stamps
            or stamps[path].revision != knowledge.belief.text
            or knowledge.name is not None
        }

    def learn(self, stamps: dict[str, Stamp]) -> None:
        """Store newer stamps."""
        for path, stamp in stamps.items():
            knowledge = self.known.get(path)
            if knowledge is None:
                continue
            self.stamps[path] = stamp
            if stamp.revision == knowledge.belief.text and knowledge.name is None:
                self.suspects.discard(path)
            else:
                self.suspects.add(path)


class Known(Struct, frozen=True):
    """Knowledge of a path. believed: the bytes of the believed text, where they are kept.
    position: of the row at that path, as append() expects it. retargeted: the name led to another
    file when the agent was shown it. marks: of a believed text that may not be kept, with the lines
    that the disk has (model.line_marks); only to be compared, never to be shown."""

    knowledge: Knowledge | None
    believed: bytes | None = None
    position: int = 0
    retargeted: bool = False
    marks: bytes | None = None

    @property
    def belief(self) -> Belief | None:
        """The belief of the knowledge, if there is one."""
        return self.knowledge.belief if self.knowledge else None

    @property
    def texts(self) -> dict[Revision, bytes]:
        """The believed text by its revision, where it is kept."""
        belief = self.belief
        return {belief.text: self.believed} if belief and self.believed is not None else {}

    @property
    def held(self) -> Held | None:
        """The believed text with its spans, decoded at each call. Its lines may be marks."""
        text = decode(self.believed if self.believed is not None else self.marks)
        if text is None or self.knowledge is None:
            return None
        belief = self.knowledge.belief
        return Held(text.lines, belief.shown, belief.held)


def located(context: SessionContext, path: str) -> ResolvedPath:
    """Return where a path leads. A name under which this session was shown a file, and that by now
    is a symlink out of the workspace, stays its own path. PathRefused, Unverifiable."""
    try:
        return context.workspace.locate(path)
    except PathRefused as error:
        known = context.store.knowledge(context.session, error.path)
        if error.reason != "outside" or known is None:
            raise
        return ResolvedPath(error.path)


def load_knowledge(
    context: SessionContext, located: ResolvedPath, disk: FileState | None = None
) -> Known:
    """Return the session's knowledge of a path. disk: the file, whose bytes are used when they are
    the believed text."""
    name = located.name or located.path
    knowledge = context.store.knowledge(context.session, name)
    if knowledge is None and located.name:
        knowledge = context.store.knowledge(context.session, located.path)
    if knowledge is None:
        return Known(None)
    belief = knowledge.belief
    if disk is not None and disk.data is not None and disk.revision == belief.text:
        believed: bytes | None = disk.data
    else:
        believed = context.store.blob(belief.text)
    marks = None
    if believed is None:
        marks = load_marks(context, belief.text, lines_of(disk.data) if disk else None)
    if knowledge.path == located.path:
        return Known(knowledge, believed, knowledge.position, marks=marks)
    row = context.store.knowledge(context.session, located.path)
    position = row.position if row and row.path == located.path else 0
    return Known(knowledge, believed, position, retargeted=True, marks=marks)


def load_marks(
    context: SessionContext, revision: Revision, disk: Sequence[str] | None
) -> bytes | None:
    """Return the marks of a text that may not be kept, with the lines that the disk has; None where no
    marks are kept."""
    marks = context.store.marks(revision)
    if marks is None or disk is None:
        return marks
    return unmarked_lines(marks, context.store.marks_key(), [disk])


def believe(held: Held, text: Text, data: bytes, revision: str) -> tuple[Belief, bytes]:
    """Return a belief as facts record it, and the bytes of its text. data, revision: of the file,
    used where the believed text equals the file's."""
    total = len(held.lines)
    plain = joined(held.lines)
    if plain == text.plain:
        return Belief(revision, held.shown, held.held, total), data
    body = text.hold(plain)
    return Belief(revision_of(body), held.shown, held.held, total), body


def stamp_of(found: FileState) -> Stamp | None:
    """Return the stamp that a later scan compares with; None when the revision is unknown."""
    if found.signature is None or found.revision in (MISSING, UNKNOWN):
        return None
    return Stamp(found.signature, found.revision, found.read_at_ns)


WARNING = "w-"
"""Prefix of the id of a warning."""


def warning(text: str, paths: Iterable[str]) -> WarningRaised:
    """Return the fact of a new warning about files, to be recorded together with other facts."""
    return WarningRaised(f"{WARNING}{urandom(4).hex()}", text, tuple(dict.fromkeys(paths)))
