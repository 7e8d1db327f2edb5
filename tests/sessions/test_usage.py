"""Which models were used, and where the agent ran."""

from __future__ import annotations

import sys

import pytest

from sightline.hooks.dispatch import attend
from sightline.model.events import EnvironmentSeen, ModelUsed
from sightline.model.hook_events import Began, Ended, Prompted, Used
from sightline.testing import FixedClock


def used(session):
    return [(u.turn, u.provider, u.model, u.mode) for u in session.model_usage()]


def test_a_model_is_recorded_when_it_is_another_than_the_last(s):
    for _ in range(2):
        s.turn(model="m1", provider="p", mode="plan")
    s.turn(model="m1", provider="p", mode="act")
    s.turn(model="m2", provider="q", mode="act")
    assert used(s) == [(1, "p", "m1", "plan"), (3, "p", "m1", "act"), (4, "q", "m2", "act")]
    assert len(list(s._context.store.timeline(kinds=[ModelUsed]))) == 3


def test_what_is_not_told_stays_and_the_provider_of_another_model_is_not_known(s):
    s.turn(model="m1", provider="p", mode="plan")
    s.turn()
    s.turn(mode="act")
    s.turn(model="m1")
    s.turn(model="m2")
    s.turn(provider="q")
    assert used(s) == [
        (1, "p", "m1", "plan"),
        (3, "p", "m1", "act"),
        (5, None, "m2", "act"),
        (6, "q", "m2", "act"),
    ]


@pytest.mark.parametrize("told", [{"mode": "plan"}, {"provider": "p"}])
def test_of_no_model_nothing_can_be_said(s, told):
    with pytest.raises(ValueError, match="name the model"):
        s.turn(**told)
    assert s._context.store.session("s").turn == 0


def test_usage_tells_when_and_where_on_the_timeline(place):
    clock = FixedClock()
    session = place.session("s", clock=clock)
    clock.advance(seconds=60)
    session.turn(7, model="m")
    [found] = session.model_usage()
    assert (found.turn, found.position) == (7, session._context.store.position())
    assert int(found.at.timestamp() * 1_000_000) == clock()


def test_two_processes_that_tell_the_same_are_one_usage(s):
    s._context.append([ModelUsed(None, "m"), ModelUsed(None, "m")])
    assert used(s) == [(0, None, "m", None)]


def test_each_session_has_its_own_and_it_survives_a_restart(place, s):
    s.turn(model="m")
    s.close()
    assert used(place.session("s")) == [(1, None, "m", None)]
    assert used(place.session("t")) == []


def test_a_host_that_tells_its_model_again_adds_nothing(s):
    s.turn(model="m", provider="p", mode="plan")
    attend(s, Began("resume", "m"))
    attend(s, Began("resume"))
    assert used(s) == [(1, "p", "m", "plan")]
    attend(s, Began("resume", "n"))
    assert used(s)[1:] == [(1, None, "n", "plan")]


def test_environments_are_told_and_asking_records_nothing(s):
    python = ".".join(map(str, sys.version_info[:3]))
    before = s._context.store.position()
    [found] = s.environment()
    assert (found.system, found.python, found.host, found.host_version) == (
        sys.platform,
        python,
        None,
        None,
    )
    assert s._context.store.position() == before
    for _ in range(2):
        told = s.environment("an-editor", "1.0")
        assert [(each.host, each.host_version) for each in told] == [
            (None, None),
            ("an-editor", "1.0"),
        ]


def test_a_process_that_does_not_tell_its_host_again_is_in_the_same_place(s):
    s.environment("an-editor", "1.0")
    s._context.append([EnvironmentSeen("linux", "3.0.0", owner="m:1:1")])
    s._context.append([EnvironmentSeen("linux", "3.0.0", owner="m:2:2")])
    told = [(each.python, each.host, each.host_version) for each in s.environment()]
    assert told[-2:] == [(told[0][0], "an-editor", "1.0"), ("3.0.0", "an-editor", "1.0")]
    assert len(told) == 3


def test_what_a_host_tells_of_mode_model_and_itself_is_noted_when_it_changes(s):
    for mode in ("default", "default", "plan"):
        attend(s, Prompted("go on", (), mode))
        attend(s, Used("m", "Claude Code", "2.1.0"))
    assert used(s) == [(1, None, "m", None), (2, None, "m", "default"), (3, None, "m", "plan")]
    attend(s, Used("n", "Claude Code", "2.2.0"))
    assert used(s)[3:] == [(3, None, "n", "plan")]
    told = [(each.host, each.host_version) for each in s.environment()]
    assert told == [(None, None), ("Claude Code", "2.1.0"), ("Claude Code", "2.2.0")]


def test_what_is_told_after_the_end_does_not_take_the_session_up_again(s):
    attend(s, Ended("logout"))
    attend(s, Used("m", "Claude Code", "2.1.0"))
    assert s._context.store.session("s").ended is not None
    assert used(s) == [(0, None, "m", None)]
