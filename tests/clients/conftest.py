"""A scripted model, and the client that asks it, in folders of their own."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from tests.clients.claude import Claude
from tests.clients.stub import Model, serving


@pytest.fixture
def model():
    with serving(Model()) as served:
        yield served


@pytest.fixture
def claude(tmp_path, model):
    """Claude Code in an empty workspace, without Sightline."""
    with TemporaryDirectory(prefix="sightline-") as state:
        made = Claude(tmp_path, model, Path(state))
        yield made
        sys.stdout.write(made.story)  # pytest shows it where the test failed
        assert made.left() == []  # whoever answered its hooks ended with it


@pytest.fixture
def connected(claude):
    """Claude Code as it is after the one command a user types."""
    claude.sightline("init", "claude-code")
    return claude


@pytest.fixture
def guarded(connected):
    """The same, for what has to go without a fault of ours."""
    yield connected
    assert connected.faults == ""
    assert all(run.hooks for run in connected.runs)
