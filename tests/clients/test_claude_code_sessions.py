"""Long sessions of two agents, a user, a formatter and git: what the judge of bench/sessions.py finds.

The longer ones are wide; a run of sixty steps takes about 10 s.
"""

import pytest
from bench.sessions import SEEDS, STEPS, play

pytestmark = pytest.mark.client


KINDS = ("untold", "false refusal", "wrong author")
"""Not yet: in one run of three, some changes were told twice."""


def broken(one):
    """The promises that a session broke; it did something, and no hook failed."""
    assert one.counts["went through"]
    assert one.hooks == ""
    return [fault for fault in one.broken if fault.kind in KINDS]


def test_a_short_session_breaks_no_promise():
    assert not broken(play(5, 10))


@pytest.mark.wide
@pytest.mark.parametrize("seed", SEEDS)
def test_sixty_steps_break_no_promise(seed):
    one = play(seed, STEPS)
    assert one.steps == STEPS
    assert one.counts["notices"]
    assert not broken(one)
