"""The whole tree at one look: a second look with what the first one learned answers the same."""

import itertools
import os
import sys
import tempfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs
from tests.support.examples import examples

from sightline.filesystem.disk import DiskWorkspace
from sightline.filesystem.tree_index import CONTENT, LOOKED_AT, NO_TREE, load, save
from sightline.model.revision import revision_of

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

LATER_NS = 10**9
OLD_NS = 1_700_000_000_000_000_001
ages = itertools.count()


@pytest.fixture
def root(tmp_path):
    made = tmp_path / "root"
    made.mkdir()
    return made


def opened(root):
    return DiskWorkspace(str(root), f"{root}-state")


def put(root, path, content="x\n"):
    file = os.path.join(root, path)
    os.makedirs(os.path.dirname(file), exist_ok=True)
    with open(file, "w", encoding="utf-8") as out:
        out.write(content)


def look_and_learn(root, last=NO_TREE):
    """A look, with what a caller learns who reads every file. All that is younger than the look
    before gets times of long ago, each its own, so that a later touch always shows."""
    for folder, _, names in os.walk(root):
        for path in [folder, *(os.path.join(folder, name) for name in names)]:
            if os.lstat(path).st_mtime_ns > OLD_NS + LATER_NS:
                at = OLD_NS + next(ages)
                os.utime(path, ns=(at, at), follow_symlinks=False)
    return learn(root, opened(root).tree(last))


def learn(root, tree):
    """As a caller does who read every file, some time after it was written."""
    for path, row in tree.files():
        if not row[CONTENT]:
            with open(os.path.join(root, path), "rb") as file:
                row[CONTENT] = revision_of(file.read())
            row[LOOKED_AT] += LATER_NS
    listings = {
        folder: structs.replace(listing, stamp=(*listing.stamp[:4], listing.stamp[4] + LATER_NS))
        for folder, listing in tree.listings.items()
    }
    return structs.replace(tree, listings=listings)


def description(tree):
    """Return what a tree says, without the contents and the moments of the looks."""
    return sorted((path, row[:CONTENT]) for path, row in tree.files()), hidden_entries(tree)


def hidden_entries(tree):
    return {
        folder + name: why
        for folder, listing in tree.listings.items()
        for name, why in listing.hidden.items()
    }


def contents(tree):
    return {path: row[CONTENT] for path, row in tree.files()}


def test_it_lists_what_a_walk_lists_and_the_symlinks(root):
    put(root, ".gitignore", "*.log\nbuild/\n")
    put(root, "a/b.py")
    put(root, "a.log")
    put(root, "build/x")
    put(root, "sub/.git/HEAD")
    put(root, "sub/x.py")
    os.symlink("a/b.py", root / "l")
    os.mkfifo(root / "p")
    workspace = opened(root)
    found = workspace.tree()
    walked = [path for path, _ in workspace.walk()]
    assert sorted(path for path, _ in found.files()) == sorted([*walked, "l"])
    assert contents(found)["l"] == "a/b.py"
    assert hidden_entries(found) == {
        "a.log": "ignored",
        "build/": "ignored",
        "sub/": "a repository of its own",
        "p": "neither a file nor a symlink",
    }


def test_what_the_times_vouch_for_keeps_its_content(root):
    put(root, "a.py", "a\n")
    put(root, "d/b.py", "b\n")
    workspace = opened(root)
    first = look_and_learn(root)
    assert contents(workspace.tree(first)) == {
        "a.py": revision_of(b"a\n"),
        "d/b.py": revision_of(b"b\n"),
    }
    put(root, "d/b.py", "bb\n")
    assert contents(workspace.tree(first)) == {"a.py": revision_of(b"a\n"), "d/b.py": ""}


def test_a_file_that_was_just_written_is_not_vouched_for(root):
    put(root, "a.py", "a\n")
    workspace = opened(root)
    first = workspace.tree()
    for _, row in first.files():
        row[CONTENT] = revision_of(b"a\n")
    assert contents(workspace.tree(first)) == {"a.py": ""}


def test_a_folder_that_did_not_change_is_not_listed_again(root, monkeypatch):
    put(root, "a/x")
    put(root, "b/x")
    workspace = opened(root)
    first = look_and_learn(root)
    listed = []
    real = os.scandir

    def scandir(path):
        listed.append(path)
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    workspace.tree(first)
    assert listed == []
    put(root, "b/y")
    assert "b/y" in contents(workspace.tree(first))
    assert listed == [f"{root}/b/"]


def test_an_ignore_file_that_changed_comes_or_goes_is_heeded(root):
    put(root, "a/x.tmp")
    put(root, "a/y")
    put(root, ".gitignore", "none\n")
    workspace = opened(root)
    first = look_and_learn(root)
    put(root, ".gitignore", "*.tmp\n")
    assert description(workspace.tree(first))[1] == {"a/x.tmp": "ignored"}
    os.unlink(root / ".gitignore")
    assert description(workspace.tree(first))[1] == {}
    put(root, "a/.gitignore", "y\n")
    assert description(workspace.tree(first))[1] == {"a/y": "ignored"}


