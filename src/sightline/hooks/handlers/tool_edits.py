"""Judge edits by a host's own tools before the host writes.

The host writes the file, so an attempt that may go on is journalled with the bytes it will leave,
and hooks.handlers.tool_writes compares those with the bytes that were written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce

from msgspec import Struct, structs

from sightline.agents.product import ClientMatching
from sightline.changes.session_context import SessionContext
from sightline.checkpoints.automatic import before_change
from sightline.errors import EditRefused, PathRefused
from sightline.filesystem.file_state import FileState, ResolvedPath
from sightline.guard import notebooks
from sightline.guard import words as guard_words
from sightline.guard.commit import planned_write
from sightline.guard.edit import relocation, unseen_notice
from sightline.guard.evaluation import (
    Evaluation,
    describe,
    evaluate,
    outside_scope,
    refuse,
    resolve_path,
)
from sightline.guard.plan import Relocation, make_plan, refused_again
from sightline.guard.unfinished import locked
from sightline.guard.write_journal import Write, intend
from sightline.hooks import words
from sightline.hooks.handlers.answer_delivery import (
    NOTHING_BELIEVED,
    acknowledge_request,
    cut_diff,
    deliver_changes,
    knows_deletion,
    notice_of_deletion,
    record_diff,
)
from sightline.hooks.host import Host
from sightline.model.attempts import (
    Attempt,
    CellEdit,
    Create,
    Delete,
    Move,
    Patch,
    Replace,
    ReplaceLines,
    Several,
    WriteWhole,
)
from sightline.model.events import Refused, Told
from sightline.model.hook_events import NOTHING, Answer, Attempted, Failed
from sightline.model.locate import Unplaced, applied, find_replacement, place_hunks, replaced
from sightline.model.nearest import nearest
from sightline.model.path import composed
from sightline.model.revision import MISSING
from sightline.model.spans import intersect, new_sides
from sightline.model.text import joined, split
from sightline.notices.pending import is_handed
from sightline.sessions.claims import announce_once
from sightline.text import phrases

STRAIGHT = {ord(curly): straight for curly, straight in zip("“”‘’", "\"\"''", strict=True)}
"""Typographic quotes -> the quotes of a keyboard."""

HOST_ENCODINGS = ("utf-8", "utf-16-le")
"""Encodings that tools of hosts read and write; they put U+FFFD in place of all else, also in text that
they leave alone. UTF-16 begins with a mark."""

UNJUDGED = ("no_change", "too_large")
"""Refusals that do not refuse a host's tool: it does no harm, or nothing is known of the file."""


class _Call(Struct, frozen=True):
    """The changes of one call in this workspace. edits: each with the file as the host names it; moves: the file, its
    new path, and the name of that; paths: of all of these files, canonical. refusals: of files that cannot be judged
    at all, in words; asks: why the user must approve the others of these; size: how many files the host's call
    names."""

    edits: tuple[tuple[ResolvedPath, Attempt, str], ...]
    moves: tuple[tuple[ResolvedPath, ResolvedPath, str], ...]
    paths: tuple[str, ...]
    refusals: tuple[str, ...]
    asks: tuple[str, ...]
    size: int


