"""Background agents of Claude Code: after a compaction the agent that sent them knows of them."""

from threading import Event

import pytest
from tests.clients.acting import done, meet, write
from tests.clients.stub import Step

pytestmark = pytest.mark.client


def test_a_background_agent_that_still_runs_is_named_after_a_compaction(guarded, model):
    wrote, release = Event(), Event()
    given = {"description": "a part", "prompt": "Take a part", "run_in_background": True}
    sends = Step(tools=(("Agent", {**given, "subagent_type": "general-purpose"}),))
    model.script("Share the work", sends, done(lambda: meet(wrote)))
    new = str(guarded.root / "new.txt")
    model.script("Take a part", write(new, "new\n"), done(lambda: meet(wrote, release)))
    model.script("go on", done(release.set))
    guarded.run("Share the work", "/compact", "go on")
    said = model.sent(0, "go on")
    assert "- sub-agent general-purpose (changed new.txt)" in said
    assert said.count("Still running") == 1
