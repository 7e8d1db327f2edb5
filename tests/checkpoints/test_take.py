"""Checkpoints: what they cover, what they cost, and that one which cannot be kept says so."""

import os
import stat
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sightline
from sightline.changes import manifests
from sightline.checkpoints import take
from sightline.errors import CheckpointFailed, StoreError, UnknownName
from sightline.model.events import CheckpointTaken
from sightline.model.manifest import decode
from sightline.model.results import NotCovered
from sightline.model.revision import revision_of
from sightline.store.blobs import Blobs
from sightline.testing import MemoryWorkspace, make_session


def files(session, checkpoint):
    return take.load_manifest(session._context, checkpoint)


def taken(session):
    return list(session._context.store.timeline(kinds=[CheckpointTaken]))


def texts(session):
    return {each.revision for each in session._context.store.texts()}


def test_a_checkpoint_names_every_file_that_the_ignore_rules_let_us_see(place, s):
    place.put(".gitignore", "build/\n*.log\n")
    place.put("src/a.py", "a\n")
    place.put("build/out.bin", "x")
    place.put("x.log", "x")
    made = s.checkpoint("before")
    assert (made.label, made.session, made.files) == ("before", "s", 2)
    found = files(s, made)
    assert list(found) == [".gitignore", "src/a.py"]
    assert found["src/a.py"].revision == revision_of(b"a\n")
    assert NotCovered("build/", "ignored") in made.not_covered
    assert NotCovered("x.log", "ignored") in made.not_covered


def test_every_text_of_a_checkpoint_is_kept(place, s):
    for n in range(200):
        place.put(f"d{n % 7}/f{n}.txt", f"text {n}\n" * 20)
    made = s.checkpoint()
    for path, entry in files(s, made).items():
        assert s._context.store.blob(entry.revision) == place.bytes(path)


def test_modes_and_symlinks_are_kept(place, s):
    tool = place.put("tool", "#!/bin/sh\n")
    tool.chmod(0o755)
    (place.root / "to-tool").symlink_to("tool")
    (place.root / "nowhere").symlink_to("../else/where")
    (place.root / "empty").mkdir()
    found = files(s, s.checkpoint())
    assert stat.S_IMODE(found["tool"].mode) == 0o755
    assert (found["to-tool"].kind, found["to-tool"].target) == ("symlink", "tool")
    assert found["nowhere"].target == "../else/where"
    assert "empty" not in found


def test_taking_it_twice_with_nothing_changed_costs_no_text_and_is_equal(place, s):
    place.put("a.py", "a\n")
    first = s.checkpoint("one")
    before = texts(s)
    second = s.checkpoint("two")
    assert texts(s) == before
    assert second.manifest == first.manifest
    assert (second.id, second.position) != (first.id, first.position)


def test_another_process_begins_where_the_last_one_ended(place):
    """Its manifest is the same as one that looked at everything anew."""
    for n in range(150):
        place.put(f"f{n}.txt", f"text {n}\n")
    with sightline.open_session(place.root, settings=place.settings()) as first:
        one = first.checkpoint()
    place.put("f3.txt", "other\n")
    os.unlink(place.root / "f4.txt")
    place.put("new/f.txt", "new\n")
    with sightline.open_session(place.root, settings=place.settings()) as second:
        two = second.checkpoint()
        found = files(second, two)
        assert two.files == one.files
        assert found["f3.txt"].revision == revision_of(b"other\n")
        assert "f4.txt" not in found
        assert found["new/f.txt"].revision == revision_of(b"new\n")
        # a step that names what changed, not a whole manifest
        assert len(second._context.store.blob(two.manifest) or b"") < 1000
        assert files(second, one)["f3.txt"].revision == revision_of(b"text 3\n")


