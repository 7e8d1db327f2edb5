"""Evaluate an attempt: judge it on the file as it is on disk; record and word its refusal."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import chain
from typing import cast

from msgspec import Struct, structs

from sightline.changes.authors import changed_by
from sightline.changes.observe import observe
from sightline.changes.session_context import Known, SessionContext, load_marks, located
from sightline.changes.session_names import names_for
from sightline.errors import EditRefused, Hint, RefusalReason, Unverifiable
from sightline.filesystem.file_state import FileState, ResolvedPath
from sightline.guard import words
from sightline.guard.edit_case import EditCase, Ruling
from sightline.guard.evidence import edit_case
from sightline.guard.refusals import refused, refused_cell
from sightline.guard.verdict import judge
from sightline.model.active_claims import Claim
from sightline.model.attempts import (
    Attempt,
    CellEdit,
    Create,
    Delete,
    Move,
    ReplaceLines,
    WriteWhole,
    lines_of_attempt,
)
from sightline.model.diff import unified
from sightline.model.events import Belief, Changed, Fact, NoticeAcknowledged, Refused, Seen, Told
from sightline.model.revision import MISSING, Revision, revision_of
from sightline.model.spans import Hunk, whole
from sightline.model.text import Text, decode, diff_of_texts
from sightline.sessions.claims import others_on
from sightline.sessions.path_patterns import covers
from sightline.sessions.words import claim_enforced

DIGITS_LEAST = 6
"""Digits of a revision that are enough to name it."""


class Evaluation(Struct, frozen=True):
    """One attempt, judged on the file at a path.

    located, shown_path: the path, canonical and as the caller's answer names it. on_disk: the file.
    known: what the session knows of it. renamed_to: where the file is now when it was renamed.
    unrecorded: changes by others that were detected, not yet on the timeline. policy: of the path, as
    policy_of returns it; outside_scope: message and hint where the user must approve the write because
    the session may not write there by itself. case, ruling: what was judged, and the verdict. claims: of other sessions on
    this path. gives_way: the folder at the path, and all in it, that has held files and holds none any
    more. new_text, after: the text and the revision that the write leaves, None and MISSING for no
    file. message, hint, refusal_diff: of the refusal, in place of those that the ruling alone leads to.
    repeated: the reason of the same attempt's earlier refusal, when the agent looked at nothing since.
    """

    located: ResolvedPath
    shown_path: str
    attempt: Attempt
    on_disk: FileState
    known: Known
    renamed_to: ResolvedPath | None
    unrecorded: Sequence[Fact]
    policy: str
    outside_scope: tuple[str, str] | None
    case: EditCase
    ruling: Ruling
    claims: tuple[Claim, ...] = ()
    gives_way: tuple[str, ...] = ()
    new_text: Text | None = None
    after: Revision = MISSING
    message: str = ""
    hint: str = ""
    refusal_diff: str | None = None
    repeated: RefusalReason | None = None

    @property
    def path(self) -> str:
        """The canonical path."""
        return self.located.path

    @property
    def is_protected(self) -> bool:
        """True where the user must approve the write."""
        return self.policy == "ask"

    @property
    def is_unchanged(self) -> bool:
        """True where the attempt writes the whole text that the file has already."""
        return isinstance(self.attempt, WriteWhole) and self.ruling.reason == "no_change"

    @property
    def diff(self) -> str:
        """The unified diff of the attempt's changes on disk."""
        return diff_of_texts(self.case.disk, self.new_text, self.shown_path)

    def refused(
        self,
        reason: RefusalReason,
        said: tuple[str, str] = ("", ""),
        *,
        diff: str | None = None,
        path: str | None = None,
    ) -> Evaluation:
        """Return this attempt as one that is refused. said: message and hint, in place of those that
        the reason alone leads to; diff: likewise. path: the name that the refusal is about."""
        return structs.replace(
            self,
            shown_path=self.shown_path if path is None else path,
            ruling=self.case.refuse(reason),
            message=said[0],
            hint=said[1],
            refusal_diff=diff,
        )


