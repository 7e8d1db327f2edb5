"""Commit a plan: journal the writes, replace the files, record what happened; all of it or nothing."""

from __future__ import annotations

from collections.abc import Sequence
from os import urandom

from msgspec import Struct

from sightline.changes.session_context import Known, SessionContext, believe, load_knowledge
from sightline.errors import EditRefused, StoreConflict, StoreError, Unverifiable, without_calls
from sightline.filesystem.file_state import FileState
from sightline.guard import words
from sightline.guard.evaluation import Evaluation
from sightline.guard.plan import Plan
from sightline.guard.unfinished import take_back
from sightline.guard.write_journal import (
    Intent,
    Outcome,
    Write,
    carry_out,
    intend,
    is_done,
    record_ends,
    take_back_folders,
)
from sightline.model.belief import look
from sightline.model.diff import diff
from sightline.model.events import BatchEnded, Belief, Fact, Merged
from sightline.model.revision import MISSING
from sightline.model.spans import new_sides
from sightline.model.text import joined


class Committed(Struct, frozen=True):
    """Writes that happened. edits, moves: the positions of their facts, in the order of the plan's writes
    and moves. not_recorded: why the store has the intents alone, which are settled later; "" where it has
    recorded the ends."""

    edits: tuple[int, ...]
    moves: tuple[int, ...]
    not_recorded: str = ""


def commit(context: SessionContext, plan: Plan, batch: str | None = None) -> Committed | None:
    """Write and move the files of a plan without refusals, as one journal entry, all or none. Files are removed first, then changed, then moved, and new files come last, since a file may take
    the place of a folder, or a folder that of a file. Return None, with every file as before, when somebody
    changed a file after it was judged: judge again. EditRefused (unverifiable) when the disk refuses, or
    when a save by somebody else keeps a file from being set back. The caller has the paths `locked`.

    batch: the name of these writes in BatchEnded; by default several writes get one of their own."""
    edits = plan.writes
    everyone = [*edits, *(move.source for move in plan.moves)]
    expect = {judged.path: judged.known.position for judged in everyone}
    writes = [planned_write(edit) for edit in edits]
    for number in plan.order:
        move = plan.moves[number]
        writes.append(move.write(plan.revision_to_move(move)))
    if batch is None and len(writes) > 1:
        batch = f"b-{urandom(6).hex()}"
    order = sorted(range(len(writes)), key=lambda number: _rank(writes[number]))
    try:
        intents = intend(
            context,
            [writes[number] for number in order],
            unrecorded=[fact for judged in everyone for fact in judged.unrecorded],
            expect=expect,
            batch=batch,
        )
    except StoreConflict:
        return None
    names = [
        *(edit.shown_path for edit in edits),
        *(plan.moves[at].source.shown_path for at in plan.order),
    ]
    ended: list[tuple[Intent, Outcome]] = []
    for number, intent in zip(order, intents, strict=True):
        [outcome] = carry_out(context, [intent])
        ended.append((intent, outcome))
        if not is_done(intent, outcome):
            _give_up(context, intents, ended, batch)
            if isinstance(outcome, Unverifiable):
                raise EditRefused(
                    "unverifiable", names[number], outcome.message, hint=outcome.next_step
                ) from outcome
            return None
    recorded, why = _record(context, edits, ended, expect, batch)
    positions = dict(zip(order, recorded, strict=True))
    moved = {at: positions[len(edits) + place] for place, at in enumerate(plan.order)}
    return Committed(
        tuple(positions[number] for number in range(len(edits))),
        tuple(moved[at] for at in range(len(plan.moves))),
        why,
    )


def _rank(write: Write) -> int:
    """Return a write's place in the order of its batch: removed, changed, moved, new."""
    if write.src is not None:
        return 2
    return 3 if write.before == MISSING else 1 if write.after != MISSING else 0


def planned_write(judged: Evaluation) -> Write:
    """Return the write that carries out an allowed judged."""
    belief, body = _belief_after(judged, judged.known)
    return Write(
        judged.path,
        judged.on_disk.revision,
        judged.after,
        judged.on_disk,
        judged.ruling.new,
        belief,
        body,
        judged.known.texts,
        gives_way=judged.gives_way,
    )