def attempted(context: SessionContext, event: Attempted, host: Host) -> Answer:
    """Judge all changes of a call before the first is journalled: refuse the call with the diff of the changes, merge,
    or let it go on. One refusal names every file that refuses. Where another hook could put its own text in
    the place of a merge, refuse what else would be merged."""
    call = _resolved(context, event, host)
    refusals = [*call.refusals]
    asked = "\n\n".join(call.asks) or None
    if not call.paths:
        return Answer(_worded(refusals, call.size), asked)
    acknowledge_request(context)
    _catch_up(context, call, host)
    before_change(context, *call.paths)
    with locked(context, *call.paths):
        edits = [_evaluate(context, located, attempt) for located, attempt, _ in call.edits]
        moves = [relocation(context, *move) for move in call.moves]
        plan = make_plan(edits, moves, ask=True)
        room = host.limits.diff
        done: set[ResolvedPath] = set()
        every = [*edits, *(move.source for move in moves)]
        for judged, refused in zip(every, plan.refused, strict=True):
            if judged.located in done:
                continue  # its edit was refused, and with that its move
            is_alone = call.size == 1
            if why := _why_refused(context, host, judged, refused, room, is_alone=is_alone):
                refusals.append(why)
                done.add(judged.located)
                room = max(room - len(why), 0)
        if refusals:
            return Answer(_worded(refusals, call.size), asked)
        journal(context, edits, moves, event.call)
    names = [name for *_, name in call.edits]
    answers = [_let_go_on(context, host, *each) for each in zip(edits, names, strict=True)]
    answers += [Answer(ask=asked)] if asked else []
    return reduce(Answer.beside, answers) if answers else NOTHING


def _worded(refusals: Sequence[str], size: int) -> str | None:
    """Return the refusal of a call of so many files; None for no refusal."""
    whole = words.whole_call(len(refusals), size) if refusals and size > 1 else ""
    return "\n\n".join(filter(None, [whole, *refusals])) or None


def _resolved(context: SessionContext, event: Attempted, host: Host) -> _Call:
    """Look up the files of a call. Several attempts on one file become one. A move out of the workspace removes the
    file."""
    parts: dict[str, tuple[ResolvedPath, str, list[Attempt]]] = {}
    moves: list[tuple[ResolvedPath, ResolvedPath, str]] = []
    others: list[Answer] = []
    for path, attempt in event.targets:
        located = _locate(context, path, host)
        target = _locate(context, attempt.target, host) if isinstance(attempt, Move) else None
        others += [each for each in (located, target) if isinstance(each, Answer)]
        if isinstance(located, Answer):
            continue
        if isinstance(target, ResolvedPath):
            moves.append((located, target, target.name or target.path))
            continue
        made = Delete() if isinstance(attempt, Move) else attempt
        parts.setdefault(located.path, (located, path, []))[2].append(made)
    edits = [
        (located, some[0] if len(some) == 1 else Several(tuple(some)), name)
        for located, name, some in parts.values()
    ]
    paths = dict.fromkeys([*parts, *(located.path for move in moves for located in move[:2])])
    refusals = tuple([each.refuse for each in others if each.refuse])
    asks = tuple([each.ask for each in others if each.ask])
    size = len({path for path, _ in event.targets})
    return _Call(tuple(edits), tuple(moves), tuple(paths), refusals, asks, size)


def _locate(context: SessionContext, path: str, host: Host) -> ResolvedPath | Answer:
    """Return where a path leads; the answer about one that is not judged here."""
    try:
        located = resolve_path(context, path)
    except PathRefused as error:
        if error.reason == "ignored" and not error.control:
            return Answer(refuse=words.refused(error, host.wording))
        # Version control's own file, or a name in the workspace that leads outside: its own workspace
        # judges the rest.
        is_judged = error.control or error.reason == "outside"
        return Answer(ask=_question(context, error.control or error.path) if is_judged else None)
    except EditRefused as error:  # the disk does not answer
        return Answer(refuse=words.refused(error, host.wording))
    if _is_other_form(path, located):
        return Answer(refuse=words.other_form(located.name or located.path))
    return located


def _catch_up(context: SessionContext, call: _Call, host: Host) -> None:
    """Have the transcript read where the session does not know all lines of a file."""
    knows_some: list[bool] = []
    for located, *_ in (*call.edits, *call.moves):
        knowledge = context.store.knowledge(context.session, located.name or located.path)
        belief = knowledge.belief if knowledge else None
        if belief is None or (belief.lines and belief.shown != ((1, belief.lines),)):
            knows_some.append(belief is not None)
    if knows_some:
        host.catch_up(all(knows_some))


