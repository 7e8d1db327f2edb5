"""Find the present sessions whose shown lines a write made stale."""

from __future__ import annotations

from collections.abc import Sequence

from sightline.changes.session_context import SessionContext
from sightline.model.diff import diff
from sightline.model.projections import Knowledge
from sightline.model.results import Affected
from sightline.model.revision import revision_of
from sightline.model.spans import Hunk, Spans, intersect, spans, subtract, touched, whole
from sightline.model.text import decode
from sightline.model.timeline import archived
from sightline.sessions.presence import is_present

MOST = 8
"""The number of sessions to compare: those that learned of the file last."""

BEHIND = 2
"""The number among them that may hold another text than the one that was overwritten: such a
session costs two diffs of its own, and is stale anyway."""


def affected(
    context: SessionContext, path: str, before: bytes | None, after: bytes | None
) -> tuple[Affected, ...]:
    """List the present sessions that a write made stale, with the lines that were not stale before.
    before, after: the bytes around the write, None for no file."""
    others = [
        (session, knowledge)
        for session, knowledge in context.store.knowers(path).items()
        if session != context.session and not archived(session)
    ]
    if not others:
        return ()
    others.sort(key=lambda pair: -pair[1].position)
    write = _Write(context, before, after)
    found: list[Affected] = []
    behind = BEHIND
    for session, knowledge in others[:MOST]:
        if not write.overwrote(knowledge):
            behind -= 1
            if behind < 0:
                continue
        state = context.store.session(session)
        # Presence is checked first, because a diff takes longer.
        if state is None or not is_present(context, state):
            continue
        if lines := write.stale_lines(knowledge):
            found.append(Affected(session, state.agent, knowledge.name or path, lines))
    return tuple(found)


class _Write:
    """The lines of a file before and after a write."""

    def __init__(self, context: SessionContext, before: bytes | None, after: bytes | None) -> None:
        self._context = context
        self._revision = revision_of(before) if before is not None else None
        self._before, self._after = _lines(before), _lines(after)
        self._is_deletion = after is None
        self._hunks: dict[tuple[str, bool], Sequence[Hunk]] = {}

    def overwrote(self, knowledge: Knowledge) -> bool:
        """Return whether a session held just the text that was overwritten."""
        return knowledge.belief.text == self._revision

    def stale_lines(self, knowledge: Knowledge) -> Spans:
        """Return the shown lines that differ now and did not differ before the write."""
        text, shown = knowledge.belief.text, knowledge.belief.shown
        held_before = self.overwrote(knowledge)
        theirs = self._before if held_before else _lines(self._context.store.blob(text))
        if self._before is None or theirs is None:
            return ()
        stale = () if held_before else self._differing(text, theirs, self._before, shown)
        if self._is_deletion:
            return subtract(shown, stale)
        if self._after is None:
            return ()
        return subtract(self._differing(text, theirs, self._after, shown), stale)

    def _differing(
        self, text: str, theirs: Sequence[str], disk: Sequence[str], shown: Spans
    ) -> Spans:
        """Return the shown lines that differ on disk; for inserted lines, the line above them.
        Sessions that hold the same text share one diff."""
        key = (text, disk is self._after)
        if key not in self._hunks:
            self._hunks[key] = diff(theirs, disk)
        hunks = touched(shown, self._hunks[key], len(theirs))
        at = spans((max(min(a0 + 1, a1), 1), a1 or 1) for a0, a1, _, _ in hunks)
        return intersect(intersect(at, shown), whole(len(theirs)))


def _lines(data: bytes | None) -> Sequence[str] | None:
    text = decode(data) if data is not None else None
    return text.lines if text else None


def family(context: SessionContext, session: str) -> str:
    """Return the first ancestor of a session; the session itself where nobody started it."""
    visited = set[str]()
    while session not in visited:
        visited.add(session)
        state = context.store.session(session)
        if state is None or state.parent is None:
            break
        session = state.parent
    return session


def outside_family(context: SessionContext, found: Sequence[Affected]) -> tuple[Affected, ...]:
    """Leave out the sessions of this session's own family: an agent and those that it started work
    on one task, and learn of each other's changes by their notices."""
    if not found:
        return ()
    own = family(context, context.session)
    return tuple(each for each in found if family(context, each.session) != own)
