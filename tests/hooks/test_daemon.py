"""The daemon that a hook leaves behind: it says what the hook would say, and never stays too long.

All are real processes, started as an agent's settings start them.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.hooks.daemons import Asked, Asking, Client, DaemonHost, header
from tests.hooks.hooking import refusal
from tests.support.examples import widely

from sightline.hooks import daemon_status, event_lock, spawn
from sightline.hooks.call import Call
from sightline.hooks.protocol import LATE, MINE, key_of
from sightline.model.events import Changed, GitMoved, TurnBegan

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="named pipes")
linux = pytest.mark.skipif(sys.platform != "linux", reason="looks at a process through /proc")


@pytest.fixture
def host():
    made = DaemonHost()
    yield made
    made.close()


@pytest.fixture
def client(host):
    made = Client(host)
    yield made
    made.die()


# It begins


@pytest.mark.wide
def test_it_can_ask_git_where_a_desktop_started_the_client(host):
    """A launcher gives a short PATH and a home, and nothing else."""
    git = shutil.which("git")
    assert git
    host.environ = {
        "HOME": str(host.home),
        "PATH": os.pathsep.join(dict.fromkeys([os.path.dirname(git), "/usr/bin", "/bin"])),
        "CLAUDE_PROJECT_DIR": str(host.root),
    }
    who = ["-c", "user.name=n", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]

    def asked(*words):
        subprocess.run([git, *who, *words], cwd=host.root, env=host.environ, check=True)

    texts = {"mine.py": "a = 1\n", "theirs.py": "b = 1\n"}
    paths = {name: host.put(name, text) for name, text in texts.items()}
    asked("init", "--quiet")
    asked("add", "-A")
    asked("commit", "-qm", "one")
    asked("checkout", "-qb", "other")
    host.put("theirs.py", "b = 2\n")
    asked("commit", "-qam", "two")
    asked("checkout", "-q", "main")

    assert host.begin().git == git
    for name, path in paths.items():
        host.run(host.shown(path, texts[name]))
    asked("checkout", "-q", "other")
    host.put("mine.py", "a = 7\n")
    refused = refusal(host.run(host.edit(paths["mine.py"], "a = 1", "a = 2")))
    host.run(host.edit(paths["theirs.py"], "b = 1", "b = 3"))
    assert host.started().calls == "4"
    assert "the user or another program" in refused
    assert "git" not in refused
    [moved] = [each.fact for each in host.facts() if isinstance(each.fact, GitMoved)]
    assert moved.paths == ("theirs.py",)
    [saved] = [each.fact for each in host.facts() if isinstance(each.fact, Changed)]
    assert (saved.path, saved.cause.kind) == ("mine.py", "external")
    assert host.faults() == []


@pytest.mark.wide
def test_settings_of_the_agent_elsewhere_are_handed_to_the_same_daemon(host):
    """They add folders to the project, which the daemon guards."""
    first = host.begin()
    beside = host.folder("beside", marked=False)
    config = host.folder("elsewhere", marked=False)
    added = {"permissions": {"additionalDirectories": [str(beside)]}}
    (config / "settings.json").write_text(json.dumps(added))
    (beside / "notes.txt").write_text("one\n")
    raw = host.write(str(beside / "notes.txt"), "two\n")
    assert host.run(raw) == {}, "the file is in no workspace"
    host.environ["CLAUDE_CONFIG_DIR"] = str(config)
    assert refusal(host.run(raw))
    assert host.started().pid == first.pid


def test_the_first_hook_leaves_one_behind_that_answers_the_later_ones_alike(host):
    raw = host.write(host.put("a.py", "a = 1\n"), "b\n")
    first = host.run(raw)
    host.started()
    assert host.run(raw) == first
    assert "never shown" in refusal(first)
    assert host.started().calls == "1"
    assert host.faults() == []


@pytest.mark.wide
def test_hooks_that_start_one_at_once_leave_one(host):
    raws = [host.payload("UserPromptSubmit", f"s{n % 4}", prompt=f"x{n}") for n in range(12)]
    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(host.run, raws)) == [{}] * 12
    host.started()
    assert len(daemon_status.list_pipes(str(host.root), host.environ, str(host.home))) == 1
    assert len([each for each in host.facts() if isinstance(each.fact, TurnBegan)]) == 12
    assert host.faults() == []


@pytest.mark.wide
def test_each_set_of_variables_has_one_of_its_own(host):
    first = host.begin()
    host.environ["SIGHTLINE_UNSEEN"] = "refuse"
    second = host.begin()
    os.kill(int(second.pid), signal.SIGTERM)
    host.ended()
    del host.environ["SIGHTLINE_UNSEEN"]
    assert host.started().pid == first.pid


@pytest.mark.wide
@pytest.mark.parametrize("way", ["variable", "settings"])
def test_a_user_who_wants_none_gets_none(host, way):
    if way == "variable":
        host.environ["SIGHTLINE_ANSWERER"] = "off"
    else:
        config = host.home / ".config" / "sightline"
        config.mkdir(parents=True)
        (config / "config.toml").write_text('answerer = "off"\n')
    host.run(host.payload("SessionStart", source="startup"))
    assert not os.path.exists(host.run_folder)


@pytest.mark.wide
def test_none_is_started_while_up_answers(host):
    with host.up() as calls:
        host.run(host.payload("SessionStart", source="startup"))
        assert calls() == 1
        assert not os.path.exists(host.place)


@pytest.mark.wide
@pytest.mark.parametrize(
    "told",
    [
        {"event": "SessionEnd", "reason": "other"},
        {"event": "Notification"},
    ],
)
def test_a_call_that_none_follows_or_that_tells_nothing_starts_none(host, told):
    host.run(host.payload(**told))
    assert not os.path.exists(host.run_folder)


@pytest.mark.wide
def test_a_call_that_fails_starts_none(host):
    host.environ["SIGHTLINE_STORE"] = "postgres://nowhere"
    host.run(host.payload("SessionStart", source="startup"))
    assert len(host.faults()) == 1
    assert pipes(host) == []


@pytest.mark.wide
def test_none_is_started_in_a_folder_that_others_may_enter(host):
    os.makedirs(host.run_folder)
    os.chmod(host.run_folder, 0o755)
    host.run(host.payload("SessionStart", source="startup"))
    assert os.listdir(host.run_folder) == []


@pytest.mark.wide
def test_one_is_started_where_its_path_is_long(host):
    host.environ["SIGHTLINE_HOME"] = str(host.home / ("x" * 120) / ("y" * 120))
    host.begin()
    host.run(host.payload("UserPromptSubmit", prompt="x"))
    assert host.started().calls == "1"
    assert host.faults() == []


def test_none_is_started_on_a_system_that_cannot(host, monkeypatch):
    call = Call("claude-code", host.environ, str(host.home), owner="m:1:2", given=host.given())
    call.answered(host.payload("SessionStart", source="startup"))
    assert call.wants_daemon
    monkeypatch.delattr(os, "posix_spawn")
    spawn.start_daemon(call)
    assert not os.path.exists(host.run_folder)


def test_a_process_that_cannot_be_started_is_a_fault_of_no_call(host, monkeypatch):
    call = Call("claude-code", host.environ, str(host.home), owner="m:1:2", given=host.given())
    assert call.answered(host.payload("SessionStart", source="startup")) == b""
    monkeypatch.setattr(sys, "executable", str(host.home / "gone"))
    spawn.start_daemon(call)
    spawn.start_daemon(call)  # not again at once
    (fault,) = host.faults()
    assert "No such file" in fault


@pytest.mark.wide
def test_an_installation_that_is_broken_there_answers_all_the_same(host):
    host.code("spawn.py", "import os\n", "import nothing_of_that_name\n")
    with host.spawn() as child:
        out, err = child.communicate(host.write(host.put("a.py", "a = 1\n"), "b\n"))
    assert (child.returncode, b"never shown" in out) == (0, True)
    assert err == b"sightline: ModuleNotFoundError: no daemon was started.\n"


@pytest.mark.wide
def test_one_that_fails_says_so_once_and_is_tried_again_after_a_while(host):
    host.code("server.py", "os.mkfifo(aside, 0o600)", "raise OSError(28, 'Full')")
    raw = host.payload("UserPromptSubmit", prompt="x")
    for tries in (1, 1, 2):
        if tries == 2:
            os.utime(host.place, (1, 1))
        assert host.run(raw) == {}
        host.ended()
        assert host.faults() == ["Full."] * tries


# What it holds


@pytest.mark.wide
@linux
def test_it_holds_nothing_of_the_hook_that_started_it(host):
    host.environ |= {"ANTHROPIC_API_KEY": "secret", "LANGUAGE_MODEL_KEY": "secret"}
    reading, writing = os.pipe()
    with host.spawn(pass_fds=[writing]) as child:
        child.communicate(host.payload("SessionStart", source="startup"))
    os.close(writing)
    pid = host.started().pid
    assert os.read(reading, 1) == b""  # the end: nobody else has the other side
    os.close(reading)
    assert os.getsid(int(pid)) == int(pid)
    assert os.readlink(f"/proc/{pid}/cwd") == "/"
    assert {os.readlink(f"/proc/{pid}/fd/{stream}") for stream in range(3)} == {os.devnull}
    assert b"secret" not in Path(f"/proc/{pid}/environ").read_bytes()


@pytest.mark.wide
@linux
def test_it_holds_nothing_of_the_workspace_after_a_call(host):
    path = host.put("a.py", "a = 1\n")
    pid = host.begin().pid
    host.run(host.shown(path, "a = 1\n"))
    host.run(host.edit(path, "a = 1", "a = 2"))
    assert host.started().calls == "2"
    held = [os.readlink(each.path) for each in os.scandir(f"/proc/{pid}/fd")]
    assert [name for name in held if name.startswith(str(host.root))] == []


@pytest.mark.wide
def test_its_pipe_is_private(host):
    host.begin()
    (path,) = daemon_status.list_pipes(str(host.root), host.environ, str(host.home))
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(host.run_folder).st_mode) == 0o700
    assert stat.S_IMODE(os.stat(host.place).st_mode) == 0o600


# It ends


def over(host):
    """It has ended, and nothing is left of it."""
    host.ended()
    assert set(os.listdir(host.run_folder)) <= {event_lock.NAME}
    assert host.faults() == []


@pytest.mark.wide
def test_it_ends_with_its_client(host, client):
    client.run(host.payload("SessionStart", source="startup"))
    host.started()
    client.die()
    over(host)


@pytest.mark.wide
def test_it_ends_when_the_last_conversation_does(host, client):
    client.run(host.payload("SessionStart", source="startup"))
    host.started()
    client.run(host.payload("SessionStart", "s2", source="startup"))
    client.run(host.payload("SessionEnd", reason="prompt_input_exit"))
    client.run(host.payload("UserPromptSubmit", "s2", prompt="x"))
    assert host.started().calls == "3"
    client.run(host.payload("SessionEnd", "s2", reason="prompt_input_exit"))
    over(host)


@pytest.mark.wide
def test_it_stays_when_a_client_only_begins_anew(host, client):
    client.run(host.payload("SessionStart", source="startup"))
    pid = host.started().pid
    client.run(host.payload("SessionEnd", reason="clear"))
    client.run(host.payload("SessionStart", "s2", source="clear"))
    assert (host.started().pid, host.started().calls) == (pid, "2")
    client.run(host.payload("SessionEnd", "s2", reason="other"))
    over(host)


@pytest.mark.wide
def test_it_stays_for_a_second_client_and_ends_with_that(host, client):
    second = Client(host)
    client.run(host.payload("SessionStart", source="startup"))
    pid = host.started().pid
    second.run(host.payload("SessionStart", "s2", source="startup"))
    client.die()
    second.run(host.payload("UserPromptSubmit", "s2", prompt="x"))
    assert (host.started().pid, host.started().calls) == (pid, "2")
    second.die()
    over(host)


@pytest.mark.wide
def test_it_ends_when_nobody_asks_for_long(host):
    host.environ["SIGHTLINE_ANSWERER_IDLE_S"] = "0.5"
    host.run(host.payload("SessionStart", source="startup"))
    over(host)


@pytest.mark.wide
@pytest.mark.parametrize("sent", [signal.SIGTERM, *widely(signal.SIGHUP, signal.SIGINT)])
def test_it_ends_well_when_it_is_told_to(host, sent):
    os.kill(int(host.begin().pid), sent)
    over(host)


def lose_pipe(host):
    (path,) = daemon_status.list_pipes(str(host.root), host.environ, str(host.home))
    os.unlink(path)


def lose_workspace(host):
    shutil.rmtree(host.root)


def replace_workspace(host):
    host.root.rename(host.home / "moved")
    host.root.mkdir()


def lose_store(host):
    host.store.unlink()


def upgrade(host):
    host.code("call.py", "LOOKING_S = 5.0", "LOOKING_S = 4.0")


@pytest.mark.wide
@pytest.mark.parametrize(
    "spoil", [lose_store, upgrade, *widely(lose_pipe, lose_workspace, replace_workspace)]
)
def test_it_ends_when_what_it_stands_on_is_another(host, spoil):
    host.begin()
    spoil(host)
    over(host)


@pytest.mark.wide
def test_it_ends_when_the_user_switches_it_off(host):
    host.begin()
    config = host.home / ".config" / "sightline"
    config.mkdir(parents=True)
    (config / "config.toml").write_text('answerer = "off"\n')
    host.run(host.payload("UserPromptSubmit", prompt="x"))
    over(host)


@pytest.mark.wide
def test_it_gives_way_to_up(host):
    host.begin()
    with host.up() as calls:
        host.ended()
        assert host.autos() == []
        host.run(host.payload("UserPromptSubmit", prompt="x"))
        assert calls() == 1


@pytest.mark.wide
def test_hooks_ask_up_before_it_has_given_way(host):
    host.code("daemon.py", "LOOK_S = 0.05", "LOOK_S = 3600.0")
    auto = host.begin()
    (path,) = daemon_status.list_pipes(str(host.root), host.environ, str(host.home))
    seen: list[str] = []
    with Asked(host, f"{key_of(str(host.root))}-up-1-0000.fifo", seen):
        host.run(host.payload("UserPromptSubmit", prompt="x"))
    assert seen  # by the hook, and perhaps by the daemon, to see whether it has to give way
    assert os.path.exists(path)
    assert host.started().pid == auto.pid


@pytest.mark.wide
def test_a_hook_of_a_newer_installation_is_not_judged_by_an_older_one(host):
    host.code("daemon.py", "LOOK_S = 0.05", "LOOK_S = 3600.0")
    host.begin()
    os.utime(host.package / "__init__.py", (1, 1))
    assert host.run(host.payload("UserPromptSubmit", prompt="x")) == {}
    assert host.started().calls == "0"


# It is never needed


@pytest.mark.wide
def test_one_that_was_killed_costs_no_verdict_and_is_replaced_after_a_while(host):
    raw = host.write(host.put("a.py", "a = 1\n"), "b\n")
    first = host.begin()
    os.kill(int(first.pid), signal.SIGKILL)
    host.ended()
    assert "never shown" in refusal(host.run(raw))
    assert host.autos() == []
    os.utime(host.place, (1, 1))
    host.run(raw)
    assert host.started().pid != first.pid
    assert len(daemon_status.list_pipes(str(host.root), host.environ, str(host.home))) == 1


@pytest.mark.wide
def test_a_frozen_one_costs_no_verdict_and_answers_again_when_it_can(host):
    host.environ["SIGHTLINE_CHECKPOINTS"] = "off"  # so it does not hold the store when it freezes
    raw = host.write(host.put("a.py", "a = 1\n"), "b\n")
    pid = int(host.begin().pid)
    (path,) = daemon_status.list_pipes(str(host.root), host.environ, str(host.home))
    os.kill(pid, signal.SIGSTOP)
    assert "never shown" in refusal(host.run(raw))
    assert os.path.exists(path + LATE)
    assert daemon_status.silent_daemons(str(host.root), host.environ, str(host.home)) == [pid]
    os.kill(pid, signal.SIGCONT)
    while os.path.exists(path + LATE):
        os.sched_yield()
    assert "never shown" in refusal(host.run(raw))
    assert host.started().calls == "1"


@pytest.mark.wide
def test_only_the_first_hook_waits_for_one_that_is_silent(host):
    host.environ["SIGHTLINE_ANSWERER"] = "off"
    raw = host.write(host.put("a.py", "a = 1\n"), "b\n")
    seen: list[str] = []
    with Asked(host, f"{key_of(str(host.root))}-auto-1-0000.fifo", seen):
        assert [bool(refusal(host.run(raw))) for _ in range(3)] == [True] * 3
    assert len(seen) == 1


@pytest.mark.wide
def test_those_of_the_own_project_are_asked_first(host):
    host.environ["SIGHTLINE_ANSWERER"] = "off"
    inner = host.root / "src" / "deep"
    inner.mkdir(parents=True)
    host.environ["CLAUDE_PROJECT_DIR"] = str(inner)
    seen: list[str] = []
    with (
        host.up() as calls,
        Asked(host, "000000-up-1-0000.fifo", seen),
        Asked(host, "zzzzzz-up-1-0000.fifo", seen),
    ):
        host.run(host.payload("UserPromptSubmit", prompt="x", cwd=str(inner)))
        assert (calls(), seen) == (1, [])


# Each event is handled once


def pipes(host):
    return daemon_status.list_pipes(str(host.root), host.environ, str(host.home))


def turns(host):
    """Return how often a prompt was recorded."""
    return len([each for each in host.facts() if isinstance(each.fact, TurnBegan)])


@pytest.mark.wide
def test_an_event_that_its_hook_takes_back_first_is_handled_by_the_hook(host):
    claim = "if answer is not None and remove(ask):"
    waits = "while isinstance(answer, partial) and os.path.exists(ask): os.sched_yield()"
    host.code("server.py", claim, f"{waits}\n        {claim}")
    host.begin()
    (path,) = pipes(host)
    assert host.run(host.payload("UserPromptSubmit", prompt="x")) == {}
    while os.path.exists(path + LATE):
        os.sched_yield()
    assert (host.started().calls, turns(host)) == ("0", 1)


@pytest.mark.wide
def test_an_event_that_the_daemon_takes_first_is_handled_by_the_daemon(host):
    given_up = str(host.home / "given-up")
    says = "_send(client, protocol.MINE)"
    waits = f"while isinstance(answer, partial) and not os.path.exists({given_up!r}): pass"
    host.code("server.py", says, f"{waits}\n            {says}")
    ends = "return None if is_taken_back"
    host.code("client.py", ends, f"os.close(os.open({given_up!r}, os.O_CREAT))\n    {ends}")
    host.begin()
    assert host.run(host.payload("UserPromptSubmit", prompt="x")) == {}
    assert os.path.exists(given_up)
    assert (host.started().calls, turns(host)) == ("1", 1)
    (path,) = pipes(host)
    assert os.listdir(host.run_folder).count(os.path.basename(path) + LATE) == 0


@pytest.mark.wide
def test_events_that_hooks_and_daemon_take_at_the_same_moment_are_handled_once(host):
    host.code("client.py", "[], wait_s)[0]", "[], os.getpid() % 32 / 1000)[0]")
    host.begin()
    raws = [host.payload("UserPromptSubmit", f"s{n % 4}", prompt=f"x {n}") for n in range(400)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(host.run, raws)) == [{}] * 400
    assert 0 < int(host.started().calls) < 400
    assert turns(host) == 400
    assert host.faults() == []


@pytest.mark.full
@pytest.mark.wide
def test_many_hooks_at_once_lose_nothing(host):
    host.begin()
    raws = [host.payload("UserPromptSubmit", f"s{n % 4}", prompt=f"x {n}") for n in range(400)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(host.run, raws)) == [{}] * 400
    assert turns(host) == 400
    assert host.faults() == []


@pytest.mark.wide
@pytest.mark.parametrize("moment", ["_send(client, protocol.MINE)", "_send(client, answer()"])
def test_one_that_is_killed_over_an_event_costs_no_verdict(host, moment):
    kills = "isinstance(answer, partial) and os.kill(os.getpid(), 9)"
    host.code("server.py", moment, f"{kills}\n            {moment}")
    host.begin()
    assert "never shown" in refusal(host.run(host.write(host.put("a.py", "a = 1\n"), "b\n")))
    host.ended()
    assert host.autos() == []


LARGE = 3 << 20


def answer_at_length(host):
    """Have the daemon's answers be far larger than a pipe."""
    host.code(
        "server.py",
        "partial(self._server.answer, call)",
        f"lambda: b'[' + b' ' * {LARGE} + b']'",
    )