def _why_refused(
    context: SessionContext,
    host: Host,
    judged: Evaluation,
    refused: Evaluation | None,
    room: int,
    *,
    is_alone: bool,
) -> str:
    """Return why a host may not make an attempt, and record it; "" where it may. refused: the attempt as the plan
    refuses it. room: characters of a diff. is_alone: the call changes no other file."""
    disk, leaves_text = judged.case.disk, not isinstance(judged.attempt, (Delete, Move))
    if disk and leaves_text and (disk.encoding not in HOST_ENCODINGS or disk.has_lone):
        attempt = describe(judged.attempt)
        fact = Refused(judged.path, attempt, "binary", judged.on_disk.revision)
        context.append([*judged.unrecorded, fact], found=[judged.on_disk])
        return words.would_damage(judged.shown_path, disk.label)
    refusal = _refusal(context, judged, refused)
    if refusal is None:
        refusal = _refusal_of_tool(context, host, judged, is_alone=is_alone)
    if refusal is None:
        return ""
    _deliver_refusal(context, host, judged, refusal, room)
    return words.refused(refusal, host.wording)


def _is_other_form(asked: str, located: ResolvedPath) -> bool:
    """Return whether a name leads to a file whose own name has another Unicode form. The host's tool
    does not find that file, and would write a second one beside it."""
    name = located.name or located.path
    return not asked.endswith(name) and composed(asked).endswith(composed(name))


def explain_failure(context: SessionContext, event: Failed, host: Host, room: int) -> str:
    """Return why an attempt does not fit that the host rejected before any hook was called; ""
    where Sightline would have let it go on. room: characters of a diff."""
    if event.attempt is None:
        return ""
    try:
        located = resolve_path(context, event.path)
    except (PathRefused, EditRefused):
        return ""
    if _is_other_form(event.path, located):
        return words.other_form(located.name or located.path)
    with locked(context, located.path):
        judged = evaluate(context, located, event.attempt)
        is_refused = judged.ruling.decision == "refuse"
        refusal = _refusal(context, judged, judged if is_refused else refused_again(judged))
    if refusal is None:
        # The facts first: text that is handed over is about the file as it was changed.
        context.append(judged.unrecorded, found=[judged.on_disk])
        change, delivered = deliver_changes(context, host, located, room, with_request=True)
        return words.turned_down(change.summary, change.diff) if delivered else ""
    _deliver_refusal(context, host, judged, refusal, room, with_request=True)
    return words.why_it_failed(refusal, host.wording, _nearest_lines(judged))


def _nearest_lines(judged: Evaluation) -> str:
    """Describe the lines nearest to the text of a replacement, where others changed them."""
    if judged.ruling.reason != "stale" or not isinstance(judged.attempt, Replace):
        return ""
    near = nearest(judged.attempt.old, judged.case.disk.lines if judged.case.disk else [])
    changed = new_sides(judged.ruling.changes)
    if near is None or not intersect(changed, ((near.first, near.last),)):
        return ""
    return guard_words.nearest(near, shown=True, sent=judged.attempt.old)


def journal(
    context: SessionContext, edits: Sequence[Evaluation], moves: Sequence[Relocation], call: str
) -> None:
    """Record the bytes that the host is about to leave by a call, and keep the bytes on disk. Nobody knows the bytes
    that the edit of a notebook's cell leaves."""
    judged = [edit for edit in edits if edit.ruling.decision != "refuse"]
    for cell in [edit for edit in judged if isinstance(edit.attempt, CellEdit)]:
        found = cell.on_disk
        texts = context.keepable(cell.path, found.data, on_disk=found) if cell.unrecorded else ()
        context.append(cell.unrecorded, blobs=texts, found=[found])
    of_text = [edit for edit in judged if not isinstance(edit.attempt, CellEdit)]
    writes = [*_host_writes(of_text, moves)]
    if writes:
        judged = [*of_text, *(move.source for move in moves)]
        unrecorded = list(dict.fromkeys(fact for each in judged for fact in each.unrecorded))
        intend(context, writes, unrecorded=unrecorded, by_host=True, call=call)


