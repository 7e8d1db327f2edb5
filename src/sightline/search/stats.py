"""Count how often searches succeed, by the kind of their patterns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct, structs

from sightline.model.events import Fact, FilesSought, Seen
from sightline.model.timeline import Recorded
from sightline.search.patterns import ANY_FOLDERS, absolute, has_magic, pattern
from sightline.store.port import Timeline

Kind = Literal["path", "name", "ending", "glob", "outside"]
Outcome = Literal["found_first", "found_further", "helped", "not_found"]

KINDS: tuple[Kind, ...] = ("path", "name", "ending", "glob", "outside")
"""From exact to broad. path: one file; name: in any folder, also **/name; ending: *.py in any folder;
outside: absolute, outside this workspace."""

SEEN_NEXT = 10
"""A guess helped if it is among the next so many files that the session reads."""

FAILING_MAX = 10
"""Patterns without a match that are listed, the most frequent ones."""

FACTS: list[type[Fact]] = [FilesSought, Seen]
"""The facts that count_searches needs."""


class Tally(Struct, frozen=True):
    """Outcomes of patterns, or of searches. found_first: matched as the first of its chain;
    found_further: matched after earlier patterns had not; helped: a guess was read instead;
    not_found: the rest."""

    asked: int = 0
    found_first: int = 0
    found_further: int = 0
    helped: int = 0
    not_found: int = 0

    def plus(self, outcome: Outcome) -> Tally:
        """Return the tally with one more of this outcome."""
        return structs.replace(
            self, **{"asked": self.asked + 1, outcome: getattr(self, outcome) + 1}
        )


class KindTally(Tally, frozen=True, kw_only=True):
    """Outcomes of the patterns of one kind."""

    kind: Kind


class FailingPattern(Struct, frozen=True):
    """A pattern without a match. times: how often it was tried."""

    pattern: str
    times: int


class FindStats(Struct, frozen=True):
    """Statistics of searches for files. searches: chains; kinds: their tried patterns, by kind;
    timed_out: searches that ended before all patterns were tried; failing: patterns without a
    match, and how often."""

    searches: Tally = Tally()
    kinds: tuple[KindTally, ...] = ()
    timed_out: int = 0
    failing: tuple[FailingPattern, ...] = ()


class Stats(Struct, frozen=True):
    """All statistics. find: searches by patterns."""

    find: FindStats = FindStats()


def kind_of(text: str) -> Kind:
    """Return the kind of a pattern."""
    if absolute(text):
        return "outside"
    try:
        parsed = pattern(text)
    except ValueError:
        return "glob"  # recorded by a release with another syntax
    if parsed.kind != "glob":
        return parsed.kind
    cut = [glob.rpartition("/") for glob in parsed.globs]
    if all(folder == ANY_FOLDERS and not has_magic(name) for folder, _, name in cut):
        return "name"
    names = [name for _, _, name in cut]
    is_ending = all(n.startswith("*.") and n != "*." and not has_magic(n[1:]) for n in names)
    return "ending" if is_ending else "glob"


def count_searches(log: Iterable[Recorded]) -> FindStats:
    """Count the searches of a timeline. log: the FACTS, in order."""
    searches: list[tuple[FilesSought, bool]] = []  # each with whether a guess helped
    waiting: dict[str, list[tuple[FilesSought, int]]] = {}  # by session, with the reads to come
    for recorded in log:
        fact, session = recorded.fact, recorded.session
        if isinstance(fact, FilesSought):
            if fact.won or not fact.offered:
                searches.append((fact, False))
            else:
                waiting.setdefault(session, []).append((fact, SEEN_NEXT))
        elif isinstance(fact, Seen):
            undecided = waiting.pop(session, [])
            ended = [s for s, reads in undecided if fact.path in s.offered or reads == 1]
            searches += [(search, fact.path in search.offered) for search in ended]
            if still := [(s, n - 1) for s, n in undecided if fact.path not in s.offered and n > 1]:
                waiting[session] = still
    searches += [(search, False) for undecided in waiting.values() for search, _ in undecided]

    total, kinds, failing = Tally(), dict[Kind, Tally](), dict[str, int]()
    for search, helped in searches:
        missed: Outcome = "helped" if helped else "not_found"
        won: Outcome = "found_first" if search.won == 1 else "found_further"
        total = total.plus(won if search.won else missed)
        for number, text in enumerate(search.patterns[: search.tried], 1):
            kind = kind_of(text)
            kinds[kind] = kinds.get(kind, Tally()).plus(won if number == search.won else missed)
            if number != search.won:
                failing[text] = failing.get(text, 0) + 1
    most = sorted(failing.items(), key=lambda item: (-item[1], item[0]))
    return FindStats(
        total,
        tuple(
            [KindTally(**structs.asdict(kinds[kind]), kind=kind) for kind in KINDS if kind in kinds]
        ),
        sum(not search.won and search.tried < len(search.patterns) for search, _ in searches),
        tuple([FailingPattern(*each) for each in most[:FAILING_MAX]]),
    )


def stats(store: Timeline, session: str | None = None) -> Stats:
    """Return the statistics of one session, or of all."""
    return Stats(count_searches(store.timeline(session=session, kinds=FACTS)))
