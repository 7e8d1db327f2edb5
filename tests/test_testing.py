"""What users test with keeps the contract of what runs."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

import sightline
from sightline.config.settings import Settings, Source
from sightline.testing import FixedClock, MemoryWorkspace, make_session


def test_a_session_in_memory_reads_edits_and_refuses():
    tree = MemoryWorkspace({"app.py": "a = 1\nb = 2\n"})
    with make_session(tree) as session:
        assert session.read("app.py").text == "a = 1\nb = 2\n"
        tree.put("app.py", "a = 5\nb = 2\n")
        with pytest.raises(sightline.EditRefused) as refused:
            session.edit("app.py", "a = 1", "a = 2")
        assert refused.value.reason == "stale"
        session.edit("app.py", "b = 2", "b = 3")
        assert tree.read("app.py").data == b"a = 5\nb = 3\n"


def test_files_may_be_given_as_a_mapping_or_not_at_all():
    assert make_session({"a.txt": b"x"}).read("a.txt").text == "x"
    with pytest.raises(sightline.FileMissing):
        make_session().read("a.txt")


def test_sessions_over_one_workspace_share_its_timeline_and_others_do_not():
    tree = MemoryWorkspace({"a.txt": "one\n"})
    first, second = make_session(tree, id="first"), make_session(tree, id="second")
    first.read("a.txt")
    second.read("a.txt")
    second.edit("a.txt", "one", "two")
    [change] = first.changes()
    assert change.changed_by is not None
    assert change.changed_by.who == "second"
    assert make_session({"a.txt": "one\n"}, id="first").files() == []


def test_a_session_in_memory_is_resumed_by_its_id():
    tree = MemoryWorkspace({"a.txt": "one\n"})
    with make_session(tree, id="s") as session:
        session.read("a.txt")
    assert make_session(tree, id="s").check("a.txt").state == "fresh"


def test_a_fixed_clock_is_what_a_session_takes():
    clock = FixedClock()
    session = make_session({"a.txt": "one\n"}, clock=clock)
    session.read("a.txt")
    clock.advance(seconds=90)
    session.read("a.txt")
    [file] = session.files()
    assert file.first_seen == datetime(2026, 1, 1, tzinfo=UTC)
    assert file.last_read == datetime(2026, 1, 1, 0, 1, 30, tzinfo=UTC)


def test_settings_and_an_approver_may_be_given():
    asked = []

    def approve(path: str, diff: str) -> bool:
        asked.append(path)
        return False

    settings = Settings("/state", (Source(policy="ask"),))
    session = make_session({"a.txt": "one\n"}, settings=settings, approve=approve)
    session.read("a.txt")
    with pytest.raises(sightline.EditRefused) as refused:
        session.edit("a.txt", "one", "two")
    assert refused.value.reason == "scope"
    assert asked == ["a.txt"]
