"""Submodules that are checked out: found, listed and mentioned like other files."""

from __future__ import annotations

import subprocess

import pytest
from tests.support.examples import widely

from sightline.hooks.dispatch import attend
from sightline.model.hook_events import CommandBegan, CommandEnded


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
    left_out = {each.path for each in s.checkpoint("then").not_covered}
    assert left_out == {"other/", "libs/lib/a.log", "libs/lib/secret.py"}


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


@pytest.fixture
def plain(place):
    """A workspace with a folder as of a submodule, and one in it, without git's work."""
    place.put(".gitmodules", '[submodule "lib"]\n\tpath = lib\n')
    place.put("lib/.git", "gitdir: ../.git/modules/lib\n")
    place.put("lib/.gitignore", "*.log\n")
    place.put("lib/.gitmodules", '[submodule "in"]\n\tpath = in\n')
    place.put("lib/in/.git", "gitdir: ../../.git/modules/lib/modules/in\n")
    for path in ("top.py", "lib/a.py", "lib/src/b.py", "lib/in/c.py"):
        place.put(path, "x = 1\n")
    return place


def written(place, path):
    place.put(path, "x = 2\n")


def removed(place, path):
    (place.root / path).unlink()


DEEDS = {"sed -i s/1/2/ {path}": written, "rm {path}": removed, "python3 work.py": written}


def files(place):
    found = (path for path in place.root.rglob("*") if path.is_file())
    return {str(path.relative_to(place.root)): path.read_bytes() for path in found}


@pytest.mark.parametrize("deed", DEEDS)
@pytest.mark.parametrize(
    "path", ["lib/in/c.py", *widely("lib/a.py", "lib/src/b.py", "lib/new/d.py")]
)
@pytest.mark.parametrize("face", ["library", "hook"])
def test_a_rewind_takes_back_what_a_command_did_in_a_submodule(plain, s, deed, path, face):
    if "new" in path and deed.startswith("rm"):
        plain.put(path, "x = 1\n")
    s.turn()
    before, then = files(plain), s.checkpoint("before")
    command, cwd = deed.format(path=path), str(plain.root)
    if face == "library":
        with s.ran(command) as run:
            DEEDS[deed](plain, path)
            run.exit_code = 0
    else:
        attend(s, CommandBegan(command, "call", cwd))
        DEEDS[deed](plain, path)
        attend(s, CommandEnded(command, "call", cwd, "", 0))
    report = s.rewind(then, commands=True)
    assert files(plain) == before
    assert not report.lost


@pytest.mark.parametrize("path", ["lib/a.py", "lib/in/c.py"])
def test_a_rewind_takes_back_an_edit_in_a_submodule(plain, s, path):
    before = files(plain)
    s.turn()
    s.read(path)
    s.read("lib/src/b.py")
    s.edit(path, "1", "2")
    s.create("lib/in/e.py", "e = 1\n")
    s.delete("lib/src/b.py")
    s.undo()
    assert files(plain) == before


def test_a_later_look_has_the_files_of_submodules_and_those_that_came(plain, s):
    s.checkpoint("before")
    workspace = s._context.workspace
    workspace.remember(workspace.tree())
    later = plain.session("later")._context.workspace
    tree = later.tree(later.remembered())
    assert tree.paths() >= {"lib/a.py", "lib/in/c.py"}
    plain.put("lib/new.py", "n = 1\n")
    assert later.tree(tree).paths() == {*tree.paths(), "lib/new.py"}


def test_another_repository_in_the_tree_stays_uncovered(place, s):
    place.put("other/.git/HEAD", "ref: refs/heads/main\n")
    place.put("other/o.py", "z = 1\n")
    place.put("top.py", "x = 1\n")
    assert [each.path for each in s.checkpoint("then").not_covered] == ["other/"]
