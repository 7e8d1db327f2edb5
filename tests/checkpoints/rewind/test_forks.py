"""A fork rewinds to what it inherited: what its parent did before the fork is its own past, too."""

from __future__ import annotations

import pytest

from sightline.errors import RewindRefused


@pytest.fixture
def parent(place):
    place.put("a.py", "one\ntwo\nthree\n")
    session = place.session("parent")
    session.read("a.py")
    return session


def test_a_fork_rewinds_to_a_checkpoint_from_before_the_fork(place, parent):
    start = parent.checkpoint("start")
    parent.edit("a.py", "one", "parent")
    fork = parent.fork()
    fork.edit("a.py", "three", "fork")
    report = fork.rewind("start")
    assert report.left_alone == ()
    assert place.text("a.py") == "one\ntwo\nthree\n"
    fork.rewind(report.safety_checkpoint)
    assert place.text("a.py") == "parent\ntwo\nfork\n"
    fork.rewind(start)
    assert place.text("a.py") == "one\ntwo\nthree\n"
    assert parent.check("a.py").state == "stale"  # it is told, as of any change


def test_what_the_parent_did_after_the_fork_stays(place, parent):
    start = parent.checkpoint()
    parent.edit("a.py", "one", "parent")
    fork = parent.fork()
    parent.edit("a.py", "three", "later")
    parent.create("b.py", "the parent's\n")
    fork.rewind(start)
    assert place.text("a.py") == "one\ntwo\nlater\n"
    assert place.text("b.py") == "the parent's\n"


def test_a_fork_of_a_fork_rewinds_to_the_first_ones_checkpoint(place, parent):
    start = parent.checkpoint()
    parent.edit("a.py", "one", "parent")
    child = parent.fork()
    child.edit("a.py", "two", "child")
    grandchild = child.fork()
    grandchild.edit("a.py", "three", "grandchild")
    grandchild.rewind(start)
    assert place.text("a.py") == "one\ntwo\nthree\n"


def test_what_the_parent_had_taken_back_before_the_fork_does_not_come_back(place, parent):
    start = parent.checkpoint()
    parent.create("b.py", "made\n")
    parent.rewind(start)
    fork = parent.fork()
    report = fork.rewind(start)
    assert report.removed == report.restored == ()
    assert place.names() == ["a.py"]


def test_a_checkpoint_of_the_parent_from_after_the_fork_is_anothers(parent):
    fork = parent.fork()
    with pytest.raises(RewindRefused, match="belongs to session parent"):
        fork.rewind(parent.checkpoint())


def test_a_checkpoint_of_a_fork_is_anothers_for_its_parent(parent):
    fork = parent.fork()
    with pytest.raises(RewindRefused, match="belongs to the library session"):
        parent.rewind(fork.checkpoint())
