"""The command in a workspace of its own, run in this process or as a real one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from click.testing import CliRunner

from sightline.cli.group import cli

if TYPE_CHECKING:
    from collections.abc import Sequence

PROGRAM = """
import signal, sys
from sightline.cli.entry import main
signal.signal(signal.SIGINT, signal.default_int_handler)  # a runner in the background has it ignored
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # and one that is to outlive its terminal this
sys.exit(main())
"""
SOURCE = Path(__file__).parents[2] / "src"


class Answer(NamedTuple):
    """What a run of the command left: its exit code and its two streams."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Shell:
    """A workspace, a home for its store, and the command."""

    def __init__(self, root: Path, home: Path) -> None:
        self.root = root
        self.home = home

    def __call__(self, *args: str, stdin: str | bytes = b"") -> Answer:
        """In this process, through click's own runner."""
        made = CliRunner().invoke(cli, list(args), input=stdin)
        return Answer(made.exit_code, made.stdout, made.stderr)

    def spawn(
        self, *args: str, own_group: bool = False, through: Sequence[str] = ()
    ) -> subprocess.Popen[bytes]:
        """As a process under way, in a process group that can be interrupted as a terminal's.
        through: the words of a program that starts it."""
        return subprocess.Popen(
            [*through, sys.executable, "-c", PROGRAM, *args],
            cwd=self.root,
            env=os.environ | {"PYTHONPATH": str(SOURCE)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=own_group,
        )

    def process(self, *args: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        """As a process of its own: real streams, a real exit code."""
        with self.spawn(*args) as child:
            out, err = child.communicate(stdin)
        return subprocess.CompletedProcess(args, child.returncode, out, err)

    def put(self, path: str, content: str | bytes) -> Path:
        """Save a file as a program of the user would."""
        data = content.encode() if isinstance(content, str) else content
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        return file


@pytest.fixture
def sl(tmp_path, monkeypatch):
    """The command in an empty workspace that is the current folder. A setting that a test writes holds in
    that test alone."""
    root, home = tmp_path / "project", tmp_path / "state"
    (root / ".git").mkdir(parents=True)
    monkeypatch.chdir(root)
    monkeypatch.setenv("SIGHTLINE_HOME", str(home))
    for variable in ("XDG_CONFIG_HOME", "APPDATA"):
        monkeypatch.setenv(variable, str(tmp_path / "config"))
    return Shell(root, home)


@pytest.fixture
def at(sl, tmp_path, monkeypatch):
    """A workspace and a home folder, both with Claude Code nowhere in sight."""
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    return sl
