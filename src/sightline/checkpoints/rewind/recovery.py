"""Finish rewinds whose process died, when their session goes on.

The newest rewind of a session is carried out again, to the same target. What the session and
others did after that rewind began stays, because nobody can be asked about it.
"""

from __future__ import annotations

from time import monotonic

from msgspec import structs

from sightline.changes.command_folders import Folders
from sightline.changes.session_context import SessionContext, warning
from sightline.checkpoints import take
from sightline.checkpoints.rewind import rewinder, words
from sightline.checkpoints.rewind.apply import apply_undo, undo_folders
from sightline.checkpoints.rewind.effects import Target
from sightline.checkpoints.rewind.interrupted import argument_of, fact_of, unfinished_rewinds
from sightline.checkpoints.rewind.planning import forced_state, plan_groups, resolve_target
from sightline.checkpoints.rewind.undo_plan import CurrentState, UndoPlan
from sightline.checkpoints.take import REWIND
from sightline.errors import Hint, SightlineError, joined_hints
from sightline.model.events import CheckpointTaken
from sightline.model.revision import MISSING
from sightline.model.session_ids import NOBODY
from sightline.model.timeline import Recorded


def finish(context: SessionContext, until: float | None = None, *, own: bool = False) -> Hint:
    """Finish the rewind of this session, or of all sessions, that a dead process began, or (own) the one of
    this session that this process began; return the result in words, none where there is no rewind. until: a
    time.monotonic() after which no further group is undone. Where time is up, or the disk or the store
    fails, the rewind stays unfinished, and the words say so."""
    done: list[Hint] = []
    for started in unfinished_rewinds(context, own=own):
        is_ours = started.session == context.session
        if not is_ours and (started.session != NOBODY or fact_of(started).owner == context.owner):
            continue
        its = context if is_ours else context.for_session(NOBODY)
        try:
            done.append(_finish(its, started, until))
        except SightlineError as error:
            done.append(words.not_finished(argument_of(started), its.session, error.message))
    return joined_hints(done)


def _finish(context: SessionContext, started: Recorded, until: float | None) -> Hint:
    fact, name = fact_of(started), argument_of(started)
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
    return Hint(text)


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
    before = take.load_manifest(context, safety) if fact_of(started).forced else {}
    return {
        path: forced_state(context, target, path)
        for path in fact_of(started).forced
        if context.look(path).content == (before[path].content if path in before else MISSING)
    }
