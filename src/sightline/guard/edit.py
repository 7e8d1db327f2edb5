"""Edit files: judge under the lock, journal, replace, record; or refuse with the diff."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from os import urandom
from stat import S_ISDIR
from typing import Literal

from msgspec import Struct, structs

from sightline.changes.authors import changed_by
from sightline.changes.session_context import TRIES, Known, SessionContext, believe, load_knowledge
from sightline.errors import EditRefused, StoreConflict, StoreError, Unverifiable
from sightline.filesystem.file_state import FileState, ResolvedPath
from sightline.guard import words
from sightline.guard.clashes import Placing, find_clashes, in_order
from sightline.guard.evaluation import (
    Evaluation,
    claims_on,
    describe,
    forbids,
    outside_scope,
    policy_of,
    resolve_path,
)
from sightline.guard.reads import record
from sightline.guard.refusals import bounded
from sightline.guard.unfinished import locked, take_back
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
from sightline.model.attempts import Attempt, Delete, Move
from sightline.model.belief import first_look, look
from sightline.model.diff import diff
from sightline.model.events import BatchEnded, Belief, Fact, Merged, Refused, Told
from sightline.model.path import quoted
from sightline.model.relocation import Place, Places
from sightline.model.results import Affected, EditResult, FileChange, Notice, WhatChanged
from sightline.model.revision import MISSING
from sightline.model.spans import new_sides, whole
from sightline.model.text import joined
from sightline.sessions.affected import affected
from sightline.sessions.claims import claim_notice

AttemptMode = Literal["write", "judge", "preview"]
"""judge: write nothing, and record what is refused; preview: record nothing either."""


def apply_edit(context: SessionContext, path: str, attempt: Attempt) -> EditResult:
    """Carry out one attempt on one file. The user may approve a protected file. EditRefused,
    PathRefused: the file is as it was."""
    [result] = apply_all(context, [(path, attempt)], ask=True)
    return result


def apply_all(
    context: SessionContext,
    wanted: Sequence[tuple[str, Attempt]],
    renames: Mapping[str, str] | None = None,
    *,
    ask: bool = False,
) -> list[EditResult]:
    """Judge and write as attempt_all does, and return the results. EditRefused for the first that is
    refused, with the others in `others`; PathRefused: the files are as they were. ValueError."""
    done = attempt_all(context, wanted, renames, ask=ask)
    refusals = [each for each in done if isinstance(each, EditRefused)]
    if refusals:
        refusals[0].others = tuple(refusals[1:])
        raise refusals[0]
    return [each for each in done if isinstance(each, EditResult)]


def attempt_all(
    context: SessionContext,
    wanted: Sequence[tuple[str, Attempt]],
    renames: Mapping[str, str] | None = None,
    *,
    bases: Mapping[str, str] | None = None,
    ask: bool = False,
    mode: AttemptMode = "write",
    batch: str | None = None,
) -> list[EditResult | EditRefused]:
    """Judge every attempt, each on a file of its own, and every rename (old -> new name) before the
    first file is written; then write all, or none if one is refused. Return the result or the refusal
    of each attempt, and then of each rename; where one is refused, the other results say what would be
    written. An attempt follows a file that was renamed.

    bases: path -> the revision that the agent says its attempt rests on. ask: ask the user about the
    one protected file; else it is refused. mode: as in AttemptMode. batch: the name of these writes in
    BatchEnded; by default several writes get one of their own. EditRefused for a disk that refuses,
    PathRefused: the files are as they were. ValueError for two attempts on one file."""
    if not wanted and not renames:
        return []
    asked = [resolve_path(context, path) for path, _ in wanted]
    sources = [resolve_path(context, path) for path in renames or {}]
    targets = [resolve_path(context, path) for path in (renames or {}).values()]
    if len({located.path for located in asked}) < len(asked):
        raise ValueError("two changes of one file: give its edits in one change")
    stated, is_preview = bases or {}, mode == "preview"
    current, approved = asked, None
    for _ in range(TRIES):
        with locked(context, *{each.path for each in (*current, *sources, *targets)}):
            removed = {source.path for source in sources}
            removed.update(
                located.path
                for located, (_, attempt) in zip(current, wanted, strict=True)
                if isinstance(attempt, Delete)
            )
            plans = [
                Evaluation(
                    context,
                    located,
                    attempt,
                    stated.get(path),
                    is_preview=is_preview,
                    removed=removed,
                )
                for located, (path, attempt) in zip(current, wanted, strict=True)
            ]
            moving = [
                Evaluation(
                    context, source, Move(target.path), stated.get(path), is_preview=is_preview
                )
                for source, target, path in zip(sources, targets, renames or {}, strict=True)
            ]
            if any(plan.renamed_to for plan in (*plans, *moving)):
                current = [plan.renamed_to or plan.located for plan in plans]
                sources = [plan.renamed_to or plan.located for plan in moving]
                continue
            moves = [Relocation(plan, to.path) for plan, to in zip(moving, targets, strict=True)]
            order, refusals = _refusals(
                plans, moving, targets, list((renames or {}).values()), ask=ask
            )
            if mode != "write" or any(refusals):
                outlook = [*map(_outlook, plans), *_outlook_of_moves(plans, moves)]
                return [
                    refusal or result for refusal, result in zip(refusals, outlook, strict=True)
                ]
            writing = [plan for plan in plans if not plan.is_unchanged]
            waiting = next(
                (plan for plan in writing if plan.protected and plan.diff != approved), None
            )
            if waiting is None:
                ordered = [moves[at] for at in order]
                written = commit(writing, ordered, batch) if writing or moves else []
                if written is None:
                    continue
                results = [
                    _unchanged(plan) if plan.is_unchanged else written.pop(0) for plan in plans
                ]
                results += [written[order.index(at)] for at in range(len(moves))]
                followed = [
                    result if plan.path == was.path else with_move_notice(was.path, result)
                    for was, plan, result in zip(asked, plans, results, strict=False)
                ]
                return [*followed, *results[len(plans) :]]
        approved = _ask_user(context, waiting)
    path = [*(path for path, _ in wanted), *(renames or {})][0]
    raise EditRefused(
        "unverifiable",
        path,
        f"{quoted(path)} was changed by others {TRIES} times while this edit was being made.",
        hint="Try again when the program that writes it has finished.",
    )


def _refusal(plan: Evaluation, *, ask: bool) -> EditRefused | None:
    if plan.is_unchanged:
        return None
    if plan.protected and plan.ruling.decision != "refuse" and not ask:
        plan.ruling = structs.replace(plan.ruling, decision="refuse", reason="scope")
    if plan.ruling.decision == "refuse":
        return plan.refuse()
    return None if plan.repeated is None else plan.refuse_again(plan.repeated)


def _outlook(plan: Evaluation) -> EditResult:
    """Return what an allowed attempt would do."""
    is_merge = plan.ruling.decision == "merge"
    if plan.is_unchanged:
        revision = plan.on_disk.revision
        return EditResult(
            plan.shown_path, revision, merged=False, notice=None, diff="", changed=False
        )
    return EditResult(plan.shown_path, plan.after, is_merge, notice=None, diff=plan.diff)


def _outlook_of_moves(
    plans: Sequence[Evaluation], moves: Sequence[Relocation]
) -> Iterator[EditResult]:
    left = {plan.path: plan.after for plan in plans}
    for each in moves:
        revision = left.get(each.plan.path, each.plan.on_disk.revision)
        yield EditResult(each.target, revision, merged=False, notice=None, diff=each.diff)


def _unchanged(plan: Evaluation) -> EditResult:
    """Record that the agent knows the text that it wrote and the file has already; return the
    result. Another process of the session may have recorded newer knowledge: then that stands."""
    text = plan.case.disk_text
    seen = whole(len(text.lines))
    held = first_look(text.lines, seen)
    record(plan.context, plan.located, plan.on_disk, text, held, "write", plan.known, seen)
    revision = plan.on_disk.revision
    return EditResult(plan.shown_path, revision, merged=False, notice=None, diff="", changed=False)


def _refusals(
    plans: Sequence[Evaluation],
    moving: Sequence[Evaluation],
    targets: Sequence[ResolvedPath],
    names: Sequence[str],
    *,
    ask: bool,
) -> tuple[list[int], list[EditRefused | None]]:
    """Return the order of the moves, and the refusal of each attempt and each move, None for an
    allowed one. targets, names: the new paths of the files in `moving`, as the caller names
    them."""
    placings = [
        Placing(plan, name, to.path) for plan, to, name in zip(moving, targets, names, strict=True)
    ]
    order, circling = in_order(placings)
    gone = {plan.path for plan in plans if plan.after == MISSING}
    gone |= {placings[number].target for number in circling}
    refusals = [_refusal(plan, ask=ask) for plan in plans]
    moves: dict[int, EditRefused | None] = {}
    for number in order:  # a move frees its own path for the next one
        is_free = targets[number].path in gone
        moves[number] = _refused_move(
            moving[number], targets[number], names[number], is_free=is_free
        )
        gone.add(moving[number].path)
    refusals += [moves[number] for number in range(len(moving))]
    for number, said in find_clashes(plans, placings, circling).items():
        if refusals[number] is None:
            plan = [*plans, *moving][number]
            plan.ruling = structs.replace(plan.ruling, decision="refuse", reason="exists")
            error = plan.refuse()
            error.message, error.hint = said
            refusals[number] = error
    return order, refusals


def _refused_move(
    plan: Evaluation, into: ResolvedPath, dst: str, *, is_free: bool
) -> EditRefused | None:
    context, target = plan.context, into.path
    if plan.ruling.decision == "refuse":
        return plan.refuse()
    is_outside = outside_scope(context, into.path)
    if plan.protected or policy_of(context, into) == "ask":
        if is_outside:
            plan.is_outside_scope, plan.shown_path = True, dst
        plan.ruling = structs.replace(plan.ruling, decision="refuse", reason="scope")
        return plan.refuse()
    claims = claims_on(context, target)
    if forbids(context, claims):
        plan.shown_path, plan.claims = dst, claims
        plan.ruling = structs.replace(plan.ruling, decision="refuse", reason="claimed")
        return plan.refuse()
    plan.claims = tuple(dict.fromkeys((*plan.claims, *claims)))
    there = context.workspace.stat(target)
    if is_free or there is None:
        return None
    name = plan.shown_path.rpartition("/")[2]
    plan.shown_path, plan.ruling = dst, structs.replace(plan.ruling, reason="exists")
    error = plan.refuse()
    error.message, error.hint = words.not_free(dst, name, is_folder=S_ISDIR(there.mode))
    return error


class Relocation(Struct, frozen=True):
    """A file of a batch that moves, after its content was written: from the plan's path to `target`."""

    plan: Evaluation
    target: str

    @property
    def diff(self) -> str:
        """Return the move as a line of a diff."""
        return f"rename {quoted(self.plan.path)} => {quoted(self.target)}\n"


