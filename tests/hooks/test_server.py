"""A running `up` answers hooks: the same verdicts, each event once, and nobody else let in."""

from __future__ import annotations

import http.client
import json
import os
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event, Thread

import pytest
from tests.hooks.daemons import Asking, Impostor, header
from tests.hooks.hooking import refusal
from tests.support.examples import widely
from tests.support.hook_server import serving

from sightline.errors import WorkspaceError
from sightline.filesystem import process
from sightline.hooks import event_lock, server
from sightline.hooks.http_endpoint import http_settings
from sightline.hooks.open_sessions import OpenWorkspace, read_settings
from sightline.hooks.protocol import (
    ASK,
    GO,
    LATE,
    MINE,
    NOT_MINE,
    SAY,
    run_folder,
)
from sightline.hooks.server import LEFT_S, HookServer
from sightline.model.events import SessionStarted, TurnBegan, WriteIntended
from sightline.model.revision import revision_of

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="named pipes")


@pytest.fixture
def up(host):
    with serving(str(host.root), environ=host.environ, home=str(host.home)) as server:
        yield server


def pipes(host):
    folder = run_folder(host.environ, str(host.home))
    return [os.path.join(folder, n) for n in os.listdir(folder) if n.endswith(".fifo")]


def count(host, kind):
    return len([each for each in host.facts() if isinstance(each.fact, kind)])


# Over the pipe


def test_a_hook_process_is_answered_by_who_runs_and_says_the_same(host, up):
    raw = host.write(host.put("a.py", "a = 1\n"), "b\n")
    first = host.run(raw)
    assert up.calls == 1
    up.stop()
    assert first == host.run(raw)
    assert up.calls == 1


def test_an_event_is_attended_to_once(host, up):
    host.run(host.payload("UserPromptSubmit", prompt="x"))
    assert (up.calls, count(host, TurnBegan)) == (1, 1)


def test_what_is_let_go_on_is_journalled_for_the_host_not_for_up(host, up):
    path = host.put("a.py", "a = 1\n")
    host.run(host.edit(path, "a = 1", "a = 2"))
    (intent,) = [f.fact for f in host.facts() if isinstance(f.fact, WriteIntended)]
    assert (up.calls, intent.owner) == (1, process.owner())


@pytest.mark.wide
def test_another_workspace_s_hook_does_its_own_work(host, up):
    other = host.folder("other")
    (other / "b.py").write_text("b = 1\n")
    host.environ["CLAUDE_PROJECT_DIR"] = str(other)
    assert refusal(host.run(host.write(str(other / "b.py"), "c\n")))
    assert up.calls == 0


@pytest.mark.wide
def test_a_hook_with_other_settings_does_its_own_work(host, up):
    host.environ |= {"SIGHTLINE_UNSEEN": "refuse"}
    path = host.put("a.py", "a = 1\n")
    assert refusal(host.run(host.edit(path, "a = 1", "a = 2")))
    assert up.calls == 0


def test_a_change_of_settings_holds_from_the_next_call_on(host, up):
    path = host.put("a.py", "a = 1\n")
    assert not refusal(host.run(host.edit(path, "a = 1", "a = 2")))
    (host.root / "sightline.toml").write_text('unseen = "refuse"\n')
    assert refusal(host.run(host.edit(path, "a = 1", "a = 2")))
    assert up.calls == 2


def test_of_several_that_run_the_right_one_answers(host, up):
    other = host.folder("other")
    with serving(str(other), environ=host.environ, home=str(host.home)) as second:
        host.run(host.payload("UserPromptSubmit", prompt="x"))
        host.environ["CLAUDE_PROJECT_DIR"] = str(other)
        host.run(host.payload("UserPromptSubmit", prompt="x"))
        assert (up.calls, second.calls) == (1, 1)


@pytest.mark.wide
def test_a_faulty_payload_is_the_hook_s_own_affair(host, up):
    assert host.run(b"{") == {}
    assert (up.calls, len(host.faults())) == (0, 1)


@pytest.mark.wide
def test_many_hooks_at_once_are_all_answered_by_it(host, up):
    raws = [host.payload("UserPromptSubmit", f"s{n % 4}", prompt=f"x{n}") for n in range(40)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(host.run, raws)) == [{}] * 40
    assert host.faults() == []
    assert count(host, TurnBegan) == 40


def is_silent(path):
    pass


