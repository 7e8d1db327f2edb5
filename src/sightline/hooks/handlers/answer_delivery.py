"""Deliver notices through a host, and decide when they count as shown.

Of several calls that an agent makes at once, the later ones do not know the answers to the earlier
ones. So a delivery is recorded with the changes it shows, and counts when all of it has reached the
model. What one of the calls was told counts after the batch, at the latest with the next prompt.
What the end of a batch, a prompt or a beginning was told goes out with the host's next request to
the model, so it counts from the first call of the answer on.

Where a host takes no words at an event, nothing is delivered, and nothing is recorded: what the agent has not been
told follows from the timeline and the disk, so the next event that takes words has it.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Mapping, Sequence

from msgspec import structs

from sightline.api.still_running import summaries
from sightline.briefing.compose import BETWEEN, LEAST, Briefing, Part, briefing
from sightline.changes.session_context import SessionContext
from sightline.errors import Hint
from sightline.filesystem.deadline import DeadlinePassed, within_own
from sightline.filesystem.file_state import ResolvedPath
from sightline.hooks import words
from sightline.hooks.host import Host
from sightline.model.agent_work import NO_WORK, RecordedWork
from sightline.model.events import (
    Belief,
    Changed,
    DeliveryKind,
    DeliveryWay,
    Fact,
    GitMoved,
    NoticeAcknowledged,
    NoticeDelivered,
    PartHanded,
    Seen,
    Told,
    TurnBegan,
)
from sightline.model.projections import Knowledge
from sightline.model.results import FileChange, Notice
from sightline.model.revision import MISSING, revision_of
from sightline.model.timeline import Recorded, newest_first, of_kind
from sightline.notices import notice_text
from sightline.notices.delivery import (
    acknowledge_file,
    confirm_parts,
    hand_parts,
)
from sightline.notices.pending import PendingChange, in_conversation, pending_change
from sightline.text import phrases

AT_PROMPT = ("listings", "files", "subtasks", "bundle", "memory")
AT_START = (*AT_PROMPT, "registry")
"""Parts of a briefing that hosts get beside warnings and changes. Hosts add mentioned files
themselves, and in mid-conversation the agent still sees which files are known."""

BRIEFING_MAX = 4_000
"""Characters of these parts."""

NOTHING_BELIEVED = Belief(MISSING, (), (), 0)


def record_delivery(
    context: SessionContext,
    kind: DeliveryKind,
    paths: Iterable[str],
    told: Iterable[Told | None] = (),
    *,
    notice: str = "",
    diff: str = "",
    with_request: bool = False,
) -> None:
    """Record that text about these paths was handed to the host. told: what it says of each file, to
    be acknowledged later; kind, notice, diff: as in NoticeDelivered; with_request: no call is under
    way, so the next request to the model brings the text."""
    known = tuple(each for each in told if each is not None)
    way: DeliveryWay = "request" if with_request else "call"
    context.append([NoticeDelivered(kind, way, tuple(paths), known, notice, diff)])


def record_diff(
    context: SessionContext,
    kind: DeliveryKind,
    path: str,
    named: str,
    diff: str,
    told: Told | None,
    *,
    with_request: bool = False,
) -> bool:
    """Record that a diff of one file was handed to the host. Return whether an answer that has not
    arrived yet holds the same diff, so that it need not be printed again: of several calls at once.
    named: the path by which the agent knows the file; with_request: as in record_delivery."""
    lines = [line for line in diff.splitlines() if line.startswith(("+", "-"))]
    if not lines:
        record_delivery(context, kind, [named], [told], with_request=with_request)
        return False
    digest = revision_of("\n".join(lines).encode("utf-8", "surrogatepass"))[:12]
    is_repeated = _was_handed(context, path, digest)
    digest = "" if is_repeated else digest
    record_delivery(context, kind, [named], [told], diff=digest, with_request=with_request)
    return is_repeated


def _was_handed(context: SessionContext, path: str, digest: str) -> bool:
    """Return whether this agent received a diff, or every change of others in the file, and since then
    this agent alone changed the file and received no text of the file."""
    for recorded in newest_first(context.store.timeline, path=path):
        fact, is_own = recorded.fact, recorded.session == context.session
        if isinstance(fact, GitMoved) or (
            isinstance(fact, Changed) and fact.cause.who != context.session
        ):
            return False
        if is_own and isinstance(fact, (Seen, NoticeAcknowledged)):
            return False
        if is_own and isinstance(fact, NoticeDelivered) and fact.is_hosts:
            whole = any(each.path == path and each.hunks is None for each in fact.told)
            if whole or fact.diff == digest:
                return bool(in_conversation(context, [recorded]))
    return False


def deliver_pending(
    context: SessionContext, host: Host, *, room: int | None = None, with_request: bool = False
) -> str:
    """Return the text of others' changes that are new to the agent and to its host, and record the
    delivery; "" for no change. room: characters, where few are left; with_request: as in
    record_delivery."""
    if not host.takes_words:
        return ""
    notice = pending_notice(context, room=room)
    if notice is None:
        return ""
    record_notice(context, notice, with_request=with_request)
    return phrases.says(notice.text)


def pending_notice(
    context: SessionContext,
    *,
    room: int | None = None,
    undone: list[PendingChange] | None = None,
    later: Container[str] = (),
) -> Notice | None:
    """Return the notice of these changes without recording a delivery. undone, later: as in
    notices.pending.pending_changes."""
    tracked, deadline_s = context.tracked(), context.settings.deadline_s
    if not tracked.suspects and not any(
        True for _ in context.workspace.scan(tracked.stamps, deadline_s=deadline_s)
    ):
        return None  # mostly: no file needs more than one stat, and nothing is read
    most = notice_text.NOTICE_TOKENS
    budget = most if room is None else min(most, room // notice_text.CHARACTERS)
    if budget <= 0:
        return None
    return notice_text.notice(context, budget, handed=True, undone=undone, later=later)


def record_notice(context: SessionContext, notice: Notice, *, with_request: bool) -> None:
    """Record that a notice was handed to the host."""
    paths = [change.path for change in notice.changes]
    told = notice.told
    record_delivery(context, "notice", paths, told, notice=notice.id, with_request=with_request)


def deliver_briefing(
    context: SessionContext,
    message: str | None,
    room: int,
    *,
    within_s: float,
    told: Collection[str] = (),
    running: str = "",
    recorded: RecordedWork = NO_WORK,
) -> str:
    """Return the briefing before the next turn, and record its delivery. The briefing names files
    without their text: hosts let their agent edit only what their own tools read.

    room: characters at most. within_s: a briefing that takes longer, or fails, is left out: it must
    not hold back the answer that it is part of. told: files whose changes the answer tells, too. running: the answer's
    words on what still runs; "" for none. recorded: the work that the host's own record of the conversation tells of.
    """
    texts: list[str] = []
    parts = _briefing_parts(
        context, message, min(room, BRIEFING_MAX), within_s, told, running, recorded
    )
    for part in parts:
        if len(part.text) <= room:
            room -= len(part.text) + len(BETWEEN)
            texts.append(part.text)
            hand_parts(context, part.delivered)
    return BETWEEN.join(texts)


def _briefing_parts(
    context: SessionContext,
    message: str | None,
    room: int,
    within_s: float,
    told: Collection[str],
    running: str,
    recorded: RecordedWork,
) -> Sequence[Part]:
    """Return the parts of a briefing; none, with a line for the log, after a failure."""
    if room < LEAST * notice_text.CHARACTERS:
        return ()
    parts, budget = AT_START if message is None else AT_PROMPT, room // notice_text.CHARACTERS

    def composed() -> Briefing:
        subtasks, states = summaries(context, running)
        return briefing(
            context,
            message,
            budget,
            parts=parts,
            texts=False,
            subtasks=subtasks,
            states=states,
            told=told,
            recorded=recorded,
        )

    try:
        return within_own(max(within_s, 0.0), composed).parts
    except DeadlinePassed:
        context.missed = Hint(words.unbriefed(words.late(round(within_s, 1))))
    except Exception as error:  # noqa: BLE001 - the answer without a briefing is due
        why = getattr(error, "message", "")
        why = why or words.broken(type(error).__name__, "its briefing")
        context.missed = Hint(words.unbriefed(why))
    return ()


def cut_diff(diff: str, path: str, room: int) -> tuple[str, bool]:
    """Return the part of a diff that so many characters hold, and whether it is the whole diff."""
    if len(diff) <= room:
        return diff, True
    return words.left_out(diff[: max(room, 0)].rpartition("\n")[0], path), False


def deliver_changes(
    context: SessionContext,
    host: Host,
    located: ResolvedPath,
    room: int,
    *,
    with_request: bool = False,
) -> tuple[FileChange, bool]:
    """Return how a file differs from the agent's knowledge, and whether that is to be printed: when
    the file is stale, and no other call of the batch prints it. Record the delivery. room: characters
    of the diff; with_request: as in record_delivery."""
    pending = pending_change(context, located.path)
    change, told = pending.change()
    is_news = change.state == "stale" and bool(change.diff or change.moved_lines)
    if not (is_news and host.takes_words):
        return change, False
    context.store.keep(context.keepable(located.path, pending.found.data, on_disk=pending.found))
    diff, is_whole = cut_diff(change.diff, change.path, room)
    told = told if is_whole else pending.mention_only()
    is_repeated = record_diff(
        context, "change", located.path, change.path, diff, told, with_request=with_request
    )
    return structs.replace(change, diff=diff), not is_repeated


def acknowledge_delivered(context: SessionContext) -> None:
    """Count every delivery as shown, the newest first, because the newest tells of everything that is new
    to the agent, and repeats earlier ones. A delivery does not count for a file that the session read or
    edited since, when it counted before, or when it was taken out of the conversation."""
    kinds: list[type[Fact]] = [NoticeDelivered, PartHanded]
    after = _turn_began(context)
    deliveries = context.store.timeline(session=context.session, kinds=kinds, after=after)
    recent = in_conversation(context, list(deliveries))
    confirm_parts(context, recent)
    for fact in reversed(list(of_kind(NoticeDelivered, recent))):
        if fact.is_hosts:
            _acknowledge(context, fact)


def acknowledge_request(context: SessionContext) -> None:
    """Count as shown what the last request to the model brought: the model answers it with the call
    that begins now. A text that was handed over since belongs to another call of this answer, and
    that call has counted the request."""
    for fact in of_kind(NoticeDelivered, _request_notices(context)):
        _acknowledge(context, fact)


def prompt_notices(context: SessionContext) -> list[NoticeDelivered]:
    """Return what the newest prompt brought, the newest first, until the next request."""
    return list(of_kind(NoticeDelivered, _request_notices(context)))


def _turn_began(context: SessionContext) -> int:
    """Return the position of the conversation's newest TurnBegan, 0 for none. Words that were handed
    over before were counted then."""
    for turn in newest_first(context.store.timeline, session=context.session, kinds=[TurnBegan]):
        if in_conversation(context, [turn]):
            return turn.position
    return 0


def _request_notices(context: SessionContext) -> list[Recorded]:
    """Return the deliveries that the last request to the model brought, the newest first."""
    deliveries = context.store.timeline(
        session=context.session, kinds=[NoticeDelivered], after=_turn_began(context)
    )
    requests: list[Recorded] = []
    for recorded in reversed(list(deliveries)):
        way = recorded.fact.way if isinstance(recorded.fact, NoticeDelivered) else "asked"
        if way == "request":
            requests.append(recorded)
        elif way == "call":
            break
    return in_conversation(context, requests)  # mostly none


def deliver_again(
    context: SessionContext, notices: Sequence[NoticeDelivered], known: Mapping[str, Knowledge]
) -> None:
    """Record deliveries once more that a step back took out of the conversation, though their text came behind
    it: of the files of which the agent knows the text that they were told against. known: its knowledge before the
    step back."""
    now = context.store.known(context.session)
    for fact in reversed(notices):
        told = [
            structs.replace(each, position=now[each.path].position)
            for each in fact.told
            if each.path in now
            and each.path in known
            and _is_same(now[each.path], known[each.path])
            and each.position == known[each.path].position
        ]
        if told:
            paths = tuple(each.path for each in told)
            context.append([structs.replace(fact, paths=paths, told=tuple(told))])


def _is_same(one: Knowledge, other: Knowledge) -> bool:
    """Return whether an agent knows the same lines of the same text."""
    return (one.belief.text, one.belief.shown) == (other.belief.text, other.belief.shown)


def _acknowledge(context: SessionContext, delivered: NoticeDelivered) -> None:
    for told in delivered.told:
        if told.revision == MISSING and told.refusal:
            _acknowledge_deletion(context, told, delivered.notice)
        else:
            acknowledge_file(context, told, delivered.notice)


# Hosts have one tool to write over a file and to create one. So whoever writes a file that was
# deleted or renamed is refused once; an agent that deleted the file, or was told, creates a file.


def knows_deletion(context: SessionContext, path: str) -> bool:
    """Return whether this session's agent deleted a file, or got a notice of the deletion."""
    row = context.store.disk(path)
    if row is None or row.revision != MISSING:
        return False  # not detected yet, so the agent does not know
    own = row.cause is not None and row.cause.who == context.session
    return own or _was_acknowledged(context, path, row.position)


def notice_of_deletion(context: SessionContext, path: str) -> Told | None:
    """Return the record of a notice about a missing file."""
    row = context.store.disk(path)
    return Told(path, MISSING, None, row.position, refusal=True) if row else None


def _acknowledge_deletion(context: SessionContext, told: Told, notice: str) -> None:
    """Count the notice of a deletion. The agent's knowledge of the file's text stays."""
    if not _was_acknowledged(context, told.path, told.position):
        known = context.store.knowledge(context.session, told.path)
        belief = known.belief if known else NOTHING_BELIEVED
        context.append([NoticeAcknowledged(notice, told.path, belief, told.revision)])


def _was_acknowledged(context: SessionContext, path: str, position: int) -> bool:
    """Return whether a notice about a path was acknowledged after a position of the timeline."""
    newest = context.store.timeline(
        session=context.session, path=path, kinds=[NoticeAcknowledged], newest=1
    )
    last = next(iter(in_conversation(context, list(newest))), None)
    return last is not None and last.position > position
