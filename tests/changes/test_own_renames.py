"""An agent's own rename is its own, in every word about it (promise P5)."""

from __future__ import annotations

import subprocess

import pytest
from tests.hooks.handlers.shell import run

from sightline.history.why import why

HOW = ["move", "mv", "git mv", "mv folder", "hook mv", "hook git mv", "hook mv folder"]
FOREIGN = "the user or another program"


def renamed(place, session, how):
    """Rename src/a.py, and return its new path."""
    new = "lib/a.py" if "folder" in how else "src/b.py"
    if how == "move":
        session.move("src/a.py", new)
        return new
    command = "mv src lib" if "folder" in how else f"{how.removeprefix('hook ')} src/a.py {new}"
    if how.startswith("hook"):
        run(place, session, command)
        return new
    with session.ran(command):
        shell(place, command)
    return new


def shell(place, command):
    subprocess.run(command, shell=True, cwd=place.root, check=True)


@pytest.fixture
def s(place):
    place.put("src/a.py", "one\ntwo\n")
    shell(place, "git init --quiet && git add src/a.py")
    session = place.session()
    session.read("src/a.py")
    return session


@pytest.mark.parametrize("how", HOW)
def test_its_own_rename_is_not_told_as_foreign(place, s, how):
    other = place.session("other")
    other.read("src/a.py")
    new = renamed(place, s, how)
    assert FOREIGN not in str(s.notice() or "")
    told = str(other.notice())
    assert "src/a.py was renamed to" in told
    assert "agent session s" in told
    assert FOREIGN not in told
    assert other.check("src/a.py").changed_by.who == "s"
    assert s.check(new).state == "fresh"


@pytest.mark.parametrize("how", HOW)
def test_it_is_its_own_after_the_conversation_went_back(place, s, how):
    then = s.checkpoint()
    new = renamed(place, s, how)
    s.rewind(then, files=False, conversation=True)
    assert FOREIGN not in str(s.notice() or "")
    for change in s.changes(told=True):
        assert FOREIGN not in change.summary
        assert change.changed_by.who == "s"
    assert s.edit("src/a.py", "one", "ONE").path == new, "it does not know of the rename"


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("rewinds", [False, True])
def test_why_says_the_same_under_both_names(place, s, how, rewinds):
    other = place.session("other")
    other.read("src/a.py")
    then = s.checkpoint()
    new = renamed(place, s, how)
    if rewinds:
        s.rewind(then, files=False, conversation=True)
    for session in (s, other):
        for path in ("src/a.py", new):
            session.check(path)  # each finds the rename
        old, now = why(session._context, "src/a.py"), why(session._context, new)
        assert (old.verdict.state, old.moved_to) == ("moved", new)
        assert old.verdict.changed_by is not None
        assert old.verdict.changed_by.who == "s"
        assert now.verdict.state == "fresh"
        assert old.entries == now.entries
        assert [entry.kind for entry in now.entries].count("moved") == 1


def test_a_rename_by_somebody_else_is_the_users(place, s):
    (place.root / "src/a.py").rename(place.root / "b.py")
    assert f"by {FOREIGN}" in str(s.notice())
