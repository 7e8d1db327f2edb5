"""Captures of one session and of a new one agree, whatever changed in the tree."""

import itertools
import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec import structs
from tests.support.examples import examples

import sightline
from sightline.checkpoints import take
from sightline.checkpoints.capture import BATCH_BYTES, CHANGING
from sightline.config.settings import Settings
from sightline.filesystem.file_state import FileState
from sightline.filesystem.tree_index import LOOKED_AT
from sightline.model.revision import UNKNOWN

LATER_NS = 10**9
OLD_NS = 1_700_000_000_000_000_001
CAP = 40

PATHS = ["a", "b", "d/a", "d/b", "d/e/a", "d/e/c", "n/x", "n/.git/HEAD", "d/x.log", "link"]
FOLDERS = ["d", "d/e", "n"]
steps = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.sampled_from(PATHS), st.integers(0, CAP + 5)),
        st.tuples(st.just("link"), st.sampled_from(PATHS), st.sampled_from(["a", "d"])),
        st.tuples(st.just("remove"), st.sampled_from(PATHS + FOLDERS), st.none()),
        st.tuples(st.just("move"), st.sampled_from(FOLDERS), st.sampled_from(["m", "d/m"])),
        st.tuples(
            st.just("ignore"), st.just(".gitignore"), st.sampled_from(["*.log\n", "e\n", ""])
        ),
        st.tuples(st.sampled_from(["known", "all"]), st.none(), st.none()),
    ),
    max_size=14,
)


def files(session, checkpoint):
    return dict(take.load_manifest(session._context, checkpoint))


class Disk:
    """A tree whose files bear times of long ago, each its own, so that a change always shows."""

    def __init__(self, root):
        self.root = Path(root)
        self.touched = set()
        self._ages = itertools.count()

    def do(self, what, path, value):
        file = self.root / path
        if what in ("put", "ignore"):
            if any(
                (self.root / above).is_file() for above in Path(path).parents if str(above) != "."
            ):
                return
            self._away(file)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("x" * value if what == "put" else value, encoding="ascii")
        elif what == "link":
            if file.parent.is_dir() and not file.is_dir():
                self._away(file)
                file.symlink_to(value)
        elif what == "remove":
            self._away(file)
        elif file.is_dir() and (self.root / value).parent.is_dir() and not value.startswith(path):
            self._away(self.root / value)
            self.touched |= {str(below.relative_to(self.root)) for below in file.rglob("*")}
            file.rename(self.root / value)
            self.touched |= {
                str(below.relative_to(self.root)) for below in (self.root / value).rglob("*")
            }
        self.touched.add(path)

    def _away(self, file):
        if file.is_symlink() or file.is_file():
            file.unlink()
        elif file.is_dir():
            self.touched |= {str(below.relative_to(self.root)) for below in file.rglob("*")}
            shutil.rmtree(file)

    def age(self):
        for folder, _, names in os.walk(self.root):
            for path in [folder, *(os.path.join(folder, name) for name in names)]:
                if os.lstat(path).st_mtime_ns > OLD_NS + LATER_NS:
                    at = OLD_NS + next(self._ages)
                    os.utime(path, ns=(at, at), follow_symlinks=False)


def later(session):
    """As if what the session looked at had been still for a while by then."""
    for listing in session._context.workspace.remembered().listings.values():
        stamp = listing.stamp
        structs.force_setattr(listing, "stamp", (*stamp[:4], stamp[4] + LATER_NS))
        for row in listing.files.values():
            row[LOOKED_AT] += LATER_NS


