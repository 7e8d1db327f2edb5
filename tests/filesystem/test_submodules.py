"""Submodules that are checked out: found, listed and mentioned like other files."""

from __future__ import annotations

import subprocess

import pytest


def git(root, *words):
    command = ["git", "-C", str(root), "-c", "protocol.file.allow=always", *words]
    subprocess.run(command, check=True, capture_output=True)


@pytest.fixture
def tree(place):
    """A workspace with a submodule that has one itself, a repository of its own, and ignored files."""
    inner, lib = place.home / "inner", place.home / "lib"
    for folder, file in ((inner, "in.py"), (lib, "deep/n.py")):
        (folder / file).parent.mkdir(parents=True)
        (folder / file).write_text("x = 1\n")
        git(folder, "init", "-q")
    git(inner, "add", ".")
    git(inner, "commit", "-qm", "inner")
    (lib / ".gitignore").write_text("*.log\n")
    git(lib, "submodule", "add", "-q", str(inner), "inner")
    git(lib, "add", ".")
    git(lib, "commit", "-qm", "lib")
    git(place.root, "init", "-q")
    git(place.root, "submodule", "add", "-q", str(lib), "libs/lib")
    git(place.root, "submodule", "update", "-q", "--init", "--recursive")
    place.put("top.py", "y = 1\n")
    place.put("libs/lib/a.log", "log\n")
    place.put("other/.git/HEAD", "ref: refs/heads/main\n")
    place.put("other/o.py", "z = 1\n")
    place.put(".sightlineignore", "secret.py\n")
    place.put("libs/lib/secret.py", "s = 1\n")
    return place


@pytest.mark.wide
def test_files_of_submodules_are_found_listed_and_mentioned(tree, s):
    inside = ("libs/lib/deep/n.py", "libs/lib/inner/in.py")
    assert s.find("*.py").matches == (*inside, "top.py")
    assert s.find("libs/lib/**/*.py").matches == inside
    entries = s.list_directory("libs/lib").entries
    names = [entry.path.removeprefix("libs/lib/") for entry in entries]
    assert names == [".gitignore", ".gitmodules", "deep", "inner"]
    assert "n.py" in str(s.briefing("Look at @libs/lib/deep"))
    tree.put("libs/lib/deep/new.py", "n = 1\n")  # the list is not older than the disk
    assert "libs/lib/deep/new.py" in s.find("*.py").matches
    context = s._context
    assert context.workspace.paths() is context.workspace.paths()
    assert {each.path for each in s.checkpoint("then").not_covered} >= {"libs/lib/", "other/"}


def test_a_folder_that_the_modules_file_names_is_listed_and_another_repository_is_not(place, s):
    place.put(".gitmodules", '[submodule "a"]\n\tpath = libs/a\n[submodule "b"]\n\tpath = ../b\n')
    for folder in ("libs/a", "other"):
        place.put(f"{folder}/.git/HEAD", "ref: refs/heads/main\n")
        place.put(f"{folder}/.gitignore", "*.log\n")
        place.put(f"{folder}/a.log", "log\n")
        place.put(f"{folder}/x.py", "x = 1\n")
    place.put("../b/.git/HEAD", "ref: refs/heads/main\n")
    place.put("../b/x.py", "x = 1\n")
    assert s.find("**/*.py").matches == ("libs/a/x.py",)
    paths = s._context.workspace.paths()
    assert paths == (".gitmodules", "libs/a/.gitignore", "libs/a/x.py")
    assert s._context.workspace.paths() is paths
    place.put("libs/a/new.py", "n = 1\n")
    assert "libs/a/new.py" in s._context.workspace.paths()
