"""What was edited since a moment: the files that are other than they were then, by whom and when.

Two questions that earlier systems kept lists for, which were emptied by whoever asked first, are
views here: which files this session edited since its last checkpoint, and which files others did.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sightline.changes.authors import by, moment
from sightline.changes.commands import changes
from sightline.changes.session_context import SessionContext
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
from sightline.model.revision import MISSING
from sightline.model.spans import Spans, new_sides
from sightline.model.text import decode
from sightline.model.timeline import Recorded, archived
from sightline.notices import words
from sightline.notices.warnings import fact_of

Step = tuple[str, str, str, Cause]
"""A path, what stood there before and after a change, and who made it."""

EDITS: tuple[type[Fact], ...] = (Changed, Moved, GitMoved)

NO_MESSAGES = Deleted(frozenset())


def edited_since(
    context: SessionContext, when: When = None, gone: Deleted = NO_MESSAGES
) -> EditedFiles:
    """The files that are other than they were then, in order of path. when: a position, a time, a
    checkpoint, or None for the last one that this session was asked for, else its start.
    gone: messages taken out of the conversation; what was edited from the earliest of them on
    counts as well, and what only their calls name. UnknownName, ValueError."""
    changes(context).record(context)  # what nobody was there to see
    after = min([position_of(context, when), *_before(context, gone.ids)])
    files: dict[str, list[tuple[Recorded, Step]]] = {}
    for recorded in context.store.timeline(after=after, kinds=EDITS):
        for step in () if archived(recorded.session) else _steps(recorded.fact):
            files.setdefault(step[0], []).append((recorded, step))
    found = [_edited(context, path, steps) for path, steps in files.items()]
    asked = [path for path in gone.paths if path not in files and not _stands(context, path, after)]
    found += [_asked_for(path) for path in asked]
    known = [each for each in found if each is not None]
    return EditedFiles(sorted(known, key=lambda each: each.path), gone.unread)


def _before(context: SessionContext, messages: frozenset[str]) -> Iterator[int]:
    """The positions behind which messages of this session are on record."""
    for recorded in context.store.timeline(session=context.session, kinds=[MessageAppended]):
        if isinstance(recorded.fact, MessageAppended) and recorded.fact.message in messages:
            yield recorded.position - 1


def _asked_for(path: str) -> EditedFile:
    return EditedFile(path, None, None, None, None, mine=True, others=False, from_messages=True)


def _stands(context: SessionContext, path: str, after: int) -> bool:
    """Whether the timeline knew a file then that it has no change of since, and none by this
    session before: what a message says of an edit came to nothing."""
    earlier = [
        each.fact
        for each in context.store.timeline(path=path, upto=after, kinds=[*EDITS, Seen])
        if not archived(each.session)
    ]
    own = (fact for fact in earlier if isinstance(fact, Changed | Moved))
    return bool(earlier) and not any(_is_mine(context, fact.cause) for fact in own)


def _steps(fact: Fact) -> Iterator[Step]:
    if isinstance(fact, Changed):
        yield fact.path, fact.before, fact.after, fact.cause
    elif isinstance(fact, Moved):
        yield fact.src, fact.revision, MISSING, fact.cause
        yield fact.path, MISSING, fact.revision, fact.cause
    elif isinstance(fact, GitMoved):
        for change in fact.changes:
            yield change.path, change.before, change.after, git_cause(fact)


def _edited(
    context: SessionContext, path: str, steps: list[tuple[Recorded, Step]]
) -> EditedFile | None:
    """One file, by its last change; None when it is again as it was."""
    before, (last, (_, _, after, cause)) = steps[0][1][1], steps[-1]
    if before == after:
        return None
    mine = [_is_mine(context, step[3]) for _, step in steps]
    return EditedFile(
        path,
        by(cause, last.happened_at, context),
        moment(last.happened_at),
        last.position,
        _lines(context, before, after),
        mine=any(mine),
        others=not all(mine),
    )


def _is_mine(context: SessionContext, cause: Cause) -> bool:
    """Whether a change reached the disk by this session: its edit, or a command it ran."""
    return cause.who == context.session


def _lines(context: SessionContext, before: str, after: str) -> Spans | None:
    """The lines of the present text that are new; None where a text is not kept."""
    texts = [context.store.blob(revision) for revision in (before, after)]
    old, new = (decode(data) if data is not None else None for data in texts)
    return None if old is None or new is None else new_sides(diff(old.lines, new.lines))


def about_rewind(
    context: SessionContext, to: When, gone: Deleted = NO_MESSAGES
) -> WarningRaised | None:
    """What to warn of when the conversation alone goes back to a moment, to be recorded with its
    end: files that are other than they were then, edited since by this session, or by others where
    it was shown them; and edits in deleted messages that cannot be read. None where there are none.
    to, gone: as of edited_since(). UnknownName, ValueError."""
    known = context.store.known(context.session)
    edited = edited_since(context, to, gone)
    found = [
        each for each in edited if each.mine or each.path in known or _shown(context, each.path)
    ]
    if not found and not edited.unread:
        return None
    text = _went_back(found, [each.tool for each in edited.unread])
    return fact_of(text, [each.path for each in found])


def _shown(context: SessionContext, path: str) -> bool:
    looks = context.store.timeline(session=context.session, path=path, kinds=[Seen], newest=1)
    return next(iter(looks), None) is not None


def _went_back(found: Sequence[EditedFile], unread: Sequence[str]) -> str:
    certain = [each for each in found if not each.from_messages]
    asked_for = [each.path for each in found if each.from_messages]
    mine = [each.path for each in certain if each.mine]
    others = [each.path for each in certain if each.others]
    return words.went_back(len(certain), mine, others, asked_for, unread)
