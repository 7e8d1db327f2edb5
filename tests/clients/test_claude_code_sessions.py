"""Long sessions of two agents, a user, a formatter and git: what the judge of bench/sessions.py finds.

The longer ones are wide; bench/sessions.py plays nine of seventy steps. pytest prints the figures of each at its end.
"""

from collections import Counter

import pytest
from bench.sessions import PROMISES, play
from tests.support.examples import fully

pytestmark = pytest.mark.client

STEPS = 30


@pytest.fixture
def broken(record_property):
    """A function: the promises that a session broke. It did something, and no hook failed."""

    def judge(one):
        found = Counter(fault.kind for fault in one.faults)
        counts = ", ".join(f"{found[kind]} {kind}" for kind in PROMISES)
        record_property("figures", f"session {one.seed} of {one.steps} steps: {counts}")
        assert one.counts["went through"]
        assert one.hooks == ""
        return one.broken

    return judge


def test_a_short_session_breaks_no_promise(broken):
    assert broken(play(5, 10)) == []


@pytest.mark.wide
@pytest.mark.parametrize("seed", [2, *fully(1)])
def test_thirty_steps_break_no_promise(seed, broken):
    """A file that git or a formatter writes in several parts is told in parts, where a busy machine puts a
    look between them (PLAN.md): that fault alone has to come again with the same seed."""
    one = play(seed, STEPS)
    if {fault.kind for fault in one.broken} == {"told twice"}:
        one = play(seed, STEPS)
    assert one.steps == STEPS
    assert one.counts["notices"]
    assert broken(one) == []
