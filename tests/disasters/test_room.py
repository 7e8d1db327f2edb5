"""Checkpoints take little room, and no more than they may.

Threads: cline/cline#1311 (500 GB in a day) and #1873, anomalyco/opencode#3176 (80 GB in two days),
openai/codex#19588 and #41147 (200 GB), RooCodeInc/Roo-Code#3080 and #5412 (4 GB in the first commit).
"""

from __future__ import annotations

import os

import pytest

TURNS = 200


def taken(tree):
    """Bytes of all that is kept outside of the tree when nobody is at work."""
    for session in tree.sessions:
        session.close()
    tree.sessions.clear()
    return sum(file.stat().st_size for file in (tree.home / "state").rglob("*") if file.is_file())


@pytest.fixture
def agent(tree):
    made = tree.session()
    made.create("src/app.py", "0\n")
    return made


@pytest.mark.wide
def test_two_hundred_of_a_tree_that_stands_still_take_the_room_of_one(tree, agent):
    for n in range(40):
        tree.put(f"data/{n}.txt", os.urandom(25_000).hex())
    agent.checkpoint()
    one = taken(tree)
    agent = tree.session()
    for _ in range(TURNS):
        agent.checkpoint()
    grown = taken(tree) - one
    assert 0 < grown < TURNS * 1_000


@pytest.mark.wide
def test_over_two_hundred_turns_the_room_stays_bounded(tree, agent, monkeypatch):
    """gc keeps to checkpoint_bytes; nothing but the texts that stand takes room to speak of."""
    room = 64_000
    monkeypatch.setenv("SIGHTLINE_CHECKPOINT_BYTES", str(room))
    most = 0
    for turn in range(TURNS):
        tree.put("data/results.bin", os.urandom(8_000))
        agent.checkpoint()
        if turn % 20 == 19:
            tree.user("gc", "--older-than", "0s")
            kept = tree.user("checkpoint", "list", "--json").json["checkpoints"]
            most = max(most, len(kept))
    assert 1 < most <= room // 8_000
    assert taken(tree) < TURNS * 8_000 / 2


def test_files_above_the_cap_and_ignored_ones_are_not_copied_roo_code_5412(
    tree, agent, monkeypatch
):
    monkeypatch.setenv("SIGHTLINE_CHECKPOINT_FILE_BYTES", "100000")
    tree.put(".gitignore", "node_modules/\n")
    tree.put("node_modules/big.js", os.urandom(3_000_000))
    tree.put("film.mp4", os.urandom(3_000_000))
    before = taken(tree)
    said = tree.user("checkpoint").out
    assert "film.mp4 (2.9 MiB, more than 97.7 KiB)" in said
    assert taken(tree) - before < 200_000
