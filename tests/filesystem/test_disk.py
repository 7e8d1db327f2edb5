import os

import pytest
from tests.filesystem.doubles import replace_if

from sightline.errors import PathRefused
from sightline.filesystem.disk import DiskWorkspace
from sightline.model.path import MACOS
from sightline.model.revision import MISSING


@pytest.fixture
def root(tmp_path):
    (tmp_path / "root/sub").mkdir(parents=True)
    (tmp_path / "root/sub/file").write_bytes(b"text")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/secret").write_bytes(b"secret")
    return tmp_path / "root"


def opened(root, **options):
    return DiskWorkspace(str(root), str(root.parent / "state"), **options)


def refused(workspace, name):
    with pytest.raises(PathRefused) as error:
        workspace.locate(name)
    assert error.value.hint
    return error.value.reason


@pytest.mark.parametrize("target", ["../outside/secret", "../outside/missing", "/etc/passwd"])
def test_a_symlink_out_of_the_root_is_refused(root, target):
    (root / "link").symlink_to(target)
    assert refused(opened(root), "link") == "outside" or not (root / "link").exists()
    assert opened(root).read("link").kind == "symlink"


def test_a_folder_that_leads_out_is_refused(root):
    (root / "link").symlink_to("../outside")
    assert refused(opened(root), "link/secret") == "outside"
    assert refused(opened(root), "link/new") == "outside"
    assert opened(root).read("link/secret").kind == "symlink"
    assert replace_if(opened(root), "link/new", MISSING, b"x").kind == "symlink"
    assert os.listdir(root.parent / "outside") == ["secret"]


def test_a_folder_symlink_inside_leads_to_the_file(root):
    (root / "link").symlink_to("sub")
    located = opened(root).locate("link/file")
    assert (located.path, located.name) == ("sub/file", "link/file")


def test_symlinks_in_a_circle_are_no_file(root):
    (root / "a").symlink_to("b")
    (root / "b").symlink_to("a")
    assert opened(root).read(opened(root).locate("a").path).kind == "symlink"


def test_a_root_reached_through_a_symlink_is_the_same_root(root):
    alias = root.parent / "alias"
    alias.symlink_to(root)
    for workspace in (opened(root), opened(alias)):
        for name in (f"{root}/sub/file", f"{alias}/sub/file", "./sub//file"):
            located = workspace.locate(name)
            assert (located.path, located.name) == ("sub/file", None)


def test_the_root_itself_is_a_directory(root):
    assert opened(root).read(opened(root).locate(str(root)).path).kind == "directory"


def test_what_lies_below_a_file_is_missing(root):
    assert opened(root).read("sub/file/below").kind == "missing"
    assert opened(root).stat("sub/file/below") is None


def test_a_refused_file_is_refused_through_any_name(root):
    (root / ".sightlineignore").write_text("/sub/file\n")
    (root / "link").symlink_to("sub/file")
    assert refused(opened(root), "sub/file") == "ignored"
    assert refused(opened(root), "link") == "ignored"


@pytest.mark.parametrize("name", [".git", ".git/hooks/pre-commit", "sub/.git/config", ".hg/hgrc"])
def test_the_folders_of_version_control_are_refused(root, name):
    assert refused(opened(root), name) == "ignored"


def test_the_folders_of_version_control_are_refused_in_any_case(root):
    assert refused(opened(root, flavour=MACOS), ".GIT/config") == "ignored"


def test_the_refusal_names_the_folder_of_version_control_as_settings_do(root):
    with pytest.raises(PathRefused) as error:
        opened(root, flavour=MACOS).locate("Sub/.GIT/config")
    assert error.value.control.casefold() == "sub/.git/config"
    assert "/.git/" in error.value.control


def test_a_symlink_into_version_control_is_refused(root):
    (root / ".git").mkdir()
    (root / ".git/config").write_text("")
    (root / "link").symlink_to(".git/config")
    assert refused(opened(root), "link") == "ignored"


def test_where_case_does_not_count_the_spelling_of_the_disk_does(root):  # S14
    (root / "sub/Caf\u00e9").write_bytes(b"")
    workspace = opened(root, flavour=MACOS)
    assert workspace.locate("SUB/cafe\u0301").path == "sub/Caf\u00e9"
    (root / "sub/Caf\u00e9").rename(root / "sub/CAF\u00c9")
    assert workspace.locate("sub/caf\u00e9").path == "sub/CAF\u00c9"
    assert workspace.locate("sub/new/File").path == "sub/new/File"


def test_a_deep_move_makes_folders_and_keeps_the_inode(root):
    workspace = opened(root)
    inode = (root / "sub/file").stat().st_ino
    found = workspace.move_if("sub/file", "a/b/c", workspace.read("sub/file").revision)
    assert found.signature is not None
    assert found.signature.ino == inode
    assert os.listdir(root / "sub") == []