def _give_up(
    context: SessionContext,
    intents: Sequence[Intent],
    ended: Sequence[tuple[Intent, Outcome]],
    batch: str | None,
) -> None:
    """Set back the files before the last of `ended`, which failed, and record that nothing was
    written. EditRefused where somebody saved over one of them meanwhile, so that it stays."""
    kept: dict[str, str] = {}
    stand: list[tuple[Intent, Outcome]] = []
    take_back_folders(context, ended[-1][0].fact)
    for intent, outcome in reversed(ended[:-1]):
        write, why = intent.write, ""
        old = write.on_disk.data
        if old is None:
            old = context.store.blob(write.before)
        if isinstance(outcome, FileState) and outcome.saved_over:
            why = words.SAVED
        elif old is None and write.before != MISSING:
            why = words.NOT_KEPT
        why = why or take_back(context, intent.fact, intent.fact.after, old)
        if why:
            kept[write.path] = why
            stand.append((intent, outcome))
    names = sorted(kept)
    ends: list[Fact] = []
    if batch is not None:
        ends.append(BatchEnded(batch, "mixed" if kept else "undone", tuple(names)))
    positions = {intent.position for intent, _ in stand}
    never: list[tuple[Intent, Outcome]] = [
        (intent, _as_before(intent.write)) for intent in intents if intent.position not in positions
    ]
    record_ends(context, [*stand, *never], merged=ends, durable=len(ended) > 1)
    if kept:
        message, hint = words.not_set_back(kept)
        raise EditRefused("unverifiable", names[0], message, hint=hint)


def _as_before(write: Write) -> FileState:
    return write.on_disk if write.src is None else FileState(write.path, "missing")


def _record(
    context: SessionContext,
    edits: Sequence[Evaluation],
    ended: Sequence[tuple[Intent, Outcome]],
    expect: dict[str, int],
    batch: str | None,
) -> tuple[list[int], str]:
    """Record that the writes happened; return the positions of these facts. Where the store has no room
    for that, return those of the intents, and why: they have the same, and are settled later."""
    merged: list[Fact] = [
        Merged(edit.path, edit.known.belief.text, edit.on_disk.revision, edit.after)
        for edit in edits
        if edit.ruling.decision == "merge" and edit.known.belief
    ]
    if batch is not None:
        merged.append(BatchEnded(batch, "done"))
    try:
        try:
            recorded = record_ends(context, ended, merged=merged, expect=expect)
        except StoreConflict:  # another process of this session looked at a file meanwhile
            beliefs = {
                edit.path: _belief_after(edit, load_knowledge(context, edit.located), anew=True)
                for edit in edits
            }
            bodies = [
                text for path, (_, body) in beliefs.items() for text in context.keepable(path, body)
            ]
            recorded = record_ends(
                context,
                ended,
                beliefs={path: belief for path, (belief, _) in beliefs.items()},
                merged=merged,
                blobs=bodies,
            )
    except StoreError as error:
        return [intent.position for intent, _ in ended], error.worded(without_calls)
    return [entry.position for entry in recorded[: len(ended)]], ""


def _belief_after(
    judged: Evaluation, known: Known, *, anew: bool = False
) -> tuple[Belief, bytes | None]:
    """Return what the agent knows of the file once the attempt is carried out, and that text's bytes.
    anew: start from what the agent knows by now instead of the ruling."""
    new, after, text = judged.ruling.new, judged.ruling.after, judged.new_text
    if new is None or text is None or after is None:
        return Belief(MISSING, (), (), 0), None
    disk = judged.case.disk
    if anew and known.held is not None:
        own = new_sides(diff(disk.lines if disk else [], text.lines))
        after = look(known.held, text.lines, own)
    plain = joined(after.lines)
    if disk and text.plain != plain and disk.is_encoded(plain, new):
        # By its characters now, the file would be read as one of another encoding.
        return Belief(judged.after, after.shown, after.held, len(after.lines)), new
    return believe(after, text, new, judged.after)
