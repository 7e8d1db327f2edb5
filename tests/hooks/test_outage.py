"""The guard is off: the user learns it once, the agent goes on, and no later hook waits."""

from __future__ import annotations

import json
import sqlite3
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.hooks.hooking import Host, refusal

from sightline.hooks import outage
from sightline.hooks.client import _is_off
from sightline.hooks.protocol import OFF, outage_folders
from sightline.hooks.words import HELD


@pytest.fixture
def host(tmp_path):
    made = Host()
    made.environ["XDG_RUNTIME_DIR"] = str(tmp_path / "runtime")
    (tmp_path / "runtime").mkdir()
    yield made
    made.close()


def own_settings(host):
    return host.home / ".config/sightline/config.toml"


def broken_settings(host):
    """The user's own; those of a workspace are left out (test_wrong_settings)."""
    own_settings(host).parent.mkdir(parents=True, exist_ok=True)
    own_settings(host).write_text("policy = [")


def damaged_store(host):
    host.store.write_bytes(b"this is no database" * 100)


def closed_folder(host):
    """A state folder in which nobody can write, root included."""
    (host.home / "file").write_text("")
    host.environ["SIGHTLINE_HOME"] = str(host.home / "file" / "state")


OUTAGES = [broken_settings, damaged_store, closed_folder]


def told(answer):
    return answer.get("systemMessage", "")


def begun(host):
    path = host.put("a.py", "a = 1\n")
    host.ask(host.shown(path, "a = 1\n"))
    return path


@pytest.mark.parametrize("spoil", OUTAGES)
def test_the_user_is_told_once_in_a_session_and_the_agent_goes_on(host, spoil):
    path = begun(host)
    spoil(host)
    answers = [host.ask(host.edit(path, "a = 1", "a = 2")) for _ in range(3)]
    answers.append(host.ask(host.payload("UserPromptSubmit", prompt="go on")))
    assert [bool(told(each)) for each in answers] == [True, False, False, False]
    assert "Sightline's guard is off." in told(answers[0])
    assert "sightline doctor" in told(answers[0])
    assert not any(map(refusal, answers))
    other = host.ask(host.payload("SessionStart", "s2", source="startup"))
    assert "guard is off" in told(other)


def test_where_no_note_can_be_written_the_beginning_tells(host):
    path = begun(host)
    closed_folder(host)
    host.environ["XDG_RUNTIME_DIR"] = host.environ["SIGHTLINE_HOME"]
    answers = [host.ask(host.edit(path, "a = 1", "a = 2")) for _ in range(2)]
    assert [told(each) for each in answers] == ["", ""]
    assert "guard is off" in told(host.ask(host.payload("SessionStart", source="resume")))


def test_a_closed_guard_says_that_it_refuses(host):
    path = begun(host)
    damaged_store(host)
    host.environ["SIGHTLINE_FAIL"] = "closed"
    answers = [host.ask(host.edit(path, "a = 1", "a = 2")) for _ in range(2)]
    assert "refuses every edit" in told(answers[0])
    assert [bool(told(each)) for each in answers] == [True, False]
    assert all(map(refusal, answers))


def test_what_a_host_does_not_show_is_not_taken_for_told(host):
    begun(host)
    damaged_store(host)
    loaded = host.payload("InstructionsLoaded", file_path=host.put("CLAUDE.md", "x\n"))
    assert told(host.ask(loaded)) == ""
    assert told(host.ask(host.payload("Stop")))


@contextmanager
def holding(store: Path):
    db = sqlite3.connect(store, isolation_level=None)
    db.execute("BEGIN EXCLUSIVE")
    try:
        yield
    finally:
        db.close()


def test_a_held_store_is_waited_for_once(host):
    path = begun(host)
    host.environ["SIGHTLINE_DEADLINE_S"] = "0.5"
    raw = host.edit(path, "a = 1", "a = 2")
    with holding(host.store):
        first = host.ask(raw)
        assert "held by another process" in told(first)
        later = [host.ask(raw) for _ in range(4)]
    assert [told(each) for each in later] == [""] * 4
    assert host.faults()[1:] == [HELD] * 4, "no deadline passed"
    assert host.put("a.py", "a = 7\n")
    assert refusal(host.ask(raw)), "the guard is back with the store"


@pytest.mark.wide
def test_a_hook_takes_an_outage_for_granted_until_something_changes(host, monkeypatch):
    path = begun(host)
    broken_settings(host)
    raw = host.edit(path, "a = 1", "a = 2")
    assert "guard is off" in told(host.run(raw))
    for name, value in host.environ.items():
        monkeypatch.setenv(name, value)
    assert _is_off(str(host.root), raw)
    assert not _is_off(str(host.root), host.edit(path, "a = 1", "a = 2", session="s2")), (
        "its user was not told"
    )
    monkeypatch.setenv("SIGHTLINE_FAIL", "closed")
    assert not _is_off(str(host.root), raw)
    monkeypatch.delenv("SIGHTLINE_FAIL")
    own_settings(host).unlink()
    assert not _is_off(str(host.root), raw)
    host.put("a.py", "a = 7\n")
    assert refusal(host.run(raw))
    assert not list(Path(outage_folders(host.environ, str(host.home))[0]).glob(f"*{OFF}"))


def test_a_fault_of_one_payload_is_no_outage():
    assert not outage.is_outage(ValueError("no session_id"))
    assert outage.is_outage(RuntimeError())


def test_a_message_for_the_user_stands_beside_the_answer_for_the_model(host):
    path = begun(host)
    host.environ["SIGHTLINE_FAIL"] = "closed"
    damaged_store(host)
    said = json.loads(json.dumps(host.ask(host.edit(path, "a = 1", "a = 2"))))
    assert set(said) == {"systemMessage", "hookSpecificOutput"}


def test_what_changed_while_the_guard_was_off_is_nobodys_for_certain(host):
    """The agent's own edit was not recorded; a save after the outage is the user's again."""
    path = begun(host)
    broken_settings(host)
    host.ask(host.edit(path, "a = 1", "a = 2"))
    host.put("a.py", "a = 2\n")
    own_settings(host).unlink()
    said = refusal(host.ask(host.write(path, "a = 3\n")))
    assert "probably" not in said
    assert (
        "by this session itself, the user or another program, while Sightline could not record"
        in said
    )
    host.put("a.py", "a = 4\n")
    later = refusal(host.ask(host.write(path, "a = 3\n")))
    assert "by the user or another program" in later
