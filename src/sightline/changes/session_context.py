"""Ground: what every verb stands on, and the two things all of them do with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from sightline.errors import PathRefused
from sightline.filesystem.file_state import FileState, ResolvedPath
from sightline.filesystem.port import Workspace
from sightline.model.belief import Held
from sightline.model.events import Belief, CheckpointMissed, CheckpointTaken, Fact, TurnBegan
from sightline.model.projections import Knowledge
from sightline.model.revision import Revision, Stamp, known, revision_of
from sightline.model.text import Text, decode
from sightline.model.timeline import Recorded
from sightline.store.port import Store


class Policy(Protocol):
    """The part of the settings that verbs ask (config.settings.Settings)."""

    @property
    def unseen(self) -> str: ...
    @property
    def max_file_bytes(self) -> int: ...
    @property
    def checkpoint_file_bytes(self) -> int: ...
    @property
    def read_max_lines(self) -> int: ...
    @property
    def read_max_bytes(self) -> int: ...
    @property
    def deadline_s(self) -> float: ...
    @property
    def claims(self) -> str: ...
    @property
    def away_s(self) -> float: ...
    @property
    def checkpoints(self) -> str: ...
    @property
    def checkpoint_every(self) -> int: ...
    @property
    def checkpoint_auto_ms(self) -> int: ...
    @property
    def checkpoint_bytes(self) -> int: ...
    @property
    def keep_days(self) -> int: ...
    @property
    def keep_bytes(self) -> int: ...
    @property
    def bundle(self) -> str: ...
    @property
    def bundle_imports(self) -> str: ...
    @property
    def bundle_tests(self) -> str: ...
    @property
    def bundle_files(self) -> int: ...
    def checkpoint_counts(self, path: str) -> bool: ...
    def policy_for(self, path: str) -> str: ...
    def may_store(self, path: str) -> bool: ...
    def secrets(self, folder: str, names: Sequence[str]) -> set[str]: ...


TRIES = 20
"""How often a verb decides again because the disk or the store moved under it."""


DUE: list[type[Fact]] = [TurnBegan, CheckpointTaken, CheckpointMissed]
"""The facts of which the newest says whether a checkpoint is due."""


class SessionContext:
    """A session's ports. clock gives UTC microseconds; owner names this process; approve asks
    the user (path, diff) where the policy says so, and is None where nobody can be asked. missed:
    why a checkpoint that was due could not be kept, for the face that this serves to say."""

    def __init__(
        self,
        session: str,
        store: Store,
        workspace: Workspace,
        settings: Policy,
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
        self.missed = ""
        self._not_due = 0  # no checkpoint was due at this position
        self._tracked: Tracked | None = None

    def of(self, session: str) -> SessionContext:
        """The same ports as another session's; nobody is asked for its approval."""
        return SessionContext(
            session, self.store, self.workspace, self.settings, self.clock, self.owner
        )

    def append(
        self,
        facts: Sequence[Fact],
        *,
        blobs: Iterable[bytes] = (),
        found: Iterable[FileState] = (),
        expect: dict[str, int] | None = None,
        durable: bool = False,
        like: Mapping[Revision, Revision] | None = None,
    ) -> list[Recorded]:
        """Record facts of this session now, and what was learned of the disk on the way."""
        stats = {f.path: stamp for f in found if (stamp := stamp_of(f))}
        if self._tracked is not None and stats:
            self._tracked.learn(stats)
        return self.store.append(
            self.session,
            facts,
            at=self.clock(),
            blobs=blobs,
            stats=stats,
            expect=expect,
            durable=durable,
            like=like,
        )

    def tracked(self) -> Tracked:
        """All that this session knows and the stat cache, reloaded when the timeline moved."""
        position = self.store.position()
        if self._tracked is None or self._tracked.position != position:
            known = self.store.known(self.session)
            self._tracked = Tracked(position, known, self.store.stamps(known))
            self._tracked.refused = self.workspace.refused(known)
        return self._tracked

    def look(self, path: str) -> FileState:
        """What stands at a canonical path now, within the size and the time that settings give."""
        settings = self.settings
        return self.workspace.read(
            path, limit=settings.max_file_bytes, deadline_s=settings.deadline_s
        )

    def checkpoint_due(self) -> bool:
        """Whether a turn was begun, and no checkpoint of this session was tried since."""
        upto, after = self.store.position(), self._not_due
        newest = self.store.timeline(session=self.session, kinds=DUE, after=after, newest=1)
        if any(isinstance(recorded.fact, TurnBegan) for recorded in newest):
            return True
        self._not_due = upto
        return False

    def keepable(self, path: str, *texts: bytes | None) -> list[bytes]:
        """Those of a file's texts that may be stored."""
        if not self.settings.may_store(path):
            return []
        return [text for text in texts if text is not None]


class Tracked:
    """A session's files as of one position. suspects: those whose last look at the disk did not
    find the believed text. A stamp that went stale meanwhile only costs a hash."""

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
        """Take over newer stamps."""
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
    """What this session knows of a located path. believed: the bytes of its text, where they are
    kept. position: of the row at that very path, which an append expects. retargeted: the name
    led to another file when it was seen."""

    knowledge: Knowledge | None
    believed: bytes | None = None
    position: int = 0
    retargeted: bool = False

    @property
    def belief(self) -> Belief | None:
        return self.knowledge.belief if self.knowledge else None

    @property
    def held(self) -> Held | None:
        """The believed text, decoded at each call."""
        text = decode(self.believed) if self.believed is not None else None
        if text is None or self.knowledge is None:
            return None
        belief = self.knowledge.belief
        return Held(tuple(text.lines), belief.shown, belief.held)


def located(ground: SessionContext, path: str) -> ResolvedPath:
    """Where a path leads. A name that this session was shown a file by, and that leads out of the
    workspace by now, is its own path: there stands a symlink. PathRefused, Unverifiable."""
    try:
        return ground.workspace.locate(path)
    except PathRefused as error:
        known = ground.store.knowledge(ground.session, error.path)
        if error.reason != "outside" or known is None:
            raise
        return ResolvedPath(error.path)


def load_knowledge(
    ground: SessionContext, located: ResolvedPath, disk: FileState | None = None
) -> Known:
    """What this session knows of a path; `disk` saves loading a text that is the same."""
    name = located.name or located.path
    knowledge = ground.store.knowledge(ground.session, name)
    if knowledge is None and located.name:
        knowledge = ground.store.knowledge(ground.session, located.path)
    if knowledge is None:
        return Known(None)
    belief = knowledge.belief
    if disk is not None and disk.data is not None and disk.revision == belief.text:
        believed: bytes | None = disk.data
    else:
        believed = ground.store.blob(belief.text)
    if knowledge.path == located.path:
        return Known(knowledge, believed, knowledge.position)
    row = ground.store.knowledge(ground.session, located.path)
    position = row.position if row and row.path == located.path else 0
    return Known(knowledge, believed, position, retargeted=True)


def believe(held: Held, text: Text, data: bytes, revision: str) -> tuple[Belief, bytes]:
    """A belief as it is recorded, and its text's bytes: the disk's own where they are equal."""
    total = len(held.lines)
    if list(held.lines) == text.lines:
        return Belief(revision, held.shown, held.held, total), data
    body = text.hold("".join(held.lines))
    return Belief(revision_of(body), held.shown, held.held, total), body


def stamp_of(found: FileState) -> Stamp | None:
    """What a later scan may compare with; None when the bytes were not pinned down."""
    if found.signature is None or not known(found.revision):
        return None
    return Stamp(found.signature, found.revision, found.read_at_ns)
