"""An agent whose process is killed at any fact that it records: the next process finishes the task."""

from __future__ import annotations

import os

import pytest
from tests.guard.test_unfinished import dies
from tests.reference_agent.providers import Script, reached
from tests.reference_agent.test_agent import BATCH, GOAL, NAMES, NEW, OLD, PLAN, yes

from sightline.reference_agent.agent import Agent

LAST_FACT = 60


def killed(place, number):
    """Run one turn that is killed before or after an append to the store; return whether it was."""

    def act():
        session = place.session(f"s{number}")
        store = session._context.store
        append, steps = store.append, [0]

        def step():
            steps[0] += 1
            if steps[0] == number:
                os.kill(os.getpid(), 9)

        def counted(*args, **named):
            step()
            done = append(*args, **named)
            step()
            return done

        store.append = counted
        with reached("function", Script(BATCH, plan=PLAN)) as model:
            Agent(session, model, approve=yes).turn(GOAL)

    return dies(act)


@pytest.mark.parametrize("stride", [29, pytest.param(1, marks=pytest.mark.wide)])
def test_a_turn_that_is_killed_at_any_fact_is_finished_by_the_next_process(place, stride):
    ended = []
    for number in range(1, LAST_FACT, stride):
        for name in NAMES:
            place.put(f"scripts/{name}", OLD)
        was_killed = killed(place, number)
        session = place.session(f"s{number}")
        found = [place.text(f"scripts/{name}") for name in NAMES]
        assert found in ([OLD] * 3, [NEW] * 3), number
        ended.append(found == [NEW] * 3)
        if not was_killed:
            break
        rest = {"summary": "It was done."} if ended[-1] else BATCH
        script = Script(*[rest] * 2, plan=PLAN)
        with reached("function", script) as model:
            agent = Agent(session, model, approve=yes)
            knows = any(m["kind"] == "request" for m in session.conversation.messages())
            result = agent.turn("continue" if knows else GOAL)
        assert [place.text(f"scripts/{name}") for name in NAMES] == [NEW] * 3, number
        assert result.state in ("done", "open"), number
        assert any(GOAL in text for text in script.main[0].texts), number
        session.close()
    assert not was_killed
    assert ended[-1]
    assert not ended[0]
