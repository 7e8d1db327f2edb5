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


def before_change(ground: SessionContext, *paths: str, command: str = "") -> bool:
    """Take the checkpoint of a turn before its first change: paths are the files about to change,
    or command is about to run. Return whether a checkpoint was taken by this call; of several
    calls at once the first takes it. Hold no lock while calling. PathRefused, EditRefused."""
    if ground.settings.checkpoints != "turn" or not ground.checkpoint_due():
        return False
    located = tuple(dict.fromkeys(resolve_path(ground, path).path for path in paths))
    with ground.workspace.lock(f"checkpoint {ground.session}"):
        return ground.checkpoint_due() and _take(ground, words.before(located, command), "turn")


def after_change(ground: SessionContext, *paths: str) -> None:
    """Take a checkpoint after as many edits as the settings say, of files that they count. paths:
    the files that just changed. Hold no lock while calling."""
    if ground.settings.checkpoints != "edits":
        return
    if not any(map(ground.settings.checkpoint_counts, paths)):
        return
    with ground.workspace.lock(f"checkpoint {ground.session}"):
        edited = _edited(ground)
        if len(edited) >= ground.settings.checkpoint_every:
            _take(ground, words.after(tuple(dict.fromkeys(edited))), "edits")


def _edited(ground: SessionContext) -> list[str]:
    """The files of this session's edits that count, since its last checkpoint was tried."""
    tried = [*ground.store.timeline(session=ground.session, kinds=TRIED, newest=1)]
    after = tried[0].position if tried else 0
    facts = [r.fact for r in ground.store.timeline(kinds=EDITS, after=after)]
    return [
        fact.path
        for fact in facts
        if isinstance(fact, (Changed, Moved))
        and is_own(fact.cause, ground.session)
        and ground.settings.checkpoint_counts(fact.path)
    ]


def _take(ground: SessionContext, label: str, why: str) -> bool:
    settings = ground.settings
    # A hook has `deadline_s` for all it does, and the change itself needs the better part of it.
    until = monotonic() + min(settings.checkpoint_auto_ms / 1_000, settings.deadline_s / 2)
    try:
        take.take(ground, label, durable=False, why=why, until=until)
    except CheckpointFailed as error:
        ground.missed = words.missed(error.message, error.hint)
        _record(ground, CheckpointMissed(label, why, error.message))
        return False
    return True


def _record(ground: SessionContext, missed: CheckpointMissed) -> None:
    """So that it is tried once in a turn. A store that takes nothing does not take this either:
    then what was missed is said all the same, and tried again."""
    try:
        ground.append([missed])
    except StoreError as error:
        ground.missed = f"{ground.missed} {error.message}"