def test_known_paths_alone_are_looked_at(place, s):
    place.put("a.py", "a\n")
    place.put("b.py", "b\n")
    place.put("c.py", "c\n")
    s.checkpoint()
    place.put("a.py", "A\n")
    place.put("b.py", "B\n")
    os.unlink(place.root / "c.py")
    made = take.take(s._context, paths=["a.py", "c.py"])
    found = files(s, made)
    assert found["a.py"].revision == revision_of(b"A\n")
    assert found["b.py"].revision == revision_of(b"b\n")
    assert "c.py" not in found
    assert made.files == 2
    assert files(s, s.checkpoint())["b.py"].revision == revision_of(b"B\n")


def test_a_known_folder_symlink_or_ignore_file_is_looked_at_with_all_else(place, s):
    place.put("a.py", "a\n")
    s.checkpoint()
    place.put("d/e.py", "e\n")
    (place.root / "l").symlink_to("a.py")
    assert "d/e.py" in files(s, take.take(s._context, paths=["d"]))
    assert "l" in files(s, take.take(s._context, paths=["l"]))
    place.put(".gitignore", "d/\n")
    found = take.take(s._context, paths=[".gitignore"])
    assert "d/e.py" not in files(s, found)


def test_what_is_too_large_secret_or_special_is_listed_with_the_reason(place):
    s = place.session(checkpoint_file_bytes=1000)
    place.put("a.py", "a\n")
    place.put("film.mp4", "x" * 1001)
    place.put(".env", "KEY=1\n")
    os.mkfifo(place.root / "pipe")
    made = s.checkpoint()
    assert list(files(s, made)) == ["a.py"]
    assert made.not_covered == (
        NotCovered(".env", "its text is never stored"),
        NotCovered("film.mp4", "1001 bytes, more than 1000 bytes"),
        NotCovered("pipe", "neither a file nor a symlink"),
    )
    assert revision_of(b"KEY=1\n") not in texts(s)
    assert s.checkpoint().manifest == made.manifest


@pytest.mark.skipif(os.getuid() == 0, reason="root reads everything")
def test_what_cannot_be_read_is_listed_with_the_reason(place, s):
    place.put("a.py", "a\n")
    place.put("b.py", "b\n").chmod(0)
    (place.root / "closed").mkdir(mode=0)
    try:
        made = s.checkpoint()
    finally:
        (place.root / "closed").chmod(0o755)
    assert [each.path for each in made.not_covered] == ["b.py", "closed/"]


def test_nested_repositories_are_left_alone_and_named(place, s):
    place.put("a.py", "a\n")
    place.put("sub/.git/HEAD", "ref: refs/heads/main\n")
    place.put("sub/b.py", "b\n")
    made = s.checkpoint()
    assert list(files(s, made)) == ["a.py"]
    assert made.not_covered == (NotCovered("sub/", "a repository of its own"),)


def test_a_checkpoint_touches_nothing_of_git(place, s):
    env = os.environ | {"GIT_CONFIG_GLOBAL": os.devnull, "HOME": str(place.home)}
    git = ["git", "-C", str(place.root)]
    subprocess.run([*git, "init", "-q"], check=True, env=env)
    place.put("a.py", "a\n")

    def state():
        return {
            os.path.join(folder, name): os.stat(os.path.join(folder, name)).st_mtime_ns
            for folder, _, names in os.walk(place.root / ".git")
            for name in names
        }

    before = state()
    made = s.checkpoint()  # without a git identity, too
    assert state() == before
    assert list(files(s, made)) == ["a.py"]


def test_an_empty_checkpoint_is_refused(place, s):
    place.put(".gitignore", "*\n")
    place.put("a.py", "a\n")
    with pytest.raises(CheckpointFailed, match="would cover nothing"):
        s.checkpoint()
    assert taken(s) == []


def test_of_an_empty_tree_an_empty_one_is_taken(s):
    assert s.checkpoint().files == 0


def test_one_that_cannot_be_kept_says_so_and_is_not_recorded(place, s, monkeypatch):
    place.put("a.py", "a\n")

    def full(*_):
        raise StoreError("The disk is full.", "Make room.")

    monkeypatch.setattr(Blobs, "put", full)
    with pytest.raises(CheckpointFailed, match="No checkpoint was taken: The disk is full"):
        s.checkpoint()
    monkeypatch.undo()
    assert taken(s) == []
    assert s.checkpoint().files == 1


