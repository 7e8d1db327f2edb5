"""Two installations are called for each event: one answers, the other steps aside."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy

import pytest
from tests.hooks.daemons import DaemonHost
from tests.hooks.hooking import ENTRY, refusal

from sightline.hooks import event_lock
from sightline.hooks.daemon_status import DaemonStatus
from sightline.model.events import Refused

pytestmark = pytest.mark.skipif(not hasattr(os, "lockf"), reason="the system has no record locks")


@pytest.fixture
def two():
    """A host whose hooks are called in two installations, the second of which is this one."""
    made = DaemonHost()
    made.environ["SIGHTLINE_ANSWERER"] = "off"
    os.makedirs(made.run_folder, 0o700)
    yield made
    made.close()


def other(host):
    """The same host, whose hooks call this installation."""
    copied = copy(host)
    copied.entry = ENTRY
    return copied


def both(host, raw):
    """Call both hooks at once, and return what each printed, as the agent takes it."""
    with host.spawn() as first, other(host).spawn() as second:
        pass_on = [(each, each.stdin) for each in (first, second)]
        for child, stdin in pass_on:
            assert stdin
            stdin.write(raw)
            stdin.close()
            child.stdin = None
        said = [child.communicate() for child, _ in pass_on]
    assert [err for _, err in said] == [b"", b""]
    return [json.loads(out) for out, _ in said if out]


def changed_behind(host):
    path = host.put("a.py", "a = 1\n")
    host.run(host.shown(path, "a = 1\n"))
    host.put("a.py", "a = 7\n")
    return host.edit(path, "a = 1", "a = 2")


@pytest.mark.wide
def test_of_two_hooks_one_answers_and_the_event_counts_once(two):
    raw = changed_behind(two)
    for number in range(1, 4):
        (answer,) = both(two, raw)
        assert refusal(answer)
        refused = [each for each in two.facts() if isinstance(each.fact, Refused)]
        assert len(refused) == number


@pytest.mark.wide
def test_the_same_payload_later_is_another_event(two):
    raw = changed_behind(two)
    assert all(refusal(two.run(raw)) for _ in range(4))


WAITING = """
import sys
from sightline.hooks import event_lock
print(event_lock._started_us(), flush=True)
print(event_lock.lock_event(sys.argv[1], b"event"), flush=True)
"""


@contextmanager
def waiting(folder: str) -> Iterator[subprocess.Popen[str]]:
    """Another hook of the event, which has started and asks for the lock."""
    with subprocess.Popen(
        [sys.executable, "-c", WAITING, folder], stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout
        started = int(child.stdout.readline())
        while event_lock.now_us() <= started:
            pass
        yield child


def locked(folder: str, event: bytes) -> int:
    lock = event_lock.lock_event(folder, event)
    assert lock is not None
    assert lock >= 0
    return lock


def test_who_finds_the_event_answered_steps_aside(tmp_path):
    tmp_path.chmod(0o700)
    lock = locked(str(tmp_path), b"event")
    with waiting(str(tmp_path)) as other:
        event_lock.note_answer(lock, b"event")
        os.close(lock)
        assert other.communicate()[0] == "None\n"


def test_an_event_whose_first_hook_died_is_answered_by_the_other(tmp_path):
    tmp_path.chmod(0o700)
    lock = locked(str(tmp_path), b"event")
    with waiting(str(tmp_path)) as other:
        os.close(lock)  # as the system does with the lock of a dead process
        assert int(other.communicate()[0]) >= 0


@pytest.mark.wide
def test_a_hook_that_waits_answers_where_the_first_one_died(two):
    raw = changed_behind(two)
    lock = locked(two.run_folder, b"claude-code\0" + raw)
    with two.spawn() as second:
        assert second.stdin
        second.stdin.write(raw)
        second.stdin.close()
        second.stdin = None
        os.close(lock)
        assert refusal(json.loads(second.communicate()[0]))


def test_where_no_lock_can_be_kept_each_hook_answers(tmp_path):
    assert event_lock.lock_event(str(tmp_path / "missing"), b"event") == -1
    tmp_path.chmod(0o755)
    assert event_lock.lock_event(str(tmp_path), b"event") == -1, "others may write there"
    event_lock.note_answer(-1, b"event")
    tmp_path.chmod(0o700)
    (tmp_path / event_lock.NAME).symlink_to("elsewhere")
    assert event_lock.lock_event(str(tmp_path), b"event") == -1
    assert not (tmp_path / "elsewhere").exists()


def test_events_do_not_wait_for_one_another(tmp_path):
    tmp_path.chmod(0o700)
    held = locked(str(tmp_path), b"another event")
    with waiting(str(tmp_path)) as other:
        assert int(other.communicate()[0]) >= 0
    os.close(held)


@pytest.mark.wide
def test_each_installation_has_its_own_daemon():
    host = DaemonHost()
    try:
        first = host.begin()
        host.entry = ENTRY
        host.run(host.payload("UserPromptSubmit", prompt="go on"))
        while len(found := host.autos()) < 2:
            pass
        assert len({each.installation for each in found}) == 2
        assert first.pid in [each.pid for each in found]
        calls = {each.installation: int(each.calls) for each in found}
        host.run(host.payload("UserPromptSubmit", prompt="go further"))
        now: list[DaemonStatus] = host.autos()
        assert sum(int(each.calls) for each in now) == sum(calls.values()) + 1
    finally:
        host.close()
