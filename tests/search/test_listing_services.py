"""Listing a folder of a real tree."""

import os

import pytest

from sightline.errors import FileMissing, PathRefused
from sightline.filesystem.disk import DiskWorkspace
from sightline.search.listing import Entry, list_directory
from sightline.testing import MemoryWorkspace


class Ports:
    """The part of a ground that listing stands on."""

    def __init__(self, workspace):
        self.workspace = workspace


def over(workspace):
    return Ports(workspace)


def ground(root):
    return over(DiskWorkspace(str(root), str(root.parent / "state")))


@pytest.fixture
def root(tmp_path):
    made = tmp_path / "root"
    for path, text in {
        "src/app/main.py": "12345",
        "src/app/deep/er/x.py": "",
        "src/index.ts": "",
        "src/a..b.ts": "",
        "z.py": "123",
        "out/x.o": "",
        ".gitignore": "out/\n*.log\n",
        "a.log": "",
    }.items():
        (made / path).parent.mkdir(parents=True, exist_ok=True)
        (made / path).write_text(text)
    return made


def told(found):
    return [entry.path + "/" * (entry.kind == "folder") for entry in found.entries]


def test_a_folder_is_listed_with_kinds_and_sizes(root):
    found = list_directory(ground(root))
    assert found.entries == (
        Entry(".gitignore", "file", 11),
        Entry("src", "folder"),
        Entry("z.py", "file", 3),
    )
    assert (found.path, found.folders, found.files, found.ignored) == (".", 1, 2, 2)
    assert (found.left_out, found.deeper, found.complete) == (0, 0, True)


def test_recursive_goes_level_by_level_and_says_what_is_deeper(root):
    found = list_directory(ground(root), recursive=True)
    level1 = [".gitignore", "src/", "z.py"]
    level2 = ["src/a..b.ts", "src/app/", "src/index.ts"]
    assert told(found) == level1 + level2 + ["src/app/deep/", "src/app/main.py"]
    assert (found.deeper, found.depth, found.complete) == (1, 3, False)
    assert list_directory(ground(root), recursive=True, depth=9).complete


@pytest.mark.parametrize("limit", range(1, 11))
def test_the_limit_cuts_off_the_farthest_and_counts_it(root, limit):
    whole = list_directory(ground(root), recursive=True, depth=9)
    found = list_directory(ground(root), recursive=True, depth=9, limit=limit)
    assert found.entries == whole.entries[:limit]
    assert len(found.entries) + found.left_out == len(whole.entries) == 10
    assert found.limit == limit


@pytest.mark.parametrize("limit", range(1, 9))
def test_what_is_cut_off_and_what_is_deeper_are_not_mixed_up(root, limit):
    found = list_directory(ground(root), recursive=True, limit=limit)
    assert (len(found.entries) + found.left_out, found.deeper) == (8, 1)


def test_a_filter_is_about_files(root):
    assert told(list_directory(ground(root), filter="*.py")) == ["src/", "z.py"]
    assert told(list_directory(ground(root), "src", filter="*.py")) == ["src/app/"]
    assert told(list_directory(ground(root), "src/app", filter="src/**/*.ts")) == ["src/app/deep/"]


def test_a_filter_below_shows_the_way_to_what_matches_alone(root):
    found = list_directory(ground(root), recursive=True, filter="src/**/*.ts")
    assert told(found) == ["src/", "src/a..b.ts", "src/index.ts"]
    found = list_directory(ground(root), recursive=True, filter="*.PY")
    assert (found.entries, found.filter) == ((), "*.PY")


def test_a_filter_that_is_none_is_refused(root):
    with pytest.raises(ValueError, match="empty"):
        list_directory(ground(root), filter="")
    with pytest.raises(PathRefused):
        list_directory(ground(root), filter="../*.py")


@pytest.mark.parametrize("path", ["..", "src/../..", "/", "link"])
def test_a_way_out_is_refused(root, path):
    (root / "link").symlink_to("..")
    with pytest.raises(PathRefused) as refused:
        list_directory(ground(root), path)
    assert refused.value.reason == "outside"


def test_dots_in_a_name_are_no_way_out(root):
    (root / "a..b").mkdir()
    (root / "a..b/x").write_text("")
    assert told(list_directory(ground(root), "a..b")) == ["a..b/x"]


def test_what_is_no_folder_is_told_apart(root):
    with pytest.raises(FileMissing):
        list_directory(ground(root), "nothing")
    with pytest.raises(PathRefused, match="no folder"):
        list_directory(ground(root), "z.py")


def test_what_is_no_file_has_its_kind(root):
    (root / "empty").mkdir()
    (root / "dangling").symlink_to("nothing")
    (root / "link.py").symlink_to("z.py")
    os.mkfifo(root / "pipe")
    found = list_directory(ground(root))
    kinds = {entry.path: (entry.kind, entry.size) for entry in found.entries}
    assert kinds["empty"] == ("folder", None)
    assert kinds["dangling"] == kinds["link.py"] == ("symlink", None)
    assert kinds["pipe"] == ("other", None)
    assert found.ignored == 2


def test_an_ignored_folder_is_counted_not_named(root):
    found = list_directory(ground(root), "out")
    assert (found.entries, found.ignored) == ((), 1)


def test_very_many_ignored_names_are_counted(root, monkeypatch):
    monkeypatch.setattr("sightline.search.listing.JUDGED_MAX", 5)
    for number in range(30):
        (root / f"{number}.log").write_text("")
    assert list_directory(ground(root)).ignored == 32


def test_a_workspace_in_memory_is_listed_alike():
    ports = over(MemoryWorkspace({"src/a.py": "1", "b.py": "12", "x.log": ""}, ignored=["*.log"]))
    found = list_directory(ports, recursive=True)
    assert told(found) == ["b.py", "src/", "src/a.py"]
    assert (found.entries[0].size, found.ignored) == (2, 1)
