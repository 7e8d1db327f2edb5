"""What Claude Code tells its hooks, and what they answer, against the golden files in dialogues/."""

from __future__ import annotations

import sys

import pytest
from tests.golden.dialogues import DIALOGUES
from tests.golden.running import Place
from tests.golden.telling import Story
from tests.support.examples import widely

AS_PROCESSES = ("stale", "failing")
BY_THE_DAEMON = ["merged", "noticed", *widely("stale", "sub_agents")]


@pytest.fixture
def place():
    made = Place()
    yield made
    made.close()


@pytest.mark.parametrize("name", DIALOGUES)
def test_a_dialogue_goes_as_it_did(name, golden, place):
    story = Story(place)
    DIALOGUES[name](story)
    golden(f"dialogues/{name}.txt", story.text)


@pytest.mark.wide
@pytest.mark.parametrize("name", AS_PROCESSES)
def test_processes_answer_the_same_bytes(name, golden, place):
    story = Story(place, processes=True)
    DIALOGUES[name](story)
    golden(f"dialogues/{name}.txt", story.text)


@pytest.mark.wide
@pytest.mark.skipif(sys.platform == "win32", reason="hooks ask the daemon over named pipes")
@pytest.mark.parametrize("name", BY_THE_DAEMON)
def test_the_daemon_answers_the_same_bytes(name, place):
    """Only the answers are compared: `up` watches, too, and may note a change before a hook does."""
    alone = Place()
    try:
        own = Story(alone)
        DIALOGUES[name](own)
    finally:
        alone.close()
    story = Story(place)
    with place.staying("up"):
        DIALOGUES[name](story)
    assert story.asked == own.asked