def dies_over_it(path):
    os.unlink(path + ASK)
    with open(path + SAY, "wb") as client:
        client.write(MINE)


def dies_over_its_answer(path):
    os.unlink(path + ASK)
    with open(path + SAY, "wb") as client:
        client.write(MINE + b'{"hookSpecificOutput": ')


def dies_when_it_has_taken_it(path):
    os.unlink(path + ASK)


def closes_at_once(path):
    with open(path + SAY, "wb"):
        pass


@pytest.mark.wide
@pytest.mark.parametrize(
    "behave",
    [
        is_silent,
        dies_over_it,
        *widely(dies_over_its_answer, dies_when_it_has_taken_it, closes_at_once),
    ],
)
def test_a_server_that_is_silent_or_dies_costs_no_verdict(host, behave):
    raw = host.write(host.put("a.py", "a = 1\n"), "b\n")
    with Impostor(host, "1.fifo", behave):
        assert "never shown" in refusal(host.run(raw))
    assert count(host, SessionStarted) == 1


@pytest.mark.wide
def test_a_dead_pipe_costs_no_verdict_and_goes_with_the_next_that_runs(host):
    with Impostor(host, "1.fifo", is_silent):
        assert refusal(host.run(host.write(host.put("a.py", "a = 1\n"), "b\n")))
    (dead,) = pipes(host)
    kept = Path(dead).with_name("notes.fifo")
    kept.touch()
    assert refusal(host.run(host.write(host.put("a.py", "a = 1\n"), "b\n")))
    with serving(str(host.root), environ=host.environ, home=str(host.home)):
        assert dead not in pipes(host)
        assert str(kept) in pipes(host)  # no pipe: somebody else's
    assert pipes(host) == [str(kept)]
    assert kept.read_bytes() == b""


def test_what_a_killed_hook_or_an_older_version_left_goes_with_the_next_that_runs(host):
    folder = Path(run_folder(host.environ, str(host.home)))
    folder.mkdir(mode=0o700, parents=True)
    for age in ("old", "new"):
        (folder / f"{age}.ask").write_bytes(b"a payload")
        os.mkfifo(folder / f"{age}.say")
        (folder / f"{age}.fifo.late").touch()
        os.mknod(folder / f"{age}.sock", 0o600 | stat.S_IFSOCK)
    (folder / "old.txt").touch()
    (folder / "notes.sock").touch()
    past = time.time() - LEFT_S - 1
    for path in [*folder.glob("old.*"), folder / "notes.sock"]:
        os.utime(path, (past, past))
    with serving(str(host.root), environ=host.environ, home=str(host.home)):
        pass
    left = {"new.ask", "new.say", "new.fifo.late", "new.sock"}
    assert set(os.listdir(folder)) == left | {"old.txt", "notes.sock"}


def test_one_that_lives_keeps_its_pipe(host, up):
    other = host.folder("other")
    (alive,) = pipes(host)
    with serving(str(other), environ=host.environ, home=str(host.home)):
        assert alive in pipes(host)
        assert len(pipes(host)) == 2


def test_the_folder_of_pipes_is_private(host, up):
    (path,) = pipes(host)
    assert stat.S_IMODE(os.stat(os.path.dirname(path)).st_mode) == 0o700
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600


@pytest.mark.wide
def test_a_folder_that_others_may_enter_is_not_asked(host, up):
    os.chmod(run_folder(host.environ, str(host.home)), 0o755)
    assert refusal(host.run(host.write(host.put("a.py", "a = 1\n"), "b\n")))
    assert up.calls == 0


def talk(host, request):
    """Return what the daemon says to a request, or to one that was taken back (None)."""
    (pipe,) = pipes(host)
    client = Asking(pipe, request)
    try:
        return client.answer()
    finally:
        client.close()


def test_an_event_that_its_hook_took_back_is_not_attended_to(host, up):
    raw = host.payload("UserPromptSubmit", prompt="x")
    assert talk(host, None) == NOT_MINE
    assert (up.calls, host.facts()) == (0, [])
    assert talk(host, header(host, raw) + raw) == MINE + GO
    assert (up.calls, count(host, TurnBegan)) == (1, 1)


@pytest.mark.parametrize(
    "spoiled", [{"protocol": "sightline-hook-9"}, {"size": "-1"}, {"size": 1 << 40}]
)
def test_a_header_it_does_not_understand_is_none_of_its_own(host, up, spoiled):
    raw = host.payload("Stop")
    assert talk(host, header(host, raw, **spoiled) + raw) == NOT_MINE


