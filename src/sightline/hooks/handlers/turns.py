"""Handle the events of the conversation itself: it begins, the user speaks, answers arrive, the
messages are folded, it ends."""

from __future__ import annotations

from collections.abc import Collection
from time import monotonic

from sightline.api.still_running import running_note
from sightline.briefing.compose import goes_on
from sightline.changes.session_context import SessionContext
from sightline.checkpoints.rewind.interrupted import unfinished_rewinds
from sightline.checkpoints.rewind.recovery import finish
from sightline.errors import FileMissing, PathRefused, Unverifiable
from sightline.guard.unfinished import settle_host_writes
from sightline.hooks import words
from sightline.hooks.handlers.answer_delivery import (
    acknowledge_delivered,
    deliver_briefing,
    deliver_pending,
    pending_notice,
    record_notice,
)
from sightline.hooks.handlers.file_reads import shown
from sightline.hooks.handlers.tool_edits import explain_failure
from sightline.hooks.handlers.tool_writes import recognise
from sightline.hooks.host import Host
from sightline.model import hook_events as events
from sightline.model.agent_work import NO_WORK, RecordedWork
from sightline.model.attempts import Attempt
from sightline.model.events import FolderAdded, SessionEnded, TurnBegan, WarningRaised
from sightline.model.hook_events import NOTHING, Answer, Shown
from sightline.model.spans import Span
from sightline.model.timeline import of_kind
from sightline.notices.delivery import hand_warnings
from sightline.notices.pending import PendingChange
from sightline.notices.summaries import summarised, told_before_summary
from sightline.notices.warnings import warn_of_ignore_files
from sightline.sessions.presence import record_environment
from sightline.sessions.usage import changed_model
from sightline.text import phrases
from sightline.text.command_words import as_command

WATCHED = 500
"""Paths at most that a host is asked to watch."""

MENTION_LINES = 2_000
MENTION_BYTES = 100_000
"""Limits up to which hosts add a mentioned file without cutting it. Of a larger file nothing counts
as shown until the transcript shows it."""

ANSWERED_BY = 0.8
"""The part of a hook's deadline after which its answer has to be complete."""


def began(context: SessionContext, event: events.Began, host: Host) -> Answer:
    """Record the model, and ask the host to watch the session's known files. A conversation that
    goes on also gets the notices and the briefing that are due, and what still works for it: after a
    compaction its agent knows of no other agent that it sent, and perhaps neither its to-dos nor what the
    agents reported. What was told before a summary comes again with the next prompt: until then the host
    may put the files themselves back."""
    _record_usage(context, event.model)
    started = monotonic()
    known = sorted(context.store.known(context.session).values(), key=lambda each: -each.position)
    root = context.workspace.root
    text = ""
    if event.source != "startup" and host.takes_words:
        text = running_note(context)
        later = told_before_summary(context) if event.source == "compact" else ()
        recorded = host.read_work()
        if known or recorded != NO_WORK:
            text = _due(context, None, started, host, text, later, recorded)
    return Answer(context=text, watch=tuple(f"{root}/{each.path}" for each in known[:WATCHED]))


def used(context: SessionContext, event: events.Used) -> Answer:
    """Record the model and the host. The end of an ended session stays."""
    _record_usage(context, event.model)
    state = context.store.session(context.session)
    if event.host and state is not None and state.ended is None:
        record_environment(context, event.host, event.host_version)
    return NOTHING


def prompted(context: SessionContext, event: events.Prompted, host: Host) -> Answer:
    """Begin a turn. Record mentioned files; return new warnings, changes since the last turn, and
    the briefing."""
    started = monotonic()
    _end_calls(context)
    unfinished = _finish_rewind(context)
    state = context.store.session(context.session)
    turn = (state.turn if state else 0) + 1
    context.append([TurnBegan(turn, words.title(event.text) if turn == 1 else "")])
    _record_usage(context, None, event.mode)
    warn_of_ignore_files(context)
    recorded = host.read_work() if goes_on(context, event.text) else NO_WORK
    due = _due(context, event.text, started, host, recorded=recorded)
    text = "\n".join(filter(None, [unfinished, due]))
    for path, lines in event.mentions:
        _record_mention(context, path, lines)
    return Answer(context=text)


