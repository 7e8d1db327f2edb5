"""Rewinding what became of kinds: files that were made symlinks, symlinks that were made files,
were made, removed, or led elsewhere."""

from __future__ import annotations

import os

import pytest

pytestmark = pytest.mark.skipif(os.name == "nt", reason="symlinks need a privilege there")


@pytest.fixture
def linked(place, s):
    """Two files, a symlink to one of them, and a checkpoint."""
    place.put("a.py", "a\n").chmod(0o755)
    place.put("b.py", "b\n")
    s.read("b.py")
    (place.root / "link").symlink_to("a.py")
    return s.checkpoint()


def lead(place, target, path="link"):
    (place.root / path).unlink(missing_ok=True)
    (place.root / path).symlink_to(target)


def leads(place, path="link"):
    found = place.root / path
    return os.readlink(found) if found.is_symlink() else None


def there_and_back(place, s, then, picture):
    """Rewind, rewind the rewind, and that again; what picture() says after each."""
    seen = []
    report = s.rewind(then)
    assert report.left_alone == ()
    seen.append(picture())
    again = s.rewind(report.safety_checkpoint)
    assert again.left_alone == ()
    seen.append(picture())
    assert s.rewind(again.safety_checkpoint).left_alone == ()
    seen.append(picture())
    assert s._context.store.pending() == []
    return seen


def test_a_symlink_that_a_command_made_goes(place, s, linked):
    with s.ran("ln -s a.py new"):
        lead(place, "a.py", "new")
    seen = there_and_back(place, s, linked, lambda: leads(place, "new"))
    assert seen == [None, "a.py", None]
    assert place.text("a.py") == "a\n"


def test_a_symlink_that_a_command_removed_comes_back(place, s, linked):
    with s.ran("rm link"):
        (place.root / "link").unlink()
    assert there_and_back(place, s, linked, lambda: leads(place)) == ["a.py", None, "a.py"]


def test_a_symlink_that_a_command_led_elsewhere_leads_back(place, s, linked):
    with s.ran("ln -sf b.py link"):
        lead(place, "b.py")
    assert there_and_back(place, s, linked, lambda: leads(place)) == ["a.py", "b.py", "a.py"]


def test_one_that_was_led_elsewhere_twice_leads_back_all_the_way(place, s, linked):
    for target in ("b.py", "nowhere"):
        with s.ran(f"ln -sf {target} link"):
            lead(place, target)
    assert there_and_back(place, s, linked, lambda: leads(place)) == ["a.py", "nowhere", "a.py"]


def test_a_file_that_became_a_symlink_is_a_file_again(place, s, linked):
    with s.ran("ln -sf a.py b.py"):
        lead(place, "a.py", "b.py")
    seen = there_and_back(place, s, linked, lambda: (leads(place, "b.py"), place.text("b.py")))
    assert seen == [(None, "b\n"), ("a.py", "a\n"), (None, "b\n")]
    assert place.text("a.py") == "a\n"


def test_a_file_that_nobody_had_read_is_one_again_with_its_rights(place, s, linked):
    with s.ran("ln -sf b.py a.py"):
        lead(place, "b.py", "a.py")
    s.rewind(linked)
    assert (leads(place, "a.py"), place.text("a.py")) == (None, "a\n")
    assert (place.root / "a.py").stat().st_mode & 0o777 == 0o755


def test_a_symlink_that_became_a_file_is_a_symlink_again(place, s, linked):
    with s.ran("rm link; echo a file > link"):
        (place.root / "link").unlink()
        place.put("link", "a file\n")
    seen = there_and_back(place, s, linked, lambda: (leads(place), place.text("link")))
    assert seen == [("a.py", "a\n"), (None, "a file\n"), ("a.py", "a\n")]
    assert place.text("a.py") == "a\n"


def test_one_that_leads_out_of_the_workspace_is_never_followed(place, s, linked):
    outside = place.home / "outside.txt"
    outside.write_text("outside\n")
    with s.ran("ln -s outside b.py"):
        lead(place, outside, "b.py")
    seen = there_and_back(place, s, linked, lambda: leads(place, "b.py"))
    assert seen == [None, str(outside), None]
    assert place.text("b.py") == "b\n"
    assert outside.read_text() == "outside\n"


def test_of_one_that_somebody_else_led_elsewhere_since_nothing_is_left(place, s, linked):
    with s.ran("ln -sf b.py link"):
        lead(place, "b.py")
    lead(place, "the-users")
    report = s.rewind(linked)
    assert leads(place) == "the-users"
    assert ([each.path for each in report.gone], report.left_alone) == (["link"], ())


