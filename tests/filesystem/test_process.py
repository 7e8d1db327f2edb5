"""Who holds what a command of a shell begins, and whether a process still lives."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from sightline.filesystem.process import (
    alive,
    behind_shell,
    here,
    holder_of,
    owner,
    owner_of,
    started_with,
)

linux = pytest.mark.skipif(sys.platform != "linux", reason="asks the kernel's own files")

ASK = f"""{sys.executable} -c '
import os
from sightline.filesystem.process import holder_of
print(holder_of(os.getppid()))
'
:"""
"""A script whose shell waits for the command, as one that a person types in does."""


def test_this_process_is_here_and_alive():
    assert here(owner())
    assert alive(owner())
    assert not here("another-machine:1:2")
    assert not alive("another-machine:1:2")


def test_a_process_that_has_ended_is_not_alive():
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        name = owner_of(child.pid)
        assert alive(name)
        child.communicate(b"\n")
    assert not alive(name)


@linux
def test_one_that_has_ended_and_was_not_waited_for_is_not_alive():
    child = subprocess.Popen([sys.executable, "-c", ""])
    name = owner_of(child.pid)
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert not alive(name)
    child.wait()


@linux
def test_a_later_process_of_the_same_number_is_another():
    machine, pid, start = owner().rsplit(":", 2)
    assert not alive(f"{machine}:{pid}:{int(start) + 1}")


def test_who_is_no_shell_holds_it_itself():
    assert holder_of(os.getpid()) == behind_shell(os.getpid()) == os.getpid()


@linux
def test_scripts_are_looked_behind():
    """Each ends before the next command of its program; the program is who stays."""
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    nested = ["sh", "-c", 'timeout 60 sh -c "$0"; :', ASK]
    done = subprocess.run(nested, env=environ, capture_output=True, text=True, check=True)
    assert int(done.stdout) == os.getpid()


@linux
def test_a_shell_at_a_terminal_is_who_stays():
    import pty

    child, terminal = pty.fork()
    if child == 0:
        os.environ["PYTHONPATH"] = os.pathsep.join(sys.path)
        os.execvp("sh", ["sh", "-c", ASK])
    said = b""
    try:
        while chunk := os.read(terminal, 1_000):
            said += chunk
    except OSError:  # how a terminal ends whose last process has gone
        pass
    assert os.waitpid(child, 0)[1] == 0
    assert int(said) == child


@linux
def test_processes_are_found_by_a_variable_that_they_were_started_with():
    environ = os.environ | {"SIGHTLINE_TEST": "one two"}
    words = [sys.executable, "-c", "input()"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, env=environ) as child:
        assert started_with("SIGHTLINE_TEST", "one") == [child.pid]
        assert started_with("SIGHTLINE_TEST", "two") == [child.pid]
        assert started_with("SIGHTLINE_TEST", "on") == []
        child.communicate(b"\n")
    assert started_with("SIGHTLINE_TEST", "one") == []
