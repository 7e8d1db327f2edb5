"""Find the present sessions whose shown lines a write made stale."""

from __future__ import annotations

from collections.abc import Sequence

from sightline.changes.session_context import SessionContext
from sightline.model.diff import diff
from sightline.model.results import Affected
from sightline.model.revision import revision_of
from sightline.model.session_ids import archived
from sightline.model.spans import Spans, intersect, spans, subtract, touched, whole
from sightline.model.text import lines_of
from sightline.sessions.presence import is_present


def affected(
    context: SessionContext, path: str, before: bytes | None, after: bytes | None
) -> tuple[Affected, ...]:
    """List the present sessions that a write made stale, with the lines that were not stale before.
    before, after: the bytes around the write, None for no file."""
    knowing = context.knowers(path)
    others = [each for each in knowing.items() if each[0] != context.session]
    old = lines_of(before) if others else None
    if old is None:
        return ()
    overwritten, new = revision_of(before or b""), lines_of(after)
    found: list[Affected] = []
    for session, knowledge in sorted(others, key=lambda each: -each[1].position):
        text, shown = knowledge.belief.text, knowledge.belief.shown
        state = context.store.session(session)
        # Presence is checked first, because a diff takes longer.
        if state is None or archived(session) or not is_present(context, state):
            continue
        known = old if text == overwritten else lines_of(context.store.blob(text))
        if known is None or (new is None and after is not None):
            continue
        stale_before = () if text == overwritten else _differing(known, old, shown)
        stale = shown if new is None else _differing(known, new, shown)
        lines = subtract(stale, stale_before)
        # Who was shown an empty file was shown no line that could be named.
        if lines or (not known and text == overwritten and new != known):
            found.append(Affected(session, state.agent, knowledge.name or path, lines))
    return tuple(found)


def _differing(known: Sequence[str], disk: Sequence[str], shown: Spans) -> Spans:
    """Return the shown lines of a known text that differ on disk; for inserted lines, the line
    above them."""
    hunks = touched(shown, diff(known, disk), len(known))
    at = spans((max(min(a0 + 1, a1), 1), a1 or 1) for a0, a1, _, _ in hunks)
    return intersect(intersect(at, shown), whole(len(known)))


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
