"""Evaluate an attempt: judge it on the file as it is on disk; record and word its refusal."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import chain
from typing import cast

from msgspec import structs

from sightline.changes.authors import changed_by
from sightline.changes.observe import observe
from sightline.changes.session_context import Known, SessionContext, load_marks, located
from sightline.changes.session_names import names_for
from sightline.errors import EditRefused, RefusalReason, Unverifiable
from sightline.filesystem.file_state import FileState, ResolvedPath
from sightline.guard import words
from sightline.guard.edit_case import EditCase, Evidence, Rules
from sightline.guard.refusals import refused
from sightline.guard.verdict import judge
from sightline.model.active_claims import Claim
from sightline.model.attempts import (
    Attempt,
    Create,
    Delete,
    Move,
    ReplaceLines,
    WriteWhole,
    lines_of_attempt,
)
from sightline.model.diff import unified
from sightline.model.events import Belief, Changed, NoticeAcknowledged, Refused, Seen, Told
from sightline.model.line_marks import unmarked_lines
from sightline.model.revision import MISSING, Revision, revision_of
from sightline.model.spans import whole
from sightline.model.text import Text, decode, diff_of_texts
from sightline.sessions.claims import others_on
from sightline.sessions.path_patterns import covers
from sightline.sessions.words import claim_enforced

DIGITS_LEAST = 6
"""Digits of a revision that are enough to name it."""


class Evaluation:
    """One attempt, judged on the file at a path that the caller has `locked`.

    on_disk: the file. known: what the session knows of it. renamed_to: where the file is now when
    it was renamed. protected: the user must approve the write; is_outside_scope: because the session
    may not write there by itself. ruling: the verdict. unrecorded:
    changes by others that were detected, not yet on the timeline. claims: of other sessions on
    this path. after: the revision that the write leaves. repeated: the reason of the same
    attempt's earlier refusal, when the agent looked at nothing since. base: the revision that the
    agent says the attempt rests on, or its first digits; None where the agent does not say.
    is_preview: refusals are not recorded. removed: the files that go before this attempt, in the same
    batch; None where the file of an attempt never takes the place of a folder. gives_way: the folder at
    the path, and all in it, that has held files and holds none any more.
    """

    def __init__(
        self,
        context: SessionContext,
        located: ResolvedPath,
        attempt: Attempt,
        base: str | None = None,
        *,
        is_preview: bool = False,
        removed: Collection[str] | None = None,
    ) -> None:
        self.context = context
        self._is_preview = is_preview
        self.located = located
        self.attempt = attempt
        self.path = located.path
        self.shown_path = located.name or located.path
        seen = observe(context, located, is_edit=True)
        self.on_disk, self.known = seen.on_disk, seen.known
        self.renamed_to, self.unrecorded = seen.renamed_to, seen.unrecorded
        self.gives_way = () if removed is None else self._emptied(removed)
        if self.gives_way:
            self.on_disk = FileState(self.path, "missing")
        self.policy = policy_of(context, located)
        self.protected = self.policy == "ask"
        self.is_outside_scope = outside_scope(context, located.path)
        self.case = edit_case(context, self.on_disk, self.known, self.policy, attempt)
        self.ruling = judge(self.case, attempt)
        self._base = base
        self._is_base_unknown = self._is_older_base = False
        if base is not None:
            self._judge_by_base(base)
        self.claims = claims_on(context, self.path)
        if forbids(context, self.claims):
            self.ruling = self.case.refuse("claimed")
        text = decode(self.ruling.new)
        self._left_out = self._placeholders(text)
        if self._left_out:
            self.ruling = self.case.refuse("placeholder")
        self._is_link = located.name is not None and isinstance(attempt, (Delete, Move))
        if self._is_link:
            self.ruling = self.case.refuse("kind_changed")
        new = self.ruling.new
        self.new_text = None if new is None else text
        self.after = MISSING if new is None else revision_of(new)
        self.repeated = self._earlier_refusal()

    @property
    def is_unchanged(self) -> bool:
        """Return whether the attempt writes the whole text that the file has already."""
        return isinstance(self.attempt, WriteWhole) and self.ruling.reason == "no_change"

    @property
    def diff(self) -> str:
        """Return the unified diff of the attempt's changes on disk."""
        return diff_of_texts(self.case.disk, self.new_text, self.shown_path)

    def _placeholders(self, new: Text | None) -> str:
        """Return the diff of the hunks of the attempt that put a placeholder in the place of code; "" where
        the same attempt was refused for it: sent again, it is meant. new: the text that it would leave."""
        from sightline.model.placeholders import PROSE, left_out  # looks need none of its patterns

        disk = self.case.disk
        is_prose = self.shown_path.lower().endswith(PROSE)
        if is_prose or self.ruling.decision == "refuse" or disk is None or new is None:
            return ""
        old_lines, new_lines = disk.lines, new.lines
        hunks = left_out(old_lines, new_lines)
        if not hunks:
            return ""
        described = describe(self.attempt)
        refusal = Refused(self.path, described, "placeholder", self.on_disk.revision)
        return "" if self.context.was_refused(refusal) else unified(old_lines, new_lines, hunks)

    def _emptied(self, removed: Collection[str]) -> tuple[str, ...]:
        """Return the folders at the path that have held files and hold no file besides `removed`."""
        if self.on_disk.kind != "directory" or not isinstance(self.attempt, (Create, WriteWhole)):
            return ()
        folders = self.context.workspace.emptied(self.path, removed)
        below = f"{self.path}/"
        if folders is None or not any(
            path.startswith(below) for path in (*removed, *self.context.store.paths())
        ):
            return ()
        return folders

    def _judge_by_base(self, base: str) -> None:
        """Refuse the attempt where its base was never shown, or where the lines that it touches
        differ on disk from an older base. Else the verdict by what was shown stands."""
        revision = self._shown_revision(base)
        belief = self.known.belief
        if revision is None:
            self._is_base_unknown = True
            self.ruling = self.case.refuse("unseen")
            return
        newest = (self.on_disk.revision, belief.text if belief else None)
        if revision in newest or self.on_disk.kind != "file":
            return
        data = self.context.store.blob(revision)
        has_marks = data is None
        if has_marks:
            disk = self.case.disk.lines if self.case.disk else ()
            data = load_marks(
                self.context, revision, [*disk, *chain(*lines_of_attempt(self.attempt))]
            )
        text = decode(data)
        total = len(text.lines) if text else 0
        older = Belief(revision, whole(total), whole(total), total)
        evidence = structs.replace(
            self.case.sight, belief=older, believed=data, has_marks=has_marks and data is not None
        )
        case = EditCase(evidence, self.case.rules)
        ruling = judge(case, self.attempt)
        if isinstance(self.attempt, (WriteWhole, Delete, Move)) and not case.same:
            ruling = case.refuse("stale")
        if ruling.decision == "refuse" and self.ruling.decision != "refuse":
            self._is_older_base = True
            self.case, self.ruling = case, ruling

    def _shown_revision(self, base: str) -> Revision | None:
        """Return the revision of this file that begins with these digits, and that this session was
        shown or wrote; None for no such revision."""
        digits = base.removeprefix("sha256:").lower()
        belief = self.known.belief
        facts = self.context.store.timeline(
            session=self.context.session, path=self.path, kinds=[Seen, Changed, NoticeAcknowledged]
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

    def _earlier_refusal(self) -> RefusalReason | None:
        """Return why this very attempt was refused, when the agent looked at nothing since. It
        stays refused: the lines that a refusal prints count as shown, and must not let the same
        attempt through."""
        knowledge = self.known.knowledge
        if knowledge is None or knowledge.via != "refusal":
            return None
        if not isinstance(self.attempt, (ReplaceLines, WriteWhole)):
            return None
        context = self.context
        newest = context.store.timeline(
            session=context.session, path=self.path, kinds=[Refused], newest=1
        )
        fact = next((entry.fact for entry in newest), None)
        if not isinstance(fact, Refused) or fact.attempt != describe(self.attempt):
            return None
        is_same = fact.revision == self.on_disk.revision
        return cast("RefusalReason", fact.reason) if is_same else None

    def refuse(self) -> EditRefused:
        """Record the refusal and return it. The lines it prints count as shown once the agent
        acknowledges it."""
        who, _ = changed_by(self.context, self.path, self.unrecorded)
        is_whole = isinstance(self.attempt, (Delete, Move))
        error, hunks = refused(self.ruling, self.shown_path, who, self.case, is_whole=is_whole)
        if error.reason == "claimed":
            error.message, error.hint = claim_enforced(
                self.shown_path, self.claims, names_for(self.context)
            )
        elif error.reason == "scope" and self.is_outside_scope:
            error.message, error.hint = words.outside_scope(self.shown_path, self.context.scopes)
        elif self._left_out:
            error.diff = self._left_out
        elif self._is_link:
            error.message, error.hint = words.a_link(self.shown_path, self.path)
        elif self._is_base_unknown:
            error.message, error.hint = words.unknown_base(self.shown_path, self._base or "")
            error.diff = ""
        elif self._is_older_base:
            error.message, error.hint = words.older_base(self.shown_path, self._base or "")
        elif self.known.retargeted and self.on_disk.kind == "file":
            error.message, error.hint = words.retargeted(self.shown_path, self.path)
            error.diff = ""  # against another file: of no use for the next attempt
        elif hunks:
            position = self.known.position
            error.told = Told(self.path, self.on_disk.revision, hunks, position, refusal=True)
        if (
            self.policy == "refresh"
            and self.case.disk
            and self.ruling.reason in ("stale", "conflict")
        ):
            error.text = self.case.disk.plain
            if isinstance(error.told, Told):
                error.told = structs.replace(error.told, whole=True)
        self._record_refusal(error.reason, keep_text=True)
        return error

    def refuse_again(self, reason: RefusalReason) -> EditRefused:
        """Record and return the refusal of an attempt that would pass only because of the lines
        that its own earlier refusal printed."""
        message, hint = words.repeated(self.shown_path)
        self._record_refusal(reason, keep_text=False)
        return EditRefused(reason, self.shown_path, message, diff=self.diff, hint=hint)

    def _record_refusal(self, reason: str, *, keep_text: bool) -> None:
        if self._is_preview:
            return
        on_disk = self.on_disk
        refusal = Refused(self.path, describe(self.attempt), reason, on_disk.revision)
        texts: Sequence[bytes] = ()
        if keep_text:
            texts = self.context.keepable(self.path, on_disk.data, on_disk=on_disk)
        self.context.append([*self.unrecorded, refusal], blobs=texts, found=[on_disk])


def edit_case(
    context: SessionContext,
    on_disk: FileState,
    known: Known,
    policy: str = "merge",
    attempt: Attempt | None = None,
) -> EditCase:
    """Return what the rules judge. policy: of the path, as the settings name it. attempt: the one to
    judge, whose lines are looked for among the marks of a text that is not kept."""
    marks = known.marks
    if marks is not None and attempt is not None:
        marks = unmarked_lines(marks, context.store.marks_key(), lines_of_attempt(attempt))
    evidence = Evidence(
        on_disk.kind,
        on_disk.data,
        known.knowledge.belief if known.knowledge else None,
        known.believed if marks is None else marks,
        on_disk.why,
        known.retargeted,
        marks is not None,
        on_disk.revision,
    )
    return EditCase(
        evidence, Rules("merge" if policy == "ask" else policy, context.settings.unseen)
    )


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
        raise EditRefused("unverifiable", path, error.message, hint=error.hint) from error


def describe(attempt: Attempt) -> str:
    """Return an attempt as a refusal records it: its kind, and a digest in place of its text."""
    digest = revision_of(repr(attempt).encode("utf-8", "surrogatepass"))[:16]
    return f"{type(attempt).__name__.lower()}:{digest}"
