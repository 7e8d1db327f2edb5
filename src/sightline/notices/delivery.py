"""What was told: an answer printed others' changes, and its delivery was acknowledged.

Handing over is a fact, arriving is another. What was handed over and never arrived is told again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sightline.changes.session_context import SessionContext, believe, load_knowledge
from sightline.errors import EditRefused, StoreConflict, UnknownName
from sightline.filesystem.file_state import ResolvedPath
from sightline.model.belief import look
from sightline.model.diff import CONTEXT, diff
from sightline.model.events import Fact, NoticeAcknowledged, NoticeDelivered, Seen, Told
from sightline.model.results import FileWarning, Notice
from sightline.model.spans import Hunk, Spans, carry, new_sides, spans, touched, union, whole
from sightline.model.text import decode
from sightline.notices import notice_text, warnings


def deliver(
    context: SessionContext, notice: str, paths: Iterable[str], told: Iterable[Told | None] = ()
) -> None:
    """Record that words on these paths were handed over, to be acknowledged later."""
    counted = tuple(each for each in told if each is not None)
    context.append([NoticeDelivered(notice, tuple(paths), counted)])


def hand_over(context: SessionContext, notice: Notice) -> None:
    """Record a notice as handed over, once however often it is printed: from here on its id is
    enough to acknowledge it, in any process."""
    if _delivered(context, notice.id) is None:
        deliver(context, notice.id, [change.path for change in notice.changes], notice.told)


def acknowledge(context: SessionContext, answer: Notice | EditRefused | FileWarning | str) -> None:
    """Count exactly what an answer told as known to the agent, a warning as seen to. UnknownName.

    Nothing does when this session looked at the file or edited it since: then what was printed
    is no longer what it lacks.
    """
    if isinstance(answer, FileWarning):
        answer = answer.id
    if isinstance(answer, str):
        if not warnings.acknowledge(context, answer):
            for told in _told_by(context, answer):
                count(context, told, answer)
        return
    if isinstance(answer, EditRefused):
        for other in answer.others:
            acknowledge(context, other)
        if isinstance(answer.told, Told):
            count(context, answer.told, "refusal")
        return
    for told in answer.told:
        count(context, told, answer.id)


def _told_by(context: SessionContext, id: str) -> tuple[Told, ...]:
    """What the notice of an id tells: as it was handed over, or the present one."""
    delivered = _delivered(context, id)
    if delivered is not None:
        return delivered.told
    now = notice_text.notice(context)
    if now is None or now.id != id:
        raise UnknownName(
            f"No notice {id} was handed over in this session.",
            "Ask for a notice again; what it tells stays news until it is acknowledged.",
        )
    return now.told


def _delivered(context: SessionContext, id: str) -> NoticeDelivered | None:
    """The newest notice of that id which was handed over."""
    found: NoticeDelivered | None = None
    for recorded in context.store.timeline(session=context.session, kinds=[NoticeDelivered]):
        if isinstance(recorded.fact, NoticeDelivered) and recorded.fact.notice == id:
            found = recorded.fact
    return found


def count(context: SessionContext, told: Told, notice: str) -> None:
    """Count what one answer told of one file as known."""
    row = context.store.knowledge(context.session, told.path)
    if row is None or row.position != told.position:
        return
    if told.hunks == ():
        _append(context, told, NoticeAcknowledged(notice, told.path, row.belief, told.revision))
        return
    known = load_knowledge(context, ResolvedPath(told.path))
    data = context.store.blob(told.revision)
    text = decode(data) if data is not None else None
    held = known.held
    if held is None or data is None or text is None or known.position != told.position:
        return
    hunks = diff(held.lines, text.lines)
    lines = len(held.lines)
    shown = touched(held.shown, hunks, lines) if told.hunks is None else told.hunks
    seen = whole(len(text.lines)) if told.whole else printed(hunks, shown, lines, told.moved)
    held = look(held, text.lines, seen, shown)
    belief, body = believe(held, text, data, told.revision)
    fact: Fact = NoticeAcknowledged(notice, told.path, belief, told.revision)
    if told.refusal:
        fact = Seen(told.path, told.revision, seen, "refusal", belief)
    _append(context, told, fact, body)


def _append(context: SessionContext, told: Told, fact: Fact, body: bytes | None = None) -> None:
    blobs, expect = context.keepable(told.path, body), {told.path: told.position}
    try:
        context.append([fact], blobs=blobs, expect=expect)
    except StoreConflict:  # it was looked at in another process just now
        return


def printed(
    hunks: Sequence[Hunk], told: Sequence[Hunk], lines: int, moved: Sequence[Hunk] = ()
) -> Spans:
    """The lines of the new text that a diff of the told hunks shows, context and all, but for
    those that were told by their place: these are known, and nothing around them was printed."""
    around = spans(
        pair
        for a0, a1, _, _ in told
        if (a0, a1) not in {hunk[:2] for hunk in moved}
        for pair in ((a0 + 1 - CONTEXT, a0), (a1 + 1, min(a1 + CONTEXT, lines)))
    )
    return union(carry(spans((max(a, 1), b) for a, b in around), hunks), new_sides(told))