def evaluate(
    context: SessionContext,
    located: ResolvedPath,
    attempt: Attempt,
    base: str | None = None,
    *,
    removed: Collection[str] | None = None,
) -> Evaluation:
    """Judge an attempt on the file at a path that the caller has `locked`. A rename that is found is
    recorded, and nothing else.

    base: the revision that the agent says the attempt rests on, or its first digits; None where the
    agent does not say. removed: the files that go before this attempt, in the same batch; None where
    the file of an attempt never takes the place of a folder.
    """
    seen = observe(context, located, is_edit=not isinstance(attempt, CellEdit))
    on_disk = seen.on_disk
    gives_way = () if removed is None else _emptied(context, on_disk, attempt, removed)
    if gives_way:
        on_disk = FileState(located.path, "missing")
    policy = policy_of(context, located)
    case = edit_case(context, on_disk, seen.known, policy, attempt)
    ruling = judge(case, attempt)
    text = decode(ruling.new)
    judged = Evaluation(
        located,
        located.name or located.path,
        attempt,
        on_disk,
        seen.known,
        seen.renamed_to,
        seen.unrecorded,
        policy,
        scope_words(context, located.path, located.name or located.path),
        case,
        ruling,
        claims_on(context, located.path),
        gives_way,
        text,
        MISSING if ruling.new is None else revision_of(ruling.new),
    )
    if base is not None:
        judged = _by_base(context, judged, base)
    path = judged.shown_path
    if located.name is not None and isinstance(attempt, (Delete, Move)):
        judged = judged.refused("kind_changed", words.a_link(path, located.path))
    elif forbids(context, judged.claims):
        judged = judged.refused("claimed", claim_words(context, path, judged.claims))
    elif left_out := _placeholders(context, judged):
        judged = judged.refused("placeholder", diff=left_out)
    return structs.replace(judged, repeated=_earlier_refusal(context, judged))


def scope_words(context: SessionContext, path: str, name: str) -> tuple[str, str] | None:
    """Return message and hint where a path is outside of the session's scopes; None elsewhere. name: as
    the caller names the path."""
    return words.outside_scope(name, context.scopes) if outside_scope(context, path) else None


def claim_words(context: SessionContext, path: str, claims: Sequence[Claim]) -> tuple[str, str]:
    """Return message and hint where other sessions' claims forbid a write."""
    return claim_enforced(path, claims, names_for(context))


def _placeholders(context: SessionContext, judged: Evaluation) -> str:
    """Return the diff of the hunks of the attempt that put a placeholder in the place of code; "" where
    the same attempt was refused for it: sent again, it is meant."""
    from sightline.model.placeholders import PROSE, left_out  # looks need none of its patterns

    disk, new = judged.case.disk, judged.new_text
    is_prose = judged.shown_path.lower().endswith(PROSE)
    if is_prose or judged.ruling.decision == "refuse" or disk is None or new is None:
        return ""
    old_lines, new_lines = disk.lines, new.lines
    hunks = left_out(old_lines, new_lines)
    if not hunks:
        return ""
    described = describe(judged.attempt)
    refusal = Refused(judged.path, described, "placeholder", judged.on_disk.revision)
    return "" if context.was_refused(refusal) else unified(old_lines, new_lines, hunks)


def _emptied(
    context: SessionContext, on_disk: FileState, attempt: Attempt, removed: Collection[str]
) -> tuple[str, ...]:
    """Return the folders at the path that have held files and hold no file besides `removed`."""
    if on_disk.kind != "directory" or not isinstance(attempt, (Create, WriteWhole)):
        return ()
    folders = context.workspace.emptied(on_disk.path, removed)
    below = f"{on_disk.path}/"
    if folders is None or not any(
        path.startswith(below) for path in (*removed, *context.store.paths())
    ):
        return ()
    return folders


def _by_base(context: SessionContext, judged: Evaluation, base: str) -> Evaluation:
    """Refuse the attempt where its base was never shown, or where the lines that it touches differ on
    disk from an older base. Else the verdict by what was shown stands."""
    path, belief, on_disk, case = (
        judged.shown_path,
        judged.known.belief,
        judged.on_disk,
        judged.case,
    )
    revision = _shown_revision(context, judged, base)
    if revision is None:
        return judged.refused("unseen", words.unknown_base(path, base), diff="")
    newest = (on_disk.revision, belief.text if belief else None)
    if revision in newest or on_disk.kind != "file":
        return judged
    data = context.store.blob(revision)
    has_marks = data is None
    if has_marks:
        disk = case.disk.lines if case.disk else ()
        data = load_marks(context, revision, [*disk, *chain(*lines_of_attempt(judged.attempt))])
    text = decode(data)
    total = len(text.lines) if text else 0
    older = Belief(revision, whole(total), whole(total), total)
    evidence = structs.replace(
        case.sight, belief=older, believed=data, has_marks=has_marks and data is not None
    )
    by_older = EditCase(evidence, case.rules)
    ruling = judge(by_older, judged.attempt)
    if isinstance(judged.attempt, (WriteWhole, Delete, Move)) and not by_older.same:
        ruling = by_older.refuse("stale")
    if ruling.decision != "refuse" or judged.ruling.decision == "refuse":
        return judged
    message, hint = words.older_base(path, base)
    return structs.replace(judged, case=by_older, ruling=ruling, message=message, hint=hint)


def _shown_revision(context: SessionContext, judged: Evaluation, base: str) -> Revision | None:
    """Return the revision of this file that begins with these digits, and that this session was
    shown or wrote; None for no such revision."""
    digits = base.removeprefix("sha256:").lower()
    belief = judged.known.belief
    facts = context.store.timeline(
        session=context.session, path=judged.path, kinds=[Seen, Changed, NoticeAcknowledged]
    )
    shown = [belief.text] if belief else []
    for fact in (row.fact for row in facts):
        if isinstance(fact, Changed):
            shown += [fact.after] if fact.belief else []
        elif isinstance(fact, Seen | NoticeAcknowledged):
            shown += [fact.revision or fact.belief.text, fact.belief.text]
    if len(digits) < DIGITS_LEAST:
        return None
    return next((each for each in reversed(shown) if each.startswith(digits)), None)


