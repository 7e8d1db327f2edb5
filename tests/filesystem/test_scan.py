"""Stat first, hash in doubt: git's racy cases, placed with utime, never waited for."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from tests.filesystem.doubles import as_nobody

from sightline.filesystem.disk import DiskWorkspace
from sightline.filesystem.read import signature_of
from sightline.filesystem.scan import COARSE_NS, SECOND_NS, TICK_NS, scan, tick_of
from sightline.filesystem.system_calls import Calls
from sightline.model.revision import Stamp, compare, revision_of


@pytest.fixture
def root(tmp_path):
    (tmp_path / "root").mkdir()
    (tmp_path / "root/x").write_bytes(b"one")
    return tmp_path / "root"


@pytest.fixture
def workspace(root):
    return DiskWorkspace(str(root), str(root.parent / "state"))


def stamps_of(workspace, *, settled=False):
    """A stamp of x; settled: taken so long after the last change that its stat can be trusted."""
    found = workspace.read("x")
    at_ns = found.read_at_ns + (10 * COARSE_NS if settled else 0)
    return {"x": Stamp(found.signature, found.revision, at_ns)}


def test_touched_is_the_same_bytes(root, workspace):  # S1
    stamps = stamps_of(workspace, settled=True)
    os.utime(root / "x", ns=(1, 1))
    (found,) = workspace.scan(stamps)
    assert found.revision == revision_of(b"one")


def test_saved_again_is_the_same_bytes(root, workspace):  # S2
    stamps = stamps_of(workspace, settled=True)
    (root / "x").write_bytes(b"one")
    (found,) = workspace.scan(stamps)
    assert found.revision == revision_of(b"one")


def test_same_size_and_restored_mtime_is_seen(root, workspace):  # S3
    stamps = stamps_of(workspace, settled=True)
    kept = (root / "x").stat()
    (root / "x").write_bytes(b"two")
    os.utime(root / "x", ns=(kept.st_atime_ns, kept.st_mtime_ns))
    (found,) = workspace.scan(stamps)
    assert found.revision == revision_of(b"two")


@pytest.mark.parametrize("ticks", [-2, -1, 0, 1, 2])
def test_rewritten_within_the_tick_of_the_stamp_is_seen(root, workspace, ticks):  # S4
    """As on a disk whose times did not move between our look and the save."""
    (root / "x").write_bytes(b"two")
    now = workspace.read("x")
    newest = max(now.signature.mtime_ns, now.signature.ctime_ns)
    stamp = Stamp(now.signature, revision_of(b"one"), newest + ticks * TICK_NS)
    (found,) = workspace.scan({"x": stamp})
    assert found.revision == revision_of(b"two")


def test_replaced_by_an_older_file_is_seen(root, workspace):  # S5
    stamps = stamps_of(workspace, settled=True)
    (root / "y").write_bytes(b"two")
    os.utime(root / "y", ns=(1, 1))
    os.replace(root / "y", root / "x")
    (found,) = workspace.scan(stamps)
    assert found.revision == revision_of(b"two")


@pytest.mark.parametrize("text", [b"one", b"two"])
def test_an_atomic_save_is_judged_by_its_bytes(root, workspace, text):  # S6
    stamps = stamps_of(workspace, settled=True)
    (root / "y").write_bytes(text)
    os.replace(root / "y", root / "x")
    (found,) = workspace.scan(stamps)
    assert found.revision == revision_of(text)


def test_deleted_and_recreated_is_the_same_bytes(root, workspace):  # S7
    stamps = stamps_of(workspace, settled=True)
    (root / "x").unlink()
    assert [found.kind for found in workspace.scan(stamps)] == ["missing"]
    (root / "x").write_bytes(b"one")
    (found,) = workspace.scan(stamps)
    assert found.revision == revision_of(b"one")


def test_a_settled_stamp_is_trusted_without_opening_the_file(root, workspace):
    stamps = stamps_of(workspace, settled=True)
    assert list(workspace.scan(stamps)) == []


def test_a_mode_change_is_told(root, workspace):
    stamps = stamps_of(workspace, settled=True)
    (root / "x").chmod(0o755)
    (found,) = workspace.scan(stamps)
    assert found.signature.mode & 0o777 == 0o755


def test_a_folder_that_became_a_symlink_is_told(root, workspace, tmp_path):
    (root / "sub").mkdir()
    (root / "sub/f").write_bytes(b"one")
    found = workspace.read("sub/f")
    (root / "sub").rename(tmp_path / "away")
    (root / "sub").symlink_to(tmp_path / "away")
    (tmp_path / "away/f").write_bytes(b"two")
    stamp = Stamp(found.signature, found.revision, found.read_at_ns)
    assert [told.kind for told in workspace.scan({"sub/f": stamp})] == ["symlink"]


times = st.integers(-3, 3).map(lambda ticks: ticks * TICK_NS) | st.integers(-3, 3)


@given(
    changes=st.fixed_dictionaries(
        {},
        optional={
            name: st.integers(0, 1)
            for name in ("size", "mtime_ns", "ctime_ns", "dev", "ino", "mode")
        },
    ),
    late=times,
    coarse=st.booleans(),
)
def test_the_quick_comparison_agrees_with_the_rule(root, changes, late, coarse):
    """scan answers for a file exactly when model.revision.compare does not vouch for it."""
    if coarse:
        os.utime(root / "x", ns=(SECOND_NS, SECOND_NS))
    now = signature_of((root / "x").stat())
    known = structs.replace(now, **{name: getattr(now, name) + by for name, by in changes.items()})
    stamp = Stamp(known, "r", max(known.mtime_ns, known.ctime_ns) + 2 * TICK_NS + late)
    answered = bool(list(scan(Calls(), str(root), [("x", stamp)])))
    assert answered == (compare(stamp, now, tick_of(known)) != "same")


def test_times_in_whole_seconds_mean_a_coarse_disk(root):
    now = signature_of((root / "x").stat())
    whole = structs.replace(now, mtime_ns=4 * SECOND_NS, ctime_ns=5 * SECOND_NS)
    assert tick_of(whole) == COARSE_NS
    assert tick_of(structs.replace(whole, ctime_ns=5 * SECOND_NS + 1)) == TICK_NS
    (root / "x").write_bytes(b"two")
    stamp = Stamp(whole, "r", 6 * SECOND_NS)
    assert compare(stamp, whole, tick_of(whole)) == "cannot_tell"


def test_a_folder_that_may_not_be_listed_is_told(reachable):
    (reachable / "shut").mkdir(mode=0)

    def act():
        workspace = DiskWorkspace(str(reachable), str(reachable.parent / "state"))
        assert [path for path, _ in workspace.walk()] == ["shut"]

    as_nobody(act)
