"""What was told: an answer printed others' changes, and its delivery was acknowledged."""

from __future__ import annotations

from sightline.core.belief import look
from sightline.core.diff import CONTEXT, diff
from sightline.core.events import NoticeAcknowledged, Seen, Told
from sightline.core.placing import new_sides
from sightline.core.regions import carry, spans, touched, union, whole
from sightline.core.text import decode
from sightline.errors import EditRefused, StoreConflict
from sightline.services.ground import believe, recall
from sightline.workspace import Located

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sightline.core.events import Fact
    from sightline.core.regions import Hunk, Spans
    from sightline.services.ground import Ground
    from sightline.services.results import Notice


def acknowledge(ground: Ground, answer: Notice | EditRefused) -> None:
    """Count exactly the lines that an answer printed as shown.

    Nothing does when this session looked at the file or edited it since: then what was printed
    is no longer what it lacks.
    """
    if isinstance(answer, EditRefused):
        for other in answer.others:
            acknowledge(ground, other)
        if isinstance(answer.told, Told):
            count(ground, answer.told, "refusal")
        return
    for told in answer.told:
        count(ground, told, answer.id)


def count(ground: Ground, told: Told, notice: str) -> None:
    """Count what one answer told of one file as shown."""
    row = ground.store.knowledge(ground.session, told.path)
    if row is None or row.position != told.position:
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
    seen = whole(len(text.lines)) if told.whole else printed(hunks, shown, lines)
    held = look(held, text.lines, seen, shown)
    belief, body = believe(held, text, data, told.revision)
    fact: Fact = NoticeAcknowledged(notice, told.path, belief)
    if told.refusal:
        fact = Seen(told.path, told.revision, seen, "refusal", belief)
    try:
        ground.append(
            [fact], blobs=ground.keepable(told.path, body), expect={told.path: told.position}
        )
    except StoreConflict:  # it was looked at in another process just now
        return


def printed(hunks: Sequence[Hunk], told: Sequence[Hunk], lines: int) -> Spans:
    """The lines of the new text that a diff of the told hunks shows, context and all."""
    around = spans(
        pair
        for a0, a1, _, _ in told
        for pair in ((a0 + 1 - CONTEXT, a0), (a1 + 1, min(a1 + CONTEXT, lines)))
    )
    return union(carry(spans((max(a, 1), b) for a, b in around), hunks), new_sides(told))