def test_checkpoints_of_all_sessions_are_listed_in_order(place, s):
    place.put("a.py", "a\n")
    other = place.session("other")
    s.turn(4)
    first = s.checkpoint("first")
    second = other.checkpoint("second")
    assert s.checkpoints() == [first, second]
    assert other.checkpoints() == [first, second]
    assert (first.turn, second.turn) == (4, 0)
    assert take.named(s._context, second.id, "first") == [second, first]


def test_pages_of_checkpoints_together_are_the_whole_list(place, s):
    for number in range(7):
        place.put("a.py", f"{number}\n")
        s.checkpoint(f"number {number}")
    with sightline.open_workspace(place.root, settings=place.settings()) as workspace:
        workspace.drop_checkpoints(["number 2", "number 6"])
        whole = workspace.checkpoints().chapters
        pages, before = [], None
        while page := workspace.checkpoints(newest=2, before=before).chapters:
            pages.append(page)
            before = page[0].checkpoint.id
        assert [len(page) for page in pages] == [2, 2, 1]
        assert [each for page in reversed(pages) for each in page] == list(whole)
        assert s.checkpoints(newest=2, before="number 5") == s.checkpoints()[2:4]
        with pytest.raises(ValueError, match="1 or more"):
            workspace.checkpoints(newest=0)


def test_an_unknown_checkpoint_is_an_error(s):
    with pytest.raises(UnknownName, match="no checkpoint 'cp-1'"):
        take.named(s._context, "cp-1")
    with pytest.raises(UnknownName):
        take.named(s._context, "")


def test_what_was_edited_since_a_checkpoint_is_asked_of_it(place, s):
    place.put("a.py", "a\n")
    s.read("a.py")
    made = s.checkpoint()
    assert s.edited_since(made) == []
    s.edit("a.py", "a", "b")
    assert [each.path for each in s.edited_since(made)] == ["a.py"]


def test_a_foreign_change_before_a_checkpoint_is_not_taken_for_a_later_one(place, s):
    place.put("a.py", "a\n")
    s.read("a.py")
    place.put("a.py", "user\n")
    made = s.checkpoint()
    assert s.edited_since(made) == []


def test_gc_keeps_what_a_checkpoint_needs(place, s):
    from sightline.checkpoints.gc import gc

    place.put("a.py", "a\n")
    place.put("b.py", "b\n")
    s.checkpoint()
    place.put("a.py", "A\n")
    made = s.checkpoint()
    place.put("a.py", "AA\n")
    s.checkpoint()
    gc(s._context, place.settings(), age_us=0, room=1)
    for entry in files(s, made).values():
        assert s._context.store.blob(entry.revision) is not None


def test_texts_that_were_purged_are_kept_anew(place, s):
    place.put("a.py", "a\n")
    s.checkpoint()
    store, revision = s._context.store, revision_of(b"a\n")
    store.purge(lambda: [revision], "asked", session="s", at=1)
    assert store.blob(revision) is None
    s.checkpoint()
    assert store.blob(revision) == b"a\n"


@pytest.mark.wide
@pytest.mark.parametrize("anew", [False, True])
def test_after_fifty_steps_a_manifest_is_a_step_from_the_whole_one_again(place, s, anew):
    for n in range(100):
        place.put(f"f{n}", "x")
    first = s.checkpoint()
    made_of = []
    for n in range(52):
        place.put("f0", f"{n}")
        made = take.take(s._context, paths=["f0"])
        kept = decode(s._context.store.blob(made.manifest))
        made_of.append((kept.steps, kept.base))
        if anew:  # as another process finds them
            manifests.NEWEST_MANIFEST.clear()
    assert [steps for steps, _ in made_of] == [*range(1, 51), 1, 2]
    assert made_of[50] == (1, first.manifest)
    assert files(s, made)["f0"].revision == revision_of(b"51")
    listed = s.checkpoints()
    assert files(s, listed[10])["f0"].revision == revision_of(b"9")


