"""The port of `up` goes on to answer hooks, whoever else connects to it."""

from __future__ import annotations

import http.client
import socket
import threading

import pytest

from sightline.hooks.http_endpoint import HOST, STRANGERS_MAX, HttpEndpoint, _Handler

TOKEN = "t" * 43


@pytest.fixture
def payloads():
    """The payloads that were handed on."""
    return []


@pytest.fixture
def port(payloads):
    def answer(agent, event, raw):
        payloads.append(raw)
        return b'{"asked": true}'

    made = HttpEndpoint(answer, 0, TOKEN)
    yield made._listener.server_port
    made.close()


def ask(port, token=TOKEN):
    connection = http.client.HTTPConnection(HOST, port, timeout=30)
    try:
        headers = {"Authorization": f"Bearer {token}"}
        connection.request("POST", "/hook/claude-code", b"{}", headers)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


@pytest.mark.parametrize(
    "sent",
    [b"", pytest.param(b"POST /hook/claude-code HTTP/1.1\r\nHost: x", marks=pytest.mark.wide)],
)
def test_idle_connections_without_a_token_do_not_stop_the_hooks(port, sent, monkeypatch):
    monkeypatch.setattr(_Handler, "timeout", None)  # only the bound may end a connection here
    before = threading.active_count()
    idle = []
    for _ in range(3 * STRANGERS_MAX):
        idle.append(socket.create_connection((HOST, port), timeout=10))
        idle[-1].sendall(sent)
    try:
        assert ask(port) == (200, b'{"asked": true}')
        for ended in idle[:STRANGERS_MAX]:
            assert ended.recv(1) == b"", "the oldest connections were ended"
        assert threading.active_count() <= before + 2 * STRANGERS_MAX
    finally:
        for each in idle:
            each.close()


def test_a_connection_that_sent_the_token_is_not_ended_for_others(port):
    connection = http.client.HTTPConnection(HOST, port, timeout=30)
    headers = {"Authorization": f"Bearer {TOKEN}"}
    connection.request("POST", "/hook/claude-code", b"{}", headers)
    assert connection.getresponse().read() == b'{"asked": true}'
    idle = [socket.create_connection((HOST, port)) for _ in range(2 * STRANGERS_MAX)]
    connection.request("POST", "/hook/claude-code", b"{}", headers)
    assert connection.getresponse().read() == b'{"asked": true}'
    connection.close()
    for each in idle:
        each.close()


@pytest.mark.parametrize("token", ["", "other", TOKEN[:-1]])
def test_no_payload_is_handed_on_without_the_token(port, payloads, token):
    assert ask(port, token)[0] == 401
    assert payloads == []
    assert ask(port)[0] == 200
    assert payloads == [b"{}"]


@pytest.mark.parametrize("name", ["evil.example", "evil.example:{port}", "127.0.0.1"])
def test_no_payload_is_handed_on_under_another_name_of_this_machine(port, payloads, name):
    connection = http.client.HTTPConnection(HOST, port, timeout=30)
    headers = {"Authorization": f"Bearer {TOKEN}", "Host": name.format(port=port)}
    connection.request("POST", "/hook/claude-code", b"{}", headers)
    assert connection.getresponse().status == 403
    assert payloads == []
    connection.close()
