"""Checkpoints that nobody asks for: before a turn's first change, or after edits.

They are bounded in time, and lean on the sync of the fact that comes next. One that cannot be
kept holds nothing up: it is put on the timeline, and said by whoever was asked for the change.
"""

from __future__ import annotations

from time import monotonic

from sightline.changes.session_context import SessionContext
from sightline.checkpoints import take, words
from sightline.checkpoints.rewind.effects import is_own
from sightline.errors import CheckpointFailed, StoreError
from sightline.guard.evaluation import resolve_path
from sightline.model.events import Changed, CheckpointMissed, CheckpointTaken, Fact, Moved

TRIED: list[type[Fact]] = [CheckpointTaken, CheckpointMissed]
EDITS: list[type[Fact]] = [Changed, Moved]


def before_change(context: SessionContext, *paths: str, command: str = "") -> bool:
    """Take the checkpoint of a turn before its first change: paths are the files about to change,
    or command is about to run. Return whether a checkpoint was taken by this call; of several
    calls at once the first takes it. Hold no lock while calling. PathRefused, EditRefused."""
    if context.settings.checkpoints != "turn" or not context.checkpoint_due():
        return False
    located = tuple(dict.fromkeys(resolve_path(context, path).path for path in paths))
    with context.workspace.lock(f"checkpoint {context.session}"):
        return context.checkpoint_due() and _take(context, words.before(located, command), "turn")


def after_change(context: SessionContext, *paths: str) -> None:
    """Take a checkpoint after as many edits as the settings say, of files that they count. paths:
    the files that just changed. Hold no lock while calling."""
    if context.settings.checkpoints != "edits":
        return
    if not any(map(context.settings.checkpoint_counts, paths)):
        return
    with context.workspace.lock(f"checkpoint {context.session}"):
        edited = _edited(context)
        if len(edited) >= context.settings.checkpoint_every:
            _take(context, words.after(tuple(dict.fromkeys(edited))), "edits")


def _edited(context: SessionContext) -> list[str]:
    """The files of this session's edits that count, since its last checkpoint was tried."""
    tried = [*context.store.timeline(session=context.session, kinds=TRIED, newest=1)]
    after = tried[0].position if tried else 0
    facts = [r.fact for r in context.store.timeline(kinds=EDITS, after=after)]
    return [
        fact.path
        for fact in facts
        if isinstance(fact, (Changed, Moved))
        and is_own(fact.cause, context.session)
        and context.settings.checkpoint_counts(fact.path)
    ]


def _take(context: SessionContext, label: str, why: str) -> bool:
    settings = context.settings
    # A hook has `deadline_s` for all it does, and the change itself needs the better part of it.
    until = monotonic() + min(settings.checkpoint_auto_ms / 1_000, settings.deadline_s / 2)
    try:
        take.take(context, label, durable=False, why=why, until=until)
    except CheckpointFailed as error:
        context.missed = words.missed(error.message, error.hint)
        _record(context, CheckpointMissed(label, why, error.message))
        return False
    return True


def _record(context: SessionContext, missed: CheckpointMissed) -> None:
    """So that it is tried once in a turn. A store that takes nothing does not take this either:
    then what was missed is said all the same, and tried again."""
    try:
        context.append([missed])
    except StoreError as error:
        context.missed = f"{context.missed} {error.message}"
