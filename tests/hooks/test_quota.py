"""The checkpoints of hooks keep to their room: behind an answer, and at a conversation's end."""

from __future__ import annotations

import os
import sys

import pytest
from tests.hooks.hooking import Host
from tests.support.hook_server import serving

from sightline.model.events import CheckpointDropped, CheckpointTaken

TURNS = 12


@pytest.fixture
def host():
    made = Host()
    made.environ["SIGHTLINE_CHECKPOINT_BYTES"] = "32000"
    made.ask(made.payload("SessionStart", source="startup"))
    yield made
    made.close()


def turns(host, ask):
    """Each begins with a command, before which how the tree stands is kept."""
    for turn in range(TURNS):
        (host.root / "data.bin").write_bytes(os.urandom(8_000))
        ask(host.payload("UserPromptSubmit", prompt="go on"))
        bash = {"tool_name": "Bash", "tool_use_id": f"c{turn}", "tool_input": {"command": "make"}}
        ask(host.payload("PreToolUse", **bash))
        ask(host.payload("Stop"))


def count(host):
    facts = [each.fact for each in host.facts()]
    kinds = (CheckpointTaken, CheckpointDropped)
    return tuple(sum(isinstance(fact, kind) for fact in facts) for kind in kinds)


@pytest.mark.wide
def test_a_process_of_its_own_does_it_at_the_end_of_the_conversation(host):
    turns(host, lambda raw: host.ask(raw, ending=True))
    assert count(host) == (TURNS, 0)
    host.ask(host.payload("SessionEnd", reason="exit"), ending=True)
    taken, dropped = count(host)
    assert (taken, dropped > TURNS // 2) == (TURNS, True)
    assert host.faults() == []


@pytest.mark.wide
@pytest.mark.skipif(sys.platform == "win32", reason="named pipes")
def test_who_stays_does_it_behind_the_answer_that_ends_a_turn(host):
    with serving(str(host.root), environ=host.environ, home=str(host.home)) as server:

        def ask(raw):
            given = {"project": str(host.root)}
            server.answer(server.new_call("claude-code", None, given, None), raw)

        turns(host, ask)
    taken, dropped = count(host)
    # How many depends on how often it came to that: one that is at it is not begun again.
    assert (taken, dropped > 0) == (TURNS, True)
    assert host.faults() == []
