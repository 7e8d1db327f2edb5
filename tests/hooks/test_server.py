"""A running `up` answers hooks: the same verdicts, each event once, and nobody else let in."""

from __future__ import annotations

import http.client
import json
import os
import socket
import stat
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Thread

import pytest
from tests.hooks.hooking import Host, refusal

from sightline.errors import WorkspaceError
from sightline.filesystem import process
from sightline.hooks.http_endpoint import http_settings
from sightline.hooks.protocol import GO, MINE, PROTOCOL, own_settings, run_folder, stamp
from sightline.hooks.server import serving
from sightline.model.events import SessionStarted, TurnBegan, WriteIntended

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="unix sockets")


@pytest.fixture
def host():
    made = Host()
    yield made
    made.close()


@pytest.fixture
def up(host):
    with serving(str(host.root), environ=host.environ, home=str(host.home)) as server:
        yield server


def sockets(host):
    folder = run_folder(host.environ, str(host.home))
    return [os.path.join(folder, n) for n in os.listdir(folder) if n.endswith(".sock")]


def count(host, kind):
    return len([each for each in host.facts() if isinstance(each.fact, kind)])


# Over the socket


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


def test_another_workspace_s_hook_does_its_own_work(host, up):
    other = host.folder("other")
    (other / "b.py").write_text("b = 1\n")
    host.environ["CLAUDE_PROJECT_DIR"] = str(other)
    assert refusal(host.run(host.write(str(other / "b.py"), "c\n")))
    assert up.calls == 0


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


def test_a_faulty_payload_is_the_hook_s_own_affair(host, up):
    assert host.run(b"{") == {}
    assert (up.calls, len(host.faults())) == (0, 1)


def test_many_hooks_at_once_are_all_answered_by_it(host, up):
    raws = [host.payload("UserPromptSubmit", f"s{n % 4}", prompt="x") for n in range(40)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(host.run, raws)) == [{}] * 40
    assert host.faults() == []
    assert count(host, TurnBegan) == 40


class Impostor:
    """Something at a socket in the right folder that behaves in a way of its own."""

    def __init__(self, host, behave):
        folder = run_folder(host.environ, str(host.home))
        os.makedirs(folder, mode=0o700, exist_ok=True)
        os.chmod(folder, 0o700)
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(os.path.join(folder, "1.sock"))
        self._socket.listen()
        self._behave = behave
        self._thread = Thread(target=self._serve)
        self._thread.start()

    def _serve(self):
        peer, _ = self._socket.accept()
        with peer:
            self._behave(peer)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._thread.join()
        self._socket.close()


def until_gone(peer):
    while peer.recv(1 << 16):
        pass


def dies_over_it(peer):
    peer.recv(1 << 16)
    peer.sendall(MINE)
    assert peer.recv(1) in (GO, b"{")


@pytest.mark.parametrize("behave", [until_gone, dies_over_it, lambda peer: None])
def test_a_server_that_is_silent_or_dies_costs_no_verdict(host, behave):
    raw = host.write(host.put("a.py", "a = 1\n"), "b\n")
    with Impostor(host, behave):
        assert "never shown" in refusal(host.run(raw))
    assert count(host, SessionStarted) == 1


def test_a_dead_socket_costs_no_verdict_and_goes_with_the_next_that_runs(host):
    with Impostor(host, until_gone):
        assert refusal(host.run(host.write(host.put("a.py", "a = 1\n"), "b\n")))
    (dead,) = sockets(host)
    kept = os.path.join(os.path.dirname(dead), "notes.sock")
    with open(kept, "w"):
        pass
    with serving(str(host.root), environ=host.environ, home=str(host.home)):
        assert dead not in sockets(host)
        assert kept in sockets(host)  # no socket: somebody else's
    assert sockets(host) == [kept]


def test_one_that_lives_keeps_its_socket(host, up):
    other = host.folder("other")
    (alive,) = sockets(host)
    with serving(str(other), environ=host.environ, home=str(host.home)):
        assert alive in sockets(host)
        assert len(sockets(host)) == 2


def test_the_folder_of_sockets_is_private(host, up):
    (path,) = sockets(host)
    assert stat.S_IMODE(os.stat(os.path.dirname(path)).st_mode) == 0o700
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600


def test_a_folder_that_others_may_enter_is_not_asked(host, up):
    os.chmod(run_folder(host.environ, str(host.home)), 0o755)
    assert refusal(host.run(host.write(host.put("a.py", "a = 1\n"), "b\n")))
    assert up.calls == 0


def talk(host, *pieces):
    """What the socket answers to these bytes."""
    (path,) = sockets(host)
    with socket.socket(socket.AF_UNIX) as peer:
        peer.connect(path)
        answer = b""
        for piece in pieces:
            if piece == GO:
                answer += peer.recv(1)
            peer.sendall(piece)
        peer.shutdown(socket.SHUT_WR)
        while piece := peer.recv(1 << 16):
            answer += piece
        return answer


def header(host, raw, *, protocol=PROTOCOL, size=None):
    fields = (protocol, "claude-code", "", str(len(raw) if size is None else size), "1")
    told = (*fields, str(host.root), own_settings(host.environ), stamp())
    return ("\0".join(told) + "\n").encode()


def test_an_event_is_not_attended_to_before_the_word_is_given(host, up):
    raw = host.payload("UserPromptSubmit", prompt="x")
    assert talk(host, header(host, raw), raw) == MINE
    assert (up.calls, host.facts()) == (0, [])
    assert talk(host, header(host, raw), raw, GO) == MINE + GO
    assert (up.calls, count(host, TurnBegan)) == (1, 1)


@pytest.mark.parametrize(
    "spoiled", [{"protocol": "sightline-hook-9"}, {"size": "-1"}, {"size": 1 << 40}]
)
def test_a_header_it_does_not_understand_is_none_of_its_own(host, up, spoiled):
    raw = host.payload("Stop")
    assert talk(host, header(host, raw, **spoiled)) == b"n"


def test_a_payload_that_never_comes_is_nothing(host, up):
    assert talk(host, header(host, b"x" * 10), b"x") == b""
    assert up.calls == 0


def test_too_long_a_path_for_a_socket_is_said(host):
    host.environ["SIGHTLINE_HOME"] = str(host.home / ("x" * 120))
    with (
        pytest.raises(WorkspaceError, match="too long a path"),
        serving(str(host.root), environ=host.environ, home=str(host.home)),
    ):
        pass


# Over HTTP


def post(host, body, *, token=None, path=None, headers=(), method="POST"):
    url, own = http_settings(str(host.state), str(host.root))
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
    first = http_settings(str(host.state), str(host.root))
    with serving(str(host.root), environ=host.environ, home=str(host.home)):
        assert http_settings(str(host.state), str(host.root)) == first
    assert http_settings(str(host.state), str(host.folder("other"))) != first
    file = host.store.with_name("http")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_second_one_of_the_same_workspace_is_told_that_the_port_is_taken(host, up):
    with (
        pytest.raises(WorkspaceError, match=r"Port \d+ of 127.0.0.1 is taken") as raised,
        serving(str(host.root), environ=host.environ, home=str(host.home)),
    ):
        pass
    assert "Is another `sightline up` running" in raised.value.hint
    assert len(sockets(host)) == 1


def test_it_can_be_started_again_at_once(host):
    for _ in range(3):
        with serving(str(host.root), environ=host.environ, home=str(host.home)):
            assert post(host, host.payload("Stop"))[0] == 200
