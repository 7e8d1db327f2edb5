from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from tests.filesystem.doubles import open_way_to


@pytest.fixture
def reachable():
    """A root that a process without root's powers can get to. It is not below pytest's own folder: each
    run of pytest that begins closes that folder to others."""
    with TemporaryDirectory(prefix="sl-") as folder:
        root = Path(folder).resolve() / "root"
        (root / "sub").mkdir(parents=True)
        open_way_to(root)
        yield root
