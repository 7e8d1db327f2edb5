"""What every workspace does alike: the real disk and the one in memory."""

import os

import pytest
from tests.filesystem.doubles import replace_if

from sightline.errors import PathRefused, Unverifiable
from sightline.filesystem.disk import DiskWorkspace
from sightline.filesystem.file_state import Replacement
from sightline.model.revision import MISSING, UNKNOWN, Stamp, revision_of
from sightline.testing import MemoryWorkspace

ONE, TWO = revision_of(b"one"), revision_of(b"two")


class OnDisk(DiskWorkspace):
    """The real one, with the hands of a user that MemoryWorkspace has."""

    def put(self, path, content):
        full = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "wb") as file:
            file.write(content)

    def put_kind(self, path, kind, *, target=""):
        full = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        if kind == "symlink":
            os.symlink(os.path.join(self.root, target), full)
        elif kind == "special":
            os.mkfifo(full)
        else:
            os.mkdir(full)

    def remove(self, path):
        os.unlink(os.path.join(self.root, path))


@pytest.fixture(params=["disk", "memory"])
def workspace(request, tmp_path):
    if request.param == "memory":
        return MemoryWorkspace(ignored=["*.log"], refused=["secret/"])
    root = tmp_path / "root"
    root.mkdir()
    (root / ".gitignore").write_text("*.log\n.*ignore\n")
    (root / ".sightlineignore").write_text("secret/\n")
    return OnDisk(str(root), str(tmp_path / "state"))


def stamped(workspace, path):
    found = workspace.read(path)
    return {path: Stamp(found.signature, found.revision, found.read_at_ns)}


def test_read_gives_bytes_and_their_revision(workspace):
    workspace.put("a.txt", b"one")
    found = workspace.read("a.txt")
    assert (found.kind, found.data, found.revision) == ("file", b"one", ONE)
    assert found.signature == workspace.stat("a.txt")


def test_over_the_limit_there_is_a_revision_and_no_data(workspace):
    workspace.put("a.txt", b"one")
    found = workspace.read("a.txt", limit=2)
    assert (found.data, found.revision, found.why) == (None, ONE, "too_large")
    assert workspace.read("a.txt", limit=3).data == b"one"


def test_a_missing_file_is_missing(workspace):
    assert workspace.read("a/b").kind == "missing"
    assert workspace.read("a/b").revision == MISSING
    assert workspace.stat("a/b") is None


@pytest.mark.parametrize("kind", ["directory", "special"])
def test_other_kinds_have_no_known_revision(workspace, kind):
    workspace.put_kind("x", kind)
    found = workspace.read("x")
    assert (found.kind, found.revision, found.data) == (kind, UNKNOWN, None)


def test_create_makes_folders_and_does_not_clobber(workspace):
    assert replace_if(workspace, "a/b/c.txt", MISSING, b"one").revision == ONE
    answer = replace_if(workspace, "a/b/c.txt", MISSING, b"two")
    assert (answer.revision, answer.data) == (ONE, b"one")
    assert workspace.read("a/b/c.txt").data == b"one"


def test_replace_compares_first(workspace):
    workspace.put("a.txt", b"one")
    assert replace_if(workspace, "a.txt", TWO, b"three").data == b"one"
    assert replace_if(workspace, "a.txt", ONE, b"two").revision == TWO
    assert workspace.read("a.txt").data == b"two"


def test_replace_does_not_recreate_a_deleted_file(workspace):
    assert replace_if(workspace, "a.txt", ONE, b"two").kind == "missing"
    assert workspace.read("a.txt").kind == "missing"


def test_delete_compares_first(workspace):
    workspace.put("a.txt", b"one")
    assert replace_if(workspace, "a.txt", TWO, None).revision == ONE
    assert replace_if(workspace, "a.txt", ONE, None).revision == MISSING
    assert workspace.read("a.txt").kind == "missing"


@pytest.mark.parametrize("kind", ["directory", "special"])
@pytest.mark.parametrize("expected", [MISSING, ONE, UNKNOWN])
@pytest.mark.parametrize("new", [b"two", None])
def test_nothing_is_written_over_another_kind(workspace, kind, expected, new):
    workspace.put_kind("x", kind)
    assert replace_if(workspace, "x", expected, new).kind == kind
    assert workspace.read("x").kind == kind


def test_move_wants_the_expected_bytes_and_a_free_place(workspace):
    workspace.put("a.txt", b"one")
    workspace.put("b.txt", b"two")
    assert workspace.move_if("a.txt", "b.txt", ONE).revision == TWO
    assert workspace.move_if("a.txt", "c/d.txt", TWO).revision == MISSING
    assert workspace.move_if("a.txt", "c/d.txt", ONE).revision == ONE
    assert workspace.read("a.txt").kind == "missing"
    assert workspace.read("c/d.txt").data == b"one"


def test_scan_is_silent_about_what_did_not_change(workspace):
    workspace.put("a.txt", b"one")
    workspace.put("b.txt", b"two")
    stamps = stamped(workspace, "a.txt") | stamped(workspace, "b.txt")
    workspace.put("b.txt", b"new")
    workspace.remove("a.txt")
    answers = {found.path: found for found in workspace.scan(stamps)}
    assert answers["a.txt"].kind == "missing"
    assert (answers["b.txt"].revision, answers["b.txt"].data) == (revision_of(b"new"), None)


