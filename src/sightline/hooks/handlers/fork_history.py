"""Add a reading from before a session began to the session's present knowledge.

A fork's client copies its parent's conversation late, also after the fork's first edits. Such a
text is the agent's knowledge at the beginning: everything the session read and wrote since is
newer.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from sightline.agents.hook_events import Shown
from sightline.changes.session_context import TRIES, Known, SessionContext, load_knowledge
from sightline.errors import PathRefused
from sightline.filesystem.file_state import ResolvedPath
from sightline.guard.reads import as_shown, moving, record, seen_lines
from sightline.hooks.handlers.file_reads import BROKEN
from sightline.model.belief import Held, first_look, look
from sightline.model.diff import diff
from sightline.model.events import Changed
from sightline.model.revision import Revision
from sightline.model.spans import carry
from sightline.model.text import Text, decode


def add_beneath(context: SessionContext, path: str, events: Sequence[Shown]) -> None:
    """Add what was shown of a file before this session began, oldest first, to its knowledge. Do
    nothing where the file's text is not stored, or all lines are known. Skip a text with bytes that
    the host could not show."""
    events = [event for event in events if BROKEN not in (event.text or "")]
    if not events:
        return
    try:
        located = context.workspace.locate(path)
    except PathRefused:
        return
    for _ in range(TRIES):
        known, on_disk = load_knowledge(context, located), context.look(located.path)
        text, held_now = decode(known.believed or b""), known.held
        if text is None or held_now is None or known.retargeted or held_now.complete:
            return
        own = _own_changes(context, located.path)
        first_text = _text(context, own[0].before) if own else None
        before = _held_before(first_text or text, events, located)
        is_own_work = first_text is not None and tuple(first_text.lines) == before.lines
        is_own_work = is_own_work and _without_others(own, known)
        held = _combined(before, held_now, is_own_work=is_own_work)
        via = events[-1].via
        if record(context, located, on_disk, text, held, via, known, held.shown, live=False):
            return
    raise moving(located.path)


def _own_changes(context: SessionContext, path: str) -> list[Changed]:
    """Return this session's own changes of a file, oldest first."""
    log = context.store.timeline(session=context.session, path=path, kinds=[Changed])
    facts = [recorded.fact for recorded in log]
    return [fact for fact in facts if isinstance(fact, Changed) and fact.belief is not None]


def _text(context: SessionContext, revision: Revision) -> Text | None:
    data = context.store.blob(revision)
    return decode(data) if data is not None else None


def _without_others(own: Sequence[Changed], known: Known) -> bool:
    """Return whether these changes alone made the text that the session knows."""
    in_a_row = [change.after for change in own[:-1]] == [change.before for change in own[1:]]
    return in_a_row and known.belief is not None and own[-1].after == known.belief.text


def _held_before(text: Text, events: Sequence[Shown], located: ResolvedPath) -> Held:
    """Return the agent's knowledge when the session began. text: of the file at that time."""
    held: Held | None = None
    for event in events:
        shown = as_shown(text, event.lines, event.text, located)
        seen = seen_lines(shown, event.lines, event.text)
        earlier = held if event.lines is not None else None
        held = look(earlier, shown.lines, seen) if earlier else first_look(shown.lines, seen)
    assert held is not None
    return held


def _combined(before: Held, now: Held, *, is_own_work: bool) -> Held:
    """Combine the knowledge at the beginning with the present one. is_own_work: only the session
    changed the text in between; else the other changed lines stay unseen. After a compaction no
    older line is in the window."""
    hunks = diff(before.lines, now.lines) if is_own_work else ()
    combined = look(before, now.lines, now.shown, hunks)
    if now.held == now.shown:
        return combined
    return structs.replace(combined, held=carry(now.held, diff(now.lines, combined.lines)))
