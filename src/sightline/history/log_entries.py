"""Values for people: the log entry, one shape for facts of all kinds, and the reasons of a verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from msgspec import Struct

from sightline.model.events import FACTS, Cause, Changed, Fact, Moved
from sightline.model.projections import Knowledge
from sightline.model.results import Verdict
from sightline.model.spans import Spans
from sightline.model.timeline import Recorded


class Entry(Struct, frozen=True):
    """A fact for people. at: UTC microseconds; kind: a word of the public interface; src: former path
    of a moved file; before, after: revisions, or commits for a move by git; cause.detail: particular
    to the kind, such as the way a file was shown or the reason of a refusal; paths: of a fact about
    several files; count: number of things it is about; quiet: an automatic fact that nobody has to see
    at once; short, sentence, why_sentence: as on the fact, for history.words."""

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


class Why(Struct, frozen=True):
    """The reasons of a verdict for a session. entries: the facts, oldest first; earlier: number of facts before
    them; others: other sessions that were shown the file and have not ended. knowledge: the session's,
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


def readable_entries(
    recorded: Iterable[Recorded], agent_of: Callable[[str], str]
) -> Iterator[Entry]:
    """Return facts as entries, without the facts that have no word. agent_of: session -> its agent."""
    for row in recorded:
        if row.fact.words:
            yield readable_entry(row, agent_of(row.session) if row.session else "")


def readable_entry(row: Recorded, agent: str) -> Entry:
    """Return a fact that has a word as an entry."""
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
        cause=fact.author(row.session),
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