@pytest.mark.wide
@given(steps)
@example([("ignore", ".gitignore", "e\n"), ("known",) * 3, ("remove", "d", None), ("known",) * 3])
@example([("all",) * 3, ("put", "n/x", 2), ("known",) * 3, ("remove", "n", None)])
@settings(max_examples=examples(30))
def test_a_session_that_goes_on_says_what_a_new_one_says(taken):
    """Of known paths or of all: files and folders that come, go, move, grow too large, are ignored
    or become somebody's repository."""
    with tempfile.TemporaryDirectory() as folder:
        os.makedirs(f"{folder}/tree/d/e")
        disk = Disk(f"{folder}/tree")
        disk.do("put", "kept", 3)
        own = Settings(f"{folder}/state", checkpoint_file_bytes=CAP)
        with sightline.open_session(disk.root, settings=own) as session:
            for number, (what, path, value) in enumerate([*taken, ("all", None, None)]):
                if what not in ("known", "all"):
                    disk.do(what, path, value)
                    continue
                disk.age()
                seen = not any(".git/" in path for path in disk.touched)
                hints = sorted(disk.touched) if what == "known" and seen else None
                made = take.take(session._context, paths=hints)
                later(session)
                disk.touched = set()
                anew = Settings(f"{folder}/state{number}", checkpoint_file_bytes=CAP)
                with sightline.open_session(disk.root, settings=anew) as other:
                    first = other.checkpoint()
                    said = files(other, first)
                assert files(session, made) == said
                assert made.not_covered == first.not_covered


@pytest.fixture
def session(tmp_path):
    for path in ("tree/d/a", "tree/d/b"):
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("x\n", encoding="ascii")
    with sightline.open_session(tmp_path / "tree", settings=Settings(str(tmp_path / "s"))) as made:
        yield made


def restless(workspace, monkeypatch, path):
    """A file that will not hold still for a while, as a look finds it."""
    reading, contents = workspace.read, workspace.contents

    def read(asked, **limits):
        changing = FileState(path, "unreadable", UNKNOWN, why="changing")
        return changing if asked == path else reading(asked, **limits)

    def gathered(asked):
        return ((at, row, None if at == path else data) for at, row, data in contents(asked))

    monkeypatch.setattr(workspace, "read", read)
    monkeypatch.setattr(workspace, "contents", gathered)


def test_a_file_that_changed_while_it_was_read_is_read_at_the_next_look(session, monkeypatch):
    with monkeypatch.context() as while_it_changes:
        restless(session._context.workspace, while_it_changes, "d/a")
        first = session.checkpoint()
    assert [(each.path, each.reason) for each in first.not_covered] == [("d/a", CHANGING)]
    later(session)
    second = session.checkpoint()
    assert second.not_covered == ()
    assert set(files(session, second)) == {"d/a", "d/b"}


def test_a_known_path_is_compared_again_where_times_do_not_tell_that_it_changed_back(
    session, monkeypatch
):
    """As where a file's third time is that of its creation, and a tool puts back the second."""
    lstat = os.lstat

    def without_change_times(path, **where):
        found = lstat(path, **where)
        times = {"st_mtime_ns": found.st_mtime_ns, "st_ctime_ns": OLD_NS}
        return os.stat_result([*found], times)

    monkeypatch.setattr(os, "lstat", without_change_times)
    file = Path(session._context.workspace.root, "d/a")
    for path in (file, file.parent):
        os.utime(path, ns=(OLD_NS, OLD_NS))
    first = session.checkpoint()
    later(session)
    for row in session._context.workspace.remembered().listings["d/"].files.values():
        row[2] = OLD_NS
    file.write_text("y\n", encoding="ascii")
    take.take(session._context, paths=["d/a"])
    file.write_text("x\n", encoding="ascii")
    os.utime(file, ns=(OLD_NS, OLD_NS))
    assert files(session, session.checkpoint()) == files(session, first)


def test_many_bytes_of_changed_files_are_stored_in_batches(session, monkeypatch):
    """As in a first checkpoint: they do not all stand in memory, and none is read past its time."""
    session.checkpoint()
    later(session)
    batches = []
    keep = session._context.store.keep

    def counted(texts):
        batches.append(sum(map(len, texts.values())))
        keep(texts)

    monkeypatch.setattr(session._context.store, "keep", counted)
    for name in "abc":
        Path(session._context.workspace.root, "d", name).write_bytes(name.encode() * BATCH_BYTES)
    second = session.checkpoint()
    assert set(files(session, second)) == {"d/a", "d/b", "d/c"}
    assert batches == [BATCH_BYTES] * 3
