"""What a host was handed for its agent, and when it counts as shown.

Of several calls an agent makes at once, the later ones know nothing of what the earlier ones were
answered. So what is handed over is recorded with what it tells, and counts when the host says
that all of it is with the model: after the batch, at the latest with the next prompt.
"""

from __future__ import annotations

from sightline.core.events import NoticeDelivered, Told
from sightline.core.revision import MISSING
from sightline.render import attending as words
from sightline.services.telling import count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from sightline.services.ground import Ground
    from sightline.services.results import FileChange, Notice
    from sightline.workspace import Located

RECENT = 64
"""Answers of one session that are still looked through; a batch holds a handful."""


def deliver(
    ground: Ground, notice: str, paths: Iterable[str], told: Iterable[Told | None] = ()
) -> None:
    """Record that words on these paths were handed to the host."""
    counted = tuple(each for each in told if each is not None)
    ground.append([NoticeDelivered(notice, tuple(paths), counted)])


def deliver_notice(ground: Ground, notice: Notice) -> str:
    """The words of a notice, recorded as handed over."""
    deliver(ground, notice.id, [change.path for change in notice.changes], notice.told)
    return notice.text


def fitted(diff: str, path: str, room: int) -> tuple[str, bool]:
    """As much of a diff as so many characters hold, and whether that is all of it."""
    if len(diff) <= room:
        return diff, True
    return words.left_out(diff[: max(room, 0)].rpartition("\n")[0], path), False


def tell_changes(ground: Ground, located: Located, room: int) -> tuple[FileChange, bool]:
    """How a file differs from what its agent holds, recorded as handed over where it does."""
    from sightline.services.views import to_tell

    change, told, found = to_tell(ground, located.path, name=located.name)
    if change.state != "stale" or not change.diff:
        return change, False
    ground.store.keep(ground.keepable(located.path, found.data))
    diff, whole = fitted(change.diff, change.path, room)
    deliver(ground, "notice", [change.path], [told if whole else None])
    return change.replace(diff=diff), True


def arrived(ground: Ground) -> None:
    """All that was handed over is with the model: it counts as shown from here on. What was
    looked at since, or counted before, is not touched."""
    handed = ground.store.timeline(session=ground.session, kinds=[NoticeDelivered], newest=RECENT)
    for recorded in list(handed):
        fact = recorded.fact
        assert isinstance(fact, NoticeDelivered)
        for told in fact.told:
            if told.revision == MISSING:
                from sightline.services.attend.gone import count_gone

                count_gone(ground, told, fact.notice)
            else:
                count(ground, told, fact.notice)
