"""How often what was looked for was found, by the kind of pattern: counted from the facts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct, structs

from sightline.model.events import Fact, FilesSought, Seen
from sightline.model.timeline import Recorded
from sightline.search.patterns import ANY_FOLDERS, absolute, magic, pattern
from sightline.store.port import Store

Kind = Literal["path", "name", "ending", "glob", "outside"]
Outcome = Literal["found_first", "found_further", "helped", "not_found"]

KINDS: tuple[Kind, ...] = ("path", "name", "ending", "glob", "outside")
"""From exact to broad. path: one file; name: in any folder, also **/name; ending: *.py in whatever
folders; outside: absolute, and not of this workspace."""

SEEN_NEXT = 10
"""A guess helped that is among so many files that the session is shown next."""

FAILING_MAX = 10
"""Patterns that matched nothing which are told, those that did so most often."""

FACTS: list[type[Fact]] = [FilesSought, Seen]
"""The facts that are counted."""


class Tally(Struct, frozen=True):
    """What became of so many patterns, or searches. found_first: it matched, as the first of its
    chain; found_further: it matched where those before it had not; helped: it did not, and one of the
    guesses that were offered instead was read; not_found: the rest."""

    asked: int = 0
    found_first: int = 0
    found_further: int = 0
    helped: int = 0
    not_found: int = 0

    def plus(self, outcome: Outcome) -> Tally:
        """The same with one more."""
        return structs.replace(
            self, **{"asked": self.asked + 1, outcome: getattr(self, outcome) + 1}
        )


class FindStats(Struct, frozen=True):
    """How searches for files went. searches: chains; kinds: their patterns, by kind, as far as they
    were tried; timed_out: searches that ended before all of their patterns were tried; failing:
    patterns that matched nothing, and how often."""

    searches: Tally = Tally()
    kinds: tuple[tuple[str, Tally], ...] = ()
    timed_out: int = 0
    failing: tuple[tuple[str, int], ...] = ()


class Stats(Struct, frozen=True):
    """What is counted. find: how searches by patterns went."""

    find: FindStats = FindStats()


def kind_of(text: str) -> Kind:
    """The kind of a pattern."""
    if absolute(text):
        return "outside"
    try:
        made = pattern(text)
    except ValueError:
        return "glob"  # an older release read patterns otherwise
    if made.kind != "glob":
        return made.kind
    cut = [glob.rpartition("/") for glob in made.meaning.globs]
    if all(folder == ANY_FOLDERS and not magic(name) for folder, _, name in cut):
        return "name"
    ending = all(name.startswith("*.") and name != "*." and not magic(name[1:]) for *_, name in cut)
    return "ending" if ending else "glob"


def counted(log: Iterable[Recorded]) -> FindStats:
    """The searches of a timeline, of which FACTS are enough, in order."""
    return _Counting().all(log)


class _Counting:
    """Searches as they are counted. waiting: session -> its searches that found nothing but
    guesses, and how many looks at files may still tell that one of these helped."""

    def __init__(self) -> None:
        self._waiting: dict[str, list[tuple[FilesSought, int]]] = {}
        self._whole = Tally()
        self._kinds: dict[Kind, Tally] = {}
        self._failing: dict[str, int] = {}
        self._timed_out = 0

    def all(self, log: Iterable[Recorded]) -> FindStats:
        for recorded in log:
            fact = recorded.fact
            if isinstance(fact, FilesSought):
                self._sought(recorded.session, fact)
            elif isinstance(fact, Seen) and recorded.session in self._waiting:
                self._seen(recorded.session, fact.path)
        for left in self._waiting.values():
            for fact, _ in left:
                self._count(fact, helped=False)
        most = sorted(self._failing.items(), key=lambda each: (-each[1], each[0]))
        kinds = tuple([(kind, self._kinds[kind]) for kind in KINDS if kind in self._kinds])
        return FindStats(self._whole, kinds, self._timed_out, tuple(most[:FAILING_MAX]))

    def _sought(self, session: str, fact: FilesSought) -> None:
        self._timed_out += not fact.won and fact.tried < len(fact.patterns)
        if fact.won or not fact.offered:
            self._count(fact, helped=False)
        else:
            self._waiting.setdefault(session, []).append((fact, SEEN_NEXT))

    def _seen(self, session: str, path: str) -> None:
        left: list[tuple[FilesSought, int]] = []
        for fact, looks in self._waiting.pop(session):
            if path in fact.offered or looks == 1:
                self._count(fact, helped=path in fact.offered)
            else:
                left.append((fact, looks - 1))
        if left:
            self._waiting[session] = left

    def _count(self, fact: FilesSought, *, helped: bool) -> None:
        missed: Outcome = "helped" if helped else "not_found"
        won: Outcome = "found_first" if fact.won == 1 else "found_further"
        self._whole = self._whole.plus(won if fact.won else missed)
        for number, text in enumerate(fact.patterns[: fact.tried], 1):
            kind = kind_of(text)
            outcome: Outcome = won if number == fact.won else missed
            self._kinds[kind] = self._kinds.get(kind, Tally()).plus(outcome)
            if number != fact.won:
                self._failing[text] = self._failing.get(text, 0) + 1


def stats(store: Store, session: str | None = None) -> Stats:
    """Of one session, or of all."""
    return Stats(counted(store.timeline(session=session, kinds=FACTS)))
