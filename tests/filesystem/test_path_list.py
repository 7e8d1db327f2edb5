"""The list of paths: what git lists, by git itself as the oracle, and what is asked again."""

import os
from time import time_ns

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.filesystem.ignore.test_gitignore import files_below, git, ignore_files, paths
from tests.support.examples import examples

from sightline.errors import Unverifiable
from sightline.filesystem import path_list, scan
from sightline.filesystem.disk import DiskWorkspace
from sightline.filesystem.ignore import rules
from sightline.filesystem.ignore.agent_ignores import AGENTS
from sightline.filesystem.ignore.rules import INCLUDE_BYTES

FOLDERS = st.sampled_from(["", "a", "b", "a/b", "ab"])
IGNORES = st.dictionaries(FOLDERS, ignore_files, max_size=3)
TREES = st.lists(paths, min_size=1, max_size=15).map(files_below)


def write(root, path, text=""):
    full = root / path
    full.parent.mkdir(parents=True, exist_ok=True)
    full.write_bytes(text.encode())


def opened(root):
    return DiskWorkspace(str(root), f"{root}-state")


def paths_of(root):
    return list(opened(root).paths())


def listed(root, *words):
    told = git(root, "ls-files", *(words or ("-co", "--exclude-standard")), "-z", check=True)
    return sorted({os.fsdecode(name) for name in told.split(b"\0") if name})


@pytest.fixture
def tree(tmp_path):
    root = tmp_path / "tree"
    root.mkdir()
    git(root, "init", "-q", check=True)
    return root


@pytest.fixture
def without_git(monkeypatch):
    monkeypatch.setattr("sightline.filesystem.git.repository.program", lambda: None)


def build(root, tree, ignores, name):
    for path in tree:
        write(root, path)
    for folder, ignore in ignores.items():
        if (root / folder).is_dir():
            write(root, f"{folder}/{name}".lstrip("/"), ignore)


@settings(max_examples=examples(25))
@given(tree=TREES, ignores=IGNORES, exclude=ignore_files, data=st.data())
def test_git_and_we_list_the_same(tmp_path_factory, tree, ignores, exclude, data):
    root = tmp_path_factory.mktemp("tree")
    git(root, "init", "-q", check=True)
    build(root, tree, ignores, ".gitignore")
    (root / ".git/info/exclude").write_bytes(exclude.encode())
    tracked = data.draw(st.sets(st.sampled_from(tree)))
    git(root, "add", "--force", "--", *tracked)
    gone = data.draw(st.sets(st.sampled_from(tree)))
    for path in gone:
        (root / path).unlink()
    expected = [path for path in listed(root) if path not in gone]
    assert paths_of(root) == expected
    walked = {path for path, _ in DiskWorkspace(str(root), str(root / ".git/state")).walk()}
    assert set(expected) == walked | (tracked - gone)


@settings(max_examples=examples(12))
@given(tree=TREES, ignores=IGNORES, name=st.sampled_from([".sightlineignore", *AGENTS]))
@pytest.mark.parametrize("repository", [True, False])
def test_ignore_files_of_agents_hide_as_git_hides(
    tmp_path_factory, repository, tree, ignores, name
):
    root = tmp_path_factory.mktemp("tree")
    build(root, tree, ignores, name)
    git(root, "init", "-q", check=True)
    expected = listed(root, "-o", f"--exclude-per-directory={name}")
    if repository:
        git(root, "add", "--all", check=True)
    else:
        (root / ".git").rename(root.with_name(f"{root.name}-git"))
    assert paths_of(root) == expected


def test_what_git_tracks_is_found_in_an_ignored_folder(tree):
    for path in ("out/kept.py", "out/gone.py", "out/new.py", "src/a.py"):
        write(tree, path)
    write(tree, ".gitignore", "out/\n")
    git(tree, "add", "-f", "out/kept.py", "out/gone.py", check=True)
    (tree / "out/gone.py").unlink()
    assert paths_of(tree) == [".gitignore", "out/kept.py", "src/a.py"]
    write(tree, ".cursorignore", "out\n")
    assert paths_of(tree) == [".cursorignore", ".gitignore", "src/a.py"]


def test_without_the_program_the_walk_judges(tree, without_git):
    for path in ("out/x.py", "src/a.py"):
        write(tree, path)
    write(tree, ".gitignore", "out/\n")
    assert paths_of(tree) == [".gitignore", "src/a.py"]


def test_the_users_own_ignore_file_does_not_count(tree, tmp_path, monkeypatch):
    write(tmp_path, "home/git/ignore", "*.py\n")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    git(tree, "config", "core.excludesFile", str(tmp_path / "home/git/ignore"), check=True)
    write(tree, "a.py")
    assert paths_of(tree) == ["a.py"]


def test_a_part_of_a_repository_is_listed_alone(tree):
    for path in ("part/src/a.py", "part/out/b.py", "other/c.py"):
        write(tree, path)
    write(tree, ".gitignore", "/part/out\n")
    assert paths_of(tree / "part") == ["src/a.py"]


