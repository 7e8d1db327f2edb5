"""A disk that does not even say where a path leads: every guarded verb refuses, none raises else."""

from __future__ import annotations

import pytest

from sightline.errors import EditRefused, Unverifiable
from sightline.testing import MemoryWorkspace, make_session

PATCH = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n"


class Unanswered(MemoryWorkspace):
    """A share that stopped answering."""

    def locate(self, name):
        raise Unverifiable(name, f"Where {name} is cannot be told.", "Try again.")


@pytest.mark.parametrize(
    "attempt",
    [
        lambda s: s.edit("a.txt", "one", "two"),
        lambda s: s.edit_lines("a.txt", 1, 1, "two"),
        lambda s: s.write("a.txt", "two\n"),
        lambda s: s.create("b.txt", "two\n"),
        lambda s: s.delete("a.txt"),
        lambda s: s.move("a.txt", "b.txt"),
        lambda s: s.patch(PATCH),
        lambda s: s.apply([{"path": "a.txt", "content": "two\n"}]),
    ],
    ids=["edit", "edit_lines", "write", "create", "delete", "move", "patch", "apply"],
)
def test_a_disk_that_does_not_answer_is_a_refusal(attempt):
    with pytest.raises(EditRefused) as refused:
        attempt(make_session(Unanswered({"a.txt": "one\n"})))
    assert refused.value.reason == "unverifiable"
    assert refused.value.hint == "Try again."
