"""Read on in a conversation's transcript, and record the events that no hook reports.

A reading from before a session began is added to the session's present knowledge: a fork's client
copies its parent's conversation late, also after the fork's first edits. Such a text is the agent's
knowledge at the beginning; everything the session read and wrote since is newer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from time import monotonic, sleep

from msgspec import Struct, structs

from sightline.changes.session_context import TRIES, Known, SessionContext, load_knowledge
from sightline.checkpoints.rewind.interrupted import unfinished_rewinds
from sightline.errors import PathRefused, StoreConflict
from sightline.filesystem.file_state import ResolvedPath
from sightline.guard.reads import as_shown, moving, record, seen_lines
from sightline.hooks.dispatch import handle
from sightline.hooks.handlers.answer_delivery import (
    acknowledge_delivered,
    deliver_again,
    prompt_notices,
)
from sightline.hooks.handlers.file_reads import BROKEN
from sightline.model.belief import Held, first_look, look
from sightline.model.diff import diff, equal
from sightline.model.events import (
    Changed,
    PromptFollowed,
    RewindEnded,
    Seen,
    TranscriptRead,
    TurnBegan,
    WindowEmptied,
)
from sightline.model.hook_events import Event, Forked, Shown
from sightline.model.projections import Knowledge
from sightline.model.revision import UNKNOWN
from sightline.model.spans import carry
from sightline.model.text import Text, decode, normal, split
from sightline.model.timeline import newest_first, of_kind

WentBack = Callable[[int], tuple[int | None, int]]
"""offset -> where the conversation was taken back to, and the next offset; see Dialect.went_back."""

Unhooked = Callable[[int, int], tuple[list[Event], int]]
"""(offset, before) -> the events from there on, and the next offset; see Dialect.unhooked."""

MILLISECOND = 1_000
"""Microseconds: a row's time has no finer part."""


WAIT = 0.6
"""The part of a hook's deadline for which the first call of a turn waits for the row of its prompt. A
client writes the row after the prompt's hooks: within a tenth of a second, on a loaded machine later."""

POLL_S = 0.02
"""Seconds between two looks for that row."""


class Mark(Struct, frozen=True):
    """The place where the next reading of a transcript begins.

    offset: in bytes. all_of_it: rows from before the session's first hook count, too. Clients write
    such rows late, also after newer rows.
    """

    offset: int = 0
    all_of_it: bool = False


def mark_of(context: SessionContext, transcript: str) -> Mark:
    """Return the place where the next reading of a transcript begins; at first the beginning of the
    file."""
    readings = newest_first(context.store.timeline, session=context.session, kinds=[TranscriptRead])
    for fact in of_kind(TranscriptRead, readings):
        if fact.transcript == transcript:
            return Mark(fact.offset, fact.is_whole)
    return Mark()


def follow(
    context: SessionContext, transcript: str, prompt: str, went_back: WentBack
) -> bool | None:
    """Move the session's knowledge back to the older message that the user returned to; look once for
    each prompt. Return whether the knowledge moved back; None while the prompt's row is not written,
    so that nobody can know.

    The files stay as they are. Facts recorded since the prompt go, too: they belong to the longer
    conversation, and the transcript has the text that the host added to the prompt. The changes that came with the
    prompt count where they were told against a text that the conversation still holds.
    """
    searches = newest_first(context.store.timeline, session=context.session, kinds=[PromptFollowed])
    same = (f for f in of_kind(PromptFollowed, searches) if f.transcript == transcript)
    last = next(same, None)
    is_again = last is not None and last.prompt == prompt
    if last is not None and is_again and last.is_sure:
        return False
    offset = mark_of(context, transcript).offset if last is None else last.offset
    wait_s = 0.0 if is_again else WAIT * context.settings.deadline_s
    since, end = _when_written(offset, went_back, wait_s)
    if end == offset:
        if wait_s:
            context.append([PromptFollowed(transcript, offset, prompt, is_sure=False)])
        return None
    cut: int | None = None
    if since is not None and not unfinished_rewinds(context, context.session):
        after = context.store.timeline(session=context.session, since=since + MILLISECOND, limit=1)
        cut = next((each.position for each in after), None)
    looked = PromptFollowed(transcript, end, prompt)
    if cut is None:
        context.append([looked])
        return False
    told = prompt_notices(context)
    known = context.store.known(context.session)
    context.append([RewindEnded(cut - 1), looked])
    deliver_again(context, told, known)
    acknowledge_delivered(context)
    return True


