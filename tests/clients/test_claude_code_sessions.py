"""Long sessions of two agents, a user, a formatter and git: what the judge of bench/sessions.py finds.

The longer ones are wide; a run of sixty steps takes about 10 s.
"""

from functools import cache

import pytest
from bench.sessions import SEEDS, STEPS, play

pytestmark = pytest.mark.client

KINDS = ("untold", "wrong author")
"""Not yet: a notice counts one batch too late, so some are told twice, and some edits are refused."""

played = cache(play)


def found(one, *kinds):
    """The faults of some kinds, and whether any was looked for at all."""
    assert one.counts["went through"]
    assert one.hooks == ""
    return [fault for fault in one.faults if fault.kind in kinds]


def test_a_short_session_breaks_no_promise():
    assert not found(played(5, 10), *KINDS)


@pytest.mark.wide
@pytest.mark.parametrize("seed", SEEDS)
def test_sixty_steps_break_no_promise(seed):
    one = played(seed, STEPS)
    assert one.steps == STEPS
    assert one.counts["notices"]
    assert not found(one, *KINDS)
