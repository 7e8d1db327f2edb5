"""Completion in the real shells: what stands on the line after TAB is what the command gets."""

from __future__ import annotations

import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from threading import Timer

import pytest

from tests.support.command_line import PROGRAM, SOURCE

CI = os.environ.get("CI") == "true"

DEADLINE_S = 120
"""A shell that says nothing is killed then, and the test fails."""

WRAPPER = """#!{python}
import json, os, sys
if "_SIGHTLINE_COMPLETE" not in os.environ:
    sys.exit(print("ARGS" + json.dumps(sys.argv[1:]) + "END"))
sys.path.insert(0, {source!r})
{program}
"""
"""Completes as the command does, and prints its arguments instead of doing anything."""

STARTED = {"bash": ["--norc", "--noprofile", "-i"], "zsh": ["-f", "-i"], "fish": ["-i"]}

SEQUENCE = re.compile(
    r"\x1b\[[0-9;?>=<]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()][0-9A-B]|\x1b."
)


OWNING = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""
"""Makes the terminal that of the shell, which an interactive one asks for."""


class Line:
    """A shell at a pseudo-terminal: keys in, what it was about to run out."""

    def __init__(self, name, binary, sl, folder):
        self.name = name
        self.terminal, side = pty.openpty()
        environ = {key: each for key, each in os.environ.items() if key != "NO_COLOR"}
        environ |= {"PATH": f"{folder}:{os.environ['PATH']}", "HOME": str(folder), "TERM": "xterm"}
        environ |= {"ZDOTDIR": str(folder), "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"}
        environ |= {"XDG_CONFIG_HOME": str(folder), "XDG_DATA_HOME": str(folder)}
        self.child = subprocess.Popen(
            [sys.executable, "-c", OWNING, binary, *STARTED[name]],
            cwd=sl.root,
            env=environ,
            stdin=side,
            stdout=side,
            stderr=side,
            start_new_session=True,
        )
        os.close(side)
        self.hanging = Timer(DEADLINE_S, self.child.kill)
        self.hanging.start()
        self.seen = ""
        script = folder / "script"
        script.write_text(sl("completion", name).out)
        self.type(f"source {script}\r")
        assert self.arguments("sightline ready") == ["ready"]

    def type(self, keys):
        os.write(self.terminal, keys.encode())

    def until(self, words):
        """What the shell wrote until these words."""
        while words not in self.seen:
            try:
                part = os.read(self.terminal, 1 << 16)
            except OSError:
                part = b""
            assert part, f"{self.name} ended without {words!r}: {self.seen}"
            self.seen = SEQUENCE.sub("", self.seen + part.decode(errors="replace"))
        before, _, self.seen = self.seen.partition(words)
        return before

    def arguments(self, keys):
        """Type keys and Enter, and return the arguments that the command got."""
        self.type(f"{keys}\r")
        before = self.until("END")
        assert "Error" not in before, before
        assert "Traceback" not in before, before
        words = json.loads(before.rpartition("ARGS")[2])
        return [word.removesuffix("/") for word in words]  # zsh takes it off where a word ends

    def offered(self, keys, *names):
        """Type keys, wait until all names are offered, and throw the line away."""
        self.type(keys)
        shown = "".join(self.until(name) + name for name in names)
        self.type("\x03")
        return shown

    def end(self):
        os.close(self.terminal)
        self.child.send_signal(signal.SIGKILL)
        self.child.wait()
        self.hanging.cancel()


@pytest.fixture(params=STARTED)
def line(request, sl, tmp_path):
    """A shell of each kind, in a workspace with a store."""
    binary = shutil.which(request.param)
    if binary is None:
        assert not CI, f"{request.param} is not installed"
        pytest.skip(f"{request.param} is not installed")
    folder = tmp_path / "bin"
    folder.mkdir()
    file = folder / "sightline"
    file.write_text(WRAPPER.format(python=sys.executable, source=str(SOURCE), program=PROGRAM))
    file.chmod(0o755)
    shell = Line(request.param, binary, sl, folder)
    yield shell
    shell.end()


BIG = 'before the "big" one'


def test_what_stands_after_tab_is_what_the_command_gets(line, sl, tmp_path):
    sl.put("src/only.py", "a = 1\n")
    sl.put("my docs/größe 1.txt", "x\n")
    sl("checkpoint", BIG)
    (tmp_path / "bin" / "kept for me").mkdir()
    rows = {
        "sightline checkp\tex\tbefo\t": ["checkpoint", "export", BIG],
        "sightline rewind 'befo\t": ["rewind", BIG],
        "sightline init --scope=us\t": ["init", "--scope=user"],
        "sightline claim sr\ton\t": ["claim", "src/only.py"],
        "sightline read my\tgr\t": ["read", "my docs/größe 1.txt"],
        "sightline nonsense ~/kep\t": ["nonsense", f"{tmp_path}/bin/kept for me"],
        "sightline run -- cat sr\t": ["run", "--", "cat", "src"],
        "sightline --workspace sr\t": ["--workspace", "src"],
    }
    assert {keys: line.arguments(keys) for keys in rows} == rows
