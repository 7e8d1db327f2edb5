"""The guard is off: what the user of Claude Code sees, and that the agent goes on."""

import sqlite3

import pytest
from tests.clients.acting import (
    TEXT,
    TWO_AT_ONCE,
    bash,
    changed,
    done,
    edit,
    messages,
    read,
    saves,
)
from tests.support.examples import fully

pytestmark = pytest.mark.client


def broken_settings(claude):
    own = claude.home / ".config/sightline/config.toml"
    own.parent.mkdir(parents=True)
    own.write_text("policy = [")


def damaged_store(claude):
    (store,) = claude.state.glob("workspaces/*/store.db")
    store.write_bytes(b"this is no database" * 100)


def closed_folder(claude):
    (claude.home / "file").write_text("")
    claude.settings["SIGHTLINE_HOME"] = str(claude.home / "file" / "state")


def held_store(claude):
    (store,) = claude.state.glob("workspaces/*/store.db")
    db = sqlite3.connect(store, isolation_level=None)
    db.execute("BEGIN EXCLUSIVE")
    return db


@pytest.mark.full
@pytest.mark.parametrize(
    "spoil", [broken_settings, held_store, *fully(damaged_store, closed_folder)]
)
def test_the_user_sees_one_line_and_the_agent_goes_on(connected, model, spoil):
    file = connected.put("notes.txt", TEXT)
    connected.sightline("status")
    connected.sightline("read", "notes.txt")
    kept = spoil(connected)
    edits = [edit(file, f"line {at}\n", f"line {at}, mine\n") for at in (3, 5, 7)]
    model.script("Fix it", read(file), *edits, done())
    run = connected.run("Fix it")
    if kept is not None:
        kept.close()
    assert connected.text("notes.txt").count(", mine") == 3
    (told,) = messages(run)
    assert "Sightline's guard is off" in told


def test_wrong_settings_of_the_workspace_leave_the_guard_on(connected, model):
    file = connected.put("notes.txt", TEXT)
    connected.put("other.txt", "other\n")
    late = saves(connected, "notes.txt", changed(l3="line 3, says the user"))
    edits = [edit(file, "line 3\n", f"line 3, {at}\n", late) for at in ("one", "two")]
    connected.put("pyproject.toml", "[tool.sightline]\npolicy = \n")
    model.script("Fix it", bash(TWO_AT_ONCE), *edits, done())
    run = connected.run("Fix it")
    assert connected.text("notes.txt") == changed(l3="line 3, says the user")
    (told,) = messages(run)
    assert "pyproject.toml: not valid TOML: Invalid value (at line 2, column 10)" in told
