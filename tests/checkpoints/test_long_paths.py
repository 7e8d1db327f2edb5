"""A tree deeper than any path: what cannot be opened is named, and the checkpoint stands."""

from __future__ import annotations

import os
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="other limits")
NAME = "d" * 200


@pytest.mark.parametrize("levels", [22, 40])
def test_a_chain_of_folders_longer_than_a_path_is_not_covered_and_the_checkpoint_stands(
    place, levels
):
    place.put("a.py", "1\n")
    here = os.open(place.root, os.O_RDONLY)
    chain = [here]
    try:
        for _ in range(levels):
            os.mkdir(NAME, dir_fd=chain[-1])
            with open(os.open("b.py", os.O_CREAT | os.O_WRONLY, dir_fd=chain[-1]), "w") as file:
                file.write("2\n")
            chain.append(os.open(NAME, os.O_RDONLY, dir_fd=chain[-1]))
        s = place.session()
        s.read("a.py")
        made = s.checkpoint("deep")
        too_long = [each for each in made.not_covered if "longer than" in each.reason]
        assert too_long
        assert all(each.path.startswith(NAME) for each in too_long)
        assert s.edit("a.py", "1", "3").path == "a.py"
        assert s.rewind(made.id) is not None
        assert place.text("a.py") == "1\n"
        assert "a.py" in s.find("*.py").matches
    finally:
        while len(chain) > 1:
            os.close(chain.pop())
            os.unlink("b.py", dir_fd=chain[-1])
            os.rmdir(NAME, dir_fd=chain[-1])
        os.close(here)
