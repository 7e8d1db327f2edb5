"""Warnings: what an agent has to mind until somebody says that it was seen to.

A warning is a fact, and so it is there after a restart. Its agent is told once, with the next
prompt; people see it until it is acknowledged. It falls with its session when that is deleted.
"""

from __future__ import annotations

from collections.abc import Iterable
from os import urandom

from sightline.changes.authors import moment
from sightline.changes.session_context import SessionContext
from sightline.errors import UnknownName
from sightline.model.events import (
    Delivered,
    Fact,
    NoticeDelivered,
    RewindEnded,
    SessionEnded,
    SessionForked,
    WarningAcknowledged,
    WarningRaised,
)
from sightline.model.results import FileWarning
from sightline.model.timeline import Recorded, branch
from sightline.notices import words
from sightline.notices.delivered import PART as HANDED
from sightline.sessions.lifecycle import DELETED

TEXT_MAX = 2_000
"""Characters of one warning: it has to fit beside a notice into what a host hands its agent."""

ID = "w-"
PART = "warning"


def warn(context: SessionContext, text: str, paths: str | Iterable[str] = ()) -> FileWarning:
    """Raise a warning about files. PathRefused; ValueError for no words, or too many."""
    said = text.strip()
    if not 0 < len(said) <= TEXT_MAX:
        raise ValueError(f"a warning has 1 to {TEXT_MAX} characters, not {len(said)}")
    named = [paths] if isinstance(paths, str) else list(paths)
    located = [context.workspace.locate(path).path for path in named]
    [raised] = context.append([fact_of(said, located)])
    return warning_of(raised)


def fact_of(text: str, paths: Iterable[str]) -> WarningRaised:
    """A warning that is to be recorded together with something else."""
    return WarningRaised(f"{ID}{urandom(4).hex()}", text, tuple(dict.fromkeys(paths)))


def pending(context: SessionContext, session: str | None = None) -> list[FileWarning]:
    """The warnings that nobody acknowledged yet, oldest first: of all sessions, or of one."""
    raised = list(context.store.timeline(session=session, kinds=[WarningRaised]))
    if not raised:
        return []
    after = raised[0].position
    kinds: list[type[Fact]] = [WarningAcknowledged, SessionEnded]
    settled: dict[str, int] = {}
    for each in context.store.timeline(after=after, kinds=kinds):
        if isinstance(each.fact, WarningAcknowledged):
            settled[each.fact.warning] = each.position
        elif isinstance(each.fact, SessionEnded) and each.fact.reason == DELETED:
            gone = [warning_of(r).id for r in raised if _within(r, each)]
            settled |= dict.fromkeys(gone, each.position)
    found = (warning_of(each) for each in raised)
    return [each for each in found if each.id not in settled]


def _within(raised: Recorded, ended: Recorded) -> bool:
    return raised.session == ended.session and raised.position < ended.position


def warning_of(raised: Recorded) -> FileWarning:
    """A warning as it was recorded."""
    fact = raised.fact
    assert isinstance(fact, WarningRaised)
    at = moment(raised.happened_at)
    return FileWarning(fact.warning, fact.text, fact.paths, raised.session, at)


def acknowledge(context: SessionContext, name: str) -> bool:
    """Say that the warning of an id was seen to, whichever session's it is; False where it is the
    id of something else. Said twice it is no other. UnknownName."""
    if not name.startswith(ID) or "@" in name:  # the ids of notices are made of paths
        return False
    if any(each.id == name for each in pending(context)):
        context.append([WarningAcknowledged(name)])
    elif not any(
        warning_of(each).id == name for each in context.store.timeline(kinds=[WarningRaised])
    ):
        raise UnknownName(*words.unknown(name))
    return True


def tell(context: SessionContext) -> str:
    """The words for the agent on what it was not warned of yet, recorded as handed to its host."""
    new = fresh(context)
    said = words.for_agent(new)
    if not said:
        return ""
    hand(context, [(PART, each.id) for each in new[: len(said)]])
    return "\n".join(said)


def hand(context: SessionContext, parts: Iterable[tuple[str, str]]) -> None:
    """Record that parts of a briefing, each with its digest, were handed to the agent's host."""
    context.append([NoticeDelivered(f"{HANDED}{part}:{digest}", ()) for part, digest in parts])


def fresh(context: SessionContext) -> list[FileWarning]:
    """What this session's agent was not warned of yet, oldest first."""
    told = delivered(context, PART)
    return [each for each in pending(context, context.session) if each.id not in told]


def arrived(context: SessionContext, handed: Iterable[Recorded]) -> None:
    """What was handed over is with the agent: from here on it counts as told. What a rewind took
    out of the conversation again is not."""
    names = [
        each.fact.notice.removeprefix(HANDED).partition(":")
        for each in _remembered(context, handed)
        if isinstance(each.fact, NoticeDelivered) and each.fact.notice.startswith(HANDED)
    ]
    if names:
        deliver(context, [(part, digest) for part, _, digest in names])


def deliver(context: SessionContext, parts: Iterable[tuple[str, str]]) -> None:
    """Record that parts of a briefing, each with its digest, are with the agent."""
    known: dict[str, set[str]] = {}
    new: list[Fact] = []
    for part, digest in dict.fromkeys(parts):
        if part not in known:
            known[part] = delivered(context, part)
        if digest not in known[part]:
            new.append(Delivered(part, digest))
    if new:
        context.append(new)


def delivered(context: SessionContext, part: str) -> set[str]:
    """The digests of what of a part is in the conversation; of warnings, their ids."""
    found = context.store.timeline(session=context.session, kinds=[Delivered])
    facts = [each.fact for each in _remembered(context, found)]
    return {fact.digest for fact in facts if isinstance(fact, Delivered) and fact.part == part}


def _remembered(context: SessionContext, found: Iterable[Recorded]) -> list[Recorded]:
    """Those of a session's facts that no rewind of its conversation went behind."""

    def turns_of(session: str) -> list[Recorded]:
        return list(context.store.timeline(session=session, kinds=[SessionForked, RewindEnded]))

    facts = list(found)
    stretches = branch(context.session, context.store.position(), turns_of) if facts else ()
    return [
        each
        for each in facts
        if any(s.session == each.session and s.after < each.position <= s.upto for s in stretches)
    ]