def answered(context: SessionContext, event: events.Answered, host: Host) -> Answer:
    """Count what was delivered as shown. Return why attempts do not fit that the host rejected by
    itself, and what others changed meanwhile."""
    _end_calls(context)
    done: dict[str, list[tuple[Attempt, str]]] = {}
    for attempted in event.done:
        for path, attempt in attempted.targets:
            done.setdefault(path, []).append((attempt, attempted.call))
    most = host.limits
    texts = [recognise(context, path, edits, host).context for path, edits in done.items()]
    for failure in event.failed if host.takes_words else ():
        texts.append(explain_failure(context, failure, host, most.diff - sum(map(len, texts))))
    room = most.context - sum(map(len, texts))
    texts.append(deliver_pending(context, host, room=room, with_request=True))
    return Answer(context="\n\n".join(filter(None, texts)))


def compacted(context: SessionContext, _: events.Compacted) -> Answer:
    """Record that no file's text is in the window any more. The guard still knows what was shown, without
    what notices told."""
    _end_calls(context)
    summarised(context)
    return NOTHING


def folder_added(context: SessionContext, event: events.FolderAdded) -> Answer:
    """Record a folder that the user added to the agent's project."""
    context.append([FolderAdded(event.folder)])
    return NOTHING


def added_folders(context: SessionContext, session: str) -> list[str]:
    """Return the folders that the user added in a conversation."""
    added = context.store.timeline(session=session, kinds=[FolderAdded])
    return [fact.folder for fact in of_kind(FolderAdded, added)]


def stopped(context: SessionContext, _: events.Stopped) -> Answer:
    """End the turn: its answers have arrived."""
    _end_calls(context)
    return NOTHING


def ended(context: SessionContext, event: events.Ended) -> Answer:
    """Close the session. A resumed conversation opens it again."""
    _end_calls(context)
    context.append([SessionEnded(event.reason)])
    return NOTHING


def _end_calls(context: SessionContext) -> None:
    """Settle what the agent's calls left open: no call is under way, so every delivery has arrived
    and every write has happened or failed."""
    settle_host_writes(context)
    acknowledge_delivered(context)


def _finish_rewind(context: SessionContext) -> str:
    """Go on with a rewind whose process died, as far as there is time. Return why it is not
    finished yet; "" where none is left. A finished rewind raises a warning."""
    said = finish(context, monotonic() + context.settings.deadline_s / 2)
    return said.worded(as_command) if said and unfinished_rewinds(context, context.session) else ""


def _due(
    context: SessionContext,
    message: str | None,
    began: float,
    host: Host,
    running: str = "",
    later: Collection[str] = (),
    recorded: RecordedWork = NO_WORK,
) -> str:
    """Return what still runs, warnings, changes and briefing for the next turn, in this order. began: when
    the host called, by monotonic(). later: paths whose changes are told with the next prompt. recorded: the
    work that the host's own record tells of.

    An edit that somebody outside took back is told later, with the turn's first calls, and the
    briefing with the next prompt: the user may have taken back the conversation, too, which no hook and no transcript
    shows yet. Nothing is due at an event that takes no words.
    """
    if not host.takes_words:
        return ""
    undone: list[PendingChange] = []
    notice = pending_notice(context, undone=undone, later=later)
    changes = "" if notice is None else phrases.says(notice.text)
    raised = context.store.timeline(session=context.session, kinds=[WarningRaised], newest=1)
    warnings = hand_warnings(context) if any(True for _ in raised) else ""  # mostly none
    text = "\n".join(filter(None, [running, warnings, changes]))
    left_s = context.settings.deadline_s * ANSWERED_BY - (monotonic() - began)
    room = 0 if undone else host.limits.context - len(text)
    told = [*later, *(change.path for change in (notice.changes if notice is not None else ()))]
    briefing = deliver_briefing(
        context, message, room, within_s=left_s, told=told, running=running, recorded=recorded
    )
    if notice is not None:  # last: a process that is killed before has told nothing
        record_notice(context, notice, with_request=True)
    return "\n\n".join(filter(None, [text, briefing]))


def _record_usage(context: SessionContext, model: str | None, mode: str | None = None) -> None:
    """Record the model and the mode where they are new."""
    if model or mode:
        facts = changed_model(context, model, mode=mode)
        if facts:
            context.append(facts)


def _record_mention(context: SessionContext, path: str, lines: Span | None) -> None:
    """Record a mentioned file as shown, where hosts add the whole file."""
    try:
        on_disk = context.look(context.workspace.locate(path).path)
    except (PathRefused, FileMissing, Unverifiable):
        return  # a word after an @ need not be a path
    if on_disk.data is None or len(on_disk.data) > MENTION_BYTES:
        return
    if on_disk.data.count(b"\n") < MENTION_LINES:
        shown(context, Shown(path, lines, via="mention"))