@pytest.mark.parametrize("raw", [b"x", b"x" * 11])
def test_a_payload_of_another_size_is_nothing(host, up, raw):
    assert talk(host, header(host, b"x" * 10) + raw) == NOT_MINE
    assert up.calls == 0


def test_a_request_that_is_no_file_of_ours_is_nothing(host, up):
    raw = host.payload("Stop")
    elsewhere = host.home / "request"
    elsewhere.write_bytes(header(host, raw) + raw)
    (pipe,) = pipes(host)
    client = Asking(pipe, None)
    os.symlink(elsewhere, client.path + ASK)
    with open(pipe, "wb") as daemon:
        daemon.write(os.path.basename(client.path).encode() + b"\n")
    assert set(client.answer()) == set(NOT_MINE)
    client.close()
    assert (up.calls, elsewhere.exists()) == (0, True)


def test_what_a_hook_left_that_was_killed_goes_when_it_is_come_to(host, up):
    (pipe,) = pipes(host)
    folder = os.path.dirname(pipe)
    name = "0123456789abcdef"
    Path(folder, name + ASK).write_bytes(b"a payload")
    os.mkfifo(os.path.join(folder, name + SAY))
    with open(pipe, "wb") as daemon:
        daemon.write(name.encode() + b"\n")
    while os.path.exists(os.path.join(folder, name + SAY)):
        os.sched_yield()
    assert os.listdir(folder) == [os.path.basename(pipe)]
    host.run(host.payload("UserPromptSubmit", prompt="x"))
    assert up.calls == 1


@pytest.mark.wide
def test_a_hook_leaves_nothing_behind(host, up):
    host.run(host.payload("UserPromptSubmit", prompt="x"))
    host.environ |= {"SIGHTLINE_UNSEEN": "refuse"}
    host.run(host.payload("UserPromptSubmit", prompt="x"))
    assert up.calls == 1
    left = os.listdir(run_folder(host.environ, str(host.home)))
    assert set(left) == {os.path.basename(up.pipe), event_lock.NAME}


@pytest.mark.wide
def test_one_that_has_too_much_to_do_turns_hooks_away_at_once(host, up, monkeypatch):
    monkeypatch.setattr(server, "THREADS_MAX", 0)
    assert talk(host, b"x") == NOT_MINE
    assert refusal(host.run(host.write(host.put("a.py", "a = 1\n"), "b\n")))
    assert (up.calls, os.path.exists(up.pipe + LATE)) == (0, False)


def test_a_path_may_be_long(host):
    host.environ["SIGHTLINE_HOME"] = str(host.home / ("x" * 120) / ("y" * 120))
    with serving(str(host.root), environ=host.environ, home=str(host.home)) as up:
        host.run(host.payload("UserPromptSubmit", prompt="x"))
        assert up.calls == 1


def test_stopping_lets_calls_under_way_end(host):
    begun, may_end = Event(), Event()

    def on_call(_):
        begun.set()
        may_end.wait()

    up = HookServer(
        str(host.root), environ=host.environ, home=str(host.home), kind="auto", on_call=on_call
    )
    up.start()
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(host.run, host.write(host.put("a.py", "a = 1\n"), "b\n"))
        begun.wait()
        stopping = Thread(target=up.stop)
        stopping.start()
        while pipes(host):
            os.sched_yield()
        may_end.set()
        stopping.join()
        assert "never shown" in refusal(answer.result())
    assert (up.calls, count(host, SessionStarted)) == (1, 1)


# Over HTTP


def post(host, body, *, token=None, path=None, headers=(), method="POST"):
    url, own = http_settings(str(host.state), str(host.root), "claude-code")
    _, _, rest = url.partition("//")
    place, _, name = rest.partition("/")
    connection = http.client.HTTPConnection(place)
    try:
        given = {"Authorization": f"Bearer {own if token is None else token}", **dict(headers)}
        connection.request(method, path or f"/{name}", body, given)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def test_a_hook_of_the_http_kind_gets_the_same_answer(host, up):
    raw = host.write(host.put("a.py", "a = 1\n"), "b\n")
    status, body = post(host, raw)
    assert status == 200
    assert json.loads(body) == host.ask(raw)


def test_one_with_nothing_to_say_gets_an_empty_object(host, up):
    assert post(host, host.payload("Stop")) == (200, b"{}")