def commit(
    plans: Sequence[Evaluation], moves: Sequence[Relocation] = (), batch: str | None = None
) -> list[EditResult] | None:
    """Write the files of these plans and move files, as one journal entry, all or none; return the
    results in order. Files are removed first, then changed, then moved, and new files come last, since a
    file may take the place of a folder, or a folder that of a file. Return None, with every file as
    before, when somebody changed a file after it was judged: judge again. EditRefused (unverifiable)
    when the disk refuses, or when a save by somebody else keeps a file from being set back. The caller
    has the paths `locked`."""
    everyone = [*plans, *(each.plan for each in moves)]
    context = everyone[0].context
    expect = {plan.path: plan.known.position for plan in everyone}
    writes = [planned_write(plan) for plan in plans]
    left = {write.path: write.after for write in writes}
    for each in moves:
        revision = left.get(each.plan.path, each.plan.on_disk.revision)
        writes.append(Write(each.target, MISSING, revision, each.plan.on_disk, src=each.plan.path))
    if batch is None and len(writes) > 1:
        batch = f"b-{urandom(6).hex()}"
    order = sorted(range(len(writes)), key=lambda number: _rank(writes[number]))
    try:
        intents = intend(
            context,
            [writes[number] for number in order],
            unrecorded=[fact for plan in everyone for fact in plan.unrecorded],
            expect=expect,
            batch=batch,
        )
    except StoreConflict:
        return None
    ended: list[tuple[Intent, Outcome]] = []
    for intent in intents:
        [outcome] = carry_out(context, [intent])
        ended.append((intent, outcome))
        if not is_done(intent, outcome):
            _give_up(context, intents, ended, batch)
            if isinstance(outcome, Unverifiable):
                path = everyone[order[len(ended) - 1]].shown_path
                raise EditRefused(
                    "unverifiable", path, outcome.message, hint=outcome.hint
                ) from outcome
            return None
    recorded, unrecorded = _record(context, plans, ended, expect, batch)
    by_number = dict(zip(order, recorded, strict=True))
    positions = [by_number[number] for number in range(len(writes))]
    results = [
        EditResult(
            path=plan.shown_path,
            revision=plan.after,
            merged=plan.ruling.decision == "merge",
            notice=with_claim_notice(plan, notice_of(plan, plan.path, position)),
            diff=plan.diff,
            affected=_affected(plan),
        )
        for plan, position in zip(plans, positions, strict=False)
    ]
    for each, write, position in zip(
        moves, writes[len(plans) :], positions[len(plans) :], strict=True
    ):
        notice = notice_of(each.plan, each.target, position)
        results.append(
            EditResult(
                path=each.target,
                revision=write.after,
                merged=False,
                notice=with_claim_notice(each.plan, notice),
                diff=each.diff,
            )
        )
    if unrecorded:
        results = [_with_text(result, "unrecorded", unrecorded) for result in results]
    return results


