"""What a host was handed for its agent, and when it counts as shown.

Of several calls an agent makes at once, the later ones know nothing of what the earlier ones were
answered. So what is handed over is recorded with what it tells, and counts when the host says
that all of it is with the model: after the batch, at the latest with the next prompt.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import structs

from sightline.briefing.compose import BETWEEN, LEAST, Part, briefing
from sightline.changes.session_context import SessionContext
from sightline.filesystem.deadline import DeadlinePassed, within_own
from sightline.filesystem.file_state import ResolvedPath
from sightline.hooks import words
from sightline.hooks.handlers.deletions import count_gone
from sightline.hooks.words import broken, late, unbriefed
from sightline.model.events import NoticeDelivered, Told
from sightline.model.results import FileChange, Notice
from sightline.model.revision import MISSING
from sightline.notices import notice_text
from sightline.notices.delivery import acknowledge_file, confirm_parts, deliver, hand_parts
from sightline.notices.notice_text import CHARACTERS
from sightline.notices.pending import HOST, pending_change
from sightline.text import phrases

AT_PROMPT = ("listings", "bundle", "memory")
AT_START = (*AT_PROMPT, "registry")
"""Parts of a briefing that hosts are handed beside warnings and changes. What a message mentions
they add to it themselves; which files are known the agent still has before it in mid-conversation."""

REST_MAX = 4_000
"""Characters of these parts."""

RECENT = 64
"""Answers of one session that are still looked through; a batch holds a handful."""


def hand(
    ground: SessionContext, notice: str, paths: Iterable[str], told: Iterable[Told | None] = ()
) -> None:
    """Record that words on these paths were handed to the host."""
    deliver(ground, f"{HOST}{notice}", paths, told)


def news(ground: SessionContext, *, room: int | None = None) -> str:
    """What others changed that neither the agent nor its host was told yet, recorded as handed
    over; no words when there is nothing. room: characters, where there are few left."""
    found = unheard(ground, room=room)
    if found is not None:
        hand_news(ground, found)
    return said_of(found)


def unheard(ground: SessionContext, *, room: int | None = None) -> Notice | None:
    """The same, not recorded yet."""
    if not _anything(ground):
        return None
    most = notice_text.NOTICE_TOKENS
    budget = most if room is None else min(most, room // notice_text.CHARACTERS)
    return notice_text.notice(ground, budget, handed=True) if budget > 0 else None


def hand_news(ground: SessionContext, found: Notice) -> None:
    """Record what others changed as handed over."""
    hand(ground, found.id, [change.path for change in found.changes], found.told)


def said_of(found: Notice | None) -> str:
    """It in words."""
    return "" if found is None else phrases.says(found.text)


def rest(ground: SessionContext, message: str | None, room: int, *, within_s: float) -> str:
    """What else is due before the next turn, of so many characters at most, recorded as handed over.
    Files are named and not shown: hosts let their agent edit what their own tools read.

    within_s: what takes longer, or fails, is not told: it must not keep back, as the answer it is part
    of, what was recorded as handed over before it."""
    said: list[str] = []
    for part in _made(ground, message, min(room, REST_MAX), within_s):
        if len(part.text) <= room:
            room -= len(part.text) + len(BETWEEN)
            said.append(part.text)
            hand_parts(ground, part.delivered)
    return BETWEEN.join(said)


def _made(
    ground: SessionContext, message: str | None, room: int, within_s: float
) -> Sequence[Part]:
    """The parts of a briefing that hosts are handed. Why there are none is left to the log."""
    if room < LEAST * CHARACTERS:
        return ()
    parts, budget = AT_START if message is None else AT_PROMPT, room // CHARACTERS
    try:
        return within_own(
            max(within_s, 0.0), lambda: briefing(ground, message, budget, parts=parts, texts=False)
        ).parts
    except Exception as error:  # noqa: BLE001 - whatever it is: the rest of the answer is due
        why = getattr(error, "message", "") or broken(type(error).__name__, "its briefing")
        ground.missed = unbriefed(
            late(round(within_s, 1)) if isinstance(error, DeadlinePassed) else why
        )
        return ()


def _anything(ground: SessionContext) -> bool:
    """Whether any file needs more than one stat: mostly none does, and then nothing is loaded."""
    tracked = ground.tracked()
    if tracked.suspects:
        return True
    deadline_s = ground.settings.deadline_s
    return any(True for _ in ground.workspace.scan(tracked.stamps, deadline_s=deadline_s))


def fitted(diff: str, path: str, room: int) -> tuple[str, bool]:
    """As much of a diff as so many characters hold, and whether that is all of it."""
    if len(diff) <= room:
        return diff, True
    return words.left_out(diff[: max(room, 0)].rpartition("\n")[0], path), False


def tell_changes(
    ground: SessionContext, located: ResolvedPath, room: int
) -> tuple[FileChange, bool]:
    """How a file differs from what its agent holds, recorded as handed over where it does."""
    new = pending_change(ground, located.path)
    change, told = new.change()
    if change.state != "stale" or not (change.diff or change.moved_lines):
        return change, False
    ground.store.keep(ground.keepable(located.path, new.found.data))
    diff, whole = fitted(change.diff, change.path, room)
    hand(ground, "notice", [change.path], [told if whole else new.mention_only()])
    return structs.replace(change, diff=diff), True


def arrived(ground: SessionContext) -> None:
    """All that was handed over is with the model: it counts as shown from here on. What was
    looked at since, or counted before, is not touched."""
    kinds = [NoticeDelivered]
    handed = list(ground.store.timeline(session=ground.session, kinds=kinds, newest=RECENT))
    confirm_parts(ground, handed)
    for recorded in handed:
        fact = recorded.fact
        assert isinstance(fact, NoticeDelivered)
        for told in fact.told if fact.notice.startswith(HOST) else ():
            if told.revision == MISSING and told.refusal:
                count_gone(ground, told, fact.notice)
            else:
                acknowledge_file(ground, told, fact.notice)
