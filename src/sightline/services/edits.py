"""Editing: lock, look, judge, journal, replace, record; or refuse with the diff."""

from __future__ import annotations

from os import urandom

from sightline import render
from sightline.core.attempts import ReplaceLines, WriteWhole
from sightline.core.belief import look
from sightline.core.case import Case, Rules, Sight
from sightline.core.diff import diff, unified
from sightline.core.events import (
    Belief,
    Merged,
    Refused,
    WriteAbandoned,
    WriteIntended,
)
from sightline.core.guard import judge
from sightline.core.placing import new_sides
from sightline.core.revision import MISSING, revision_of
from sightline.core.text import decode
from sightline.errors import EditRefused, StoreConflict, StoreError, Unverifiable
from sightline.services.follow import renamed
from sightline.services.ground import TRIES, believe, noticed, recall
from sightline.services.notices import changed_by, moved_notice, notice_of
from sightline.services.recovery import done, settle
from sightline.services.refusals import refused
from sightline.services.results import EditResult, Told

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sightline.core.attempts import Attempt
    from sightline.core.events import Fact
    from sightline.core.timeline import Recorded
    from sightline.services.ground import Ground, Known
    from sightline.workspace import Found, Located


def carry_out(ground: Ground, path: str, attempt: Attempt) -> EditResult:
    """Carry out one attempt, or raise EditRefused and leave the file as it is."""
    located = place_of(ground, path)
    approved = False
    src: str | None = None
    for _ in range(TRIES):
        with ground.workspace.lock(located.path):
            plan = Plan(ground, located, attempt)
            if plan.elsewhere is not None:
                src, located = located.path, plan.elsewhere
                continue
            if plan.ruling.decision == "refuse":
                raise plan.refuse()
            if plan.again is not None:
                raise plan.refuse_again(plan.again)
            if approved or not plan.protected:
                result = plan.commit()
                if result is None:
                    continue
                return told_of_move(result, src)
        approved = _approved(ground, plan)
    raise EditRefused(
        "unverifiable",
        path,
        f"{path} was changed by others {TRIES} times while this edit was being made.",
        hint="Try again when the program that writes it has finished.",
    )


