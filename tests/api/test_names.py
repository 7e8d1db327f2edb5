"""Names that lead elsewhere since, and files that are something else since."""

from __future__ import annotations

import pytest

from sightline import EditRefused, PathRefused

VERBS = {
    "edit": lambda s, path: s.edit(path, "line 1\n", "mine\n"),
    "edit_lines": lambda s, path: s.edit_lines(path, 1, 1, "mine\n"),
    "write": lambda s, path: s.write(path, "mine\n"),
    "delete": lambda s, path: s.delete(path),
    "move": lambda s, path: s.move(path, "b.py"),
    "apply": lambda s, path: s.apply([{"path": path, "content": "mine\n"}]),
}


def refused(verb, session, path):
    with pytest.raises(EditRefused) as error:
        VERBS[verb](session, path)
    return error.value


@pytest.fixture
def outside(place):
    file = place.home / "outside.txt"
    file.write_text("not of this workspace\n")
    return file


@pytest.mark.parametrize("verb", VERBS)
def test_a_file_that_became_binary_is_of_another_kind_for_every_verb(place, ten, verb):
    place.put("a.py", b"\0\1")
    assert refused(verb, ten, "a.py").reason == "kind_changed"
    verdict = ten.check("a.py")
    assert (verdict.state, verdict.reason) == ("kind_changed", "kind_changed")
    assert [file.state for file in ten.files()] == ["kind_changed"]
    assert place.bytes("a.py") == b"\0\1"


@pytest.mark.parametrize("verb", VERBS)
def test_a_file_that_became_a_symlink_out_of_here_is_of_another_kind(place, ten, outside, verb):
    (place.root / "a.py").unlink()
    (place.root / "a.py").symlink_to(outside)
    assert refused(verb, ten, "a.py").reason == "kind_changed"
    assert ten.check("a.py").state == "kind_changed"
    assert [change.state for change in ten.changes()] == ["kind_changed"]
    assert outside.read_text() == "not of this workspace\n"


def test_a_symlink_out_of_here_that_was_never_shown_is_refused_as_a_path(place, s, outside):
    (place.root / "link").symlink_to(outside)
    with pytest.raises(PathRefused):
        s.check("link")


@pytest.mark.parametrize("verb", VERBS)
def test_a_name_that_led_to_a_file_and_leads_out_is_told_by_that_name(place, s, outside, verb):
    place.put("real.txt", "line 1\n")
    link = place.root / "link.txt"
    link.symlink_to("real.txt")
    s.read("link.txt")
    link.unlink()
    link.symlink_to(outside)
    assert refused(verb, s, "link.txt").reason == "kind_changed"
    assert [(file.path, file.state) for file in s.files()] == [("link.txt", "kind_changed")]
    assert [change.path for change in s.changes()] == ["link.txt"]
    assert s.check("real.txt").state == "fresh"


def test_creating_where_a_retargeted_name_stands_finds_it_there(place, ten):
    place.put("other.py", "other\n")
    (place.root / "a.py").unlink()
    (place.root / "a.py").symlink_to("other.py")
    with pytest.raises(EditRefused) as error:
        ten.create("a.py", "mine\n")
    assert error.value.reason == "exists"


def test_what_is_said_of_an_attempt_on_a_renamed_file_is_what_it_gets(place, ten):
    (place.root / "a.py").rename(place.root / "b.py")
    assert (ten.check("a.py").state, ten.check("a.py").decision) == ("moved", "refuse")
    verdict = ten.check("a.py", old="line 1\n")
    assert (verdict.state, verdict.decision, verdict.reason) == ("moved", "notice", "moved")
    assert ten.check("a.py", old="nowhere").reason == "not_found"
    assert ten.edit("a.py", "line 1\n", "mine\n").path == "b.py"


def test_a_path_object_names_a_file_as_well_as_its_text_does(place, ten):
    assert ten.read(place.root / "a.py").path == "a.py"
    ten.edit(place.root / "a.py", "line 1\n", "mine\n")
    assert ten.check("a.py").state == "fresh"


def test_no_file_can_be_made_below_a_file(place, ten):
    with pytest.raises(EditRefused) as error:
        ten.create("a.py/below.py", "x\n")
    assert "stands where a folder" in error.value.hint
    assert place.names() == ["a.py"]


def test_a_file_that_is_refused_since_can_only_not_be_told(place, ten):
    """The rule is about who may look; the file is what it was, or not: nobody may say."""
    place.put(".sightlineignore", "a.py\n")
    later = place.session("s")
    assert [file.state for file in later.files()] == ["unverifiable"]
    assert "kind" not in later.changes()[0].summary
