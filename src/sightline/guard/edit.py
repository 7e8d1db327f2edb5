"""Edit files: judge every attempt under the locks, plan the writes as a value, and commit the plan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from stat import S_ISDIR
from typing import Literal

from msgspec import Struct, structs

from sightline.changes.authors import changed_by
from sightline.changes.session_context import TRIES, SessionContext
from sightline.errors import EditRefused
from sightline.filesystem.file_state import ResolvedPath
from sightline.guard import words
from sightline.guard.commit import Committed, commit
from sightline.guard.evaluation import (
    Evaluation,
    claim_words,
    claims_on,
    describe,
    evaluate,
    forbids,
    policy_of,
    refusal,
    refuse,
    resolve_path,
    scope_words,
)
from sightline.guard.plan import Plan, Relocation, Target, make_plan
from sightline.guard.reads import record
from sightline.guard.refusals import bounded
from sightline.guard.unfinished import locked
from sightline.model.active_claims import Claim
from sightline.model.attempts import Attempt, Delete, Move
from sightline.model.belief import first_look
from sightline.model.diff import diff
from sightline.model.events import Refused, Told
from sightline.model.path import quoted
from sightline.model.relocation import Place, Places
from sightline.model.results import EditResult, FileChange, Notice, WhatChanged
from sightline.model.spans import whole
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
    asked = _resolved(context, wanted, renames or {}, bases or {})
    request, approved = asked, None
    for _ in range(TRIES):
        with locked(context, *request.paths):
            edits, moves = _judged(context, request)
            if any(judged.renamed_to for judged in (*edits, *(move.source for move in moves))):
                request = request.followed(edits, moves)
                continue
            plan = make_plan(edits, moves, ask=ask)
            if mode != "write" or any(plan.refused):
                return _without_writing(context, plan, is_preview=mode == "preview")
            waiting = plan.to_approve(approved)
            if waiting is None:
                committed = commit(context, plan, batch)
                if committed is None:
                    continue
                return [*_results(context, plan, committed, asked)]
        approved = _ask_user(context, waiting)
    path = [*(path for path, _ in wanted), *(renames or {})][0]
    raise EditRefused(
        "unverifiable",
        path,
        f"{quoted(path)} was changed by others {TRIES} times while this edit was being made.",
        hint="Try again when the program that writes it has finished.",
    )


class Request(Struct, frozen=True):
    """Attempts and moves, before they are judged. edits: the file, the attempt, and the revision that the
    agent says the attempt rests on; moves: the file, its new path, the new path as the caller names it,
    and the revision."""

    edits: tuple[tuple[ResolvedPath, Attempt, str | None], ...]
    moves: tuple[tuple[ResolvedPath, ResolvedPath, str, str | None], ...]

    @property
    def paths(self) -> set[str]:
        """The canonical paths that are read or written."""
        moving = {each.path for source, target, *_ in self.moves for each in (source, target)}
        return moving | {located.path for located, *_ in self.edits}

    def followed(self, edits: Sequence[Evaluation], moves: Sequence[Relocation]) -> Request:
        """Return the request on the files where they are now, once others renamed them."""
        return Request(
            tuple(
                (judged.renamed_to or judged.located, attempt, base)
                for judged, (_, attempt, base) in zip(edits, self.edits, strict=True)
            ),
            tuple(
                (move.source.renamed_to or move.source.located, target, name, base)
                for move, (_, target, name, base) in zip(moves, self.moves, strict=True)
            ),
        )


def _resolved(
    context: SessionContext,
    wanted: Sequence[tuple[str, Attempt]],
    renames: Mapping[str, str],
    bases: Mapping[str, str],
) -> Request:
    edits = [(resolve_path(context, path), attempt, bases.get(path)) for path, attempt in wanted]
    if len({located.path for located, *_ in edits}) < len(edits):
        raise ValueError("two changes of one file: give its edits in one change")
    sources = {path: resolve_path(context, path) for path in renames}
    moves = [
        (sources[path], resolve_path(context, name), name, bases.get(path))
        for path, name in renames.items()
    ]
    return Request(tuple(edits), tuple(moves))


def _judged(context: SessionContext, request: Request) -> tuple[list[Evaluation], list[Relocation]]:
    """Judge each attempt and each move by itself. The caller has the paths `locked`."""
    removed = {source.path for source, *_ in request.moves}
    removed |= {
        located.path for located, attempt, _ in request.edits if isinstance(attempt, Delete)
    }
    edits = [
        evaluate(context, located, attempt, base, removed=removed)
        for located, attempt, base in request.edits
    ]
    return edits, [relocation(context, *move) for move in request.moves]


def relocation(
    context: SessionContext,
    source: ResolvedPath,
    target: ResolvedPath,
    name: str,
    base: str | None = None,
) -> Relocation:
    """Judge a move. The caller has both paths `locked`. name: the new path as the caller names it; base: as in evaluate."""
    judged = evaluate(context, source, Move(target.path), base)
    return Relocation(judged, _target(context, target, name))


def _target(context: SessionContext, located: ResolvedPath, name: str) -> Target:
    path, claims = located.path, claims_on(context, located.path)
    there = context.workspace.stat(path)
    return Target(
        path,
        name,
        policy_of(context, located) == "ask",
        scope_words(context, path, name),
        claim_words(context, name, claims) if forbids(context, claims) else None,
        claims,
        "nothing" if there is None else "folder" if S_ISDIR(there.mode) else "file",
    )


def _without_writing(
    context: SessionContext, plan: Plan, *, is_preview: bool
) -> list[EditResult | EditRefused]:
    """Return the refusals, and what the allowed attempts and moves would leave. Record the refusals,
    unless this is a preview."""
    outlook = [_outlook(edit) for edit in plan.edits]
    outlook += [
        EditResult(
            move.target.path, plan.revision_to_move(move), merged=False, notice=None, diff=move.diff
        )
        for move in plan.moves
    ]
    word = refusal if is_preview else refuse
    return [
        result if refused is None else word(context, refused)
        for refused, result in zip(plan.refused, outlook, strict=True)
    ]


def _outlook(edit: Evaluation) -> EditResult:
    """Return what an allowed attempt would leave."""
    if edit.is_unchanged:
        return _same(edit)
    is_merge = edit.ruling.decision == "merge"
    return EditResult(edit.shown_path, edit.after, is_merge, notice=None, diff=edit.diff)


def _same(edit: Evaluation) -> EditResult:
    return EditResult(
        edit.shown_path, edit.on_disk.revision, merged=False, notice=None, diff="", changed=False
    )


def _results(
    context: SessionContext, plan: Plan, committed: Committed, asked: Request
) -> Iterator[EditResult]:
    """Yield the result of each edit and each move of a plan that was carried out. asked: the files as the
    caller named them, before renames by others were followed."""
    positions = iter(committed.edits)
    for edit, (named, *_) in zip(plan.edits, asked.edits, strict=True):
        if edit.is_unchanged:
            result = _unchanged(context, edit)
        else:
            notice = notice_of(context, edit, edit.path, next(positions))
            result = EditResult(
                path=edit.shown_path,
                revision=edit.after,
                merged=edit.ruling.decision == "merge",
                notice=_with_claims(context, edit, edit.claims, notice),
                diff=edit.diff,
                affected=affected(context, edit.path, edit.on_disk.data, edit.ruling.new),
            )
            result = _with_recorded(result, committed)
        yield result if edit.path == named.path else with_move_notice(named.path, result)
    for move, position in zip(plan.moves, committed.moves, strict=True):
        notice = notice_of(context, move.source, move.target.path, position)
        result = EditResult(
            path=move.target.path,
            revision=plan.revision_to_move(move),
            merged=False,
            notice=_with_claims(context, move.source, move.claims, notice),
            diff=move.diff,
        )
        yield _with_recorded(result, committed)


def _with_recorded(result: EditResult, committed: Committed) -> EditResult:
    """Add to a result that the store has not recorded the end of the write, where that is so."""
    why = committed.not_recorded
    return _with_text(result, "unrecorded", why) if why else result


def _with_claims(
    context: SessionContext, judged: Evaluation, claims: tuple[Claim, ...], notice: Notice | None
) -> Notice | None:
    """Add to the notice of a write that other sessions claim the file."""
    return claim_notice(context, judged.shown_path, claims, notice) if claims else notice


def _unchanged(context: SessionContext, edit: Evaluation) -> EditResult:
    """Record that the agent knows the text that it wrote and the file has already; return the
    result. Another process of the session may have recorded newer knowledge: then that stands."""
    text = edit.case.disk_text
    seen = whole(len(text.lines))
    held = first_look(text.lines, seen)
    record(context, edit.located, edit.on_disk, text, held, "write", edit.known, seen)
    return _same(edit)


def _ask_user(context: SessionContext, edit: Evaluation) -> str:
    """Ask the user for approval, with no lock held; return the diff that was approved. The caller
    judges again, and asks again when the diff differs by then. EditRefused (scope)."""
    asked = edit.diff
    if context.approve is not None and context.approve(edit.shown_path, asked):
        return asked
    message, hint = edit.outside_scope or words.refusal(
        structs.replace(edit.ruling, reason="scope"), edit.shown_path, ""
    )
    attempt = describe(edit.attempt)
    context.append([Refused(edit.path, attempt, "scope", edit.on_disk.revision)])
    raise EditRefused("scope", edit.shown_path, message, diff=asked, hint=hint)


def notice_of(
    context: SessionContext, judged: Evaluation, path: str, position: int
) -> Notice | None:
    """Return the notice on changes by others to the file; None where there are none.

    path: where the file is now; position: of the fact that the attempt was carried out.
    """
    ruling, case = judged.ruling, judged.case
    if ruling.decision == "allow":
        return None
    if not ruling.changes and not ruling.endings_only:
        return unseen_notice(judged) if ruling.reason == "unseen" else None
    who, by = changed_by(context, judged.path, judged.unrecorded)
    moved: tuple[Place, ...] = ()
    what: WhatChanged = "endings"
    shown = ruling.changes
    if ruling.endings_only:
        diff_text, text = "", words.endings(judged.shown_path, who)
    else:
        what, moved = "changed", _moved_lines(judged)
        diff_text, shown = bounded(case, ruling.changes)
        text = words.beside(judged.shown_path, who, diff_text, moved)
    told: tuple[Told, ...] = ()
    if set(ruling.changes) <= set(shown):
        told = (Told(path, judged.after, None, position),)
    change = FileChange(
        judged.shown_path,
        ruling.state,
        diff_text,
        text.split("\n")[0],
        by,
        case.sight.belief.text if case.sight.belief else "",
        judged.on_disk.revision,
        what,
        moved_lines=moved,
    )
    return Notice(f"{path}@{position}", text, (change,), told)


def _moved_lines(judged: Evaluation) -> tuple[Place, ...]:
    """Return where lines that were shown stand after the attempt, when others' changes moved
    them."""
    case, text = judged.case, judged.new_text
    if case.held is None or case.base is None or text is None:
        return ()
    if all(b1 - b0 == a1 - a0 for a0, a1, b0, b1 in judged.ruling.changes):
        return ()
    lines = case.base.lines, text.lines
    return tuple(Places(*lines, diff(*lines)).shifted(case.held.shown))


def unseen_notice(judged: Evaluation) -> Notice:
    """Return the notice on a replacement of text that matched, and that the agent was never shown."""
    path = judged.shown_path
    return Notice(f"{path}@unseen", words.unseen(path, judged.ruling.lines), ())


def with_move_notice(renamed_from: str, result: EditResult) -> EditResult:
    """Add to the result of an edit that it followed a rename."""
    return _with_text(result, "moved", words.moved(renamed_from, result.path))


def _with_text(result: EditResult, what: str, text: str) -> EditResult:
    """Add words to the result of an edit, before those of its notice."""
    notice = Notice(f"{result.path}@{what}", text, ())
    if result.notice is not None:
        notice = structs.replace(result.notice, text=f"{text}\n{result.notice.text}")
    return structs.replace(result, notice=notice)