def _when_written(offset: int, went_back: WentBack, wait_s: float) -> tuple[int | None, int]:
    """Ask `went_back` until the prompt's row is written, for so many seconds at most."""
    deadline = monotonic() + wait_s
    since, end = went_back(offset)
    while end == offset and monotonic() < deadline:
        sleep(POLL_S)
        since, end = went_back(offset)
    return since, end


def is_sure(context: SessionContext, path: str) -> bool:
    """Return whether the conversation holds what the session knows of a file, however far the user took
    the conversation back before this turn: nothing, or what the turn itself showed."""
    try:
        located = context.workspace.locate(path)
    except PathRefused:
        return True
    known = context.store.knowledge(context.session, located.name or located.path)
    turns = context.store.timeline(session=context.session, kinds=[TurnBegan], newest=1)
    began = max([turn.happened_at for turn in turns], default=0)
    return known is None or began <= max(known.last_read, known.last_agent_edit or 0)


def name_in(context: SessionContext, path: str) -> str:
    """Return a path as words name it: relative to the session's workspace, where it is inside."""
    try:
        located = context.workspace.locate(path)
    except PathRefused:
        return path
    return located.name or located.path


def is_summarised(context: SessionContext) -> bool:
    """Return whether a summary took the place of the conversation since its last turn began."""
    newest = context.store.timeline(
        session=context.session, kinds=[TurnBegan, WindowEmptied], newest=1
    )
    return any(isinstance(each.fact, WindowEmptied) for each in newest)


def record_mark(context: SessionContext, transcript: str, offset: int, *, all_of_it: bool) -> None:
    """Record the place where the next reading of a transcript begins."""
    fact = TranscriptRead(transcript, offset, all_of_it)
    context.append([fact])


def reconcile(context: SessionContext, transcript: str, unhooked: Unhooked) -> int:
    """Record what the transcript shows since the last reading; return the number of events.

    A reading of a file that is older than the session's newest fact about the file is left out. A
    reading from before the session began goes beneath its knowledge (add_beneath).
    """
    mark = mark_of(context, transcript)
    state = context.store.session(context.session) if mark.all_of_it else None
    began = state.started if state else 0
    events, offset = unhooked(mark.offset, began)
    if events:
        _attend_all(context, events, began)
    if offset != mark.offset:
        record_mark(context, transcript, offset, all_of_it=mark.all_of_it)
    return len(events)


def _attend_all(context: SessionContext, events: Sequence[Event], began: int) -> None:
    known = context.store.known(context.session)
    earlier: dict[str, list[Shown]] = {}
    forks = [event for event in events if isinstance(event, Forked)]
    for event in events:
        if isinstance(event, Forked):
            continue
        knowledge = _knowledge_of(context, event, known)
        if knowledge is None or not isinstance(event, Shown) or event.at is None:
            handle(context, event)
        elif event.at < began:
            earlier.setdefault(knowledge.path, []).append(event)
        elif event.at >= max(knowledge.last_read, knowledge.last_agent_edit or 0):
            handle(context, event)
    for path, shown in earlier.items():
        add_beneath(context, path, shown)
    for fork in forks:
        take_over(context, fork, known)


def _knowledge_of(
    context: SessionContext, event: Event, known: Mapping[str, Knowledge]
) -> Knowledge | None:
    """Return the session's knowledge of an event's file before this reading of the transcript."""
    if not isinstance(event, Shown):
        return None
    try:
        return known.get(context.workspace.locate(event.path).path)
    except PathRefused:
        return None