def _earlier_refusal(context: SessionContext, judged: Evaluation) -> RefusalReason | None:
    """Return why this very attempt was refused, when the agent looked at nothing since. It
    stays refused: the lines that a refusal prints count as shown, and must not let the same
    attempt through."""
    knowledge = judged.known.knowledge
    if knowledge is None or knowledge.via != "refusal":
        return None
    if not isinstance(judged.attempt, (ReplaceLines, WriteWhole)):
        return None
    newest = context.store.timeline(
        session=context.session, path=judged.path, kinds=[Refused], newest=1
    )
    fact = next((entry.fact for entry in newest), None)
    if not isinstance(fact, Refused) or fact.attempt != describe(judged.attempt):
        return None
    is_same = fact.revision == judged.on_disk.revision
    return cast("RefusalReason", fact.reason) if is_same else None


def refuse(context: SessionContext, judged: Evaluation) -> EditRefused:
    """Record the refusal of an attempt, and return the error. The lines that the error prints count as
    shown once the agent acknowledges it."""
    error = refusal(context, judged)
    on_disk = judged.on_disk
    fact = Refused(judged.path, describe(judged.attempt), error.reason, on_disk.revision)
    texts = context.keepable(judged.path, on_disk.data, on_disk=on_disk)
    context.append([*judged.unrecorded, fact], blobs=texts, found=[on_disk])
    return error


def refusal(context: SessionContext, judged: Evaluation) -> EditRefused:
    """Return the error of an attempt that is refused. Record nothing."""
    who, _ = changed_by(context, judged.path, judged.unrecorded)
    case, ruling, path = judged.case, judged.ruling, judged.shown_path
    hunks: tuple[Hunk, ...] = ()
    if isinstance(judged.attempt, CellEdit) and ruling.reason not in ("claimed", "scope"):
        error = refused_cell(case, ruling, path, who, judged.attempt)
    else:
        is_whole = isinstance(judged.attempt, (Delete, Move))
        error, hunks = refused(ruling, path, who, case, is_whole=is_whole)
    if judged.message or judged.refusal_diff is not None:
        error.message = judged.message or error.message
        error.next_step = Hint(judged.hint) if judged.hint else error.next_step
        error.diff = error.diff if judged.refusal_diff is None else judged.refusal_diff
    elif judged.known.retargeted and judged.on_disk.kind == "file":
        error.message, hint = words.retargeted(judged.shown_path, judged.path)
        error.next_step = Hint(hint)
        error.diff = ""  # against another file: of no use for the next attempt
    elif hunks:
        position = judged.known.position
        error.told = Told(judged.path, judged.on_disk.revision, hunks, position, refusal=True)
    if (
        judged.policy == "refresh"
        and judged.case.disk
        and judged.refusal_diff is None
        and judged.ruling.reason in ("stale", "conflict")
    ):
        error.text = judged.case.disk.plain
        if isinstance(error.told, Told):
            error.told = structs.replace(error.told, whole=True)
    return error


def claims_on(context: SessionContext, path: str) -> tuple[Claim, ...]:
    """Return the claims of other sessions on a path that have not expired."""
    return others_on(context, path) if context.store.claims() else ()


def forbids(context: SessionContext, claims: Sequence[Claim]) -> bool:
    """Return whether these claims forbid a write. A shared claim is only reported."""
    return context.settings.claims == "enforce" and any(claim.exclusive for claim in claims)


def outside_scope(context: SessionContext, path: str) -> bool:
    """Return whether a session may not write to a canonical path without the user's approval, because
    of its scopes."""
    return any(not any(covers(each, path) for each in scope) for scope in context.scopes)


def policy_of(context: SessionContext, located: ResolvedPath) -> str:
    """Return the policy for a file, one of config.schema.POLICIES: "ask" outside of the session's
    scope, else as the settings say."""
    if outside_scope(context, located.path):
        return "ask"
    return context.settings.policy_for(located.path, located.name, *located.links)


def resolve_path(context: SessionContext, path: str) -> ResolvedPath:
    """Return where an attempt's path leads. PathRefused; EditRefused (unverifiable) when the disk
    does not answer."""
    try:
        return located(context, path)
    except Unverifiable as error:
        raise EditRefused("unverifiable", path, error.message, hint=error.next_step) from error


def describe(attempt: Attempt) -> str:
    """Return an attempt as a refusal records it: its kind, and a digest in place of its text."""
    digest = revision_of(repr(attempt).encode("utf-8", "surrogatepass"))[:16]
    return f"{type(attempt).__name__.lower()}:{digest}"
