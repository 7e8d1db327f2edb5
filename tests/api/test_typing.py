"""A user's program, which mypy --strict checks with all other files: it proves the types of verbs."""

from __future__ import annotations

from pathlib import Path
from typing import assert_never, assert_type

import sightline
from sightline import Decision, EditRefused, FilePath, Session, State


def advice(decision: Decision) -> str:
    if decision == "allow" or decision == "notice" or decision == "merge":  # noqa: PLR1714 - it narrows
        return "write"
    if decision == "ask":
        return "ask"
    if decision == "refuse":
        return "read again"
    assert_never(decision)


def stale(session: Session, state: State = "stale") -> list[str]:
    return [file.path for file in session.files(state)]


def program(session: Session, path: FilePath) -> str:
    assert_type(session.read(path, (1, 2)).path, str)
    verdict = session.check(path)
    assert_type(verdict.state, State)
    misspelled = verdict.state == "stall"  # type: ignore[comparison-overlap]
    session.acknowledge(session.notice())
    result = session.write(path, "one\n")
    assert_type(result.changed, bool)
    session.apply([sightline.Change(path, "two\n")])
    try:
        session.edit(path, "nowhere", "x")
    except EditRefused as refused:
        assert_type(refused.reason, sightline.RefusalReason)
        misspelled |= refused.reason == "notfound"  # type: ignore[comparison-overlap]
        assert not misspelled
        return f"{advice(verdict.decision)}: {refused.reason}"
    return ""


def test_a_typed_program_runs_with_text_and_with_path_objects(place, s):
    place.put("a.py", "one\n")
    assert program(s, "a.py") == "write: not_found"
    assert program(s, Path("a.py")) == "write: not_found"
    assert stale(s) == []