def take_over(context: SessionContext, fork: Forked, known: Mapping[str, Knowledge]) -> None:
    """Take what the parent of a fork knew of files when it was forked: what it was told by notices, and
    how its own edits moved what it was shown, too. The rows show only what was read. known: the
    session's own knowledge before it read the copied rows, which stays; of a file that the parent came to
    know otherwise since, the rows count."""
    store, parent = context.store, fork.parent
    if parent == context.session or store.session(parent) is None:
        return
    turns = store.timeline(session=parent, kinds=[TurnBegan])
    limit = next((each.position for each in turns if each.happened_at > fork.at), None)
    for path, theirs in store.known(parent).items():
        if path in known or (limit is not None and theirs.position >= limit):
            continue
        own = store.knowledge(context.session, path)
        row, belief = store.disk(path), theirs.belief
        stood = row.revision if row is not None else UNKNOWN
        seen = Seen(path, stood, belief.shown, theirs.via, belief, theirs.name)
        with suppress(StoreConflict):  # another process of the session read it meanwhile
            context.append([seen], expect={path: own.position if own is not None else 0})


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
        log = context.store.timeline(session=context.session, path=located.path, kinds=[Changed])
        own = [fact for fact in of_kind(Changed, log) if fact.belief is not None]
        first_text = decode(context.store.blob(own[0].before)) if own else None
        before = _held_before(first_text or text, events, located)
        is_own_work = first_text is not None and equal(first_text.lines, before.lines)
        is_own_work = is_own_work and _without_others(own, known)
        held = _combined(before, held_now, is_own_work=is_own_work)
        via = events[-1].via
        if record(context, located, on_disk, text, held, via, known, held.shown, live=False):
            return
    raise moving(located.path)


def _without_others(own: Sequence[Changed], known: Known) -> bool:
    """Return whether these changes alone made the text that the session knows."""
    in_a_row = [change.after for change in own[:-1]] == [change.before for change in own[1:]]
    return in_a_row and known.belief is not None and own[-1].after == known.belief.text


def _held_before(text: Text, events: Sequence[Shown], located: ResolvedPath) -> Held:
    """Return the agent's knowledge when the session began. text: of the file at that time."""
    held: Held | None = None
    for event in (_placed(text, event) for event in events):
        shown = as_shown(text, event.lines, event.text, located)
        seen = seen_lines(shown, event.lines, event.text)
        earlier = held if event.lines is not None else None
        held = look(earlier, shown.lines, seen) if earlier else first_look(shown.lines, seen)
    assert held is not None
    return held


def _placed(text: Text, event: Shown) -> Shown:
    """Return a showing with the numbers that its lines have in a later text: own edits above moved them.
    Leave it as it is where the lines do not stand there whole, or more than once."""
    if event.lines is None or event.text is None:
        return event
    lines = split(normal(event.text))
    first = event.lines[0] - 1
    size = len(lines)
    if list(text.lines[first : first + size]) == lines:
        return event
    places = [n for n, line in enumerate(text.lines) if line == lines[0]] if lines else []
    places = [n for n in places if list(text.lines[n : n + size]) == lines]
    if len(places) != 1:
        return event
    return structs.replace(event, lines=(places[0] + 1, places[0] + size))


def _combined(before: Held, now: Held, *, is_own_work: bool) -> Held:
    """Combine the knowledge at the beginning with the present one. is_own_work: only the session
    changed the text in between; else the other changed lines stay unseen. After a compaction no
    older line is in the window."""
    hunks = diff(before.lines, now.lines) if is_own_work else ()
    combined = look(before, now.lines, now.shown, hunks)
    if now.held == now.shown:
        return combined
    return structs.replace(combined, held=carry(now.held, diff(now.lines, combined.lines)))
