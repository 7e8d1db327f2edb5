import os

import pytest
from tests.filesystem.stress import stress

ROUNDS = int(os.environ.get("SIGHTLINE_TEST_STRESS", "25"))


@pytest.mark.wide
def test_no_save_is_lost_between_two_writers_and_an_editor(tmp_path):
    lost, replaced = stress(str(tmp_path), ROUNDS)
    assert lost == []
    assert replaced == 2 * ROUNDS
    assert os.listdir(tmp_path / "root") == ["file"]