def test_a_root_that_its_repository_ignores_is_listed(tree):
    write(tree, "part/a.py")
    write(tree, ".gitignore", "/part\n")
    assert paths_of(tree / "part") == ["a.py"]


def test_an_unmerged_file_is_listed_once(tree):
    who = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    for branch, text in (("one", "1"), ("two", "2")):
        git(tree, "checkout", "-q", "--orphan", branch, check=True)
        write(tree, "a.py", text)
        git(tree, "add", "a.py", check=True)
        git(tree, *who, "commit", "-q", "-m", branch, check=True)
    git(tree, *who, "merge", "-q", "--allow-unrelated-histories", "one")
    assert listed(tree, "-u")
    assert paths_of(tree) == ["a.py"]


@pytest.mark.parametrize("tracked", [True, False])
def test_what_took_the_place_of_a_file_is_not_listed_as_one(tree, tracked):
    for path in ("a", "b/x", "c"):
        write(tree, path)
    if tracked:
        git(tree, "add", "--all", check=True)
    for path in ("a", "c", "b/x"):
        (tree / path).unlink()
    (tree / "b").rmdir()
    write(tree, "a/inner")
    (tree / "elsewhere").mkdir()
    write(tree, "elsewhere/x")
    (tree / "b").symlink_to("elsewhere")
    os.mkfifo(tree / "c")
    assert paths_of(tree) == ["a/inner", "elsewhere/x"]


@pytest.mark.parametrize("repository", [True, False])
def test_links_pipes_nested_repositories_and_strange_names(tmp_path, repository):
    root = tmp_path / "root"
    write(root, "real/file")
    write(root, "nested/file")
    write(root, ".hg/store")
    write(root, ".sightline-0-1.new")
    write(root, "out.txt")
    write(tmp_path, "outside")
    git(root / "nested", "init", "-q", check=True)
    os.close(os.open(os.fsencode(root) + b"/\xff.py", os.O_CREAT))
    os.mkfifo(root / "pipe")
    for name, target in {
        "link.txt": "real/file",
        "twice": "link.txt",
        "folder": "real",
        "dangling": "nothing",
        "piped": "pipe",
        "leaving": "../outside",
        "hidden": "out.txt",
    }.items():
        (root / name).symlink_to(target)
    write(root, ".gitignore", "out.txt\n")
    if repository:
        git(root, "init", "-q", check=True)
    assert paths_of(root) == [".gitignore", "link.txt", "real/file", "twice"]


def test_a_line_of_a_clineignore_may_name_another_file(tmp_path):
    root = tmp_path / "root"
    for path in ("a.log", "b.tmp", "sub/c.bak", "sub/d.log"):
        write(root, path)
    write(root, ".clineignore", "*.log\n!include shared.txt\n!include missing\n!sub/d.log\n")
    write(root, "shared.txt", "*.tmp\n")
    write(root, "sub/.clineignore", "!include more.txt\n!include ../../outside.txt\n")
    write(root, "sub/more.txt", "*.bak\n")
    write(tmp_path, "outside.txt", "*\n")
    rest = [".clineignore", "shared.txt", "sub/.clineignore", "sub/d.log", "sub/more.txt"]
    assert paths_of(root) == rest


def test_an_included_file_without_end_is_refused(tmp_path):
    write(tmp_path, ".clineignore", "!include big.txt\n")
    write(tmp_path, "big.txt", "x" * (INCLUDE_BYTES + 1))
    with pytest.raises(Unverifiable, match="too large"):
        paths_of(tmp_path)


def test_what_is_included_includes_nothing(tmp_path):
    """As it is to Cline; so no circle is followed."""
    write(tmp_path, ".clineignore", "!include one.txt\n")
    write(tmp_path, "one.txt", "!include .clineignore\n!include two.txt\n*.log\n")
    write(tmp_path, "two.txt", "*.tmp\n")
    write(tmp_path, "a.log")
    write(tmp_path, "a.tmp")
    assert paths_of(tmp_path) == [".clineignore", "a.tmp", "one.txt", "two.txt"]


@pytest.mark.parametrize(("limit", "most"), [("INCLUDES_MAX", 4), ("INCLUDED_BYTES", 4 * 6)])
def test_what_a_tree_includes_is_bounded(tmp_path, monkeypatch, limit, most):
    monkeypatch.setattr(rules, limit, most)
    write(tmp_path, "shared.txt", "*.tmp\n")
    for folder in ("a", "b"):
        write(tmp_path, f"{folder}/x.tmp")
        write(tmp_path, f"{folder}/.clineignore", "!include ../shared.txt\n" * 2)
    assert paths_of(tmp_path) == ["a/.clineignore", "b/.clineignore", "shared.txt"]
    write(tmp_path, "c/.clineignore", "!include ../shared.txt\n")
    with pytest.raises(Unverifiable, match=r"c/\.clineignore is where .* come to include more"):
        paths_of(tmp_path)


