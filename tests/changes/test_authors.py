"""Who changed a file, as a session sees it whose conversation was taken back."""

import pytest


@pytest.fixture
def rewound(place, ten):
    """A session that does not know of its own edit any more."""
    made = ten.checkpoint()
    ten.edit("a.py", "line 3", "LINE 3")
    ten.rewind(made, files=False, conversation=True)
    return ten


def test_its_own_edit_is_not_the_users(rewound):
    (change,) = rewound.changes()
    assert "by this session itself, in what was taken back of the conversation" in change.summary
    assert (change.changed_by.kind, change.changed_by.who) == ("agent", "s")


def test_a_save_behind_it_is_told_beside_it(place, rewound):
    place.put("a.py", place.text("a.py").replace("line 7", "the user's"))
    (change,) = rewound.changes()
    assert "the user" in change.summary
    assert "this session itself" in change.summary


def test_what_it_edits_from_there_on_is_known(rewound):
    rewound.read("a.py")
    rewound.edit("a.py", "line 5", "LINE 5")
    assert rewound.changes() == []


def test_without_a_rewind_a_save_behind_its_edit_is_the_users_alone(place, ten):
    ten.edit("a.py", "line 3", "LINE 3")
    place.put("a.py", place.text("a.py").replace("line 7", "the user's"))
    (change,) = ten.changes()
    assert "this session" not in change.summary
    assert change.changed_by.kind == "external"
