"""Tests of the benches: `pytest -m wide` runs them, as .ci/run does."""

import os
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.wide)


@pytest.fixture(autouse=True)
def home_stays_empty(tmp_path_factory, monkeypatch):
    """A bench measures in folders of its own, and leaves the user's home alone."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    yield
    assert os.listdir(home) == []
