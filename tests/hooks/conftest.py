"""A host of the hooks, as most of their tests have it."""

import pytest
from tests.hooks.hooking import Host


@pytest.fixture
def host():
    made = Host()
    yield made
    made.close()
