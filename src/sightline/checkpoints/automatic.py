"""Take checkpoints automatically: before a turn's first change, or after edits.

They are bounded in time, and get to the platter with the next durable fact. One that cannot be
taken stops nothing: it is recorded as missed, and the answer to the change says so.
"""

from __future__ import annotations

from time import monotonic

from sightline.changes.session_context import SessionContext
from sightline.checkpoints import take, words
from sightline.checkpoints.rewind.effects import EFFECTS, is_own
from sightline.errors import CheckpointFailed, Hint, StoreError
from sightline.guard.evaluation import resolve_path
from sightline.model.events import Changed, CheckpointMissed, CheckpointTaken, Moved


def before_change(context: SessionContext, *paths: str, by: str = words.A_COMMAND) -> bool:
    """Take the checkpoint of a turn before its first change: paths are the files about to change,
    none where a command or a tool is about to run, whose kind is `by`. Return whether a checkpoint was taken by this call; of several
    calls at once the first takes it. Hold no lock while calling. PathRefused, EditRefused."""
    if context.settings.checkpoints != "turn" or not context.checkpoint_due():
        return False
    located = tuple(dict.fromkeys(resolve_path(context, path).path for path in paths))
    with context.workspace.lock(f"checkpoint {context.session}"):
        if not context.checkpoint_due():
            return False
        return _take(context, words.before(located, by), "turn") is not None


def before_batch(context: SessionContext, label: str) -> str | None:
    """Take a checkpoint before several files change together; return its id. None where the settings
    turn automatic checkpoints off, and where it failed. Hold no lock while calling."""
    if context.settings.checkpoints == "off":
        return None
    with context.workspace.lock(f"checkpoint {context.session}"):
        return _take(context, label, "turn")


def after_change(context: SessionContext, *paths: str) -> None:
    """Take a checkpoint after as many edits as the settings say, of files that they count. paths:
    the files that just changed. Hold no lock while calling."""
    settings = context.settings
    if settings.checkpoints != "edits" or not any(map(settings.checkpoint_counts, paths)):
        return
    with context.workspace.lock(f"checkpoint {context.session}"):
        edited = _edited_since_last(context)
        if len(edited) >= settings.checkpoint_every:
            _take(context, words.after(tuple(dict.fromkeys(edited))), "edits")


def _edited_since_last(context: SessionContext) -> list[str]:
    """List the counted edits of this session since it last tried to take a checkpoint, by path."""
    tried = context.store.timeline(
        session=context.session, kinds=[CheckpointTaken, CheckpointMissed], newest=1
    )
    after = next((each.position for each in tried), 0)
    facts = [each.fact for each in context.store.timeline(kinds=EFFECTS, after=after)]
    return [
        fact.path
        for fact in facts
        if isinstance(fact, (Changed, Moved))
        and is_own(fact.cause, context.session)
        and context.settings.checkpoint_counts(fact.path)
    ]


def _take(context: SessionContext, label: str, why: str) -> str | None:
    settings = context.settings
    # A hook has deadline_s for everything, and the change itself needs the better part of it.
    until = monotonic() + min(settings.checkpoint_auto_ms / 1_000, settings.deadline_s / 2)
    try:
        taken = take.record(context, label, durable=False, why=why, until=until)
    except CheckpointFailed as error:
        context.missed = words.missed(error.message, error.next_step)
        try:
            # Recorded so that a turn tries only once.
            context.append([CheckpointMissed(label, why, error.message)])
        except StoreError as store_error:
            context.missed = Hint(context.missed, " ", store_error.message)
        return None
    return taken.fact.checkpoint
