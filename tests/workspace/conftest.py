import pytest


@pytest.fixture
def reachable(tmp_path):
    """A root that a process without root's powers can get to."""
    folder = tmp_path
    while folder.stat().st_mode & 0o005 != 0o005:
        folder.chmod(folder.stat().st_mode | 0o055)
        folder = folder.parent
    (tmp_path / "root/sub").mkdir(parents=True)
    return tmp_path / "root"
