import os

import pytest

from sightline.errors import WorkspaceError
from sightline.filesystem.discovery import discover


@pytest.fixture
def home(tmp_path):
    (tmp_path / "home/project/deep/er").mkdir(parents=True)
    return tmp_path / "home"


def found(home, start, explicit=None):
    return discover(explicit, start=str(start), home=str(home))


@pytest.mark.parametrize("marker", ["sightline.toml", ".git"])
def test_the_nearest_parent_with_a_marker(home, marker):
    (home / "project" / marker).write_text("")
    assert found(home, home / "project/deep/er") == str(home / "project")
    (home / "project/deep" / marker).mkdir()
    assert found(home, home / "project/deep/er") == str(home / "project/deep")


def test_without_a_marker_the_folder_itself(home):
    assert found(home, home / "project/deep") == str(home / "project/deep")


def test_a_marker_in_the_home_folder_or_above_does_not_count(home):
    (home / ".git").mkdir()
    (home.parent / ".git").mkdir()
    assert found(home, home / "project/deep") == str(home / "project/deep")


def test_an_explicit_folder_wins(home):
    (home / "project/.git").mkdir()
    assert found(home, home, str(home / "project/deep")) == str(home / "project/deep")


def test_a_symlink_is_resolved(home):
    (home / "link").symlink_to("project")
    assert found(home, home, str(home / "link")) == str(home / "project")


@pytest.mark.parametrize("explicit", [True, False])
@pytest.mark.parametrize("name", ["home", "link", "top", "missing", "file"])
def test_what_cannot_be_a_workspace(home, name, explicit):
    (home / "link").symlink_to(".")
    (home / "file").write_text("")
    place = {"home": str(home), "top": os.sep}.get(name, str(home / name))
    with pytest.raises(WorkspaceError) as error:
        discover(place if explicit else None, start=place, home=str(home))
    assert error.value.hint
