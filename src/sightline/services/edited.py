"""What was edited since a moment: the files that are other than they were then, by whom and when.

Two questions that earlier systems kept lists for, which were emptied by whoever asked first, are
views here: which files this session edited since its last checkpoint, and which files others did.
"""

from __future__ import annotations

from sightline.core.diff import diff
from sightline.core.events import (
    Changed,
    CheckpointTaken,
    GitMoved,
    MessageAppended,
    Moved,
    Seen,
)
from sightline.core.placing import new_sides
from sightline.core.text import decode
from sightline.core.timeline import archived
from sightline.errors import UnknownName
from sightline.services.authors import by, moment
from sightline.services.deleted import deleted
from sightline.services.results import EditedFile, EditedFiles
from sightline.services.runs import changes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime
    from typing import Protocol

    from sightline.core.events import Cause, Fact
    from sightline.core.regions import Spans
    from sightline.core.timeline import Recorded
    from sightline.services.ground import Ground

    class Checkpoint(Protocol):
        """What names a checkpoint."""

        @property
        def id(self) -> str: ...

    When = int | str | datetime | Checkpoint | None

    Step = tuple[str, str, str, Cause]
    """A path, what stood there before and after a change, and who made it."""

EDITS: tuple[type[Fact], ...] = (Changed, Moved, GitMoved)


def edited_since(
    ground: Ground, when: When = None, deleted_messages: Iterable[object] = ()
) -> EditedFiles:
    """The files that are other than they were then, in order of path. when: a position, a time, a
    checkpoint, or None for this session's last checkpoint, else its start. deleted_messages: ids,
    or messages; what was edited from the earliest of them on counts as well, and what only their
    calls name. UnknownName, ValueError."""
    gone = deleted(ground, deleted_messages)
    changes(ground).record(ground)  # what nobody was there to see
    after = position_of(ground, when)
    taken = [r.position for r in _own(ground, MessageAppended) if _message(r.fact) in gone.ids]
    after = min([after, *(position - 1 for position in taken)])
    files: dict[str, list[tuple[Recorded, Step]]] = {}
    for recorded in ground.store.timeline(after=after, kinds=EDITS):
        for step in () if archived(recorded.session) else _steps(recorded.fact):
            files.setdefault(step[0], []).append((recorded, step))
    found = [_edited(ground, path, steps) for path, steps in files.items()]
    asked = [path for path in gone.paths if path not in files and not _stands(ground, path, after)]
    found += [_asked_for(path) for path in asked]
    known = [each for each in found if each is not None]
    return EditedFiles(sorted(known, key=lambda each: each.path), gone.unread)


def _asked_for(path: str) -> EditedFile:
    return EditedFile(path, None, None, None, None, mine=True, others=False, from_messages=True)


def _stands(ground: Ground, path: str, after: int) -> bool:
    """Whether the timeline knew a file then that it has no change of since, and none by this
    session before: what a message says of an edit came to nothing."""
    earlier = [
        each.fact
        for each in ground.store.timeline(path=path, upto=after, kinds=[*EDITS, Seen])
        if not archived(each.session)
    ]
    own = (fact for fact in earlier if isinstance(fact, Changed | Moved))
    return bool(earlier) and not any(_is_mine(ground, fact.cause) for fact in own)


def position_of(ground: Ground, when: When) -> int:
    """The last position that is before a moment. UnknownName, ValueError."""
    if isinstance(when, int):
        return when
    if when is None:
        last = _own(ground, CheckpointTaken)[-1:] or _all_own(ground)
        return last[0].position if last else 0
    if isinstance(when, str):
        taken = _checkpoint(ground, when)
        return taken if taken is not None else _at(ground, _time(when))
    if hasattr(when, "id"):
        taken = _checkpoint(ground, when.id)
        if taken is None:
            raise _no_checkpoint(when.id)
        return taken
    return _at(ground, when)


def _all_own(ground: Ground) -> list[Recorded]:
    """This session's first fact, in a list."""
    return [first for first in [next(ground.store.timeline(session=ground.session), None)] if first]


def _own(ground: Ground, kind: type[Fact]) -> list[Recorded]:
    return list(ground.store.timeline(session=ground.session, kinds=[kind]))


def _message(fact: Fact) -> str:
    assert isinstance(fact, MessageAppended)
    return fact.message


def _checkpoint(ground: Ground, id: str) -> int | None:
    """Where the checkpoint of an id was taken, by whichever session."""
    for recorded in ground.store.timeline(kinds=[CheckpointTaken]):
        if isinstance(recorded.fact, CheckpointTaken) and recorded.fact.checkpoint == id:
            return recorded.position
    return None


def _time(text: str) -> datetime:
    from datetime import datetime

    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise _no_checkpoint(text) from None


def _no_checkpoint(id: str) -> UnknownName:
    return UnknownName(
        f"There is no checkpoint {id}, and it is no time either.",
        "Name a checkpoint, a position on the timeline (sightline log), or a time such as "
        "2026-01-31T12:00:00Z.",
    )


def _at(ground: Ground, when: datetime) -> int:
    """The position of the last fact that was recorded until then."""
    if when.tzinfo is None:
        raise ValueError(f"{when} does not say in which time zone; add one, such as Z")
    until = when.timestamp() * 1_000_000
    before, after = 0, ground.store.position() + 1
    while after - before > 1:
        middle = (before + after) // 2
        [recorded] = ground.store.timeline(after=middle - 1, upto=middle)
        if recorded.recorded_at <= until:
            before = middle
        else:
            after = middle
    return before


def _steps(fact: Fact) -> Iterator[Step]:
    from sightline.core.context import git_cause
    from sightline.core.revision import MISSING

    if isinstance(fact, Changed):
        yield fact.path, fact.before, fact.after, fact.cause
    elif isinstance(fact, Moved):
        yield fact.src, fact.revision, MISSING, fact.cause
        yield fact.path, MISSING, fact.revision, fact.cause
    elif isinstance(fact, GitMoved):
        for change in fact.changes:
            yield change.path, change.before, change.after, git_cause(fact)


def _edited(ground: Ground, path: str, steps: list[tuple[Recorded, Step]]) -> EditedFile | None:
    """One file, by its last change; None when it is again as it was."""
    before, (last, (_, _, after, cause)) = steps[0][1][1], steps[-1]
    if before == after:
        return None
    mine = [_is_mine(ground, step[3]) for _, step in steps]
    return EditedFile(
        path,
        by(cause, last.happened_at, ground),
        moment(last.happened_at),
        last.position,
        _lines(ground, before, after),
        mine=any(mine),
        others=not all(mine),
    )


def _is_mine(ground: Ground, cause: Cause) -> bool:
    """Whether a change reached the disk by this session: its edit, or a command it ran."""
    return cause.who == ground.session


def _lines(ground: Ground, before: str, after: str) -> Spans | None:
    """The lines of the present text that are new; None where a text is not kept."""
    texts = [ground.store.blob(revision) for revision in (before, after)]
    old, new = (decode(data) if data is not None else None for data in texts)
    return None if old is None or new is None else new_sides(diff(old.lines, new.lines))