CHANGES = {
    "a new file": lambda root: write(root, "src/b.py"),
    "a new file in an empty folder": lambda root: write(root, "empty/b.py"),
    "a file less": lambda root: (root / "src/a.py").unlink(),
    "a folder renamed": lambda root: (root / "src").rename(root / "moved"),
    "an ignore file rewritten": lambda root: write(root, ".gitignore", "src\n"),
    "an ignore file of an agent": lambda root: write(root, "src/.aiexclude", "*.py\n"),
    "an included file": lambda root: write(root, "shared.txt", "*.py\n"),
    "the exclude file": lambda root: write(root, ".git/info/exclude", "src\n"),
    "an ignored file tracked": lambda root: git(root, "add", "-f", "out/x", check=True),
}


@pytest.fixture
def looks(monkeypatch):
    """How often a list is made, on a disk whose times are exact."""
    counted = []
    made = path_list.PathList._list

    def counting(self, tree):
        counted.append(tree)
        return made(self, tree)

    monkeypatch.setattr(path_list.PathList, "_list", counting)
    monkeypatch.setattr(scan, "TICK_NS", 0)
    return counted


def tree_with_files(root):
    for path in ("src/a.py", "out/x", "shared.txt"):
        write(root, path)
    write(root, ".gitignore", "out\n")
    write(root, ".clineignore", "!include shared.txt\n")
    (root / "empty").mkdir()
    return opened(root)


def let_time_move(folder):
    """Until the disk's own clock has passed this moment."""
    now = time_ns()
    probe = folder / "probe"
    probe.touch()
    while probe.stat().st_mtime_ns <= now:
        probe.touch()


def test_what_stands_is_not_looked_at_twice(tree, tmp_path, looks):
    finder = tree_with_files(tree)
    let_time_move(tmp_path)
    assert finder.paths() is finder.paths()
    assert len(looks) == 1


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_seen(tree, tmp_path, looks, change):
    finder = tree_with_files(tree)
    let_time_move(tmp_path)
    before = finder.paths()
    let_time_move(tmp_path)
    CHANGES[change](tree)
    assert finder.paths() == tuple(paths_of(tree)) != before


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_a_moment_ago_is_never_missed(tree, change):
    finder = tree_with_files(tree)
    before = finder.paths()
    CHANGES[change](tree)
    assert finder.paths() == tuple(paths_of(tree)) != before


def test_a_link_is_followed_anew_each_time(tree, tmp_path, looks):
    write(tmp_path, "outside/keep")
    (tmp_path / "outside/way").symlink_to(tree)
    finder = tree_with_files(tree)
    (tree / "link").symlink_to("../outside/way/src/a.py")
    let_time_move(tmp_path)
    assert "link" in finder.paths()
    (tmp_path / "outside/way").unlink()
    assert "link" not in finder.paths()
    assert len(looks) == 1


@pytest.mark.parametrize("text", ["gitdir: a\0b", "gitdir: " + "a" * 5000])
def test_a_git_file_that_names_no_folder_hides_nothing(tmp_path, text):
    write(tmp_path, ".git", text)
    write(tmp_path, "a.py")
    assert "a.py" in paths_of(tmp_path)


def test_the_git_file_of_a_worktree_is_no_file_of_it(tree, tmp_path):
    who = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    write(tree, "a.py")
    git(tree, "add", "a.py", check=True)
    git(tree, *who, "commit", "-q", "-m", "one", check=True)
    git(tree, "worktree", "add", "-q", str(tmp_path / "second"), check=True)
    write(tmp_path, "second/new.py")
    assert paths_of(tmp_path / "second") == ["a.py", "new.py"]


def test_names_that_are_no_unicode_hide_no_others(tree):
    """git tracks them in the order of their bytes."""
    os.close(os.open(os.fsencode(tree) + b"/a\xff.log", os.O_CREAT))
    for name in ("a.log", "b.log", "é.log", "\U0001f600.log"):
        write(tree, name)
    git(tree, "add", "--all", check=True)
    write(tree, ".gitignore", "*.log\n")
    assert paths_of(tree) == [".gitignore", "a.log", "b.log", "é.log", "\U0001f600.log"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes")
def test_a_git_that_is_a_pipe_or_leads_to_itself_hides_nothing(tmp_path):
    write(tmp_path, "pipe/a.py")
    write(tmp_path, "circle/a.py")
    os.mkfifo(tmp_path / "pipe/.git")
    (tmp_path / "circle/.git").symlink_to(".git")
    assert paths_of(tmp_path / "pipe") == ["a.py"]
    assert "a.py" in paths_of(tmp_path / "circle")


def test_an_include_of_a_name_that_cannot_be_says_nothing(tmp_path):
    write(tmp_path, ".clineignore", "!include a\0b\n*.log\n")
    write(tmp_path, "a.log")
    assert paths_of(tmp_path) == [".clineignore"]


def test_folders_too_deep_for_any_path_are_left_out(tmp_path, monkeypatch):
    write(tmp_path, "a.py")
    monkeypatch.chdir(tmp_path)
    for _ in range(25):
        os.mkdir("d" * 200)
        os.chdir("d" * 200)
    write(tmp_path, "b.py")
    assert paths_of(tmp_path) == ["a.py", "b.py"]
