"""Values for people: the log entry, one shape for facts of all kinds, and the reasons of a verdict."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from sightline.model.events import FACTS, Cause, Changed, Fact, Moved
from sightline.model.projections import Knowledge
from sightline.model.results import KnownCause, TimelineEntry, Verdict
from sightline.model.spans import Spans
from sightline.model.timeline import Recorded
from sightline.model.units import moment


class Entry(Struct, frozen=True):
    """A fact for people. at: UTC microseconds; kind: a word of the public interface; src: former path
    of a moved file; before, after: revisions, or commits for a move by git; cause.detail: particular
    to the kind, such as the way a file was shown or the reason of a refusal; paths: of a fact about
    several files; count: number of things it is about; quiet: an automatic fact that nobody has to see
    at once; short, sentence, why_sentence: as on the fact, for history.words; diff: as of TimelineEntry."""

    position: int
    at: int
    session: str
    agent: str
    kind: str
    path: str | None
    src: str | None
    lines: Spans | None
    before: str | None
    after: str | None
    cause: Cause
    paths: tuple[str, ...] = ()
    count: int = 0
    quiet: bool = False
    short: str = ""
    sentence: str = Changed.log_form
    why_sentence: str = Changed.why_form
    diff: str | None = None

    def as_view(self) -> TimelineEntry:
        """Return the fact as everybody is shown it."""
        by = self.cause
        return TimelineEntry(
            self.position or None,
            moment(self.at),
            self.session or None,
            self.agent or None,
            *(self.kind, self.path, self.lines, self.before, self.after),
            KnownCause(by.kind, by.who, by.detail, by.confidence),
            self.paths,
            self.src if self.kind == "moved" else None,
            self.diff,
        )


def foreign(entry: Entry) -> bool:
    """Return whether a session only detected a change by others."""
    return entry.kind in ("changed", "deleted", "moved") and entry.cause.who != entry.session


class WhyView(Struct, frozen=True, omit_defaults=True):
    """The reasons of a verdict as JSON has them: see Why. seen_lines: ever shown; held_lines: those of them
    that are still in the context window; text_kept: the shown text is stored."""

    path: str
    session: str
    facts: tuple[TimelineEntry, ...]
    earlier: int
    verdict: Verdict
    seen_lines: Spans
    held_lines: Spans
    differing_lines: Spans
    text_kept: bool
    policy: str
    other_sessions: tuple[str, ...]
    moved_to: str | None = None


class Why(Struct, frozen=True):
    """The reasons of a verdict for a session. entries: the facts, oldest first; earlier: number of facts before
    them; others: other sessions that were shown the file and may be present. knowledge: the session's,
    None for a file never shown. moved_to: the path of the file now, where it was renamed. differing:
    shown lines that differ on disk; kept: the shown text is stored."""

    path: str
    session: str
    agent: str
    entries: tuple[Entry, ...]
    earlier: int
    verdict: Verdict
    others: tuple[str, ...]
    policy: str
    knowledge: Knowledge | None = None
    differing: Spans = ()
    kept: bool = True
    moved_to: str | None = None

    def as_view(self) -> WhyView:
        """Return the reasons as everybody is shown them."""
        belief = self.knowledge.belief if self.knowledge else None
        facts = tuple(entry.as_view() for entry in self.entries)
        lines = (belief.shown, belief.held) if belief else ((), ())
        return WhyView(
            *(self.path, self.session, facts, self.earlier, self.verdict, *lines, self.differing),
            *(self.kept, self.policy, self.others, self.moved_to),
        )


def readable_entry(row: Recorded, agent: str, cause: Cause) -> Entry:
    """Return a fact that has a word as an entry. cause: its author, with the text of a command."""
    fact = row.fact
    before, after = fact.revisions
    return Entry(
        position=row.position,
        at=row.happened_at,
        session=row.session,
        agent=agent,
        kind=fact.word,
        path=getattr(fact, "path", None),
        src=fact.src if isinstance(fact, Moved) else None,
        lines=getattr(fact, "lines", None),
        before=before,
        after=after,
        cause=cause,
        paths=fact.about,
        count=fact.count,
        quiet=fact.is_quiet,
        short=fact.short,
        sentence=fact.sentence,
        why_sentence=fact.why_sentence,
    )


def facts_of(kinds: Iterable[str]) -> list[type[Fact]]:
    """Return the kinds of facts for these words."""
    wanted = set(kinds)
    return [kind for kind in FACT_KINDS if wanted.intersection(kind.words)]


FACT_KINDS = [kind for kind in FACTS.values() if kind.words]
"""The kinds of facts that have a word. The journal has none: its results have."""

KINDS = tuple(sorted({word for kind in FACT_KINDS for word in kind.words}))
"""All words for events."""

OF_FILES = frozenset(word for kind in FACT_KINDS if kind.of_files for word in kind.words)
"""Words for events of files, and for a watcher's gaps. The other words are about sessions."""
