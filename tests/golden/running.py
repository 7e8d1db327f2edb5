"""How the golden tests run Sightline. Only this file knows where its entries are.

The command is what `python -m sightline` runs, in this process or in one of its own. A hook is the
script that `sightline init` writes into the settings of Claude Code. No module of the package is
named here or in any other file of this folder, except `sightline` itself.
"""

from __future__ import annotations

import gc
import io
import json
import os
import runpy
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple
from unittest.mock import patch

import sightline
from sightline.agents.hook_line import program_of

SOURCE = Path(sightline.__file__).resolve().parents[1]
RECORDINGS = Path(__file__).resolve().parents[1] / "bench" / "recordings"
SETTINGS = ".claude/settings.local.json"
EVENT = "PreToolUse"
INTERRUPTIBLE = """
import runpy, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in a job in the background
sys.argv[0] = "sightline"
runpy.run_module("sightline", run_name="__main__")
"""
COMMIT_DATE = "2026-01-01T12:00:00Z"


class Answer(NamedTuple):
    """What a run left: its exit code and its two streams."""

    code: int
    out: bytes
    err: bytes


class Place:
    """A home and a project in it, for one story. Nothing outside of them is read or changed."""

    def __init__(self, *, git: bool = False) -> None:
        self.home = Path(os.path.realpath(tempfile.mkdtemp(prefix="sl-")))
        self.root = self.home / "project"
        (self.root / ".git").mkdir(parents=True)
        self.environ = {
            "HOME": str(self.home),
            "PATH": os.pathsep.join([os.path.dirname(shutil.which("git") or "/bin/git"), "/bin"]),
            "PYTHONPATH": str(SOURCE),
            "SIGHTLINE_ANSWERER": "off",
            "CLAUDE_PROJECT_DIR": str(self.root),
            "COLUMNS": "80",
            "NO_COLOR": "1",
            "LC_ALL": "C.UTF-8",
            "TZ": "UTC",
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        for role in ("AUTHOR", "COMMITTER"):
            self.environ[f"GIT_{role}_NAME"] = "Ada"
            self.environ[f"GIT_{role}_EMAIL"] = "ada@example.org"
            self.environ[f"GIT_{role}_DATE"] = COMMIT_DATE
        self._hook: list[str] = []
        if git:
            (self.root / ".git").rmdir()
            self.git("init", "--quiet", "--initial-branch=main")

    def close(self) -> None:
        shutil.rmtree(self.home, ignore_errors=True)

    def save(self, path: str, data: bytes) -> None:
        """Save a file in one step, so that no watcher sees half of it."""
        file, aside = self.root / path, self.home / "aside"
        file.parent.mkdir(parents=True, exist_ok=True)
        aside.write_bytes(data)
        aside.replace(file)

    def git(self, *args: str) -> Answer:
        return self._run(["git", *args])

    def command(self, *args: str, stdin: bytes = b"") -> Answer:
        """`python -m sightline`, in this process."""
        streams: dict[str, Any] = {
            "stdin": io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"),
            "stdout": io.TextIOWrapper(io.BytesIO(), encoding="utf-8"),
            "stderr": io.TextIOWrapper(io.BytesIO(), encoding="utf-8"),
            "argv": ["sightline", *args],
        }
        code = 0
        with self.entered(), patch.multiple(sys, **streams):
            try:
                runpy.run_module("sightline", run_name="__main__")
            except SystemExit as end:
                code = end.code if isinstance(end.code, int) else int(end.code is not None)
        return Answer(code, _printed(streams["stdout"]), _printed(streams["stderr"]))

    def process(self, *args: str, stdin: bytes = b"") -> Answer:
        """`python -m sightline`, as a process of its own."""
        return self._run([sys.executable, "-m", "sightline", *args], stdin)

    @contextmanager
    def entered(self) -> Iterator[None]:
        """This process has the environment and the current folder of the story."""
        before = os.getcwd()
        with patch.dict(os.environ, self.environ, clear=True):
            os.chdir(self.root)
            try:
                yield
            finally:
                os.chdir(before)

    def hook(self, payload: bytes) -> Answer:
        """A hook of Claude Code: the script that its settings name, in this process."""
        *_, line = self.hook_command()
        script, words = program_of(line)[1], ["claude-code", f"project={self.root}"]
        with self.entered(), _descriptors(payload) as streams, _ended_softly():
            with (
                patch.object(sys, "path", [*sys.path]),
                patch.object(sys, "argv", [script, *words]),
            ):
                try:
                    runpy.run_path(script, run_name="__main__")
                    code = -1  # it always ends its process
                except _Ended as end:
                    code = end.code
            out, err = (_read_back(stream) for stream in streams)
        return Answer(code, out, err)

    def hook_process(self, payload: bytes) -> Answer:
        """A hook of Claude Code, started as its settings say."""
        return self._run(self.hook_command(), payload)

    def hook_command(self) -> list[str]:
        """Return what `sightline init` has Claude Code run; asked in a project apart."""
        if not self._hook:
            apart = Place()
            try:
                done = apart.command("init", "claude-code")
                assert done.code == 0, done.err.decode()
                settings: Any = json.loads((apart.root / SETTINGS).read_text())
                (entry,) = settings["hooks"][EVENT]
                (hook,) = entry["hooks"]
                self._hook = ["/bin/sh", "-c", hook["command"]]
            finally:
                apart.close()
        return self._hook

    @contextmanager
    def staying(self, *args: str) -> Iterator[subprocess.Popen[bytes]]:
        """A command that goes on until Ctrl-C, once it has said that it watches."""
        with subprocess.Popen(
            [sys.executable, "-c", INTERRUPTIBLE, *args],
            cwd=self.root,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as child:
            assert child.stderr
            try:
                while not (said := child.stderr.readline()).startswith(b"Watching "):
                    assert said, "it ended"
                yield child
            finally:
                child.send_signal(signal.SIGINT)
                child.communicate()

    def _run(self, words: list[str], stdin: bytes = b"") -> Answer:
        done = subprocess.run(
            words, input=stdin, cwd=self.root, env=self.environ, capture_output=True, check=False
        )
        return Answer(done.returncode, done.stdout, done.stderr)


def _printed(stream: io.TextIOWrapper) -> bytes:
    stream.flush()
    assert isinstance(stream.buffer, io.BytesIO)
    return stream.buffer.getvalue()


class _Ended(BaseException):
    """A hook ended its process."""

    def __init__(self, code: int) -> None:
        self.code = code


@contextmanager
def _ended_softly() -> Iterator[None]:
    """Ending the process raises _Ended; the garbage collector is as it was."""

    def end(code: int) -> None:
        raise _Ended(code)

    try:
        with patch.object(os, "_exit", end):
            yield
    finally:
        gc.enable()


@contextmanager
def _descriptors(stdin: bytes) -> Iterator[list[IO[bytes]]]:
    """This process reads its standard input from bytes, and writes to files."""
    with (
        tempfile.TemporaryFile() as given,
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
    ):
        given.write(stdin)
        given.seek(0)
        kept = [os.dup(number) for number in range(3)]
        try:
            for number, file in enumerate((given, out, err)):
                os.dup2(file.fileno(), number)
            yield [out, err]
        finally:
            for number, before in enumerate(kept):
                os.dup2(before, number)
                os.close(before)


def _read_back(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read()
