"""An answer rests on the whole timeline, however much happened since the fact that decides it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.hooks.handlers.host import Host
from tests.support.commands import begin, command

from sightline.changes.attribution import running
from sightline.history.why import knower
from sightline.hooks.handlers.shell_commands import started_call
from sightline.model.events import (
    Cause,
    Changed,
    CommandEnded,
    CommandStarted,
    Dropped,
    NoticeDelivered,
    SessionEnded,
    Told,
    TurnBegan,
    WindowEmptied,
)
from sightline.model.timeline import FIRST_LOOK, Recorded, newest_first
from sightline.notices.pending import is_handed, left_window
from sightline.sessions.presence import last_sign

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