def test_an_ignore_file_above_the_workspace_is_heeded(root):
    put(root, ".git/HEAD")
    put(root, "ws/x.tmp")
    workspace = opened(root / "ws")
    first = look_and_learn(root / "ws")
    put(root, ".gitignore", "*.tmp\n")
    assert description(workspace.tree(first)) == ([], {"x.tmp": "ignored"})
    os.unlink(root / ".gitignore")
    put(root, ".git/info/exclude", "*.tmp\n")
    assert description(workspace.tree(first)) == ([], {"x.tmp": "ignored"})


def test_a_folder_that_became_a_symlink_is_not_followed(root, tmp_path):
    put(root, "d/x")
    put(tmp_path, "outside/secret")
    workspace = opened(root)
    first = look_and_learn(root)
    os.rename(root / "d", root / "e")
    os.symlink(tmp_path / "outside", root / "d")
    assert sorted(contents(workspace.tree(first))) == ["d", "e/x"]


def test_a_repository_that_came_or_went_is_heeded(root):
    put(root, "d/x")
    workspace = opened(root)
    first = look_and_learn(root)
    put(root, "d/.git/HEAD")
    second = look_and_learn(root, first)
    assert description(second) == ([], {"d/": "a repository of its own"})
    os.unlink(root / "d/.git/HEAD")
    os.rmdir(root / "d/.git")
    assert list(contents(workspace.tree(second))) == ["d/x"]


def test_what_was_learned_is_remembered_for_the_next_process(root):
    put(root, "a/b.py")
    put(root, ".gitignore", "x\n")
    made = look_and_learn(root)
    opened(root).remember(made)
    assert opened(root).remembered() == made


def test_what_is_to_last_for_this_process_alone_is_not_written(root):
    put(root, "a.py")
    workspace, made = opened(root), look_and_learn(root)
    workspace.remember(made, lasting=False)
    assert workspace.remembered() == made
    assert opened(root).remembered() == NO_TREE


@pytest.mark.parametrize("kept", [b"", b"{}", b"[1]", b'{"v": 1, "root": "/", "folders": 3}'])
@pytest.mark.parametrize("packed", [zstd.compress, bytes, lambda kept: zstd.compress(kept)[:-1]])
def test_what_cannot_be_read_of_it_is_learned_anew(root, tmp_path, kept, packed):
    put(root, "a.py")
    made = look_and_learn(root)
    save(str(tmp_path), "/", made)
    assert load(str(tmp_path), "/") == made
    (tmp_path / "tree.z").write_bytes(packed(kept))
    assert load(str(tmp_path), "/") == NO_TREE


def test_what_was_remembered_of_another_root_is_not_taken(tmp_path, root):
    save(str(tmp_path), str(root), look_and_learn(root))
    assert load(str(tmp_path), "/elsewhere") == NO_TREE


names = st.sampled_from(
    ["a", "b", "c.tmp", ".gitignore", "d/a", "d/c.tmp", "d/e/a", "d/.gitignore"]
)
texts = st.sampled_from(["", "*.tmp\n", "e/\n", "a\n", "d\n"])
steps = st.lists(
    st.one_of(
        st.tuples(st.just("put"), names, texts),
        st.tuples(st.just("remove"), names, st.just("")),
        st.tuples(st.just("look"), st.just(""), st.just("")),
    ),
    max_size=12,
)


@pytest.mark.wide
@settings(max_examples=examples(150))
@given(steps)
def test_a_look_with_what_was_learned_answers_as_one_without(taken):
    with tempfile.TemporaryDirectory() as home:
        root = os.path.join(home, "root")
        os.mkdir(root)
        last = NO_TREE
        for what, path, text in taken:
            if what == "put":
                put(root, path, text)
            elif what == "remove" and os.path.lexists(os.path.join(root, path)):
                os.unlink(os.path.join(root, path))
            elif what == "look":
                last = look_and_learn(root, last)
        assert description(opened(root).tree(last)) == description(opened(root).tree())


def test_folders_deeper_than_are_held_open_are_looked_at_as_well(root):
    deep = "/".join(["d"] * 300)
    put(root, f"{deep}/a.py")
    put(root, "b.py")
    first = look_and_learn(root)
    assert dict(first.files()).keys() == {f"{deep}/a.py", "b.py"}
    assert opened(root).tree(first).listings == first.listings
    put(root, f"{deep}/a.py", "other\n")
    assert dict(opened(root).tree(first).files())[f"{deep}/a.py"][CONTENT] == ""
