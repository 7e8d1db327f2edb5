"""Whom a write concerns: other sessions at work whose shown lines it changed."""

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
from sightline.sessions.presence import present

MOST = 8
"""Sessions that are compared: those that learned of the file last."""

BEHIND = 2
"""Of them, those that held another text than the one that was written over: each costs two diffs
of its own, and is stale anyway."""


def affected(
    context: SessionContext, path: str, before: bytes | None, after: bytes | None
) -> tuple[Affected, ...]:
    """The present sessions that a write from `before` to `after` (None: no file) made stale on
    lines that were not stale already."""
    knowers = context.store.knowers(path)
    others = [
        (session, knowledge)
        for session, knowledge in knowers.items()
        if session != context.session and not archived(session)
    ]
    if not others:
        return ()
    others.sort(key=lambda pair: -pair[1].position)
    change = _Change(context, before, after)
    found = []
    behind = BEHIND
    for session, knowledge in others[:MOST]:
        behind -= not change.is_of(knowledge)
        if behind < 0 and not change.is_of(knowledge):
            continue
        state = context.store.session(session)
        if state is None or not present(context, state):
            continue  # asked first: a diff takes longer
        if lines := change.stale(knowledge):
            found.append(Affected(session, state.agent, knowledge.name or path, lines))
    return tuple(found)


class _Change:
    """What stood at a path before a write and after it, as lines."""

    def __init__(self, context: SessionContext, before: bytes | None, after: bytes | None) -> None:
        self._context = context
        self._revision = revision_of(before) if before is not None else None
        self._before, self._after = _lines(before), _lines(after)
        self._gone = after is None
        self._hunks: dict[tuple[str, bool], Sequence[Hunk]] = {}

    def is_of(self, knowledge: Knowledge) -> bool:
        """Whether a session held just the text that was written over."""
        return knowledge.belief.text == self._revision

    def stale(self, knowledge: Knowledge) -> Spans:
        """The lines of what a session was shown that differ now and did not before."""
        shown, belief = knowledge.belief.shown, knowledge.belief
        known = self.is_of(knowledge)
        theirs = self._before if known else _lines(self._context.store.blob(belief.text))
        if self._before is None or theirs is None:
            return ()  # no text before it, or none that is kept: it was not what they hold
        text = belief.text
        already = () if known else self._differing(text, theirs, self._before, shown)
        if self._gone:
            return subtract(shown, already)
        if self._after is None:
            return ()
        return subtract(self._differing(text, theirs, self._after, shown), already)

    def _differing(
        self, text: str, theirs: Sequence[str], disk: Sequence[str], shown: Spans
    ) -> Spans:
        """Shown lines that are others on disk; of lines put between two, the one above. Sessions
        that hold one text share its diff."""
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
    """The session that all of a session's family come from; the session itself, if from none."""
    seen = set[str]()
    while session not in seen:
        seen.add(session)
        state = context.store.session(session)
        if state is None or state.parent is None:
            break
        session = state.parent
    return session


def strangers(context: SessionContext, found: Sequence[Affected]) -> tuple[Affected, ...]:
    """Those that are not of this session's own family. An agent and those it started work on one
    thing, and are told of each other's changes where it matters."""
    if not found:
        return ()
    own = family(context, context.session)
    return tuple(each for each in found if family(context, each.session) != own)