class Plan:
    """One attempt, judged on what stands at a path whose lock is held."""

    def __init__(self, ground: Ground, located: Located, attempt: Attempt) -> None:
        self.ground = ground
        self.located = located
        self.attempt = attempt
        self.path = located.path
        self.shown_path = located.name or located.path
        settle(ground, self.path)
        self.found = ground.look(self.path)
        self.known = recall(ground, located, self.found)
        self.elsewhere = renamed(ground, self.found, self.known)
        policy = ground.settings.policy_for(self.shown_path)
        self.protected = policy == "ask"
        rules = Rules("merge" if self.protected else policy, ground.settings.unseen)
        self.case = Case(sight_of(self.found, self.known), rules)
        self.news = noticed(ground, self.found)
        self.ruling = judge(self.case, attempt)
        new = self.ruling.new
        self.new_text = decode(new) if new is not None else None
        self.again = self._refused_before()

    @property
    def after(self) -> str:
        """The revision of what is to stand there."""
        new = self.ruling.new
        return MISSING if new is None else revision_of(new)

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
        if self.known.retargeted:
            error.message, error.hint = render.retargeted(self.shown_path, self.path)
            error.diff = ""  # against another file: of no use for the next attempt
        elif told:
            position = self.known.position
            error.told = Told(self.path, self.found.revision, told, position, refusal=True)
        policy = self.ground.settings.policy_for(self.shown_path)
        if policy == "refresh" and self.case.disk and self.ruling.reason in ("stale", "conflict"):
            error.text = self.case.disk.plain
        facts: list[Fact] = [*self.news]
        facts.append(Refused(self.path, describe(self.attempt), error.reason, self.found.revision))
        blobs = self.ground.keepable(self.path, self.found.data)
        self.ground.append(facts, blobs=blobs, found=[self.found])
        return error

    def refuse_again(self, reason: str) -> EditRefused:
        """The refusal of an attempt that what its own refusal printed would let through."""
        message, hint = render.repeated(self.shown_path)
        refusal = Refused(self.path, describe(self.attempt), reason, self.found.revision)
        self.ground.append([*self.news, refusal], found=[self.found])
        return EditRefused(reason, self.shown_path, message, diff=self.diff, hint=hint)

    def commit(self) -> EditResult | None:
        """Journal, replace, record. None when something moved meanwhile: judge again."""
        ground, ruling = self.ground, self.ruling
        token = urandom(6).hex()
        belief, body = self._belief(self.known)
        intent = WriteIntended(
            self.path,
            self.found.revision,
            self.after,
            ground.workspace.asides(self.path, token),
            ground.owner,
            belief,
        )
        try:
            recorded = ground.append(
                [*self.news, intent],
                blobs=ground.keepable(self.path, self.found.data, ruling.new, body),
                found=[self.found],
                expect={self.path: self.known.position},
                durable=True,
            )
        except StoreConflict:
            return None
        position = recorded[-1].position
        try:
            stands = ground.workspace.replace_if(
                self.path, self.found.revision, ruling.new, token=token
            )
        except Unverifiable as error:
            ground.append([WriteAbandoned(self.path, position)])
            raise EditRefused(
                "unverifiable", self.shown_path, error.message, hint=error.hint
            ) from error
        if stands.revision != self.after:
            ground.append([WriteAbandoned(self.path, position)], found=[stands])
            return None
        written = self._record(intent, position, stands)
        return EditResult(
            path=self.shown_path,
            revision=self.after,
            merged=ruling.decision == "merge",
            notice=notice_of(self, self.path, written),
            diff=self.diff,
        )

    def put_back(self) -> None:
        """Undo a commit, where its bytes still stand: what was there before stands there again."""
        ground, known = self.ground, recall(self.ground, self.located)
        lines = len(self.case.disk.lines) if self.case.disk else 0
        before = self.known.belief or Belief(self.found.revision, (), (), lines)
        token = urandom(6).hex()
        asides = ground.workspace.asides(self.path, token)
        old = self.found.revision
        intent = WriteIntended(self.path, self.after, old, asides, ground.owner, before)
        position = ground.append([intent], durable=True)[-1].position
        stands = ground.workspace.replace_if(self.path, self.after, self.found.data, token=token)
        if stands.revision != old:
            ground.append([WriteAbandoned(self.path, position)], found=[stands])
            return
        fact = done(intent, stands, ground.session, position)
        ground.append([fact], found=[stands], expect={self.path: known.position}, durable=True)

    def _record(self, intent: WriteIntended, position: int, stands: Found) -> int:
        """Say that the write happened; where that stands on the timeline. The write is on disk
        already, so a failure here is told as such; the journalled intent lets the next open
        record it."""
        facts: list[Fact] = [done(intent, stands, self.ground.session, position)]
        if self.ruling.decision == "merge" and self.known.belief:
            base = self.known.belief.text
            facts.append(Merged(self.path, base, self.found.revision, self.after))
        expect = {self.path: self.known.position}
        try:
            try:
                recorded = self.ground.append(facts, found=[stands], expect=expect, durable=True)
            except StoreConflict:  # this session looked at the file in another process meanwhile
                known = recall(self.ground, self.located)
                belief, body = self._belief(known, afresh=True)
                facts[0] = done(
                    intent.replace(belief=belief), stands, self.ground.session, position
                )
                blobs = self.ground.keepable(self.path, body)
                recorded = self.ground.append(facts, blobs=blobs, found=[stands], durable=True)
            return recorded[0].position
        except StoreError as error:
            raise StoreError(
                f"{self.shown_path} was written, but the store could not record it: "
                f"{error.message}",
                "Do not repeat the edit. It is recorded at the next open. " + error.hint,
            ) from error

    def _belief(self, known: Known, *, afresh: bool = False) -> tuple[Belief, bytes | None]:
        """What the agent holds once this is done, and its text. afresh: on what it knows now."""
        new, after, text = self.ruling.new, self.ruling.after, self.new_text
        if new is None or text is None or after is None:
            return Belief(MISSING, (), (), 0), None
        if afresh and known.held is not None:
            old = self.case.disk.lines if self.case.disk else []
            own = new_sides(diff(old, text.lines))
            after = look(known.held, text.lines, own)
        disk, plain = self.case.disk, "".join(after.lines)
        if disk and text.plain != plain and disk.is_encoded(plain, new):
            # By the letters it has now, the file would be taken for one of another encoding.
            return Belief(self.after, after.shown, after.held, len(after.lines)), new
        return believe(after, text, new, self.after)


def place_of(ground: Ground, path: str) -> Located:
    """Where an attempt's path leads; EditRefused (unverifiable) when the disk does not say."""
    try:
        return ground.workspace.locate(path)
    except Unverifiable as error:
        raise EditRefused("unverifiable", path, error.message, hint=error.hint) from error


def sight_of(found: Found, known: Known) -> Sight:
    """What judge may know."""
    return Sight(found.kind, found.data, known.belief, known.believed, found.why, known.retargeted)


def describe(attempt: Attempt) -> str:
    """An attempt as a refusal records it: its kind, and a digest instead of its text."""
    digest = revision_of(repr(attempt).encode("utf-8", "surrogatepass"))[:16]
    return f"{type(attempt).__name__.lower()}:{digest}"


def _approved(ground: Ground, plan: Plan) -> bool:
    """Ask the user, with no lock held: the disk may change meanwhile, so it is judged again."""
    if not plan.protected:
        return False
    if ground.approve is not None and ground.approve(plan.shown_path, plan.diff):
        return True
    message, hint = render.refusal(plan.ruling.replace(reason="scope"), plan.shown_path, "")
    refusal = Refused(plan.path, describe(plan.attempt), "scope", plan.found.revision)
    ground.append([refusal])
    raise EditRefused("scope", plan.shown_path, message, diff=plan.diff, hint=hint)


def told_of_move(result: EditResult, src: str | None) -> EditResult:
    """A result that says so when a rename from `src` was followed."""
    if src is None:
        return result
    return result.replace(notice=moved_notice(src, result))
