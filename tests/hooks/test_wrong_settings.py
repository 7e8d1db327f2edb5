"""A workspace's own settings are wrong: the guard goes on, and the user learns it once a session."""

from __future__ import annotations

import json
import os

import pytest
from tests.hooks.daemons import DaemonHost
from tests.hooks.hooking import Host, refusal


@pytest.fixture
def host():
    made = Host()
    yield made
    made.close()


def told(answer):
    return answer.get("systemMessage", "")


def spoil(host, name, data):
    (host.root / name).write_bytes(data)


def folder(host):
    (host.root / "sightline.toml").mkdir()


def link_out(host):
    (host.home / "outside.toml").write_text('policy = "block"\n')
    (host.root / "sightline.toml").symlink_to(host.home / "outside.toml")


def pipe(host):
    os.mkfifo(host.root / "sightline.toml")


def written(name, data):
    return lambda host: spoil(host, name, data)


WRONG = {
    "syntax": written("sightline.toml", b"policy = ["),
    "syntax-pyproject": written("pyproject.toml", b"[tool.sightline]\npolicy = \n"),
    "not-utf8": written("sightline.toml", b'protect = ["\xff"]\n'),
    "type": written("sightline.toml", b"protect = 1\n"),
    "unknown": written("pyproject.toml", b"[tool.sightline]\npolices = 1\n"),
    "looser": written("sightline.toml", b'policy = "warn"\n'),
    "not-its-own": written("sightline.toml", b'answerer = "off"\n'),
    "huge": written("sightline.toml", b"#" * ((1 << 20) + 1)),
    "folder": folder,
    "link": link_out,
    "pipe": pipe,
}


@pytest.mark.wide
@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_every_edit_is_judged_and_the_user_is_told_once(host, wrong):
    path = host.put("a.py", "a = 1\n")
    host.ask(host.shown(path, "a = 1\n"))
    wrong(host)
    host.put("a.py", "a = 7\n")
    answers = [host.ask(host.edit(path, "a = 1", "a = 2")) for _ in range(10)]
    assert all(map(refusal, answers)), "the guard is on"
    assert [bool(told(each)) for each in answers] == [True, *[False] * 9]
    assert "Edits are judged by all other settings." in told(answers[0])
    assert "sightline.toml" in told(answers[0]) or "pyproject.toml" in told(answers[0])
    assert told(host.ask(host.payload("SessionStart", "s2", source="startup")))
    assert host.faults() == []


def test_the_users_own_settings_and_the_built_in_protections_hold(host):
    config = host.home / ".config/sightline/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('protect = ["secret.py"]\nfail = "closed"\n')
    spoil(host, "pyproject.toml", b"[tool.sightline]\npolicy = 7\nprotect = ['own.py']\n")
    for name in ("secret.py", "sightline.toml", "own.py"):
        out = host.ask(host.write(str(host.root / name), "x\n"))["hookSpecificOutput"]
        assert out["permissionDecision"] == "ask"


def test_a_closed_guard_judges_on_and_refuses_nothing_for_it(host):
    host.environ["SIGHTLINE_FAIL"] = "closed"
    spoil(host, "sightline.toml", b"policy = [")
    answer = host.ask(host.write(str(host.root / "new.py"), "x\n"))
    assert (refusal(answer), bool(told(answer))) == ("", True)


def test_an_event_whose_answer_nobody_sees_is_not_taken_for_told(host):
    spoil(host, "sightline.toml", b"policy = [")
    loaded = host.payload("InstructionsLoaded", file_path=host.put("CLAUDE.md", "x\n"))
    assert told(host.ask(loaded)) == ""
    assert "sightline.toml" in told(host.ask(host.payload("Stop")))


def test_the_settings_of_another_workspace_are_named_with_its_folder(host):
    other = host.folder("other")
    (other / "sightline.toml").write_text("policy = [")
    said = told(host.ask(host.write(str(other / "a.py"), "x\n")))
    assert str(other) in said
    assert json.dumps(host.ask(host.write(str(other / "b.py"), "x\n"))).count("sightline.toml") == 0


@pytest.mark.wide
def test_files_that_break_while_a_daemon_runs_do_not_end_it():
    host = DaemonHost()
    try:
        path = host.put("a.py", "a = 1\n")
        host.run(host.shown(path, "a = 1\n"))
        host.started()
        host.put("a.py", "a = 7\n")
        assert refusal(host.run(host.edit(path, "a = 1", "a = 2")))
        before = int(host.started().calls)
        spoil(host, "sightline.toml", b"policy = [")
        answer = host.run(host.edit(path, "a = 1", "a = 3"))
        assert refusal(answer)
        assert "sightline.toml" in told(answer)
        assert int(host.started().calls) == before + 1
    finally:
        host.close()
