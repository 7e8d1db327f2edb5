"""Deliver notices, refusals, warnings and parts of a briefing to an agent, and acknowledge them.

Handing a text over is one fact, its arrival at the agent is another. A text that was handed over
and did not arrive is delivered again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from sightline.changes.session_context import SessionContext, believe, load_knowledge
from sightline.errors import EditRefused, Hint, NextCall, StoreConflict, UnknownName
from sightline.filesystem.file_state import ResolvedPath
from sightline.model.belief import look
from sightline.model.diff import CONTEXT, diff
from sightline.model.events import (
    WARNING_PART,
    Delivered,
    Fact,
    NoticeAcknowledged,
    NoticeDelivered,
    PartHanded,
    Seen,
    Told,
)
from sightline.model.results import FileWarning, Notice
from sightline.model.spans import Hunk, Spans, carry, new_sides, spans, touched, union, whole
from sightline.model.text import decode
from sightline.model.timeline import Recorded, newest_first, of_kind
from sightline.notices import notice_text, warnings, words
from sightline.notices.pending import in_conversation, left_window

# --- notices and refusals


def hand_over(context: SessionContext, notice: Notice) -> None:
    """Record a notice as handed over, once, however often it is printed. From then on its id is
    enough to acknowledge it, in any process."""
    if _find_delivered(context, notice.id) is None:
        paths = tuple(change.path for change in notice.changes)
        context.append([NoticeDelivered("notice", "asked", paths, notice.told, notice.id)])


def newest_notice(context: SessionContext) -> str:
    """Return the id of the last notice that this session asked for. UnknownName."""
    for fact in _delivered(context):
        if not fact.is_hosts:  # the host has its own texts acknowledged
            return fact.notice
    hint = Hint("Ask for one: ", NextCall("session.notice"))
    raise UnknownName("This session was given no notice to acknowledge.", hint)


def acknowledge(context: SessionContext, answer: Notice | EditRefused | FileWarning | str) -> None:
    """Record that the agent knows what an answer told it, or that a warning was seen to. A string
    is the id of a notice or a warning. A file that this session read or edited since is skipped:
    the agent may lack other lines by then. UnknownName."""
    name = answer.id if isinstance(answer, FileWarning) else answer
    if isinstance(name, str) and warnings.is_warning_id(name):
        warnings.acknowledge(context, name)
    elif isinstance(name, str):
        for told in _told_by(context, name):
            acknowledge_file(context, told, name)
    elif isinstance(name, EditRefused):
        for other in name.others:
            acknowledge(context, other)
        if isinstance(name.told, Told):
            acknowledge_file(context, name.told)
    elif isinstance(name, Notice):
        for told in name.told:
            acknowledge_file(context, told, name.id)


def _told_by(context: SessionContext, id: str) -> tuple[Told, ...]:
    """Return what the notice of an id tells: as it was handed over, or as it would be now."""
    delivered = _find_delivered(context, id)
    if delivered is not None:
        return delivered.told
    now = notice_text.notice(context)
    if now is None or now.id != id:
        raise UnknownName(
            f"This session was given no notice with the id {id}.",
            "Ask for a new notice: it tells of all changes that nobody acknowledged yet.",
        )
    return now.told


def _find_delivered(context: SessionContext, id: str) -> NoticeDelivered | None:
    """Find the newest notice of an id that somebody asked for."""
    asked = (fact for fact in _delivered(context) if not fact.is_hosts)
    return next((fact for fact in asked if fact.notice == id), None)


def _delivered(context: SessionContext) -> Iterator[NoticeDelivered]:
    """Yield the deliveries of this session, the newest first."""
    facts = newest_first(context.store.timeline, session=context.session, kinds=[NoticeDelivered])
    return of_kind(NoticeDelivered, facts)


def acknowledge_file(context: SessionContext, told: Told, notice: str = "") -> None:
    """Record that the agent knows what a text told of one file. notice: its id, where it has one."""
    row = context.store.knowledge(context.session, told.path)
    if row is None or row.position != told.position:
        return
    if told.hunks == ():
        _append(context, told, NoticeAcknowledged(notice, told.path, row.belief, told.revision))
        return
    known = load_knowledge(context, ResolvedPath(told.path))
    data = context.store.blob(told.revision)
    text = decode(data)
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
    except StoreConflict:  # another process recorded a read of the file just now
        return


def printed(
    hunks: Sequence[Hunk], told: Sequence[Hunk], lines: int, moved: Sequence[Hunk] = ()
) -> Spans:
    """Return the lines of the new text that a diff of the told hunks prints, with their context.
    Moved hunks are told by their line numbers, so nothing around them is printed."""
    around = spans(
        pair
        for a0, a1, _, _ in told
        if (a0, a1) not in {hunk[:2] for hunk in moved}
        for pair in ((a0 + 1 - CONTEXT, a0), (a1 + 1, min(a1 + CONTEXT, lines)))
    )
    return union(carry(spans((max(a, 1), b) for a, b in around), hunks), new_sides(told))


# --- warnings and parts of a briefing


def hand_warnings(context: SessionContext) -> str:
    """Return the agent's new warnings as text, as many as fit, and record them as handed to its
    host; "" where there are none."""
    new = new_warnings(context)
    lines = words.for_agent(new)
    if lines:
        hand_parts(context, [(WARNING_PART, each.id) for each in new[: len(lines)]])
    return "\n".join(lines)


def new_warnings(context: SessionContext) -> list[FileWarning]:
    """List the pending warnings of this session that its agent does not have, oldest first."""
    delivered = delivered_digests(context, WARNING_PART)
    mine = warnings.pending(context, context.session)
    return [each for each in mine if each.id not in delivered]


def hand_parts(context: SessionContext, parts: Iterable[tuple[str, str]]) -> None:
    """Record that parts of a briefing, each a name and a digest, were handed to the agent's host."""
    context.append([PartHanded(part, digest) for part, digest in parts])


def confirm_parts(context: SessionContext, handed: Iterable[Recorded]) -> None:
    """Record the arrival of the parts of a briefing among these facts. Parts that a rewind took out of
    the conversation are left out."""
    parts = [each for each in handed if isinstance(each.fact, PartHanded)]
    arrived = of_kind(PartHanded, in_conversation(context, parts))
    deliver_parts(context, [(fact.part, fact.digest) for fact in arrived])


def deliver_parts(context: SessionContext, parts: Iterable[tuple[str, str]]) -> None:
    """Record that parts of a briefing, each a name and a digest, are with the agent. A part that
    is recorded already is skipped."""
    wanted = list(dict.fromkeys(parts))
    known = {part: delivered_digests(context, part) for part, _ in wanted}
    new = [Delivered(part, digest) for part, digest in wanted if digest not in known[part]]
    if new:
        context.append(new)


def delivered_digests(
    context: SessionContext, part: str, *, since_summary: bool = False
) -> set[str]:
    """Return the digests of a briefing's part that are in the conversation. since_summary: only those
    that no summary took the place of."""
    after = left_window(context) if since_summary else 0
    found = context.store.timeline(session=context.session, kinds=[Delivered], after=after)
    facts = [each.fact for each in in_conversation(context, list(found))]
    return {fact.digest for fact in facts if isinstance(fact, Delivered) and fact.part == part}
