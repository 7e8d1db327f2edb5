"""Rewinds whose process died in the middle: finished when their session goes on.

A session's newest rewind is carried out again, to the same place. What the session did after that
rewind began stands, and so does all that others did: nobody was there to be asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from time import monotonic

from msgspec import Struct

from sightline.changes.authors import moment
from sightline.changes.session_context import SessionContext
from sightline.checkpoints.rewind import apply, effects, rewinder, words
from sightline.checkpoints.rewind.effects import Target
from sightline.checkpoints.rewind.prior_state import of_entry
from sightline.checkpoints.rewind.undo_plan import Skipped, UndoPlan
from sightline.errors import SightlineError
from sightline.guard.write_journal import unfinished_rewinds
from sightline.model.events import CheckpointTaken, RewindStarted
from sightline.model.manifest import EMPTY
from sightline.model.revision import MISSING
from sightline.model.timeline import Recorded
from sightline.notices import warnings

REWIND = "rewind"
"""Why a checkpoint was taken: before one."""


class Unfinished(Struct, frozen=True):
    """A rewind that nobody finished yet. to: where it leads, as it is asked for; at: when it was
    begun, an aware UTC datetime."""

    session: str
    to: str
    at: datetime


def listed(ground: SessionContext, session: str | None = None) -> list[Unfinished]:
    """Those of all sessions, or of one, oldest first; none whose process is there."""
    return [
        Unfinished(each.session, _name(each), moment(each.happened_at))
        for each in unfinished_rewinds(ground, session)
    ]


def finish(ground: SessionContext, until: float | None = None) -> str:
    """Finish the rewind of this session that a dead process began; what came of it, in words, ""
    where there is none. until: by time.monotonic(); what there is no time for is left to the next.
    Where the disk or the store refuses, it is not finished, and the words say so."""
    found = unfinished_rewinds(ground, ground.session)
    if not found:
        return ""
    try:
        return _finish(ground, found[-1], until)
    except SightlineError as error:
        return words.not_finished(_name(found[-1]), ground.session, error.message)


def _finish(ground: SessionContext, begun: Recorded, until: float | None) -> str:
    fact, name = _fact(begun), _name(begun)
    to = rewinder.target_of(ground, int(name) if name.isdecimal() else name)
    target = Target(to.position, to.name, to.manifest, upto=begun.position)
    groups = effects.effects(ground, target) if fact.with_files else []
    done: list[UndoPlan] = []
    for each in apply.apply_undo(ground, target, groups):
        done.append(each)
        if until is not None and monotonic() > until and len(done) < len(groups):
            return words.not_finished(name, ground.session, words.NO_TIME)
    done = rewinder.with_forced(done, [*_forced(ground, target, begun, fact)])
    left = [each for plan in done for each in plan.left]
    refused = [each for each in left if each.why == "refused"]
    if refused:
        return words.not_finished(name, ground.session, refused[0].other or "")
    return _end(ground, target, fact, sum(1 for plan in done if plan.steps), left)


def _fact(begun: Recorded) -> RewindStarted:
    assert isinstance(begun.fact, RewindStarted)
    return begun.fact


def _name(begun: Recorded) -> str:
    return rewinder.typed(_fact(begun).checkpoint, _fact(begun).to)


def _end(
    ground: SessionContext, target: Target, fact: RewindStarted, files: int, left: list[Skipped]
) -> str:
    """Its end is one step with what its agent has to know of it."""
    name = rewinder.typed(target.name, target.position)
    said = words.finished(name, files, [each.path for each in left])
    warned = warnings.fact_of(said, [each.path for each in left])
    rewinder.end(ground, target, conversation=fact.conversation, warned=warned)
    return said


def _forced(
    ground: SessionContext, target: Target, begun: Recorded, fact: RewindStarted
) -> Iterator[UndoPlan]:
    """The paths that were forced, as far as they stand as they did when that was asked for."""
    saved = ground.store.timeline(
        session=ground.session, kinds=[CheckpointTaken], upto=begun.position, newest=1
    )
    safety = [each.fact for each in saved if isinstance(each.fact, CheckpointTaken)]
    if not fact.forced or not safety or safety[0].why != REWIND:
        return
    then = rewinder.target_of(ground, safety[0].checkpoint).manifest or EMPTY
    for path in fact.forced:
        was = of_entry(then[path]) if path in then else MISSING
        if effects.look(ground, path)[0].revision == was:
            yield rewinder.forced(ground, target, path)
        else:
            yield UndoPlan(left=(Skipped(path, "edited_since"),))
