"""A rewind that a user interrupts, or whose process is killed: each file is whole, the next one ends it.

Threads: cline/cline#2161 and #3309 (a restore that stopped half way, and nobody could tell where).
"""

from __future__ import annotations

import os

import pytest
from tests.disasters.ending import ended, rewinds_end


class Killed(BaseException):
    """The process ends here."""


@pytest.mark.parametrize("appends", [1, 2, 3])
@pytest.mark.parametrize("error", [KeyboardInterrupt, Killed])
def test_each_file_is_whole_and_the_next_rewind_does_the_rest(
    tree, many, monkeypatch, error, appends
):
    names, then = many
    with rewinds_end(monkeypatch, appends, error):
        ended(lambda: tree.shell("--session", "agent", "rewind", then, "--yes"))
    stood = [tree.text(name) for name in names]
    assert set(stood) <= {"then\n", "now\n"}
    assert "then\n" in stood
    told = tree.rewind(then)
    assert len(told["restored"]) == stood.count("now\n")
    assert {tree.text(name) for name in names} == {"then\n"}
    assert sorted(os.listdir(tree.root)) == sorted(names)


@pytest.mark.xfail(reason="an interrupted rewind says nothing at all", strict=True)
def test_an_interrupted_one_says_how_to_end_it(tree, many, monkeypatch):
    names, then = many
    with rewinds_end(monkeypatch, 2, KeyboardInterrupt):
        said = tree.shell("--session", "agent", "rewind", then, "--yes").err
    assert "then\n" in [tree.text(name) for name in names]
    assert f"sightline rewind {then}" in said