def test_a_scan_gives_a_fresh_stamp_for_the_same_bytes(workspace):
    workspace.put("a.txt", b"one")
    stamps = stamped(workspace, "a.txt")
    workspace.put("a.txt", b"one")
    (found,) = workspace.scan(stamps)
    assert found.revision == ONE
    assert found.signature == workspace.stat("a.txt")


def test_a_scan_within_its_deadline_answers_the_same(workspace):
    workspace.put("a.txt", b"one")
    stamps = stamped(workspace, "a.txt")
    workspace.put("a.txt", b"two")
    assert [found.revision for found in workspace.scan(stamps, deadline_s=60)] == [TWO]


def test_walk_lists_in_order_what_is_listed(workspace):
    for path in ("b", "a/z", "a-b", "x.log", "secret/key", ".git/config", "a/b/c"):
        workspace.put(path, b"")
    assert [path for path, _ in workspace.walk()] == ["a-b", "a/b/c", "a/z", "b"]
    assert not workspace.listed("x.log")
    assert not workspace.listed("secret/key")
    assert workspace.listed("a/z")


def test_ignored_is_not_refused(workspace):
    assert workspace.locate("x.log").path == "x.log"


def test_refused_files_below_a_folder(workspace):
    for path in ("a/z", "x.log", "secret/key", "secret/in/key", "a/secret/key"):
        workspace.put(path, b"x")

    def below(folder):
        found = workspace.refused_below(folder, until=float("inf"))
        return {(file.path, file.rules) for file in found}

    rules = ".sightlineignore"
    inner = {("secret/key", rules), ("secret/in/key", rules)}
    assert below("") == {*inner, ("a/secret/key", rules)}
    assert below("secret/") == inner
    assert below("a/") == {("a/secret/key", rules)}
    assert below("b/") == set()


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("", "empty"),
        ("a\0b", "invalid"),
        ("../x", "outside"),
        ("/etc/passwd", "outside"),
        ("secret/key", "ignored"),
        (".git/config", "ignored"),
        ("sub/.hg/x", "ignored"),
    ],
)
def test_refused_paths(workspace, name, reason):
    with pytest.raises(PathRefused) as refused:
        workspace.locate(name)
    assert refused.value.reason == reason


def test_a_symlink_inside_leads_to_its_target(workspace):
    workspace.put("real.txt", b"one")
    workspace.put_kind("link.txt", "symlink", target="real.txt")
    located = workspace.locate("./link.txt")
    assert (located.path, located.name) == ("real.txt", "link.txt")
    assert workspace.read("link.txt").kind == "symlink"


def test_a_dangling_symlink_is_itself(workspace):
    workspace.put_kind("link.txt", "symlink", target="nowhere")
    assert workspace.locate("link.txt").path == "link.txt"
    assert workspace.read("link.txt").kind == "symlink"


def test_locks_are_not_reentrant(workspace):
    with workspace.lock("a", "b"), pytest.raises(RuntimeError), workspace.lock("c"):
        pass
    with workspace.lock("a"):
        pass


def test_rights_are_given_back_where_they_are_the_expected_ones(workspace):
    workspace.put("a.txt", b"one")
    now = workspace.read("a.txt").signature.mode & 0o7777
    assert workspace.set_mode("a.txt", 0o111, 0o700).signature.mode & 0o7777 == now
    assert workspace.set_mode("a.txt", now, 0o700).signature.mode & 0o7777 == 0o700
    assert workspace.read("a.txt").revision == ONE


def test_each_of_several_replacements_is_for_itself(workspace):
    workspace.put("a.txt", b"one")
    workspace.put("b.txt", b"two")
    wanted = [
        Replacement("a.txt", ONE, b"two", "t1"),
        Replacement("b.txt", ONE, None, "t2"),
        Replacement("sub/c.txt", MISSING, b"one", "t3"),
        Replacement("a.txt/d.txt", MISSING, b"one", "t4"),
    ]
    first, second, third, fourth = workspace.replace_each(wanted)
    assert (first.data, second.data, third.data) == (b"two", b"two", b"one")
    assert isinstance(fourth, Unverifiable)


def test_paths_are_those_of_all_that_may_be_found(workspace):
    for path in ("b/x", "a-b", "a/b", "no.log", "secret/x", ".git/config"):
        workspace.put(path, b"")
    workspace.put_kind("empty", "directory")
    workspace.put_kind("pipe", "special")
    workspace.put_kind("link", "symlink", target="b/x")
    workspace.put_kind("hidden", "symlink", target="no.log")
    workspace.put_kind("dangling", "symlink", target="nothing")
    seen = [path for path in workspace.paths() if not path.startswith(".")]
    assert seen == ["a-b", "a/b", "b/x", "link"]


def test_names_are_all_that_stands_in_a_folder(workspace):
    for path in ("src/b/x", "src/a", "src/x.log", "src/.git/config"):
        workspace.put(path, b"")
    workspace.put_kind("src/pipe", "special")
    assert workspace.names("src/") == ("a", "b", "pipe", "x.log")
    assert "src" in workspace.names("")
    with pytest.raises(Unverifiable):
        workspace.names("nothing/")
