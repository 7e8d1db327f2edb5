"""List the files that changed since a point in time, with the author and the time.

The list is derived from the timeline: asking for it empties nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sightline.changes.authors import by
from sightline.changes.commands import changes
from sightline.changes.session_context import SessionContext, warning
from sightline.checkpoints.rewind.effects import is_certain, is_own
from sightline.checkpoints.time_points import When, position_of
from sightline.model.diff import diff
from sightline.model.events import (
    Cause,
    Changed,
    Fact,
    GitMoved,
    MessageAppended,
    Moved,
    Seen,
    WarningRaised,
)
from sightline.model.projections import git_cause
from sightline.model.results import Deleted, EditedFile, EditedFiles
from sightline.model.revision import MISSING, Revision
from sightline.model.session_ids import archived
from sightline.model.spans import new_sides
from sightline.model.text import lines_of
from sightline.model.timeline import Recorded
from sightline.model.units import moment
from sightline.notices import words

PathChange = tuple[str, Revision, Revision, Cause]
"""A path, its revisions before and after a change, and the cause."""

CHANGES: tuple[type[Fact], ...] = (Changed, Moved, GitMoved)

NO_MESSAGES = Deleted(frozenset())


def edited_since(
    context: SessionContext, when: When = None, deleted: Deleted = NO_MESSAGES
) -> EditedFiles:
    """List the files that differ from a point in time, in order of path. when: a position, a time,
    a checkpoint, or None for this session's last checkpoint that somebody asked for, else its
    start. deleted: messages that were taken out of the conversation; changes since the earliest of
    them count, and so do files that only their calls name. UnknownName, ValueError."""
    changes(context).record(context)
    messages = context.store.timeline(session=context.session, kinds=[MessageAppended])
    ids = deleted.ids
    deleted_at = [m.position - 1 for m in messages if getattr(m.fact, "message", None) in ids]
    after = min([position_of(context, when), *deleted_at])
    by_path: dict[str, list[tuple[Recorded, PathChange]]] = {}
    for recorded in context.store.timeline(after=after, kinds=CHANGES):
        for change in () if archived(recorded.session) else _path_changes(recorded.fact):
            by_path.setdefault(change[0], []).append((recorded, change))
    files = [_edited_file(context, path, found) for path, found in by_path.items()]
    edited = [each for each in files if each is not None]
    edited += [
        EditedFile(path, None, None, None, None, mine=True, others=False, from_messages=True)
        for path in deleted.paths
        if path not in by_path and not _is_unchanged(context, path, after)
    ]
    return EditedFiles(sorted(edited, key=lambda each: each.path), deleted.unread)


def _is_unchanged(context: SessionContext, path: str, after: int) -> bool:
    """Return whether the timeline knows a file up to a position without a change by this session. A
    call in a deleted message changed nothing then."""
    earlier = [
        each.fact
        for each in context.store.timeline(path=path, upto=after, kinds=[*CHANGES, Seen])
        if not archived(each.session)
    ]
    own = [f for f in earlier if isinstance(f, Changed | Moved) and f.cause.who == context.session]
    return bool(earlier) and not own


def _path_changes(fact: Fact) -> Iterator[PathChange]:
    if isinstance(fact, Changed):
        yield fact.path, fact.before, fact.after, fact.cause
    elif isinstance(fact, Moved):
        yield fact.src, fact.revision, MISSING, fact.cause
        yield fact.path, MISSING, fact.revision, fact.cause
    elif isinstance(fact, GitMoved):
        for change in fact.changes:
            yield change.path, change.before, change.after, git_cause(fact)


def _edited_file(
    context: SessionContext, path: str, changes: list[tuple[Recorded, PathChange]]
) -> EditedFile | None:
    """Describe a file by its last change; None where it has its first revision again."""
    before, (last, (_, _, after, cause)) = changes[0][1][1], changes[-1]
    if before == after:
        return None
    old, new = [lines_of(context.store.blob(revision)) for revision in (before, after)]
    causes = [change[3] for _, change in changes]
    own = [each for each in causes if is_own(each, context.session)]
    sure = sum(map(is_certain, own))
    return EditedFile(
        path,
        by(cause, last.happened_at, context),
        moment(last.happened_at),
        last.position,
        None if old is None or new is None else new_sides(diff(old, new)),
        mine=sure > 0,
        others=len(own) < len(causes),
        probable=sure < len(own),
    )


def about_rewind(
    context: SessionContext, to: When, deleted: Deleted = NO_MESSAGES
) -> WarningRaised | None:
    """Compose the warning for a rewind of the conversation alone: files that differ since, changed
    by this session, or by others where the session was shown them; and edits in deleted messages
    that cannot be read. None where there are none. to, deleted: as in edited_since(). UnknownName,
    ValueError."""
    known = context.store.known(context.session)
    edited = edited_since(context, to, deleted)
    listed = [
        each
        for each in edited
        if each.mine or each.probable or each.path in known or _was_shown(context, each.path)
    ]
    if not listed and not edited.unread:
        return None
    certain = [each for each in listed if not each.from_messages]
    text = words.went_back(
        len(certain),
        _paths([each for each in certain if each.mine]),
        _paths([each for each in certain if each.probable and not each.mine]),
        _paths([each for each in certain if each.others]),
        _paths([each for each in listed if each.from_messages]),
        [each.tool for each in edited.unread],
    )
    return warning(text, _paths(listed))


def _paths(files: Sequence[EditedFile]) -> list[str]:
    return [each.path for each in files]


def _was_shown(context: SessionContext, path: str) -> bool:
    seen = context.store.timeline(session=context.session, path=path, kinds=[Seen], newest=1)
    return any(True for _ in seen)