def test_a_file_that_somebody_else_put_there_since_is_left_alone(place, s, linked):
    with s.ran("ln -sf b.py link"):
        lead(place, "b.py")
    (place.root / "link").unlink()
    place.put("link", "the user's\n")
    report = s.rewind(linked)
    assert place.text("link") == "the user's\n"
    assert [each.path for each in report.left_alone] == ["link"]


def test_one_that_somebody_else_removed_does_not_come_back(place, s, linked):
    with s.ran("ln -sf b.py link"):
        lead(place, "b.py")
    (place.root / "link").unlink()
    report = s.rewind(linked)
    assert leads(place) is None
    assert ([each.path for each in report.gone], report.left_alone) == (["link"], ())


def test_a_folder_in_the_way_is_left_alone(place, s, linked):
    with s.ran("rm link"):
        (place.root / "link").unlink()
    place.put("link/inside.txt", "the user's\n")
    report = s.rewind(linked)
    assert place.text("link/inside.txt") == "the user's\n"
    assert [each.path for each in report.left_alone] == ["link"]


def test_a_folder_that_leads_elsewhere_keeps_what_is_in_it(place, s):
    place.put("sub/a.py", "a\n")
    lead(place, "a.py", "sub/link")
    then = s.checkpoint()
    with s.ran("rm sub/link"):
        (place.root / "sub/link").unlink()
    (place.root / "sub").rename(place.home / "sub")
    (place.root / "sub").symlink_to(place.home / "sub")
    report = s.rewind(then)
    assert os.listdir(place.home / "sub") == ["a.py"]
    assert [each.path for each in report.left_alone] == ["sub/link"]


def test_a_symlink_that_a_user_made_during_no_command_stays(place, s, linked):
    lead(place, "a.py", "users")
    with s.ran("make > out.txt"):
        place.put("out.txt", "out\n")
    s.rewind(linked)
    assert leads(place, "users") == "a.py"
    assert not (place.root / "out.txt").exists()


@pytest.mark.parametrize("by_user", [False, True])
def test_a_path_that_was_a_symlink_is_forced_to_lead_where_it_led(place, s, linked, by_user):
    (place.root / "link").unlink()
    if by_user:
        place.put("link", "the user's\n")
    report = s.rewind(linked, force_paths=["link"])
    assert (report.restored, report.left_alone) == (("link",), ())
    assert leads(place) == "a.py"
    assert place.text("a.py") == "a\n"
    s.rewind(report.safety_checkpoint)
    assert leads(place) is None
    assert not by_user or place.text("link") == "the user's\n"


@pytest.mark.parametrize("target", ["b.py", "nowhere", "/etc"])
def test_a_symlink_that_leads_elsewhere_is_forced_itself(place, s, linked, target):
    lead(place, target)
    preview = s.rewind(linked, dry_run=True, force_paths=["link"])
    assert preview.restored == ("link",)
    assert s.rewind(linked, force_paths=["link"]).restored == ("link",)
    assert leads(place) == "a.py"
    assert (place.text("a.py"), place.text("b.py")) == ("a\n", "b\n")


def test_a_file_in_whose_place_a_symlink_leads_out_is_forced(place, s, linked):
    lead(place, "/etc", "b.py")
    assert s.rewind(linked, force_paths=["b.py"]).restored == ("b.py",)
    assert (leads(place, "b.py"), place.text("b.py")) == (None, "b\n")


def test_a_name_that_the_checkpoint_does_not_know_leads_to_its_file(place, s, linked):
    place.put("b.py", "the user's\n")
    lead(place, "b.py", "new")
    assert s.rewind(linked, force_paths=["new"]).restored == ("b.py",)
    assert (leads(place, "new"), place.text("b.py")) == ("b.py", "b\n")


def test_a_symlink_that_somebody_made_a_file_of_its_target_is_told_from_it(place, s, linked):
    """As git does where the disk has no symlinks."""
    (place.root / "link").unlink()
    place.put("link", "a.py")
    with s.ran("echo >> link"):
        place.put("link", "a.py\nthe command's\n")
    s.rewind(linked)
    assert (leads(place), place.text("link")) == (None, "a.py")


def test_a_symlink_in_the_place_of_a_file_that_was_renamed_is_left_alone(place, s, linked):
    """The user moved the file on and left a link behind, or that is what it may be."""
    s.move("b.py", "c.py")
    lead(place, "a.py", "c.py")
    for dry_run in (True, False):
        report = s.rewind(linked, dry_run=dry_run)
        assert [each.path for each in report.left_alone] == ["b.py", "c.py"]
        assert (report.moved, report.safety_checkpoint) == ((), None)
    assert leads(place, "c.py") == "a.py"
    assert not (place.root / "b.py").exists()