def test_a_workspace_in_memory_has_checkpoints_too():
    there = MemoryWorkspace({"a.py": "a\n", "b.log": "b\n"}, ignored=["*.log"])
    there.put_kind("l", "symlink", target="a.py")
    with make_session(there) as s:
        made = s.checkpoint()
        assert list(files(s, made)) == ["a.py", "l"]
        assert made.not_covered == (NotCovered("b.log", "ignored"),)
        assert s.checkpoint().manifest == made.manifest
        there.put("a.py", "b\n")
        assert s.checkpoint().manifest != made.manifest


def swept(place, s, room, **more):
    from sightline.checkpoints.gc import gc

    return gc(s._context, place.settings(checkpoint_bytes=room), age_us=0, room=1, **more)


def test_the_oldest_without_a_label_are_dropped_to_make_room(place, s):
    made = []
    for n, label in enumerate(["", "mine", "", ""]):
        place.put("big.bin", os.urandom(1000))
        place.put("small.txt", f"{n}\n")
        made.append(s.checkpoint(label))
    assert swept(place, s, 2500, dry_run=True).checkpoints == (made[0].id, made[2].id)
    assert s.checkpoints() == made
    assert swept(place, s, 2500).checkpoints == (made[0].id, made[2].id)
    assert s.checkpoints() == [made[1], made[3]]
    with pytest.raises(UnknownName):
        take.named(s._context, made[0].id)
    for each in s.checkpoints():
        for entry in files(s, each).values():
            assert s._context.store.blob(entry.revision) is not None


def test_one_that_stands_needs_the_list_of_one_that_was_dropped(place, s):
    """Its own list is a step from there; what only the dropped one named is forgotten."""
    for n in range(9):
        place.put(f"f{n}", f"{n}")
    place.put("big.bin", b"x" + os.urandom(1000))
    s.checkpoint()
    place.put("big.bin", b"y" + os.urandom(1000))
    second = s.checkpoint()
    first_texts = texts(s)
    assert len(swept(place, s, 1500).checkpoints) == 1
    assert len(first_texts - texts(s)) == 1
    assert len(files(s, second)) == 10
    for path, entry in files(s, second).items():
        assert s._context.store.blob(entry.revision) == place.bytes(path)
    assert s.checkpoint().manifest == second.manifest


paths = st.sampled_from(["a", "b", "d/a", "d/e/b", "x.log", "link"])
steps = st.lists(
    st.tuples(
        st.sampled_from(["put", "remove", "link", "known", "all"]), paths, st.text(max_size=3)
    ),
    max_size=12,
)


@pytest.mark.wide
@given(steps)
def test_however_it_was_taken_a_checkpoint_is_how_the_tree_stood(taken):
    """Of known paths, of all, or for the first time: the manifest is the same."""
    there = MemoryWorkspace({"kept": "k\n"}, ignored=["*.log"])
    session = make_session(there)
    session.checkpoint()
    touched: set[str] = set()
    for what, path, text in taken:
        if what == "put":
            there.put(path, text)
        elif what == "remove" and there.stat(path) is not None:
            there.remove(path)
        elif what == "link":
            there.put_kind(path, "symlink", target="kept")
        elif what in ("known", "all"):
            made = take.take(session._context, paths=touched if what == "known" else None)
            with make_session(copied(there)) as anew:
                first = anew.checkpoint()
                assert dict(files(session, made)) == dict(files(anew, first))
                assert made.not_covered == first.not_covered
            assert take.take(session._context, paths=[]).manifest == made.manifest
            touched = set()
            continue
        touched.add(path)


def copied(there):
    """The same tree, which nobody knows yet."""
    made = MemoryWorkspace(ignored=["*.log"])
    made._entries = dict(there._entries)
    return made
