"""Rules that say what a fact means for the rows of a store: paths, redundant observations, intents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache

from msgspec import structs

from sightline.errors import StoreConflict
from sightline.model import events
from sightline.model.events import FACTS, BlobPurged, Fact, overriding
from sightline.model.projections import DiskFile, Knowledge, git_cause
from sightline.model.revision import MISSING, Revision
from sightline.model.session_ids import archived
from sightline.model.timeline import Recorded

COLUMN_FACTS = tuple([kind for kind in FACTS.values() if kind.changes_session])
"""Facts that change more of a session's state than its newest position."""

DISK_FACTS = overriding("disk_paths")
"""Facts that may change the disk view."""

KNOWING = overriding("known_paths")
"""Kinds that model.projections.know steps by. The fold of a branch reads these alone."""

SETTLING = (events.Changed, events.Moved, events.WriteAbandoned, events.RewindEnded)
"""Kinds that may end a pending write, or a pending rewind."""

BEGINNING = (events.WriteIntended, events.RewindStarted)
"""Kinds that begin a write or a rewind, which has to come to an end."""


def paths_of(fact: Fact) -> tuple[str, ...]:
    """Return every path that a fact names, each once; its own `path` first."""
    single, several = _path_fields(type(fact))
    paths = [getattr(fact, field) for field in single]
    for field in several:
        paths += getattr(fact, field)
    return tuple(dict.fromkeys([path for path in paths if path is not None]))


@cache
def _path_fields(kind: type[Fact]) -> tuple[list[str], list[str]]:
    """Return the fields of a kind that name one path, and those that name several."""
    fields = kind.__struct_fields__
    single = [*filter(fields.__contains__, ("path", "src", "name"))]
    return single, [field for field in fields if field in ("paths", "files")]


def has_own_path(kind: type[Fact]) -> bool:
    """Return whether facts of a kind have a path, the file that they are about."""
    return "path" in kind.__struct_fields__


def has_other_paths(kind: type[Fact]) -> bool:
    """Return whether facts of a kind may name paths besides the one that they are about."""
    single, several = _path_fields(kind)
    return bool(several) or any(field != "path" for field in single)


def redundant(disk: DiskFile | None, fact: Fact, session: str = "") -> bool:
    """Return whether the disk view already has the bytes and the mode of an observation.

    Only an observed change can be redundant. A session's own write always says what its agent
    holds, and an archive is about another time.
    """
    if not isinstance(fact, events.Changed) or fact.belief is not None or fact.intent is not None:
        return False
    if archived(session):
        return False
    if disk is None:
        return fact.after == MISSING
    if fact.led != fact.target:  # the disk view does not know where a symlink leads
        return False
    return disk.revision == fact.after and fact.mode in (None, disk.mode)


def new_part(fact: Fact, row: Callable[[str], DiskFile | None], session: str = "") -> Fact | None:
    """Return the part of a fact that the disk view does not have; None for a redundant one. Two
    sessions that look at once record the same git operation twice: the second fact keeps the files
    that the first one lacks. row: path -> its disk row."""
    if isinstance(fact, events.Changed):
        return None if redundant(row(fact.path), fact, session) else fact
    if not isinstance(fact, events.GitMoved):
        return fact
    cause = git_cause(fact)
    changes = []
    for change in fact.changes:
        disk = row(change.path)
        if disk is None or (disk.revision, disk.cause) != (change.after, cause):
            changes.append(change)
    if len(changes) == len(fact.changes):
        return fact
    paths = tuple([change.path for change in changes])
    return structs.replace(fact, paths=paths, changes=tuple(changes)) if changes else None


def is_pending(recorded: Recorded) -> bool:
    """Return whether a fact begins a write or a rewind, which has to come to an end."""
    fact = recorded.fact
    if isinstance(fact, events.RewindStarted):
        return bool(fact.owner) and not archived(recorded.session)
    return isinstance(fact, events.WriteIntended)


def settled_by(recorded: Recorded, intents: Mapping[int, Recorded]) -> Iterable[int]:
    """Return the positions of the pending intents that a fact settles. A fact of an archive settles
    none; the end of a rewind settles all rewinds of its session; the end of a write settles the
    intent that the fact names, and intents of the very bytes that it reports at their path."""
    fact, session = recorded.fact, recorded.session
    if not isinstance(fact, SETTLING) or archived(session):
        return ()
    if isinstance(fact, events.RewindEnded):
        return [
            position
            for position, intent in intents.items()
            if isinstance(intent.fact, events.RewindStarted) and intent.session == session
        ]
    return [
        position
        for position, intent in intents.items()
        if position == fact.intent
        or (
            (isinstance(fact, events.Changed) and isinstance(intent.fact, events.WriteIntended))
            and (fact.path, fact.after) == (intent.fact.path, intent.fact.after)
        )
    ]


def check_expected(states: Mapping[str, Knowledge | None], expect: Mapping[str, int]) -> None:
    """Raise StoreConflict where another writer changed a row that a decision was based on."""
    for path, expected in expect.items():
        state = states.get(path)
        position = state.position if state else 0
        if position != expected:
            raise StoreConflict(
                f"What this session knows of {path} was changed by another process: it stood at"
                f" position {expected}, now at {position}. Nothing was recorded.",
                "Read the file again and decide again.",
            )


def column_conflict(session: str, column: int) -> StoreConflict:
    """Return the error for a session that has facts behind the position of a decision."""
    return StoreConflict(
        f"Another process went on with session {session} after position {column}."
        " Nothing was recorded.",
        "Look at what came since and decide again.",
    )


def check_needed(purged: Iterable[BlobPurged], needed: Iterable[Revision]) -> None:
    """Raise StoreConflict where one of these texts was deleted."""
    gone = {revision for fact in purged for revision in (fact.revision, *fact.others)}
    if gone and not gone.isdisjoint(needed):
        raise StoreConflict(
            "Another process deleted a text meanwhile that these facts name. Nothing was recorded.",
            "Store the text again and decide again.",
        )