def is_answered_at_length(host):
    with host.spawn() as child:
        out, err = child.communicate(host.payload("UserPromptSubmit", prompt="x"))
    return (len(out), out[:1], out[-1:], err) == (LARGE + 2, b"[", b"]", b"")


@pytest.mark.wide
def test_an_answer_may_be_larger_than_a_pipe(host):
    answer_at_length(host)
    host.begin()
    assert is_answered_at_length(host)


@pytest.mark.wide
def test_a_hook_that_goes_or_does_not_read_on_keeps_no_other_waiting(host):
    answer_at_length(host)
    raw = host.payload("UserPromptSubmit", prompt="x")
    request = header(host, raw, installation=host.begin().installation) + raw
    (path,) = pipes(host)
    gone, deaf = Asking(path, request), Asking(path, request)
    assert [os.read(each.reader, 1) for each in (gone, deaf)] == [MINE, MINE]
    gone.close()
    assert is_answered_at_length(host)
    deaf.close()


@pytest.mark.wide
def test_it_can_be_ended_with_what_dead_ones_left_behind(host):
    """`sightline forget` does so, whatever the variables of the hooks were."""
    home, root = str(host.home), str(host.root)
    pid = host.begin().pid
    dead = Path(host.run_folder, f"{key_of(root)}-auto-1-dead.fifo")
    os.mkfifo(dead)
    assert daemon_status.end_daemons(root, host.environ, home) == []
    assert not dead.exists()
    assert host.autos() == []
    assert not Path(f"/proc/{pid}/cmdline").exists() or not Path(f"/proc/{pid}/cmdline").read_text()
    assert not Path(host.place).exists()
