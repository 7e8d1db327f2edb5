import sys

import pytest


@pytest.fixture
def root(tmp_path):
    if sys.platform != "linux":
        pytest.skip("inotify is Linux's")
    (tmp_path / "root").mkdir()
    return tmp_path / "root"
