"""Find pending changes: files that differ from what a session was shown, and that it was not told."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence

from msgspec import structs

from sightline.changes.authors import changed_by
from sightline.changes.command_texts import text_of_command
from sightline.changes.detect import being_recorded
from sightline.changes.renames import RenameFinder
from sightline.changes.session_context import SessionContext, load_knowledge, located
from sightline.errors import PathRefused, Unverifiable
from sightline.filesystem.file_state import FileState, ResolvedPath
from sightline.guard.evidence import edit_case
from sightline.guard.file_states import suspects
from sightline.guard.refusals import bounded
from sightline.model.diff import diff, unified
from sightline.model.events import (
    Changed,
    Fact,
    NoticeAcknowledged,
    NoticeDelivered,
    RewindEnded,
    SessionForked,
    Told,
    WindowEmptied,
)
from sightline.model.projections import Knowledge
from sightline.model.relocation import places_of
from sightline.model.results import ChangedBy, FileChange, WhatChanged
from sightline.model.revision import MISSING, UNKNOWN, Revision
from sightline.model.spans import Hunk, carry, new_sides, touched, union
from sightline.model.text import decode
from sightline.model.timeline import Recorded, branch, of_kind
from sightline.notices import words
from sightline.text import causes


class PendingChange:
    """One file, compared with the knowledge of a session. what: as FileChange.what, "" where nothing
    changed. renames: shared by all files that are compared together. leave_out_handed: print no lines
    that the host was handed since the knowledge last changed."""

    def __init__(
        self,
        context: SessionContext,
        path: str,
        knowledge: Knowledge | None,
        renames: RenameFinder | None = None,
        *,
        leave_out_handed: bool = False,
    ) -> None:
        self.context = context
        self._leave_out_handed = leave_out_handed
        self._renames = renames or RenameFinder(context)
        self.path = path
        self.knowledge = knowledge
        self.name = (knowledge.name if knowledge else None) or path
        resolved = self._resolve()
        self.found = context.look(resolved.path) if resolved else _unreadable(path)
        known = load_knowledge(context, resolved or ResolvedPath(path), self.found)
        self.retargeted = known.retargeted
        self.case = edit_case(context, self.found, known)
        self.state = self.case.state
        self.moved_to = self._moved_to()
        self.what = self._what()

    def change(self, room: int | None = None) -> tuple[FileChange, Told | None]:
        """Return the change, with a diff of at most `room` characters, and the Told that its
        acknowledgement records; None where the session does not know the file."""
        case = self.case
        has_texts = case.disk is not None and bool(case.changes)
        pairs: list[tuple[Hunk, Hunk]] = []
        is_comparable = has_texts and not self.retargeted and not case.sight.has_marks
        if case.base is not None and case.disk is not None and is_comparable:
            pairs = [pair for pair in case.places.moved() if pair[0] in case.changes]
        moved = {hunk for pair in pairs for hunk in pair}
        remaining = [hunk for hunk in case.changes if hunk not in moved]
        text, shown = self._since_handed(), tuple(remaining)
        if not text or (room is not None and len(text) > room):
            text, shown = bounded(case, remaining, room)
        moved -= set(shown)
        places = [*places_of(pairs)]
        if case.held is not None and has_texts:
            places += case.places.shifted(case.held.shown)
        who, by = self.by()
        change = FileChange(
            self.name,
            "moved" if self.moved_to else self.state,
            text,
            words.summary(self.name, self.what, who, self.moved_to),
            by,
            case.sight.belief.text if case.sight.belief else MISSING,
            self.found.revision,
            self.what,
            self.moved_to,
            tuple(places),
        )
        told = self.mention_only()
        if told is None or self.retargeted or case.sight.has_marks:
            return change, told
        if not (text or moved or self.what == "endings"):
            return change, told
        if set(remaining) <= set(shown) and not moved:
            return change, structs.replace(told, hunks=None)
        hunks = tuple(sorted({*shown, *moved}))
        return change, structs.replace(told, hunks=hunks, moved=tuple(sorted(moved)))

    def mention_only(self) -> Told | None:
        """Return the Told of the bare news that the file changed, without its lines."""
        if self.knowledge is None:
            return None
        return Told(self.knowledge.path, self.found.revision, (), self.knowledge.position)

    def _since_handed(self) -> str:
        """Return the diff from the text that the host was handed last; "" where the host was not handed
        every change since this knowledge."""
        case, known = self.case, self.knowledge
        if not self._leave_out_handed or case.held is None or case.disk is None or known is None:
            return ""
        deliveries = self.context.store.timeline(
            session=self.context.session,
            path=known.path,
            kinds=[NoticeDelivered],
            after=known.position,
        )
        handed = [
            told
            for fact in of_kind(NoticeDelivered, in_conversation(self.context, list(deliveries)))
            for told in fact.told
            if fact.is_hosts
            and (told.path, told.position, told.hunks) == (known.path, known.position, None)
        ]
        text = decode(self.context.store.blob(handed[-1].revision)) if handed else None
        if text is None:
            return ""
        hunks = diff(case.held.lines, text.lines)
        seen = union(carry(case.held.shown, hunks), new_sides(hunks))
        news = touched(seen, diff(text.lines, case.disk.lines), len(text.lines))
        return unified(text.lines, case.disk.lines, news)

    def by(self) -> tuple[str, ChangedBy | None]:
        """Return who changed the file, in words and as a value."""
        who, by = changed_by(self.context, self.path)
        undone = self.what == "taken_back" and by is not None and by.kind == "external"
        return (causes.cause(None, self.context.session) if undone else who), by

    def is_undone_outside(self) -> bool:
        """Return whether somebody outside put the file back to before an edit of this session, or
        removed a file that this session created."""
        if self.what not in ("taken_back", "deleted"):
            return False
        by = self.by()[1]
        is_outside = by is None or by.kind == "external"
        return is_outside and (self.what == "taken_back" or self._is_own_edit_undone())

    def is_known(self, *, or_handed: bool) -> bool:
        """Return whether the agent knows the change. or_handed: count it where the host was handed
        the change and did not confirm its arrival."""
        if self.knowledge is None or self._is_own_removal():
            return True
        if _is_told(self.context, self.knowledge, NoticeAcknowledged, self.found.revision):
            return True
        return or_handed and is_handed(self.context, self.knowledge, self.found.revision)

    def _resolve(self) -> ResolvedPath | None:
        """Resolve the name that the agent read the file by; None on failure. A path that a newer rule
        refuses resolves to itself."""
        try:
            return located(self.context, self.name)
        except PathRefused:
            return None if self.knowledge else ResolvedPath(self.path)
        except Unverifiable:
            return None

    def _moved_to(self) -> str | None:
        if self.state != "deleted" or self.knowledge is None:
            return None
        found = self._renames.find(self.knowledge.path)
        return found.path if found else None

    def _what(self) -> WhatChanged:
        if self.state == "fresh":
            return "endings" if self.case.endings_only else ""
        if self.moved_to:
            return "moved"
        if self.state == "stale":
            return "taken_back" if self._is_own_edit_undone() else "changed"
        return self.state

    def _is_own_edit_undone(self) -> bool:
        """Return whether the file has the text from before an edit of this session again."""
        edits = self.context.store.timeline(
            session=self.context.session, path=self.path, kinds=[Changed]
        )
        undone = [
            each
            for each in edits
            for fact in of_kind(Changed, [each])
            if (fact.cause.kind, fact.cause.who) == ("agent", self.context.session)
            and fact.before == self.found.revision != fact.after
        ]
        return bool(in_conversation(self.context, undone))

    def _is_own_removal(self) -> bool:
        """Return whether a command of this session that names the file removed it."""
        row = self.context.store.disk(self.path)
        cause = row.cause if row and row.revision == MISSING else None
        if cause is None or (cause.kind, cause.who) != ("command", self.context.session):
            return False
        return self.name.rpartition("/")[2] in text_of_command(self.context.store, cause.command)


def _unreadable(path: str) -> FileState:
    return FileState(path, "unreadable", UNKNOWN, None, None, 0)


def is_handed(context: SessionContext, knowledge: Knowledge, revision: Revision) -> bool:
    """Return whether the host was handed a text about this revision of a known file, since the file
    last changed."""
    return _is_told(context, knowledge, NoticeDelivered, revision)


def _is_told(
    context: SessionContext, knowledge: Knowledge, kind: type[Fact], revision: Revision
) -> bool:
    """Return whether a delivery fact about this revision is newer than the file's last change."""
    path = knowledge.path
    row = context.store.disk(path)
    since = max(0 if row is None else row.position, left_window(context))
    found = context.store.timeline(session=context.session, path=path, kinds=[kind], after=since)
    tells = [each for each in found if _tells(each.fact, path, revision)]
    return bool(in_conversation(context, tells))


