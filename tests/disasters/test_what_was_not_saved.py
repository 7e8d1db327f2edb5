"""What was not saved cannot be gone back to, and nothing else is put in its place.

Threads: unconst/arbos#390 (an empty checkpoint, then a restore), anomalyco/opencode#26893 (adding
failed, so the tree before was taken: two days lost), google-gemini/gemini-cli#11243 (a failure that
nobody was told of) and #13683 (a checkpoint taken after the change), cline/cline#2866 (files went
back, and a request that was taken back did not).
"""

from __future__ import annotations

import os
from contextlib import contextmanager

import pytest

from sightline.checkpoints import take
from sightline.errors import CheckpointFailed, EditRefused, RewindRefused, StoreError
from sightline.store.sqlite import SqliteStore


@contextmanager
def full(monkeypatch):
    """Meanwhile nothing can be added to any store."""

    def refuse(*_, **__):
        raise StoreError("The disk is full.", "Free some room.")

    with monkeypatch.context() as patched:
        patched.setattr(SqliteStore, "append", refuse)
        yield


def listed(tree):
    return [each["label"] for each in tree.user("checkpoint", "list", "--json").json["checkpoints"]]


def test_one_that_would_cover_nothing_is_refused_and_not_listed_arbos_390(tree):
    tree.put(".gitignore", "*\n")
    tree.put("a.py", "the user's\n")
    tree.session()
    said = tree.user("checkpoint", "then", code=1).err
    assert "No checkpoint was taken: it would cover nothing" in said
    assert listed(tree) == []
    assert "no checkpoint" in tree.user("rewind", "then", "--yes", code=1).err.lower()
    assert tree.text("a.py") == "the user's\n"


def test_one_of_an_empty_folder_takes_nothing_with_it_that_came_since_arbos_390(tree):
    agent = tree.session()
    then = tree.checkpoint("nothing yet")
    agent.create("a.py", "the agent's\n")
    tree.put("data/results.bin", os.urandom(100))
    tree.put("b.py", "the user's\n")
    assert tree.rewind(then)["removed"] == ["a.py"]
    assert tree.text("b.py") == "the user's\n"
    assert (tree.root / "data/results.bin").exists()


@pytest.mark.wide
def test_one_that_failed_is_said_not_listed_and_no_other_stands_in_for_it_opencode_26893(
    repository, agent, monkeypatch
):
    repository.checkpoint("monday")
    agent.edit("a.py", "two", "2")
    with full(monkeypatch):
        said = repository.user("checkpoint", "tuesday", code=1)
    assert "No checkpoint was taken" in said.err
    assert listed(repository) == ["monday"]
    refused = repository.user("rewind", "tuesday", "--yes", code=1)
    assert "tuesday" in refused.err
    assert repository.text("a.py") == "one\n2\nthree\n"


@pytest.mark.wide
def test_of_two_with_one_label_the_newer_is_meant_opencode_26893(repository, agent):
    repository.checkpoint("work")
    agent.edit("a.py", "two", "2")
    newer = repository.checkpoint("work")
    agent.edit("a.py", "three", "3")
    assert repository.rewind("work")["checkpoint"] == newer
    assert repository.text("a.py") == "one\n2\nthree\n"


def test_a_file_saved_with_its_old_size_and_time_is_covered_as_it_stands_opencode_26893(repository):
    """A look that trusts what it remembers would keep the text before."""
    repository.session()
    repository.checkpoint()
    stat = (repository.root / "a.py").stat()
    repository.put("a.py", "ONE\nTWO\nTHREE\n")
    os.utime(repository.root / "a.py", ns=(stat.st_atime_ns, stat.st_mtime_ns))
    then = repository.checkpoint()
    repository.put("a.py", "later\n")
    [told] = repository.user("checkpoint", "diff", then, "--json", code=1).json["files"]
    assert "-ONE\n-TWO\n-THREE\n" in told["diff"]


@pytest.mark.wide
def test_what_a_checkpoint_has_is_what_stood_before_the_change_gemini_cli_13683(repository, agent):
    then = repository.checkpoint()
    agent.edit("a.py", "two", "2")
    with agent.ran("sed -i s/three/3/ a.py"):
        repository.put("a.py", "one\n2\n3\n")
    assert repository.rewind(then)["restored"] == ["a.py"]
    assert repository.text("a.py") == "one\ntwo\nthree\n"


@pytest.mark.wide
def test_files_and_what_the_agent_knows_go_back_together_cline_2866(repository, agent):
    repository.put("later.py", "later\n")
    then = repository.checkpoint()
    agent.edit("a.py", "two", "2")
    agent.read("later.py")
    repository.rewind(then, "--conversation")
    [session] = repository.user("status", "--json").json["sessions"]
    known = {file["path"]: file["state"] for file in session["files"]}
    assert known == {"a.py": "fresh", "b.py": "fresh"}
    with pytest.raises(EditRefused, match="shown"):
        agent.write("later.py", "from a request that was taken back\n")


def test_without_a_safety_checkpoint_nothing_is_rewound_arbos_390(repository, agent, monkeypatch):
    then = repository.checkpoint()
    agent.edit("a.py", "two", "2")

    def failed(*_, **__):
        raise CheckpointFailed("The store is full.", "Free some room.")

    monkeypatch.setattr(take, "record", failed)
    stood = agent._context.store.position()
    with pytest.raises(RewindRefused, match="Nothing was rewound"):
        agent.rewind(then)
    said = repository.user("rewind", then, "--yes", code=1).err
    assert "Nothing was rewound" in said
    assert repository.text("a.py") == "one\n2\nthree\n"
    assert agent._context.store.position() == stood


@pytest.mark.wide
def test_one_that_was_dropped_for_room_is_not_rewound_to(repository, agent, monkeypatch):
    then = repository.checkpoint()
    agent.edit("a.py", "two", "2")
    repository.checkpoint()
    monkeypatch.setenv("SIGHTLINE_CHECKPOINT_BYTES", "1")
    repository.user("gc")
    refused = repository.user("rewind", then, "--yes", code=1)
    assert then in refused.err
    assert repository.text("a.py") == "one\n2\nthree\n"