def _host_writes(edits: Sequence[Evaluation], moves: Sequence[Relocation]) -> Iterator[Write]:
    """Yield what a host is about to write. A file that it changes and moves at once is a new file, and its old name is
    free: each of them is found again by its content, whatever the host has done so far."""
    targets = {move.source.path: move.target.path for move in moves}
    for edit in edits:
        write = planned_write(edit)
        target = targets.pop(write.path, None)
        if target is None:
            yield write
        else:
            gone = structs.replace(
                write, after=MISSING, data=None, belief=NOTHING_BELIEVED, body=None
            )
            there = FileState(target, "missing")
            yield from (structs.replace(write, path=target, before=MISSING, on_disk=there), gone)
    for move in moves:
        if move.source.path in targets:
            yield move.write(move.source.on_disk.revision)


def _evaluate(context: SessionContext, located: ResolvedPath, attempt: Attempt) -> Evaluation:
    """Evaluate an attempt. Hosts match straight quotes with the typographic quotes of the file,
    and leave the file's quotes as they are; so does this."""
    judged = evaluate(context, located, attempt)
    if isinstance(attempt, WriteWhole) and judged.on_disk.kind == "missing":
        if knows_deletion(context, judged.path):
            return evaluate(context, located, Create(attempt.content))
        return judged
    if judged.ruling.reason != "not_found" or not isinstance(attempt, Replace):
        return judged
    old = attempt.old.translate(STRAIGHT)
    for text in (judged.case.disk, judged.case.base):
        at = text.plain.translate(STRAIGHT).find(old) if text else -1
        if text and at >= 0:
            exact = text.plain[at : at + len(old)]
            return evaluate(context, located, structs.replace(attempt, old=exact))
    return judged


def _refusal(
    context: SessionContext, judged: Evaluation, refused: Evaluation | None
) -> EditRefused | None:
    """Return the refusal of an attempt of a host's tool; None where it may be made. refused: the attempt as the rules for
    all tools refuse it."""
    if judged.renamed_to is not None and not isinstance(judged.attempt, Create):
        new_path = judged.renamed_to.name or judged.renamed_to.path
        message, hint = words.moved_away(judged.shown_path, new_path)
        return EditRefused("moved", judged.shown_path, message, hint=hint)
    if refused is None or refused.ruling.reason in UNJUDGED:
        return None
    return refuse(context, refused)


def _deliver_refusal(
    context: SessionContext,
    host: Host,
    judged: Evaluation,
    refusal: EditRefused,
    room: int,
    *,
    with_request: bool = False,
) -> None:
    """Cut a refusal to the room there is, and record the lines that it prints. with_request: as in
    record_delivery."""
    told = refusal.told if isinstance(refusal.told, Told) else None
    if refusal.text is not None and len(refusal.diff) + len(refusal.text) > room:
        refusal.text = None
        told = structs.replace(told, whole=False) if told else None
    refusal.diff, is_whole = cut_diff(refusal.diff, refusal.path, room)
    if told is not None and not is_whole:
        told = structs.replace(told, hunks=(), whole=False)
    if refusal.reason in ("deleted", "moved"):
        refusal.next_step = words.gone(refusal.next_step, refusal.reason)
        told = notice_of_deletion(context, judged.path)
    if not host.takes_refusals:
        return
    names = judged.path, refusal.path
    if record_diff(context, "refusal", *names, refusal.diff, told, with_request=with_request):
        refusal.diff, refusal.next_step = "", words.diff_above(refusal.next_step)


def _refusal_of_tool(
    context: SessionContext, host: Host, judged: Evaluation, *, is_alone: bool
) -> EditRefused | None:
    """Return the refusal of an attempt that the rules allow, or do not mind, and that the host's own tool would make otherwise:
    it cannot write the merge, or finds the old text at another place. None where it does no harm."""
    ruling, attempt = judged.ruling, judged.attempt
    if _is_handed_over(host, judged):
        places = host.rewriters()
    elif ruling.decision == "merge" and isinstance(attempt, WriteWhole):
        places = [words.TAKES_NONE]
    elif ruling.decision == "merge":
        is_harmless = is_alone and not _may_err(judged, host.can.client_matching)
        return None if is_harmless else refuse(context, judged.refused("stale"))
    else:
        errs = ruling.reason == "no_change" and _may_err(judged, host.can.client_matching)
        return refuse(context, judged) if errs else None
    if not places:
        return None
    refusal = refuse(context, judged.refused("stale"))
    refusal.next_step = words.no_merge(refusal.next_step, places)
    return refusal


