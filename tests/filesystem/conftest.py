import pytest
from tests.filesystem.doubles import open_way_to


@pytest.fixture
def reachable(tmp_path):
    """A root that a process without root's powers can get to."""
    open_way_to(tmp_path)
    (tmp_path / "root/sub").mkdir(parents=True)
    return tmp_path / "root"
