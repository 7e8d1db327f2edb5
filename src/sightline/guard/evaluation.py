"""Plan: one attempt, judged on what stands at its path; and its refusal."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from sightline.changes.attribution import detect_changes
from sightline.changes.authors import changed_by
from sightline.changes.renames import renamed, resolve_rename
from sightline.changes.session_context import Known, SessionContext, located
from sightline.changes.write_journal import recover
from sightline.errors import EditRefused, Unverifiable
from sightline.filesystem.file_state import FileState, ResolvedPath
from sightline.guard import words as guard_words
from sightline.guard.refusals import refused
from sightline.guard.verdict import judge
from sightline.model.active_claims import Claim
from sightline.model.attempts import Attempt, Delete, Move, ReplaceLines, WriteWhole
from sightline.model.diff import diff, unified
from sightline.model.events import Fact, Refused, Told
from sightline.model.evidence import EditCase, Evidence, Rules
from sightline.model.revision import MISSING, revision_of
from sightline.model.text import decode
from sightline.model.timeline import Recorded
from sightline.sessions import words
from sightline.sessions.claims import on


class Evaluation:
    """One attempt, judged on what stands at a path whose lock is held. after: the revision of
    what is to stand there."""

    def __init__(self, ground: SessionContext, located: ResolvedPath, attempt: Attempt) -> None:
        self.ground = ground
        self.located = located
        self.attempt = attempt
        self.path = located.path
        self.shown_path = located.name or located.path
        recover(ground, self.path)
        self.found = ground.look(self.path)
        self.known = resolve_rename(ground, located, self.found)
        self.elsewhere = renamed(ground, self.found, self.known)
        policy = ground.settings.policy_for(self.shown_path)
        self.protected = policy == "ask"
        rules = Rules("merge" if self.protected else policy, ground.settings.unseen)
        self.case = EditCase(sight_of(self.found, self.known), rules)
        self.news = detect_changes(ground, self.found)
        self.ruling = judge(self.case, attempt)
        self.claims = claims_on(ground, self.path)
        if forbids(ground, self.claims):
            self.ruling = self.case.refuse("claimed")
        self.of_link = located.name is not None and isinstance(attempt, (Delete, Move))
        if self.of_link:
            self.ruling = self.case.refuse("kind_changed")
        new = self.ruling.new
        self.new_text = decode(new) if new is not None else None
        self.after = MISSING if new is None else revision_of(new)
        self.again = self._refused_before()

    @property
    def diff(self) -> str:
        """What the attempt changes on disk."""
        old_lines = self.case.disk.lines if self.case.disk else []
        new_lines = self.new_text.lines if self.new_text else []
        hunks = diff(old_lines, new_lines)
        name = self.shown_path
        return unified(old_lines, new_lines, hunks, old=f"a/{name}", new=f"b/{name}")

    def _newest(self, kind: type[Fact]) -> Recorded | None:
        """This session's newest fact of a kind about this path."""
        store, session = self.ground.store, self.ground.session
        return next(store.timeline(session=session, path=self.path, kinds=[kind], newest=1), None)

    def _refused_before(self) -> str | None:
        """Why this very attempt was refused, when nothing was looked at since. It stays refused:
        what the refusal printed counts as shown, and must not wave the attempt through."""
        knowledge = self.known.knowledge
        if knowledge is None or knowledge.via != "refusal":
            return None
        if not isinstance(self.attempt, (ReplaceLines, WriteWhole)):
            return None
        last = self._newest(Refused)
        fact = last.fact if last else None
        if not isinstance(fact, Refused) or fact.attempt != describe(self.attempt):
            return None
        return fact.reason if fact.revision == self.found.revision else None

    def refuse(self) -> EditRefused:
        """The refusal, recorded. What it prints counts as shown once it is acknowledged."""
        who, _ = changed_by(self.ground, self.path, self.news)
        error, told = refused(self.ruling, self.shown_path, who, self.case)
        if error.reason == "claimed":
            named = words.claim_enforced(self.shown_path, self.claims, self.ground.session)
            error.message, error.hint = named
        elif self.of_link:
            error.message, error.hint = guard_words.a_link(self.shown_path, self.path)
        elif self.known.retargeted and self.found.kind == "file":
            error.message, error.hint = guard_words.retargeted(self.shown_path, self.path)
            error.diff = ""  # against another file: of no use for the next attempt
        elif told:
            position = self.known.position
            error.told = Told(self.path, self.found.revision, told, position, refusal=True)
        policy = self.ground.settings.policy_for(self.shown_path)
        if policy == "refresh" and self.case.disk and self.ruling.reason in ("stale", "conflict"):
            error.text = self.case.disk.plain
            if isinstance(error.told, Told):
                error.told = structs.replace(error.told, whole=True)
        facts: list[Fact] = [*self.news]
        facts.append(Refused(self.path, describe(self.attempt), error.reason, self.found.revision))
        blobs = self.ground.keepable(self.path, self.found.data)
        self.ground.append(facts, blobs=blobs, found=[self.found])
        return error

    def refuse_again(self, reason: str) -> EditRefused:
        """The refusal of an attempt that what its own refusal printed would let through."""
        message, hint = guard_words.repeated(self.shown_path)
        refusal = Refused(self.path, describe(self.attempt), reason, self.found.revision)
        self.ground.append([*self.news, refusal], found=[self.found])
        return EditRefused(reason, self.shown_path, message, diff=self.diff, hint=hint)


def claims_on(ground: SessionContext, path: str) -> tuple[Claim, ...]:
    """The standing claims of others on a path. Most trees have none, and load nothing for it."""
    if not ground.store.claims():
        return ()

    return on(ground, path)


def forbids(ground: SessionContext, claims: Sequence[Claim]) -> bool:
    """Whether a write must not be made because of these claims. A shared one is only told."""
    return ground.settings.claims == "enforce" and any(each.exclusive for each in claims)


def place_of(ground: SessionContext, path: str) -> ResolvedPath:
    """Where an attempt's path leads; EditRefused (unverifiable) when the disk does not say."""
    try:
        return located(ground, path)
    except Unverifiable as error:
        raise EditRefused("unverifiable", path, error.message, hint=error.hint) from error


def sight_of(found: FileState, known: Known) -> Evidence:
    """What judge may know."""
    return Evidence(
        found.kind, found.data, known.belief, known.believed, found.why, known.retargeted
    )


def describe(attempt: Attempt) -> str:
    """An attempt as a refusal records it: its kind, and a digest instead of its text."""
    digest = revision_of(repr(attempt).encode("utf-8", "surrogatepass"))[:16]
    return f"{type(attempt).__name__.lower()}:{digest}"
