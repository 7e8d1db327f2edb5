"""The conversation itself: it begins, the user speaks, answers arrive, it is folded, it ends."""

from __future__ import annotations

from time import monotonic

from sightline.agents.hook_events import (
    CONTEXT_MAX,
    DIFF_MAX,
    NOTHING,
    Answer,
    Answered,
    Began,
    Compacted,
    Ended,
    Prompted,
    Shown,
    Stopped,
    Used,
)
from sightline.changes.session_context import SessionContext
from sightline.checkpoints.rewind.recovery import finish
from sightline.errors import FileMissing, PathRefused, Unverifiable
from sightline.guard.write_journal import settle_host_writes, unfinished_rewinds
from sightline.hooks.handlers.answer_delivery import (
    arrived,
    hand_news,
    news,
    rest,
    said_of,
    unheard,
)
from sightline.hooks.handlers.file_reads import shown
from sightline.hooks.handlers.tool_edits import failed_unheard
from sightline.model.events import Dropped, SessionEnded, TurnBegan, WarningRaised
from sightline.model.spans import Span
from sightline.notices.delivery import hand_warnings
from sightline.sessions.presence import record_environment
from sightline.sessions.usage import changed_model

WATCHED = 500
"""Paths at most that a host is asked to watch."""

MENTION_LINES = 2_000
MENTION_BYTES = 100_000
"""What hosts add of a mentioned file without cutting it. Of a larger one nothing is claimed; the
transcript tells later what was shown."""

ANSWERED_BY = 0.8
"""Of the time in which a hook has to answer, how much may be over when its answer is complete."""


def began(ground: SessionContext, event: Began) -> Answer:
    """Note the model, and ask the host to watch the files this session knows; where it knows any,
    it goes on, and its agent is told what is due."""
    _uses(ground, event.model)
    started = monotonic()
    known = sorted(ground.store.known(ground.session).values(), key=lambda each: -each.position)
    root = ground.workspace.root
    context = _due(ground, None, started) if known and event.source != "startup" else ""
    return Answer(context=context, watch=tuple(f"{root}/{each.path}" for each in known[:WATCHED]))


def used(ground: SessionContext, event: Used) -> Answer:
    """Note the model and the host. That a session ended is not taken back by it."""
    _uses(ground, event.model)
    state = ground.store.session(ground.session)
    if event.host and state is not None and state.ended is None:
        record_environment(ground, event.host, event.host_version)
    return NOTHING


def prompted(ground: SessionContext, event: Prompted) -> Answer:
    """Begin a turn: note the files mentioned, and tell what is due: what its agent was not warned
    of yet, what changed since the last turn, and the rest of a briefing."""
    started = monotonic()
    _calls_ended(ground)
    stopped_short = _finished(ground)
    state = ground.store.session(ground.session)
    ground.append([TurnBegan((state.turn if state else 0) + 1)])
    _uses(ground, None, event.mode)
    told = "\n".join(filter(None, [stopped_short, _due(ground, event.text, started)]))
    for path, lines in event.mentions:
        _mentioned(ground, path, lines)
    return Answer(context=told) if told else NOTHING


def answered(ground: SessionContext, event: Answered) -> Answer:
    """What was handed over is with the model now. Then, what no hook could say before: why an
    attempt that the host itself turned down does not fit, and what others changed meanwhile."""
    _calls_ended(ground)
    words: list[str] = []
    if event.failed:
        for each in event.failed:
            said = failed_unheard(ground, each, DIFF_MAX - sum(map(len, words)))
            words += [said] if said else []
    told = news(ground, room=CONTEXT_MAX - sum(map(len, words)))
    words += [told] if told else []
    return Answer(context="\n\n".join(words)) if words else NOTHING


def compacted(ground: SessionContext, _: Compacted) -> Answer:
    """No text of any file is in the window any more; what was seen stays known to the guard."""
    _calls_ended(ground)
    ground.append([Dropped(None)])
    return NOTHING


def stopped(ground: SessionContext, _: Stopped) -> Answer:
    """The turn is over: its answers have arrived."""
    _calls_ended(ground)
    return NOTHING


def ended(ground: SessionContext, event: Ended) -> Answer:
    """Close the session; it can be resumed."""
    _calls_ended(ground)
    ground.append([SessionEnded(event.reason)])
    return NOTHING


def _calls_ended(ground: SessionContext) -> None:
    """No call of the agent is under way: what was said has arrived, what was to be written was."""
    settle_host_writes(ground)
    arrived(ground)


def _finished(ground: SessionContext) -> str:
    """Go on with a rewind whose process died, as far as there is time; why it is not finished yet,
    "" where there is none, and where it is: of that there is a warning."""
    if not unfinished_rewinds(ground, ground.session):
        return ""

    said = finish(ground, monotonic() + ground.settings.deadline_s / 2)
    return said if unfinished_rewinds(ground, ground.session) else ""


def _due(ground: SessionContext, message: str | None, began: float) -> str:
    """What the agent is to know before its next turn, in the order of a briefing. began: when the
    host asked, by monotonic()."""
    found = unheard(ground)
    told = "\n".join(filter(None, [_warnings(ground), said_of(found)]))
    left_s = ground.settings.deadline_s * ANSWERED_BY - (monotonic() - began)
    more = rest(ground, message, CONTEXT_MAX - len(told), within_s=left_s)
    if found is not None:
        hand_news(ground, found)  # last: who is killed on the way has told nothing
    return "\n\n".join(filter(None, [told, more]))


def _warnings(ground: SessionContext) -> str:
    """What its agent was not warned of yet; mostly nobody was ever warned, and nothing is loaded."""
    raised = ground.store.timeline(session=ground.session, kinds=[WarningRaised], newest=1)
    if next(iter(raised), None) is None:
        return ""

    return hand_warnings(ground)


def _uses(ground: SessionContext, model: str | None, mode: str | None = None) -> None:
    """Note the model, and the mode it is used in, where these are told and are others than
    before."""
    if not (model or mode):
        return

    facts = changed_model(ground, model, mode=mode)
    if facts:
        ground.append(facts)


def _mentioned(ground: SessionContext, path: str, lines: Span | None) -> None:
    """Count a mentioned file as shown, as far as hosts are known to add it whole."""
    try:
        found = ground.look(ground.workspace.locate(path).path)
    except (PathRefused, FileMissing, Unverifiable):
        return  # a word with an @ before it need not be a path
    if found.data is None or len(found.data) > MENTION_BYTES:
        return
    if found.data.count(b"\n") >= MENTION_LINES:
        return
    shown(ground, Shown(path, lines, via="mention"))
