"""Completion: what is offered, and in the real shells what the command gets of the line after TAB."""

from __future__ import annotations

import json
import os
import pty
import re
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from threading import Timer

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.command_line import PROGRAM, SOURCE
from tests.support.examples import fully, widely

from sightline.cli.completion import typed
from sightline.cli.group import COMMANDS

NOTHING = ["files"]

BREAKS = " \t\n\"'@><=;|&(:"
"""$COMP_WORDBREAKS of an interactive bash."""


@pytest.fixture
def complete(sl, monkeypatch):
    """Answers for a line up to the cursor, as a shell's script asks for them."""

    def answer(line, shell="zsh"):
        with monkeypatch.context() as environ:
            environ.setenv("_SIGHTLINE_COMPLETE", f"{shell}_complete")
            environ.setenv("COMP_WORDS", line)
            environ.setenv("COMP_BREAKS", BREAKS)
            done = sl()
        assert (done.code, done.err) == (0, "")
        return [row.partition("\t")[0] for row in done.out.split("\n")[:-1]]

    return answer


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("sightline stat", ["items", "status", "stats"]),
        ("./bin/sightline-guard stat", ["items", "status", "stats"]),
        ("sightline --quiet checkpoint ex", ["items", "export"]),
        ("sightline claim hand", ["mixed", "hand-over"]),
        ("sightline session s", ["items", "show"]),
        ("sightline checkpoint diff --st", ["items", "--stat", "--store"]),
        ("sightline init --scope ", ["items", "user", "project", "local"]),
        ("sightline init --scope=l", ["items", "--scope=local"]),
        ("sightline init cl", ["items", "claude-code"]),
        ("sightline window --policy c", ["items", "careful"]),
        ("sightline log --kind dr", ["items", "dropped"]),
        ("sightline --workspace ", ["dirs"]),
        ("sightline run -- git st", ["command", "3", "git st"]),
        ("sightline --quiet run git --", ["command", "3", "git --"]),
        ("sightline hoo", NOTHING),
        ("sightline read ", NOTHING),
        ("sightline read -- --l", NOTHING),
        ("sightline claim src/", NOTHING),
        ("sightline nonsense ", NOTHING),
        ("sightline nonsense --x", NOTHING),
        ("sightline read --nonsense ", NOTHING),
        ("sightline edit a.py --old ", NOTHING),
        ("sightline rewind 'unfinished", NOTHING),
        ("", ["items", *[name for name in COMMANDS if " " not in name and name != "hook"]]),
    ],
)
def test_what_is_offered(complete, line, answer):
    assert complete(line) == answer


@pytest.mark.parametrize("line", ["sightline rewind ", "sightline session show ", "sightline sta"])
def test_completing_makes_no_store(sl, complete, line):
    complete(line)
    assert not sl.home.exists()


def test_names_of_the_store_are_offered_the_newest_first(sl, complete):
    sl.put("a.py", "x\n")
    sl("read", "a.py")
    ids = {
        label: sl("checkpoint", label, "--json").json["checkpoint"]["id"] for label in ("b", "c")
    }
    sl("checkpoint", "gone")
    sl("checkpoint", "delete", "gone")
    claim = sl("claim", "a.py", "--json").json["claim"]["id"]
    names = ["items", "c", "b", ids["c"], ids["b"]]
    for line in ("rewind ", "checkpoint diff ", "checkpoint diff c ", "log --since "):
        assert complete(f"sightline {line}") == names
    assert complete("sightline claim release ") == ["items", claim]
    assert complete("sightline claim --renew ") == ["items", claim]
    for line in ("session delete ", "status --session ", "--session "):
        assert complete(f"sightline {line}") == ["items", "cli"]
    elsewhere = f"sightline --workspace {sl.root.parent} rewind "
    assert complete(elsewhere) == NOTHING


@pytest.mark.parametrize("state", ["held", "damaged", "older"])
def test_a_store_that_cannot_be_read_at_once_is_left_alone(sl, complete, state):
    sl("checkpoint", "b")
    (file,) = sl.home.glob("workspaces/*/store.db")
    assert "b" in complete("sightline rewind ")
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        if state == "held":
            other.execute("PRAGMA locking_mode=EXCLUSIVE")
            other.execute("BEGIN EXCLUSIVE")
        elif state == "older":
            other.execute("PRAGMA user_version=8")
        if state == "damaged":
            file.write_bytes(b"no store" * 999)
        assert complete("sightline rewind ") == NOTHING


@given(st.lists(st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1), min_size=1))
def test_a_line_is_split_as_a_shell_does(words):
    line = typed(f"{shlex.join(words)} ")
    assert (line.words, line.word, line.quote) == (words, "", "")
    assert typed(shlex.join(words)).words == words[:-1]
    assert typed(shlex.join(words)).word == words[-1]


NASTY = [
    'before the "big" one', "it's $HOME", "a\\b`c`", "!x*?[1]{2}~#&;|<>()^", "größe: 1=2", "\\",
]  # fmt: skip


@pytest.mark.parametrize("start", ["", "'", '"'])
def test_bash_gets_each_label_whole(sl, complete, start):
    for label in NASTY:
        assert sl("checkpoint", label).code == 0
    rows = complete(f"sightline rewind {start}", "bash")
    labels = rows[1 : 1 + len(NASTY)]
    said = subprocess.run(
        ["bash", "-c", "\n".join(f"printf '%s\\0' {start}{row}{start}" for row in labels)],
        capture_output=True,
        check=True,
    ).stdout.decode()
    assert said.split("\0")[:-1] == NASTY[::-1]


def test_bash_replaces_a_word_from_its_last_break(sl, complete):
    sl("checkpoint", "one: two=three")
    assert complete("sightline rewind one", "bash") == ["items", "one:\\ two=three"]
    assert complete("sightline rewind one:", "bash") == ["items", "\\ two=three"]
    assert complete("sightline rewind 'one:", "bash") == ["items", "one: two=three"]
    assert complete("sightline init --scope=u", "bash") == ["items", "user"]


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
        """Return what the shell wrote until these words."""
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

    def end(self):
        os.close(self.terminal)
        self.child.send_signal(signal.SIGKILL)
        self.child.wait()
        self.hanging.cancel()


@pytest.fixture(params=["bash", *widely("zsh"), *fully("fish")])
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


@pytest.mark.wide
def test_what_stands_after_tab_is_what_the_command_gets(line, sl, tmp_path):
    sl.put("src/only.py", "a = 1\n")
    sl.put("my docs/größe 1.txt", "x\n")
    sl("checkpoint", BIG)
    (tmp_path / "bin" / "kept for me").mkdir()
    rows = {
        "sightline checkpoint ex\tbefo\t": ["checkpoint", "export", BIG],
        "sightline rewind 'befo\t": ["rewind", BIG],
        "sightline init --scope=us\t": ["init", "--scope=user"],
        "sightline claim sr\t": ["claim", "src"],
        "sightline read my\tgr\t": ["read", "my docs/größe 1.txt"],
        "sightline nonsense ~/kep\t": ["nonsense", f"{tmp_path}/bin/kept for me"],
        "sightline run -- cat sr\t": ["run", "--", "cat", "src"],
        "sightline --workspace sr\t": ["--workspace", "src"],
    }
    assert {keys: line.arguments(keys) for keys in rows} == rows