HOLDER = """
import sys
from sightline.hooks import event_lock
event = event_lock.event_of(["claude-code"], sys.argv[2].encode())
lock = event_lock.lock_event(sys.argv[1], event)
print("held", flush=True)
sys.stdin.readline()
event_lock.note_answer(lock, event)
"""


def test_a_hook_of_the_http_kind_steps_aside_where_a_command_hook_answers(host, up):
    raw = host.write(host.put("a.py", "a = 1\n"), "b\n")
    words = [sys.executable, "-c", HOLDER, run_folder(host.environ, str(host.home)), raw.decode()]
    with (
        ThreadPoolExecutor(1) as pool,
        subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder,
    ):
        assert holder.stdout
        assert holder.stdout.readline() == b"held\n"
        answer = pool.submit(post, host, raw)
        while not up._under_way:
            os.sched_yield()
        holder.communicate(b"\n")
        assert answer.result() == (200, b"{}")
    assert up.calls == 0
    assert refusal(json.loads(post(host, raw)[1])), "a repeated payload is another event"


def test_a_command_hook_steps_aside_where_one_of_the_http_kind_answers(host):
    raw = host.write(host.put("a.py", "a = 1\n"), "b\n")
    hooks: list[subprocess.Popen[bytes]] = []

    def on_call(_):
        if not hooks:
            hooks.append(host.spawn())
            stdin, hooks[0].stdin = hooks[0].stdin, None
            assert stdin
            stdin.write(raw)
            stdin.close()
            began = event_lock.now_us()
            while event_lock.now_us() < began + 20_000:
                os.sched_yield()  # the time of a process's start is known to 10 ms

    up = HookServer(str(host.root), environ=host.environ, home=str(host.home), on_call=on_call)
    up.start()
    try:
        assert refusal(json.loads(post(host, raw)[1]))
        with hooks[0] as hook:
            assert hook.communicate()[0] == b""
        assert up.calls == 1
    finally:
        up.stop()


def test_a_fault_is_answered_with_nothing_and_logged(host, up):
    assert post(host, b"{") == (200, b"{}")
    assert len(host.faults()) == 1


@pytest.mark.parametrize(
    ("options", "status"),
    [
        ({"token": ""}, 401),
        ({"token": "guessed"}, 401),
        ({"headers": {"Host": "evil.example:80"}}, 403),
        ({"path": "/hook/nobody"}, 404),
        ({"path": "/"}, 404),
        ({"method": "GET"}, 501),
        ({"headers": {"Content-Length": str(1 << 40)}}, 413),
        ({"headers": {"Content-Length": "-4"}}, 413),
    ],
)
def test_nobody_else_is_let_in(host, up, options, status):
    assert post(host, b"{}", **options)[0] == status
    assert up.calls == 0


def test_port_and_token_stay_the_same_and_are_private(host):
    first = http_settings(str(host.state), str(host.root), "claude-code")
    with serving(str(host.root), environ=host.environ, home=str(host.home)):
        assert http_settings(str(host.state), str(host.root), "claude-code") == first
    assert http_settings(str(host.state), str(host.folder("other")), "claude-code") != first
    file = host.store.with_name("http")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_second_one_of_the_same_workspace_is_told_that_the_port_is_taken(host, up):
    with (
        pytest.raises(WorkspaceError, match=r"Port \d+ of 127.0.0.1 is taken") as raised,
        serving(str(host.root), environ=host.environ, home=str(host.home)),
    ):
        pass
    assert "Is another `sightline up` running" in raised.value.hint
    assert len(pipes(host)) == 1


def test_it_can_be_started_again_at_once(host):
    for _ in range(3):
        with serving(str(host.root), environ=host.environ, home=str(host.home)):
            assert post(host, host.payload("Stop"))[0] == 200


def test_a_server_stores_what_a_first_checkpoint_needs_when_no_call_is_under_way(host):
    host.put("a.txt", "one\n")
    stored = Event()
    pauses: list[None] = []

    def pause() -> None:  # called before the first text, and after each few texts
        pauses.append(None)
        if len(pauses) == 2:
            stored.set()

    workspace = OpenWorkspace(
        str(host.root), read_settings(str(host.root), host.environ, str(host.home))
    )
    workspace.listen(pause)
    assert stored.wait(30)
    assert workspace.context().store.stored_among([revision_of(b"one\n")]) == {
        revision_of(b"one\n")
    }
    workspace.close()