def left_window(context: SessionContext) -> int:
    """Return the last position where all texts, notices included, left the window; 0 for never."""
    emptied = context.store.timeline(session=context.session, kinds=[WindowEmptied], newest=1)
    return max((each.position for each in emptied), default=0)


def _tells(fact: Fact, path: str, revision: Revision) -> bool:
    if isinstance(fact, NoticeAcknowledged):
        return fact.revision == revision
    if not isinstance(fact, NoticeDelivered) or not fact.is_hosts:
        return False
    return any(told.path == path and told.revision == revision for told in fact.told)


def pending_changes(
    context: SessionContext,
    *,
    include_known: bool = False,
    leave_out_handed: bool = False,
    undone: list[PendingChange] | None = None,
    later: Container[str] = (),
) -> Iterator[PendingChange]:
    """Yield the files that changed since this session was shown them, in order of path.
    include_known: also those that the agent knows of; leave_out_handed: not those of which the
    host was handed a text, nor those that another host has just written: its hook will bring both
    changes together, and the notice comes then; undone: takes those of PendingChange.is_undone_outside, which are then
    left out. later: paths to leave out."""
    renames = RenameFinder(context)
    for knowledge in suspects(context):
        if knowledge.path in later:
            continue
        each = PendingChange(
            context, knowledge.path, knowledge, renames, leave_out_handed=leave_out_handed
        )
        is_new = each.what and (include_known or not each.is_known(or_handed=leave_out_handed))
        if is_new and leave_out_handed and being_recorded(context, each.found) is not None:
            continue
        if is_new and undone is not None and each.is_undone_outside():
            undone.append(each)
        elif is_new:
            yield each


def pending_change(
    context: SessionContext, path: str, renames: RenameFinder | None = None
) -> PendingChange:
    """Compare one file with the knowledge of this session, changed or not."""
    return PendingChange(context, path, context.store.knowledge(context.session, path), renames)


def changes(context: SessionContext, *, told: bool = False) -> list[FileChange]:
    """List the pending changes as values. told: also those that the agent knows of."""
    return [each.change()[0] for each in pending_changes(context, include_known=told)]


def changes_of(context: SessionContext, paths: Iterable[str]) -> Iterator[FileChange]:
    """Yield the changes of these files since this session was shown them."""
    renames = RenameFinder(context)
    for path in paths:
        yield pending_change(context, path, renames).change()[0]


def in_conversation(context: SessionContext, facts: Sequence[Recorded]) -> list[Recorded]:
    """Return the facts that no rewind of this session's conversation took out."""
    if not facts:
        return []

    def turns_of(session: str) -> list[Recorded]:
        return list(context.store.timeline(session=session, kinds=[SessionForked, RewindEnded]))

    stretches = branch(context.session, context.store.position(), turns_of)
    return [
        each
        for each in facts
        if any(s.session == each.session and s.after < each.position <= s.upto for s in stretches)
    ]
