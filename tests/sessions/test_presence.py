"""Who holds a session, and whether it is still there."""

from __future__ import annotations

import subprocess
import sys

import pytest

import sightline.testing
from sightline.filesystem import process
from sightline.model.events import Changed, ClaimReleased, EnvironmentSeen, SessionEnded
from sightline.sessions import presence
from sightline.testing import FixedClock


@pytest.fixture
def sleeper():
    """A process that waits until it is told to end."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        yield child
        child.kill()


def environments(session):
    log = session._context.store.timeline(session=session.id, kinds=[EnvironmentSeen])
    return [recorded.fact for recorded in log]


def state_of(session, of=None):
    context = session._context
    return presence.presence(context, context.store.session(of or session.id))


def hold(session, pid):
    """Let another process hold a session, as a hook does."""
    session._context.append([presence.environment(process.owner_of(pid))])


def test_a_session_is_held_by_the_process_of_its_program(s):
    (fact,) = environments(s)
    assert (fact.owner, fact.system) == (process.owner(), sys.platform)
    assert fact.python == ".".join(map(str, sys.version_info[:3]))
    assert (state_of(s).state, state_of(s).holder) == ("present", process.owner())


def test_taking_it_up_in_the_same_process_says_nothing_new(place, s):
    place.session("s")
    assert len(environments(s)) == 1


def test_another_process_that_takes_it_up_holds_it(place, s, sleeper):
    hold(s, sleeper.pid)
    assert state_of(s).holder == process.owner_of(sleeper.pid)
    again = place.session("s")
    assert state_of(again).holder == process.owner()


def test_a_session_is_gone_with_its_process(s, sleeper):
    hold(s, sleeper.pid)
    assert state_of(s).state == "present"
    sleeper.kill()
    sleeper.wait()
    assert state_of(s).state == "gone"
    assert not presence.is_present(s._context, "s")


def test_a_later_process_of_the_same_number_is_another_one(s, sleeper):
    machine, pid, start = process.owner_of(sleeper.pid).rsplit(":", 2)
    s._context.append([presence.environment(f"{machine}:{pid}:{int(start) - 1}")])
    assert state_of(s).state == "gone"


def test_of_another_machine_the_last_sign_of_life_decides(place):
    clock = FixedClock()
    session = place.session("far", clock=clock, away_s=60.0)
    session._context.append([presence.environment("another-machine:12:34")])
    clock.advance(seconds=60)
    assert state_of(session).state == "present"
    clock.advance(seconds=1)
    assert state_of(session).state == "gone"
    session.turn()
    assert state_of(session).state == "present"


def test_what_others_did_is_no_sign_of_life(place):
    clock = FixedClock()
    session = place.session("s", clock=clock)
    began = clock()
    place.put("a.py", "a\n")
    session.read("a.py")
    clock.advance(seconds=5)
    place.put("a.py", "b\n")
    assert session.check("a.py").state == "stale"  # which records the change in its name
    session._context.append([ClaimReleased("c-1")])
    assert list(session._context.store.timeline(kinds=[Changed]))
    assert state_of(session).last == began


def test_an_ended_session_is_not_there_and_comes_back_when_it_is_taken_up(place, s):
    s._context.append([SessionEnded()])
    assert (state_of(s).state, presence.is_present(s._context, "s")) == ("ended", False)
    assert state_of(place.session("s")).state == "present"


def test_who_was_never_there_is_not_present(s):
    assert not presence.is_present(s._context, "nobody")


def test_an_environment_is_recorded_when_it_differs(s):
    s.environment()
    assert len(environments(s)) == 1
    s.environment("an-editor", "1.0")
    s.environment("an-editor", "1.0")
    s.environment("an-editor")  # what is not told stays as it was
    s.environment("an-editor", "1.1")
    assert [(e.host, e.host_version) for e in environments(s)] == [
        (None, None),
        ("an-editor", "1.0"),
        ("an-editor", "1.1"),
    ]
    assert {e.owner for e in environments(s)} == {process.owner()}


def test_sessions_in_memory_are_held_by_nobody_and_count_as_there(s):
    made = sightline.testing.make_session({"a": "b"}, clock=FixedClock())
    assert (state_of(made).state, state_of(made).holder) == ("present", None)
