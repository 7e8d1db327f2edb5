"""What a verb costs does not grow with sessions that ended, nor with facts about other files.

Cost is the number of steps that SQLite's machine takes: every row that a statement reads is some
steps. It is the same on every machine, which a time is not.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from shutil import rmtree
from tempfile import mkdtemp
from weakref import finalize

import pytest

from sightline.api.opening import start
from sightline.api.session import Session
from sightline.changes.attribution import running
from sightline.checkpoints.rewind.report import preview  # noqa: F401  the verbs load it late
from sightline.config.settings import Settings
from sightline.history import session_history, workspace_status
from sightline.history.overview import Watch
from sightline.history.session_history import LogQuery
from sightline.history.watching import Watching
from sightline.history.why import why
from sightline.model.events import (
    Belief,
    Cause,
    Changed,
    CheckpointDropped,
    CheckpointTaken,
    CommandStarted,
    EnvironmentSeen,
    Seen,
    SessionEnded,
    SessionStarted,
    TurnBegan,
    WarningRaised,
)
from sightline.model.revision import revision_of
from sightline.notices import warnings
from sightline.store.port import Append
from sightline.store.sqlite_file import open_file
from sightline.testing import FixedClock, MemoryWorkspace

FEW, MANY = 520, 1040
"""Sessions that ended, and changes of other files by the present session, in two stores."""

TEXT = "".join(f"line {n}\n" for n in range(40))
OTHERS = [f"other{n}.py" for n in range(6)]
LINES = ((1, 40),)


class Place:
    """The present session `me`, which knows seven files, and the store behind it."""

    def __init__(self, past: int, own: int, gone: int) -> None:
        folder = mkdtemp()
        self.store = open_file(f"{folder}/store.db")
        finalize(self, rmtree, folder)
        finalize(self, self.store.close)
        self.tree = MemoryWorkspace(dict.fromkeys(["a.py", *OTHERS], TEXT))
        self.clock = FixedClock()
        me = self.session()
        me.turn()
        me.warn("Mind the gap.")
        for path in ["a.py", *OTHERS]:
            me.read(path)
        revision = revision_of(TEXT.encode())
        belief = Belief(revision, LINES, LINES, 40)
        for n in range(past):
            name = f"past-{n:04}"
            facts = [
                SessionStarted("tester"),
                TurnBegan(1),
                Seen("a.py", revision, LINES, "read", belief),
                WarningRaised(f"w-{n:08}", "old", ()) if n < 9 else TurnBegan(2),
                SessionEnded("exit"),
            ]
            self.store.append(Append(name, facts, at=self.clock()))
        for n in range(gone):
            facts = [
                SessionStarted("tester"),
                EnvironmentSeen("linux", "3.11", owner=f"other machine:{n}:1"),
                Seen("a.py", revision, LINES, "read", belief),
                CommandStarted("make", f"r{n}"),
            ]
            self.store.append(Append(f"gone-{n:04}", facts, at=self.clock()))
        self.clock.advance(seconds=30 * 24 * 3600)
        for n in range(own):
            path = OTHERS[n % len(OTHERS)]
            cause = Cause("agent", "me")
            change = Changed(path, revision, revision, "content", cause, belief=belief)
            self.store.append(Append("me", [change], at=self.clock()))
        self.clock.advance(seconds=2 * 24 * 3600)
        me.turn()

    def session(self) -> Session:
        settings = Settings("/state", checkpoints="off")
        return start(self.store, self.tree, settings, id="me", clock=self.clock)

    def survey(self):
        return session_history.survey(self.store, self.tree, Settings("/state"), self.clock)

    def steps(self, verb: Callable[[Place], object]) -> int:
        """Return the steps of a verb in a new process: nothing is remembered."""
        taken = 0

        def count() -> int:
            nonlocal taken
            taken += 1
            return 0

        database = self.store._base.open()
        database.set_progress_handler(count, 1)
        try:
            verb(self)
        finally:
            database.set_progress_handler(None, 1)
        return taken


def edit(place: Place) -> object:
    session = place.session()
    session.edit("a.py", "line 7\n", "line seven\n")
    return session.edit("a.py", "line seven\n", "line 7\n")


def saved_outside(place: Place, verb: str) -> object:
    session = place.session()
    place.tree.put("a.py", TEXT.replace("line 9\n", "line nine\n"))
    return getattr(session, verb)()


def look(place: Place) -> object:
    context = place.survey()
    with Watching(context) as watching:
        return Watch(context, watching).look()


VERBS: dict[str, Callable[[Place], object]] = {
    "open": lambda place: place.session(),
    "read": lambda place: place.session().read("a.py"),
    "check": lambda place: place.session().check("a.py"),
    "edit": edit,
    "changes": lambda place: saved_outside(place, "changes"),
    "notice": lambda place: saved_outside(place, "notice"),
    "files": lambda place: place.session().files(),
    "registry": lambda place: place.session().registry(limit=1),
    "briefing": lambda place: saved_outside(place, "briefing"),
    "warnings": lambda place: warnings.pending(place.survey(), "me"),
    "turn": lambda place: place.session().turn(),
    "running": lambda place: running(place.session()._context),
    "log": lambda place: list(session_history.select(place.store, LogQuery(newest=10))),
    "log of a session": lambda place: list(
        session_history.select(place.store, LogQuery(session="me", kinds=("turn",), newest=10))
    ),
    "why": lambda place: why(place.session()._context, "a.py"),
    "status": lambda place: workspace_status.status(place.survey()),
    "sessions": lambda place: session_history.sessions(place.survey()),
    "up": look,
}

COUNTING = {"up": 4}
"""Steps to count a row. The page of `up` says how many sessions have ended and how many have not."""


@pytest.fixture(scope="module")
def costs():
    """The steps of each verb by the number of sessions that ended, of own changes, and of sessions
    whose process went away without a word."""
    found = {}
    for counts in ((FEW, FEW, FEW), (MANY, FEW, FEW), (FEW, MANY, FEW), (FEW, FEW, MANY)):
        place = Place(*counts)
        found[counts] = {name: place.steps(verb) for name, verb in VERBS.items()}
    return found


@pytest.mark.wide
@pytest.mark.parametrize("name", VERBS)
def test_a_verb_reads_no_more_rows_with_many_sessions_that_ended(name, costs):
    few, many = costs[FEW, FEW, FEW][name], costs[MANY, FEW, FEW][name]
    assert many <= 1.01 * few + COUNTING.get(name, 0) * (MANY - FEW)


@pytest.mark.wide
@pytest.mark.parametrize("name", VERBS)
def test_a_verb_reads_no_more_rows_with_many_sessions_whose_process_is_gone(name, costs):
    few, many = costs[FEW, FEW, FEW][name], costs[FEW, FEW, MANY][name]
    assert many <= 1.01 * few + COUNTING.get(name, 0) * (MANY - FEW)


@pytest.mark.wide
@pytest.mark.parametrize("name", VERBS)
def test_a_verb_reads_no_more_rows_with_many_own_changes_of_other_files(name, costs):
    few, many = costs[FEW, FEW, FEW][name], costs[FEW, MANY, FEW][name]
    assert many <= 1.01 * few + COUNTING.get(name, 0) * (MANY - FEW)


def at_work(place: Place) -> list[str]:
    return place.store.active_since(place.clock() - 1_800_000_000)


@pytest.mark.wide
def test_who_is_at_work_is_found_among_few_rows_however_many_facts_are_young():
    steps = []
    for count in (100, 1_000):
        place = Place(3, 3, 3)
        for name in ("one", "two"):
            facts = [TurnBegan(number) for number in range(count)]
            place.store.append(Append(name, facts, at=place.clock()))
        steps.append(place.steps(at_work))
        assert {"one", "two"} <= {*at_work(place)}
    assert steps[1] <= 1.01 * steps[0]


@pytest.mark.parametrize("verb", ["rewind", "edited_since"])
@pytest.mark.parametrize("by", ["id", "label"])
def test_a_checkpoint_that_is_named_is_found_among_the_last_ones(verb, by):
    steps = []
    for count in (40, 400):
        place = Place(3, 3, 3)
        session = place.session()
        first = session.checkpoint("old")
        taken = [CheckpointTaken(f"cp-{n}", "old", first.manifest) for n in range(count)]
        dropped = [CheckpointDropped(f"cp-{n}", "room") for n in range(count)]
        place.store.append(Append("past-0001", [*taken, *dropped], at=place.clock()))
        made = session.checkpoint("mine")
        more = {"dry_run": True} if verb == "rewind" else {}
        steps.append(place.steps(partial(_of_checkpoint, verb, getattr(made, by), more)))
    assert steps[1] <= 1.01 * steps[0]


def _of_checkpoint(verb, name, more, place):
    return getattr(place.session(), verb)(name, **more)


@pytest.mark.wide
def test_a_page_of_sessions_has_the_present_ones_first_and_says_how_many_it_leaves_out():
    place = Place(FEW, 3, 2)
    page = session_history.sessions(place.survey(), last=3)
    assert [each.id for each in page.sessions] == ["me", "past-0517", "past-0518", "past-0519"]
    assert page.left_out == FEW + 2 - 3
    whole = workspace_status.status(place.survey(), last=None)
    assert (len(whole.sessions), whole.left_out) == (FEW + 3, 0)
