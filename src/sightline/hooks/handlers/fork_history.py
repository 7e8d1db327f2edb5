"""What a session was shown before it began, told only after it has learned more.

A fork's client writes what it copies of its parent's conversation whenever it comes to it, also
behind the fork's first edits. Such a text is what was held when the session began: all that it
was shown and wrote since stands on top.
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


def put_beneath(ground: SessionContext, path: str, events: Sequence[Shown]) -> None:
    """Take what was shown of a file before this session began, oldest first, as what it held then.
    Where the file's text is not kept, or all of it is known by now, that says nothing. A text with
    bytes that its host could not show is passed over."""
    events = [event for event in events if BROKEN not in (event.text or "")]
    if not events:
        return
    try:
        located = ground.workspace.locate(path)
    except PathRefused:
        return
    for _ in range(TRIES):
        known, found = load_knowledge(ground, located), ground.look(located.path)
        text, now = decode(known.believed or b""), known.held
        if text is None or now is None or known.retargeted or now.complete:
            return
        own = _own(ground, located.path)
        stood = _text(ground, own[0].before) if own else None
        then = _held_then(stood or text, events, located)
        alone = stood is not None and tuple(stood.lines) == then.lines and _in_a_row(own, known)
        held = _over(then, now, alone=alone)
        via = events[-1].via
        if record(ground, located, found, text, held, via, known, held.shown, live=False):
            return
    raise moving(located.path)


def _own(ground: SessionContext, path: str) -> list[Changed]:
    """This session's own changes of a file, oldest first."""
    log = ground.store.timeline(session=ground.session, path=path, kinds=[Changed])
    facts = [recorded.fact for recorded in log]
    return [fact for fact in facts if isinstance(fact, Changed) and fact.belief is not None]


def _text(ground: SessionContext, revision: Revision) -> Text | None:
    data = ground.store.blob(revision)
    return decode(data) if data is not None else None


def _in_a_row(own: Sequence[Changed], known: Known) -> bool:
    """Whether what is believed is the work of these changes, and of nobody else's between them."""
    told = [change.after for change in own[:-1]] == [change.before for change in own[1:]]
    return told and known.belief is not None and own[-1].after == known.belief.text


def _held_then(text: Text, events: Sequence[Shown], located: ResolvedPath) -> Held:
    """What was held at the session's beginning, by the text that stood there then."""
    held: Held | None = None
    for event in events:
        shown = as_shown(text, event.lines, event.text, located)
        seen = seen_lines(shown, event.lines, event.text)
        again = held if event.lines is not None else None
        held = look(again, shown.lines, seen) if again else first_look(shown.lines, seen)
    assert held is not None
    return held


def _over(then: Held, now: Held, *, alone: bool) -> Held:
    """What is held by both. alone: nobody but the session made the one from the other. Else what
    is not among the lines shown since was others' doing, and stays unseen. After a compaction
    nothing older is in the window."""
    told = diff(then.lines, now.lines) if alone else ()
    both = look(then, now.lines, now.shown, told)
    if now.held == now.shown:
        return both
    return structs.replace(both, held=carry(now.held, diff(now.lines, both.lines)))
