"""A rewind that a user interrupts, or whose process is killed: each file is whole, the next one ends it.

Threads: cline/cline#2161 and #3309 (a restore that stopped half way, and nobody could tell where).
"""

from __future__ import annotations

import os
import re

import pytest
from tests.disasters.ending import ended, rewinds_end


class Killed(BaseException):
    """The process ends here."""


@pytest.mark.parametrize("appends", [1, 2, 3])
@pytest.mark.parametrize("error", [KeyboardInterrupt, pytest.param(Killed, marks=pytest.mark.wide)])
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


@pytest.mark.wide
def test_an_interrupted_one_says_how_to_end_it(tree, many, monkeypatch):
    names, then = many
    with rewinds_end(monkeypatch, 2, KeyboardInterrupt):
        answer = tree.shell("--session", "agent", "rewind", then, "--yes")
    went = [tree.text(name) for name in names].count("then\n")
    assert (answer.code, went) == (130, 10)
    assert "Interrupted: at least 10 of 15 files went back" in answer.err
    assert f"sightline rewind {then}" in answer.err
    [safety] = re.findall(r"take back what was done: sightline rewind (cp-\w+)", answer.err)
    tree.rewind(safety)
    assert {tree.text(name) for name in names} == {"now\n"}


@pytest.mark.wide
def test_what_a_user_interrupted_is_not_gone_on_with_by_itself(tree, many, monkeypatch):
    names, then = many
    with rewinds_end(monkeypatch, 2, KeyboardInterrupt, times=1):
        ended(lambda: tree.shell("--session", "agent", "rewind", then, "--yes"))
    tree.user("read", names[0])
    assert [tree.text(name) for name in names].count("now\n") == 5
