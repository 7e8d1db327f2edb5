"""Finish rewinds whose process died, when their session goes on.

The newest rewind of a session is carried out again, to the same target. What the session and
others did after that rewind began stays, because nobody can be asked about it.
"""

from __future__ import annotations

from datetime import datetime
from time import monotonic

from msgspec import Struct, structs

from sightline.changes.authors import moment
from sightline.changes.command_folders import Folders
from sightline.changes.session_context import SessionContext, warning
from sightline.checkpoints import take
from sightline.checkpoints.rewind import rewinder, words
from sightline.checkpoints.rewind.apply import apply_undo, undo_folders
from sightline.checkpoints.rewind.effects import Target
from sightline.checkpoints.rewind.planning import forced_state, plan_groups, resolve_target
from sightline.checkpoints.rewind.undo_plan import CurrentState, UndoPlan
from sightline.checkpoints.take import REWIND
from sightline.errors import SightlineError
from sightline.guard.unfinished import unfinished_rewinds
from sightline.model.events import CheckpointTaken, RewindStarted
from sightline.model.revision import MISSING
from sightline.model.timeline import NOBODY, Recorded


class Unfinished(Struct, frozen=True):
    """A rewind that was not finished. to: its target as rewind() takes it; at: the time when it
    began, an aware UTC datetime."""

    session: str
    to: str
    at: datetime


def listed(context: SessionContext, session: str | None = None) -> list[Unfinished]:
    """List the unfinished rewinds of all sessions, or of one, oldest first; without those whose
    process is alive."""
    return [
        Unfinished(each.session, _argument(each), moment(each.happened_at))
        for each in unfinished_rewinds(context, session)
    ]


def finish(context: SessionContext, until: float | None = None, *, own: bool = False) -> str:
    """Finish the rewind of this session, or of all sessions, that a dead process began, or (own) the one of
    this session that this process began; return the result in words, "" where there is none. until: a
    time.monotonic() after which no further group is undone. Where time is up, or the disk or the store
    fails, the rewind stays unfinished, and the words say so."""
    done: list[str] = []
    for started in unfinished_rewinds(context, own=own):
        is_ours = started.session == context.session
        if not is_ours and (started.session != NOBODY or _fact(started).owner == context.owner):
            continue
        its = context if is_ours else context.for_session(NOBODY)
        try:
            done.append(_finish(its, started, until))
        except SightlineError as error:
            done.append(words.not_finished(_argument(started), its.session, error.message))
    return "\n".join(done)


def _finish(context: SessionContext, started: Recorded, until: float | None) -> str:
    fact, name = _fact(started), _argument(started)
    to = resolve_target(context, int(name) if name.isdecimal() else name, everyone=fact.everyone)
    target = structs.replace(
        to,
        upto=started.position,
        commands=fact.commands,
        everyone=fact.everyone,
        only=fact.only,
    )
    forced = _still_forced(context, target, started)
    plans = plan_groups(context, target, forced) if fact.with_files else []
    undone: list[UndoPlan] = []
    for each in apply_undo(context, target, plans):
        undone.append(each)
        if until is not None and monotonic() > until and len(undone) < len(plans):
            return words.not_finished(name, context.session, words.NO_TIME)
    folders = undo_folders(context, target) if fact.with_files else Folders()
    skipped = [each for plan in undone for each in plan.skipped]
    refused = [each for each in skipped if each.reason == "refused"]
    if refused:
        return words.not_finished(name, context.session, refused[0].other or "")
    changed = [path for path in fact.forced if path not in forced]
    paths = list(dict.fromkeys([*[each.path for each in skipped], *changed]))
    text = words.finished(name, sum(1 for plan in undone if plan.steps), paths)
    warned = warning(text, paths)
    rewinder.end(context, target, folders, conversation=fact.conversation, warned=warned)
    return text


def _still_forced(
    context: SessionContext, target: Target, started: Recorded
) -> dict[str, CurrentState]:
    """Return the states to force: at the forced paths whose files are still as in the safety
    checkpoint."""
    taken = context.store.timeline(
        session=context.session, kinds=[CheckpointTaken], upto=started.position, newest=1
    )
    safety = next((each.fact for each in taken), None)
    if not isinstance(safety, CheckpointTaken) or safety.why != REWIND:
        return {}
    before = take.load_manifest(context, safety) if _fact(started).forced else {}
    return {
        path: forced_state(context, target, path)
        for path in _fact(started).forced
        if context.look(path).content == (before[path].content if path in before else MISSING)
    }


def _fact(started: Recorded) -> RewindStarted:
    assert isinstance(started.fact, RewindStarted)
    return started.fact


def _argument(started: Recorded) -> str:
    fact = _fact(started)
    return words.argument(fact.checkpoint, fact.to)
