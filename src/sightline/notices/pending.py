"""What is new to a session: files that are not what it was shown, and not told of yet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import structs

from sightline.changes import words as change_words
from sightline.changes.authors import changed_by
from sightline.changes.renames import RenameFinder
from sightline.changes.session_context import SessionContext, load_knowledge, located
from sightline.errors import PathRefused, Unverifiable
from sightline.filesystem.file_state import FileState, ResolvedPath
from sightline.guard.evaluation import edit_case
from sightline.guard.file_states import suspects
from sightline.guard.refusals import bounded
from sightline.guard.verdict import judge
from sightline.model.events import Changed, Told
from sightline.model.projections import Knowledge
from sightline.model.relocation import moved_blocks, places_of, shifted
from sightline.model.results import ChangedBy, FileChange
from sightline.model.revision import MISSING, UNKNOWN
from sightline.model.spans import Hunk
from sightline.notices import words
from sightline.notices.delivered import handed_already, told_already

OWN_EDITS = 16
"""Edits of a session to one file that are looked through for one that was taken back."""


class PendingChange:
    """One file that a session knows, held against the disk. what: a word (FileChange.what), ""
    where nothing is new. places: of all that are asked about together."""

    def __init__(
        self,
        context: SessionContext,
        path: str,
        knowledge: Knowledge | None,
        places: RenameFinder | None = None,
    ) -> None:
        self.context = context
        self._places = places or RenameFinder(context)
        self.path = path
        self.knowledge = knowledge
        self.name = (knowledge.name if knowledge else None) or path
        there = self._there()
        self.found = context.look(there.path) if there else _lost(path)
        known = load_knowledge(context, there or ResolvedPath(path), self.found)
        self.retargeted = known.retargeted
        self.case = edit_case(context, self.found, known)
        self.state = judge(self.case, None).state
        self.moved_to = self._moved_to()
        self.what = self._what()

    def change(self, room: int | None = None) -> tuple[FileChange, Told | None]:
        """How the file differs, with a diff of that many characters at most, and what of it
        counts as known once it was told; None where the session does not know the file."""
        case = self.case
        pairs = self._moved_blocks()
        moved = {hunk for pair in pairs for hunk in pair}
        rest = [hunk for hunk in case.changes if hunk not in moved]
        diff, shown = bounded(case, rest, room)
        moved -= set(shown)
        places = (*places_of(pairs), *self._shifted())
        who, by = self.by()
        said = FileChange(
            self.name,
            "moved" if self.moved_to else self.state,
            diff,
            words.summary(self.name, self.what, who, self.moved_to),
            by,
            case.sight.belief.text if case.sight.belief else MISSING,
            self.found.revision,
            self.what,
            self.moved_to,
            places,
        )
        return said, self._told(diff, rest, shown, moved)

    def heard(self) -> Told | None:
        """What counts once it was said that the file is not what it was, and no more."""
        if self.knowledge is None:
            return None
        return Told(self.knowledge.path, self.found.revision, (), self.knowledge.position)

    def by(self) -> tuple[str, ChangedBy | None]:
        """Who changed it, in words and as a value. That it was put back is said of the file."""
        who, by = changed_by(self.context, self.path)
        back = self.what == "taken_back" and by is not None and by.kind == "external"
        return (change_words.cause(None, self.context.session) if back else who), by

    def is_known(self, *, handed: bool) -> bool:
        """Whether the agent was told this. handed: or its host was, and may not have said so."""
        knowledge, revision = self.knowledge, self.found.revision
        if knowledge is None or self._took_it_away_itself():
            return True
        if told_already(self.context, knowledge, revision):
            return True
        return handed and handed_already(self.context, knowledge, revision)

    def _told(
        self, diff: str, rest: list[Hunk], shown: tuple[Hunk, ...], moved: set[Hunk]
    ) -> Told | None:
        heard = self.heard()
        if heard is None or self.retargeted or not (diff or moved or self.what == "endings"):
            return heard
        if set(rest) <= set(shown) and not moved:
            return structs.replace(heard, hunks=None)
        return structs.replace(
            heard, hunks=tuple(sorted({*shown, *moved})), moved=tuple(sorted(moved))
        )

    def _there(self) -> ResolvedPath | None:
        """Where the name leads by which the file was shown; None where that cannot be told, and
        the path itself where a rule that came since refuses it."""
        try:
            return located(self.context, self.name)
        except PathRefused:
            return None if self.knowledge else ResolvedPath(self.path)
        except Unverifiable:
            return None

    def _moved_to(self) -> str | None:
        if self.state != "deleted" or self.knowledge is None:
            return None
        where = self._places.find(self.knowledge)
        return where.path if where else None

    def _what(self) -> str:
        if self.state == "fresh":
            return "endings" if self.case.endings_only else ""
        if self.moved_to:
            return "moved"
        if self.state == "stale":
            return "taken_back" if self._taken_back() else "changed"
        return self.state

    def _taken_back(self) -> bool:
        """Whether the file is again what stood there before an edit of this very session."""
        newest = self.context.store.timeline(
            session=self.context.session, path=self.path, kinds=[Changed], newest=OWN_EDITS
        )
        edits = [each.fact for each in newest]
        return any(
            isinstance(fact, Changed)
            and (fact.cause.kind, fact.cause.who) == ("agent", self.context.session)
            and fact.before == self.found.revision != fact.after
            for fact in edits
        )

    def _moved_blocks(self) -> list[tuple[Hunk, Hunk]]:
        """Shown lines that others took from one place and put to another."""
        case = self.case
        if case.base is None or case.disk is None or not case.changes or self.retargeted:
            return []
        pairs = moved_blocks(case.base.lines, case.disk.lines, case.theirs)
        return [pair for pair in pairs if pair[0] in case.changes]

    def _shifted(self) -> list[tuple[tuple[int, int], tuple[int, int]]]:
        case = self.case
        if case.held is None or case.disk is None or not case.changes:
            return []
        return shifted(case.held.shown, case.theirs)

    def _took_it_away_itself(self) -> bool:
        """Whether a command of this session's own that names the file took it away."""
        row = self.context.store.disk(self.path)
        made = row.cause if row and row.revision == MISSING else None
        if made is None or (made.kind, made.who) != ("command", self.context.session):
            return False
        return self.name.rpartition("/")[2] in (made.detail or "")


def news(
    context: SessionContext, *, told: bool = False, handed: bool = False
) -> Iterator[PendingChange]:
    """The files that are not what this session was shown, in order of path. told: also those
    that it was told of; handed: without those that its host was handed words on."""
    places = RenameFinder(context)
    for knowledge in suspects(context):
        each = PendingChange(context, knowledge.path, knowledge, places)
        if each.what and (told or not each.is_known(handed=handed)):
            yield each


def changes(context: SessionContext, *, told: bool = False) -> list[FileChange]:
    """The same as values."""
    return [each.change()[0] for each in news(context, told=told)]


def news_of(
    context: SessionContext, path: str, places: RenameFinder | None = None
) -> PendingChange:
    """One file, whether or not anything is new of it."""
    return PendingChange(context, path, context.store.knowledge(context.session, path), places)


def changes_of(context: SessionContext, paths: Iterable[str]) -> Iterator[FileChange]:
    """The differences of these files to what this session was shown of them."""
    places = RenameFinder(context)
    for path in paths:
        yield news_of(context, path, places).change()[0]


def _lost(path: str) -> FileState:
    """What is found of a path that nothing can be told of."""
    return FileState(path, "unreadable", UNKNOWN, None, None, 0)
