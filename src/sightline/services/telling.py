"""What was told: an answer printed others' changes, and its delivery was acknowledged.

Handing over is a fact, arriving is another. What was handed over and never arrived is told again.
"""

from __future__ import annotations

from sightline.core.belief import look
from sightline.core.diff import CONTEXT, diff
from sightline.core.events import NoticeAcknowledged, NoticeDelivered, Seen, Told
from sightline.core.placing import new_sides
from sightline.core.regions import carry, spans, touched, union, whole
from sightline.core.text import decode
from sightline.errors import EditRefused, StoreConflict, UnknownName
from sightline.services.ground import believe, recall
from sightline.workspace import Located

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sightline.core.context import Knowledge
    from sightline.core.events import Fact
    from sightline.core.regions import Hunk, Spans
    from sightline.services.ground import Ground
    from sightline.services.results import FileWarning, Notice


def deliver(
    ground: Ground, notice: str, paths: Iterable[str], told: Iterable[Told | None] = ()
) -> None:
    """Record that words on these paths were handed over, to be acknowledged later."""
    counted = tuple(each for each in told if each is not None)
    ground.append([NoticeDelivered(notice, tuple(paths), counted)])


def hand_over(ground: Ground, notice: Notice) -> None:
    """Record a notice as handed over, once however often it is printed: from here on its id is
    enough to acknowledge it, in any process."""
    if _delivered(ground, notice.id) is None:
        deliver(ground, notice.id, [change.path for change in notice.changes], notice.told)


def acknowledge(ground: Ground, answer: Notice | EditRefused | FileWarning | str) -> None:
    """Count exactly what an answer told as known to the agent, a warning as seen to. UnknownName.

    Nothing does when this session looked at the file or edited it since: then what was printed
    is no longer what it lacks.
    """
    from sightline.services.results import FileWarning

    if isinstance(answer, FileWarning):
        answer = answer.id
    if isinstance(answer, str):
        from sightline.services import warnings

        if not warnings.acknowledge(ground, answer):
            for told in _told_by(ground, answer):
                count(ground, told, answer)
        return
    if isinstance(answer, EditRefused):
        for other in answer.others:
            acknowledge(ground, other)
        if isinstance(answer.told, Told):
            count(ground, answer.told, "refusal")
        return
    for told in answer.told:
        count(ground, told, answer.id)


def _told_by(ground: Ground, id: str) -> tuple[Told, ...]:
    """What the notice of an id tells: as it was handed over, or the present one."""
    delivered = _delivered(ground, id)
    if delivered is not None:
        return delivered.told
    from sightline.services.notices import notice

    now = notice(ground)
    if now is None or now.id != id:
        raise UnknownName(
            f"No notice {id} was handed over in this session.",
            "Ask for a notice again; what it tells stays news until it is acknowledged.",
        )
    return now.told


def _delivered(ground: Ground, id: str) -> NoticeDelivered | None:
    """The newest notice of that id which was handed over."""
    found: NoticeDelivered | None = None
    for recorded in ground.store.timeline(session=ground.session, kinds=[NoticeDelivered]):
        if isinstance(recorded.fact, NoticeDelivered) and recorded.fact.notice == id:
            found = recorded.fact
    return found


def count(ground: Ground, told: Told, notice: str) -> None:
    """Count what one answer told of one file as known."""
    row = ground.store.knowledge(ground.session, told.path)
    if row is None or row.position != told.position:
        return
    if told.hunks == ():
        _append(ground, told, NoticeAcknowledged(notice, told.path, row.belief, told.revision))
        return
    known = recall(ground, Located(told.path))
    data = ground.store.blob(told.revision)
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
    _append(ground, told, fact, body)


def _append(ground: Ground, told: Told, fact: Fact, body: bytes | None = None) -> None:
    blobs, expect = ground.keepable(told.path, body), {told.path: told.position}
    try:
        ground.append([fact], blobs=blobs, expect=expect)
    except StoreConflict:  # it was looked at in another process just now
        return


def told_already(ground: Ground, knowledge: Knowledge, revision: str) -> bool:
    """Whether the agent was told that this stands at a path it knows, and acknowledged it, since
    the path last changed."""
    return _newest(ground, knowledge, NoticeAcknowledged, revision)


def handed_already(ground: Ground, knowledge: Knowledge, revision: str) -> bool:
    """The same of what a host was handed, and did not say yet that it arrived."""
    return _newest(ground, knowledge, NoticeDelivered, revision)


def _newest(ground: Ground, knowledge: Knowledge, kind: type[Fact], revision: str) -> bool:
    path = knowledge.path
    row = ground.store.disk(path)
    found = ground.store.timeline(session=ground.session, path=path, kinds=[kind], newest=RECENT)
    since = 0 if row is None else row.position
    return any(each.position > since and _tells(each.fact, path, revision) for each in list(found))


RECENT = 8
"""Facts about one path that are looked through for what was told of it."""


def _tells(fact: Fact, path: str, revision: str) -> bool:
    if isinstance(fact, NoticeAcknowledged):
        return fact.revision == revision
    if not isinstance(fact, NoticeDelivered) or not of_host(fact):
        return False
    return any(told.path == path and told.revision == revision for told in fact.told)


HOST = "host:"
"""How the id of what a host was handed begins; that counts as arrived when the host says so, and
not by its id. What a person or a program asked for is theirs to acknowledge."""


PART = f"{HOST}part:"
"""The same where it was a part of a briefing, whose name and digest come next."""


def of_host(fact: NoticeDelivered) -> bool:
    """Whether it was handed to the agent's host."""
    return fact.notice.startswith(HOST)


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
