"""An answer rests on the whole timeline, however much happened since the fact that decides it."""

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.hooks.handlers.host import Host
from tests.support.commands import begin, command

from sightline.api.opening import start
from sightline.changes.attribution import running
from sightline.config.settings import Settings
from sightline.history.asked_sessions import knower, worked_last
from sightline.history.overview import newest_events, tail_of
from sightline.history.why import why
from sightline.hooks.handlers.shell_commands import started_call
from sightline.model.events import (
    Belief,
    Cause,
    Changed,
    CommandEnded,
    CommandStarted,
    Dropped,
    NoticeDelivered,
    Refused,
    RequestMeasured,
    Seen,
    SessionEnded,
    SightLost,
    Told,
    TurnBegan,
    WindowEmptied,
)
from sightline.model.timeline import FIRST_LOOK, Recorded, newest_first
from sightline.notices.pending import is_handed, left_window
from sightline.sessions.presence import last_sign
from sightline.store.memory import MemoryStore
from sightline.store.port import Append
from sightline.testing import FixedClock, MemoryWorkspace
from sightline.text.tokens import Counter
from sightline.window.sent_view import Window

LONG = 300
"""More facts than any search looked at."""


@pytest.fixture
def host(place):
    place.put("a.txt", "one\ntwo\n")
    host = Host(place)
    host.read("a.txt")
    return host


def test_the_beginning_of_a_command_is_found_behind_many_others(host):
    context = host.session._context
    begin(context, "make", "first")
    context.append([CommandStarted("ls", f"{number}") for number in range(LONG)])
    found = started_call(context, "first")
    assert found is not None
    assert found.fact == CommandStarted(command("make"), "first")


def test_a_command_is_under_way_behind_many_commands_of_others(host, place):
    context = host.session._context
    begin(context, "make watch", "long &")
    for number in range(12):
        other = place.session(f"other {number}")._context
        other.append([CommandStarted("ls", f"{run}") for run in range(50)])
        other.append([CommandEnded(f"{run}", 0) for run in range(50)])
    assert [each.text for each in running(context)] == ["make watch"]


def test_a_text_that_the_host_was_handed_is_known_behind_many_other_deliveries(host):
    context = host.session._context
    known = context.store.knowledge(host.session.id, "a.txt")
    told = Told("a.txt", "r1", None, known.position)
    context.append([NoticeDelivered("change", "call", ("a.txt",), (told,))])
    context.append([NoticeDelivered("refusal", "call", ("a.txt",)) for _ in range(LONG)])
    assert is_handed(context, known, "r1")


def test_a_summary_is_known_behind_many_texts_that_left_the_window(host):
    context = host.session._context
    [emptied] = context.append([WindowEmptied()])
    context.append([Dropped("a.txt", ((1, 1),)) for _ in range(LONG)])
    assert left_window(context) == emptied.position


def test_the_last_sign_of_a_session_is_its_own_whatever_it_found_since(host):
    context = host.session._context
    [turn] = context.append([TurnBegan(1)])
    outside = [
        Changed("a.txt", f"r{n}", f"r{n + 1}", "content", Cause("external")) for n in range(LONG)
    ]
    context.append(outside)
    state = context.store.session(host.session.id)
    assert last_sign(context.store, state) == turn.happened_at


def test_a_session_that_knows_a_file_is_found_behind_many_changes_of_others(host, place):
    context = host.session._context
    context.append([SessionEnded()])
    other = place.session("other")._context
    other.append(
        [Changed("a.txt", f"r{n}", f"r{n + 1}", "content", Cause("external")) for n in range(LONG)]
    )
    assert knower(other, "a.txt") == context.session


def test_a_session_at_work_is_warned_behind_many_that_ended(host, place):
    """They learned of the file later, and so did some that are at work."""
    belief = host.session._context.store.knowledge(host.session.id, "a.txt").belief
    for number in range(60):
        other = host.session._context.for_session(f"past {number}")
        other.append([Seen("a.txt", belief.text, belief.shown, "read", belief), SessionEnded()])
    present = [place.session(f"present {number}") for number in range(9)]
    for session in present:
        session.read("a.txt")
    written = place.session("writer")
    written.read("a.txt")
    told = written.edit("a.txt", "one", "ONE").affected
    assert {each.session for each in told} == {host.session.id, *(each.id for each in present)}
    assert why(written._context, "a.txt").others == tuple(sorted(each.session for each in told))


class World:
    """A store and files in memory, and the context of a session."""

    def __init__(self):
        self.store, self.clock = MemoryStore(), FixedClock()
        tree, settings = MemoryWorkspace({"a.txt": "one\n"}), Settings("/state", checkpoints="off")
        self.session = partial(start, self.store, tree, settings, clock=self.clock)
        self.context = self.session(id="s")._context

    def foreign(self, count):
        """Record changes that others made, found by the session s."""
        by = Cause("external")
        facts = [Changed("a.txt", f"r{n}", f"r{n + 1}", "content", by) for n in range(count)]
        self.store.append(Append("s", facts, at=self.clock()))


def test_the_page_of_sessions_shows_a_refusal_of_this_turn_and_the_events_before_many_reads():
    world = World()
    [_, refused, _] = world.context.append(
        [TurnBegan(1), Refused("a.txt", "edit", "stale", "r1"), SightLost("limit")]
    )
    world.foreign(LONG)
    belief = Belief("r1", ((1, 1),), ((1, 1),), 1)
    world.session(id="t")._context.append([Seen("a.txt", "r1", ((1, 1),), "read", belief)] * LONG)
    state = world.store.session("s")
    assert state is not None
    tail = tail_of(world.store, state)
    assert (tail.last, list(tail.marks)) == (refused.happened_at, ["a.txt"])
    events = newest_events(world.store, 0, LONG + 5)
    assert [each.kind for each in events[:3]] == ["session", "refused", "sight_lost"]


@pytest.mark.wide
def test_the_session_whose_agent_worked_last_is_found_behind_any_number_of_changes():
    world = World()
    world.session(id="s").read("a.txt")
    world.foreign(5_001)
    assert worked_last(world.context) == "s"


def test_a_model_is_calibrated_by_its_requests_behind_many_of_another_model():
    world = World()
    sizes = [(1_000, 2_000), (3_000, 6_000), (9_000, 18_000)]
    for name, rows in (("mine", sizes), ("other", sizes[:1] * 401)):
        facts = [RequestMeasured("m", *each, model=name) for each in rows]
        world.session(id=f"of {name}")._context.append(facts)
    assert (
        Window(world.context, "", "mine", Counter(len, "letters", "o200k", 0.0)).calibration().ratio
        > 1.5
    )


@given(
    st.lists(st.sampled_from("abc"), max_size=40 * FIRST_LOOK),
    st.none() | st.integers(0, 40 * FIRST_LOOK),
)
def test_newest_first_is_the_whole_timeline_backwards(kinds, upto):
    log = [Recorded(at, kind, at, at, TurnBegan(at)) for at, kind in enumerate(kinds, 1)]

    def timeline(*, session, upto, newest):
        chosen = [r for r in log if r.session == session and (upto is None or r.position <= upto)]
        return iter(chosen[-newest:])

    found = [*newest_first(timeline, upto=upto, session="a")]
    assert found == [*reversed([*timeline(session="a", upto=upto, newest=len(log) + 1)])]
