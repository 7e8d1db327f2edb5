"""The disk fills up in the middle of a rewind: every file is whole, and what is left can be done.

Threads: google-gemini/gemini-cli (a read error in /rewind drops all files after it, in silence),
cline/cline#1311, openai/codex#41147 (disks that were filled by checkpoints in the first place).
"""

from __future__ import annotations

import errno
import os
import subprocess

import pytest
from tests.disasters.ending import ended, rewinds_end
from tests.support.told import fill_up, linux_only, root_only

from sightline.checkpoints import take
from sightline.errors import StoreError
from sightline.filesystem.system_calls import Calls

FULL = StoreError("The store cannot grow: the disk is full.", "Free some.", "full", unchanged=True)

NAMES = [f"f{n}.py" for n in range(5)]


class Filling(Calls):
    """A disk that has room for some writes more."""

    left = 1_000_000

    def write(self, fd, data):
        self.left -= 1
        if self.left < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return super().write(fd, data)


@pytest.mark.parametrize("room", range(8))
def test_each_file_is_as_it_was_or_as_it_was_then(tree, room):
    agent = tree.session()
    for name in NAMES:
        tree.put(name, f"{name} of then\n")
        agent.read(name)
    then = agent.checkpoint()
    for name in NAMES:
        agent.edit(name, "then", "now")
    disk = agent._context.workspace._calls = Filling()
    disk.left = room
    report = agent.rewind(then)
    left = [each.path for each in report.left_alone]
    assert sorted([*report.restored, *left]) == NAMES
    assert all("No space left" in each.reason for each in report.left_alone)
    for name in NAMES:
        assert tree.text(name) == f"{name} of {'now' if name in left else 'then'}\n"
    assert sorted(os.listdir(tree.root)) == NAMES
    disk.left = 1_000_000
    assert agent.rewind(then).restored == tuple(left)
    assert [tree.text(name) for name in NAMES] == [f"{name} of then\n" for name in NAMES]


@pytest.mark.wide
@pytest.mark.parametrize("appends", range(5))
def test_where_the_disk_of_the_store_is_full_each_file_is_whole(tree, many, monkeypatch, appends):
    names, then = many
    with rewinds_end(monkeypatch, appends, FULL):
        ended(lambda: tree.shell("--session", "agent", "rewind", then, "--yes"))
    stood = [tree.text(name) for name in names]
    assert ("then\n" in stood) == (appends > 0)
    assert set(stood) <= {"then\n", "now\n"}
    assert sorted(os.listdir(tree.root)) == sorted(names)
    told = tree.rewind(then)
    assert len(told["restored"]) == stood.count("now\n")
    assert {tree.text(name) for name in names} == {"then\n"}


def test_where_the_disk_of_the_store_fills_up_what_was_done_is_said(tree, many, monkeypatch):
    names, then = many
    with rewinds_end(monkeypatch, 2, FULL):
        said = tree.shell("--session", "agent", "rewind", then, "--yes").err
    assert "then\n" in [tree.text(name) for name in names]
    assert "Nothing was changed" not in said
    assert f"sightline rewind {then}" in said


@pytest.mark.parametrize(
    "full", [FULL, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))], ids=["store", "disk"]
)
def test_where_the_checkpoint_before_it_cannot_be_kept_nothing_is_rewound(
    tree, many, monkeypatch, full
):
    names, then = many

    def refusing(*_, **__):
        raise full

    with monkeypatch.context() as patched:
        patched.setattr(take, "encode", refusing)
        answer = tree.user("rewind", then, "--yes", code=1)
    assert {tree.text(name) for name in names} == {"now\n"}
    assert "Nothing was rewound, because the files could not be saved first" in answer.err
    assert "the disk is full" in answer.err or "No space left on device" in answer.err
    assert "Errno" not in answer.err
    assert "cannot rewind to this moment" not in answer.err
    assert "Then rewind again." in answer.err


@pytest.fixture
def small(tree):
    """The tree is on a disk of one megabyte."""
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(tree.root)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting is not allowed here")
    os.chdir(tree.root)
    yield tree
    for session in tree.sessions:
        session.close()
    os.chdir(tree.home)
    subprocess.run(["umount", "--lazy", str(tree.root)], check=True)


@pytest.mark.wide
@root_only
@linux_only
def test_on_a_real_disk_that_is_full(small):
    """Its files shrank, the user filled the room, and there is not enough to have them back."""
    agent = small.session()
    texts = {name: os.urandom(50_000).hex() for name in NAMES}
    for name, text in texts.items():
        small.put(name, text)
        agent.read(name)
    then = small.checkpoint()
    for name in NAMES:
        agent.write(name, "short\n")
    small.put("kept.bin", os.urandom(850_000))
    fill_up(small.root / "filler")
    (small.root / "filler").unlink()
    said = small.user("rewind", then, "--yes", code=1).out
    assert "No space left" in said
    stands = {name: small.text(name) for name in NAMES}
    assert all(stands[name] in (texts[name], "short\n") for name in NAMES)
    assert "short\n" in stands.values()
    (small.root / "kept.bin").unlink()
    small.rewind(then)
    assert {name: small.text(name) for name in NAMES} == texts
    assert sorted(os.listdir(small.root)) == NAMES
