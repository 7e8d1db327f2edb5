"""Over histories of agents, users, commands and a second session: the checkpoint that a turn takes
by itself is one, stands before all that the agent did in it, and leads back to there."""

from __future__ import annotations

import pytest
from hypothesis import given
from tests.properties.histories import NEW, OF_AGENT, PATHS, World, deeds
from tests.properties.test_rewind import ends, some


@pytest.mark.wide
@some
@given(deeds, deeds, ends)
def test_it_takes_back_the_turn_and_nobody_elses_work(before, after, ends):
    world = World(ends)
    for deed in before:
        world.does(deed)
    world.touched.clear()
    world.one.turn()
    then = world.disk()
    for deed in after:
        world.does(deed)
    taken = [each for each in world.one.checkpoints() if each.session == world.one.id]
    acted = [path for path, who in world.touched.items() if who & set(OF_AGENT)]
    assert len(taken) <= 1
    if not taken:
        assert not acted
        return
    (made,) = taken
    assert (made.why, made.turn) == ("turn", 1)
    stood = world.disk()
    report = world.one.rewind(made)
    left = {each.path for each in report.left_alone}
    moved = {path for pair in report.moved for path in pair}  # these bring others' lines along
    now = world.disk()
    for path in set(PATHS + NEW) - world.renamed - moved:
        who = set(world.touched.get(path, ()))
        if not who & set(OF_AGENT):
            assert now.get(path) == stood.get(path), "a path that the agent never touched"
        elif who <= set(OF_AGENT) and path not in left:
            assert now.get(path) == then.get(path), "a path that nobody else touched"
