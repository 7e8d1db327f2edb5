"""A file that had several names (hard links) has them again after a deletion and a rewind."""

from __future__ import annotations

import os

import pytest


@pytest.fixture
def twins(place, s):
    """One file under two names, both read, and a checkpoint."""
    (place.root / "sub").mkdir()
    os.link(place.put("a.py", "a\n"), place.root / "sub/b.py")
    s.read("a.py")
    s.read("sub/b.py")
    return s.checkpoint()


def names(place, path="a.py"):
    return (place.root / path).stat().st_nlink


def test_a_deleted_name_names_the_same_file_again(place, s, twins):
    s.delete("a.py")
    report = s.rewind(twins)
    assert report.restored == ("a.py",)
    assert os.path.samefile(place.root / "a.py", place.root / "sub/b.py")
    s.rewind(report.safety_checkpoint)
    assert not (place.root / "a.py").exists()
    assert place.text("sub/b.py") == "a\n"


def test_both_deleted_names_name_one_file_again(place, s, twins):
    with s.ran("rm a.py sub/b.py"):
        (place.root / "a.py").unlink()
        (place.root / "sub/b.py").unlink()
    assert s.rewind(twins).left_alone == ()
    assert os.path.samefile(place.root / "a.py", place.root / "sub/b.py")


def test_a_name_whose_file_was_changed_since_is_a_file_of_its_own(place, s, twins):
    s.delete("a.py")
    place.put("sub/b.py", "changed\n")
    s.rewind(twins)
    assert (place.text("a.py"), place.text("sub/b.py")) == ("a\n", "changed\n")
    assert names(place) == 1


def test_another_file_with_the_same_content_is_not_the_same_file(place, s):
    place.put("a.py", "")
    s.read("a.py")
    then = s.checkpoint()
    s.delete("a.py")
    place.put("c.py", "")  # the system may give it the inode of the deleted file
    s.rewind(then)
    assert names(place) == 1


def test_where_the_disk_makes_no_links_the_content_comes_back(place, s, twins, monkeypatch):
    s.delete("a.py")

    def refuse(*_, **__):
        raise PermissionError(1, "no links here")

    monkeypatch.setattr(s._context.workspace._calls, "link", refuse)
    assert s.rewind(twins).restored == ("a.py",)
    assert (place.text("a.py"), names(place)) == ("a\n", 1)