def _rank(write: Write) -> int:
    """Return a write's place in the order of its batch: removed, changed, moved, new."""
    if write.src is not None:
        return 2
    return 3 if write.before == MISSING else 1 if write.after != MISSING else 0


def planned_write(plan: Evaluation) -> Write:
    """Return the write that carries out an allowed plan."""
    belief, body = _belief_after(plan, plan.known)
    return Write(
        plan.path,
        plan.on_disk.revision,
        plan.after,
        plan.on_disk,
        plan.ruling.new,
        belief,
        body,
        gives_way=plan.gives_way,
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


def with_claim_notice(plan: Evaluation, notice: Notice | None) -> Notice | None:
    """Add to the notice of a write that other sessions claim the file."""
    if not plan.claims:
        return notice
    return claim_notice(plan.context, plan.shown_path, plan.claims, notice)


def _affected(plan: Evaluation) -> tuple[Affected, ...]:
    """Return the other sessions whose view of the file this write made stale."""
    context = plan.context
    if not context.store.knowers(plan.path).keys() - {context.session}:
        return ()
    return affected(context, plan.path, plan.on_disk.data, plan.ruling.new)


def _record(
    context: SessionContext,
    plans: Sequence[Evaluation],
    ended: Sequence[tuple[Intent, Outcome]],
    expect: dict[str, int],
    batch: str | None,
) -> tuple[list[int], str]:
    """Record that the writes happened; return the positions of these facts. Where the store has no room
    for that, return those of the intents, and why: they have the same, and are settled later."""
    merged: list[Fact] = [
        Merged(plan.path, plan.known.belief.text, plan.on_disk.revision, plan.after)
        for plan in plans
        if plan.ruling.decision == "merge" and plan.known.belief
    ]
    if batch is not None:
        merged.append(BatchEnded(batch, "done"))
    try:
        try:
            recorded = record_ends(context, ended, merged=merged, expect=expect)
        except StoreConflict:  # another process of this session looked at a file meanwhile
            beliefs = {
                plan.path: _belief_after(plan, load_knowledge(context, plan.located), anew=True)
                for plan in plans
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
        return [intent.position for intent, _ in ended], f"{error.message}\n{error.hint}"
    return [entry.position for entry in recorded[: len(ended)]], ""


def _belief_after(
    plan: Evaluation, known: Known, *, anew: bool = False
) -> tuple[Belief, bytes | None]:
    """Return what the agent knows of the file once the plan is carried out, and that text's bytes.
    anew: start from what the agent knows by now instead of the ruling."""
    new, after, text = plan.ruling.new, plan.ruling.after, plan.new_text
    if new is None or text is None or after is None:
        return Belief(MISSING, (), (), 0), None
    disk = plan.case.disk
    if anew and known.held is not None:
        own = new_sides(diff(disk.lines if disk else [], text.lines))
        after = look(known.held, text.lines, own)
    plain = joined(after.lines)
    if disk and text.plain != plain and disk.is_encoded(plain, new):
        # By its characters now, the file would be read as one of another encoding.
        return Belief(plan.after, after.shown, after.held, len(after.lines)), new
    return believe(after, text, new, plan.after)


def _ask_user(context: SessionContext, plan: Evaluation) -> str:
    """Ask the user for approval, with no lock held; return the diff that was approved. The caller
    judges again, and asks again when the diff differs by then. EditRefused (scope)."""
    asked = plan.diff
    if context.approve is not None and context.approve(plan.shown_path, asked):
        return asked
    message, hint = words.refusal(structs.replace(plan.ruling, reason="scope"), plan.shown_path, "")
    if plan.is_outside_scope:
        message, hint = words.outside_scope(plan.shown_path, context.scopes)
    attempt = describe(plan.attempt)
    context.append([Refused(plan.path, attempt, "scope", plan.on_disk.revision)])
    raise EditRefused("scope", plan.shown_path, message, diff=asked, hint=hint)


def notice_of(plan: Evaluation, path: str, position: int) -> Notice | None:
    """Return the notice on changes by others to the file; None where there are none.

    path: where the file is now; position: of the fact that the attempt was carried out.
    """
    ruling, case = plan.ruling, plan.case
    if ruling.decision == "allow":
        return None
    if not ruling.changes and not ruling.endings_only:
        return unseen_notice(plan) if ruling.reason == "unseen" else None
    who, by = changed_by(plan.context, plan.path, plan.unrecorded)
    moved: tuple[Place, ...] = ()
    what: WhatChanged = "endings"
    shown = ruling.changes
    if ruling.endings_only:
        diff_text, text = "", words.endings(plan.shown_path, who)
    else:
        what, moved = "changed", _moved_lines(plan)
        diff_text, shown = bounded(case, ruling.changes)
        text = words.beside(plan.shown_path, who, diff_text, moved)
    told: tuple[Told, ...] = ()
    if set(ruling.changes) <= set(shown):
        told = (Told(path, plan.after, None, position),)
    change = FileChange(
        plan.shown_path,
        ruling.state,
        diff_text,
        text.split("\n")[0],
        by,
        case.sight.belief.text if case.sight.belief else "",
        plan.on_disk.revision,
        what,
        moved_lines=moved,
    )
    return Notice(f"{path}@{position}", text, (change,), told)


def _moved_lines(plan: Evaluation) -> tuple[Place, ...]:
    """Return where lines that were shown stand after the attempt, when others' changes moved
    them."""
    case, text = plan.case, plan.new_text
    if case.held is None or case.base is None or text is None:
        return ()
    if all(b1 - b0 == a1 - a0 for a0, a1, b0, b1 in plan.ruling.changes):
        return ()
    lines = case.base.lines, text.lines
    return tuple(Places(*lines, diff(*lines)).shifted(case.held.shown))


def unseen_notice(plan: Evaluation) -> Notice:
    """Return the notice on a replacement of text that matched, and that the agent was never shown."""
    path = plan.shown_path
    return Notice(f"{path}@unseen", words.unseen(path, plan.ruling.lines), ())


def with_move_notice(renamed_from: str, result: EditResult) -> EditResult:
    """Add to the result of an edit that it followed a rename."""
    return _with_text(result, "moved", words.moved(renamed_from, result.path))


def _with_text(result: EditResult, what: str, text: str) -> EditResult:
    """Add words to the result of an edit, before those of its notice."""
    notice = Notice(f"{result.path}@{what}", text, ())
    if result.notice is not None:
        notice = structs.replace(result.notice, text=f"{text}\n{result.notice.text}")
    return structs.replace(result, notice=notice)