def _may_err(judged: Evaluation, matching: ClientMatching) -> bool:
    """Return whether a host's own tool may leave another text than the verdict, of an attempt whose old text is not where
    the agent was shown it. A tool that needs the exact text rejects the attempt, unless it stands elsewhere, too."""
    disk = judged.case.disk
    if disk is None or not isinstance(judged.attempt, (Replace, Several, Patch)):
        return isinstance(judged.attempt, ReplaceLines)
    parts = judged.attempt.parts if isinstance(judged.attempt, Several) else (judged.attempt,)
    plain = disk.plain
    for part in parts:
        made = _made_of(plain, part, matching)
        if made is None:
            return matching == "lenient"
        plain = made
    return plain != (judged.new_text or disk).plain


def _made_of(plain: str, attempt: Attempt, matching: ClientMatching) -> str | None:
    """Return what a host's tool makes of a text by exact matching; None where it finds no place."""
    if isinstance(attempt, Patch):
        lines = split(plain)
        edits = place_hunks(attempt.hunks, lines)
        return None if isinstance(edits, Unplaced) else joined(applied(lines, edits))
    if not isinstance(attempt, Replace):
        return None
    old, new, places = find_replacement(plain, attempt)
    offsets = places.offsets
    if attempt.count is not None and matching != "unique":
        offsets = offsets[: attempt.count]
    is_enough = bool(offsets) if attempt.count is None else len(offsets) == attempt.count
    return replaced(plain, old, new, offsets) if is_enough else None


def _is_handed_over(host: Host, judged: Evaluation) -> bool:
    """Return whether the host receives a merge to write in place of the agent's text."""
    return judged.ruling.decision == "merge" and isinstance(judged.attempt, host.can.rewrite)


def _let_go_on(context: SessionContext, host: Host, judged: Evaluation, name: str) -> Answer:
    """Return the answer about a file that the host may change. name: as the host names it."""
    if judged.ruling.decision == "refuse":
        return Answer(context=words.not_judged(judged.shown_path, judged.ruling.reason or ""))
    ask = None
    if judged.is_protected:
        ask = _question(context, judged.shown_path, judged.path, *judged.located.links)
    notes: list[str] = []
    known = judged.known.knowledge
    # A notice that was delivered, but not confirmed, may have shown the agent these lines.
    if judged.ruling.reason == "unseen" and not (
        known is not None and is_handed(context, known, judged.on_disk.revision)
    ):
        notes.append(phrases.says(unseen_notice(judged).text))
    if judged.ruling.cells:
        cells, diff = judged.ruling.cells, judged.ruling.cell_diff
        notes.append(notebooks.changed_cells(judged.shown_path, cells, diff))
    contents: dict[str, str] = {}
    if _is_handed_over(host, judged):
        assert judged.new_text is not None
        contents[name] = judged.new_text.plain  # told once it is written: the user may not allow it
    if judged.claims and host.takes_words:
        notes.append(announce_once(context, judged.shown_path, judged.claims))
    return Answer(ask=ask, contents=contents, context="\n\n".join(filter(None, notes)))


def _question(context: SessionContext, path: str, *names: str) -> str | None:
    """Return why the user must approve a write of a file; None where the settings do not ask. path,
    names: all canonical names of the file; "" for none."""
    settings = context.settings
    if outside_scope(context, names[0] if names and names[0] else path):
        return guard_words.outside_scope(path, context.scopes)[0]
    if settings.policy_for(path, *names) != "ask":
        return None
    return words.asks(path, settings.asking_setting(path, *names))
