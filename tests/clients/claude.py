"""Claude Code itself, headless, against a scripted model: in a clean environment and home."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Timer
from typing import NamedTuple
from uuid import uuid4

import pytest
from tests.clients.stub import Body, Model

from sightline.hooks import event_lock, protocol

REPOSITORY = Path(__file__).parents[2]
INSTALLED = REPOSITORY / ".clients"
"""Where .ci/run installs what tests/clients/package.json names."""

PROGRAM = """
import signal, sys
from sightline.cli.entry import main
signal.signal(signal.SIGINT, signal.default_int_handler)  # a runner in the background has it ignored
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # and one that is to outlive its terminal this
sys.exit(main())
"""
DEADLINE_S = 120
"""A client that hangs is ended; a run takes about 4 s, a long session more (Claude.deadline_s)."""

GOOD = (0, 200)
"""How a hook ends well, as a process or over HTTP."""

TOLD = ("user", "assistant", "result")
"""The rows of the client's stream that bear what was said."""

HOOK = ("hook_event", "exit_code", "stdout", "stderr")
STORY_MAX = 2_000
"""Characters of a message or a hook in the story of a failed test."""

OWN_AFFAIRS = {
    "ANTHROPIC_API_KEY": "none",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_MAX_RETRIES": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_TELEMETRY": "1",
}
"""What keeps the client from asking anything but the model."""


def found() -> str:
    """The client's executable; the test is skipped or, where the gate runs, failed without one."""
    named = os.environ.get("SIGHTLINE_TEST_CLAUDE")
    return executable("Claude Code", named or "@anthropic-ai/*/claude")


def executable(name: str, place: str) -> str:
    """A client's executable, at an absolute path or below the installed packages; the test is skipped
    or, where the gate runs, failed without one."""
    is_named = os.path.isabs(place)
    for each in [place] if is_named else sorted(INSTALLED.glob(f"node_modules/{place}")):
        if os.access(each, os.X_OK):
            return str(each)
    if os.environ.get("CI") == "true" and (is_named or shutil.which("npm")):
        pytest.fail(f"no {name} in {INSTALLED}, although npm is here to install it")
    pytest.skip(f"{name} is not installed: .ci/run installs and drives it")


class Back(NamedTuple):
    """In the place of a prompt: the user takes the conversation back to before one of the run's prompts.
    prompts: how many are taken out; then: called when they are."""

    prompts: int
    then: Callable[[], object]


class Run(NamedTuple):
    """What a run of the client left. rows: its stream of JSON objects."""

    code: int
    rows: list[Body]
    err: str

    @property
    def session(self) -> str:
        """The client's id of the conversation."""
        return str(next(row["session_id"] for row in self.rows if "session_id" in row))

    @property
    def hooks(self) -> list[Body]:
        """The hooks that ended in this run, with their hook_event, stdout, stderr and exit_code."""
        return [row for row in self.rows if row.get("subtype") == "hook_response"]


class Claude:
    """The client, and Sightline, in a workspace with a home and a state folder of their own.

    meanwhile: where it is set, the client asks before each edit, and this is called before the user allows it.
    """

    def __init__(self, folder: Path, model: Model, state: Path) -> None:
        self.model = model
        self.binary = found()
        self.runs: list[Run] = []
        self.settings: dict[str, str] = {}
        self.deadline_s = DEADLINE_S
        self.meanwhile: Callable[[], object] | None = None
        self.root, self.home, self.state = folder / "project", folder / "home", state
        for each in (self.root, self.home):
            each.mkdir()
        subprocess.run(["git", "init", "--quiet"], cwd=self.root, check=True)

    @property
    def environ(self) -> dict[str, str]:
        """All that a process of these tests is given."""
        return OWN_AFFAIRS | {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "TMPDIR": str(self.home),
            "SIGHTLINE_HOME": str(self.state),
            "ANTHROPIC_BASE_URL": self.model.url,
            **self.settings,
        }

    def put(self, path: str, content: str) -> str:
        """Save a file as the user's editor would; its absolute path."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, encoding="utf-8", newline="")
        return str(file)

    def text(self, path: str) -> str:
        """A file as it stands on disk."""
        return (self.root / path).read_text(encoding="utf-8")

    def run(self, *prompts: str | Back, args: tuple[str, ...] = ()) -> Run:
        """Give one conversation these prompts, each when the one before it was answered."""
        command = [self.binary, "--print", "--verbose", "--output-format", "stream-json"]
        command += ["--input-format", "stream-json", "--permission-mode"]
        if self.meanwhile is None:
            command += ["acceptEdits"]
        else:
            command += ["default", "--permission-prompt-tool", "stdio"]
        command += ["--include-hook-events", "--allowedTools", "Bash", *args]
        with (
            (self.home / "errors").open("w+", encoding="utf-8") as errors,
            subprocess.Popen(
                command,
                cwd=self.root,
                env=self.environ,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            ) as client,
        ):
            talk = _Talk(client, list(prompts), self.meanwhile)
            with _ended_in_time(client, self.deadline_s):
                rows = talk.rows()
            client.wait()
            errors.seek(0)
            err = errors.read()
        assert not self.model.errors, self.model.errors
        self.runs.append(Run(client.returncode, rows, err))
        return self.runs[-1]

    def sightline(self, *args: str, code: int = 0) -> str:
        """Run our own command in the workspace; its output."""
        with self._spawned(*args) as made, _ended_in_time(made):
            out, err = made.communicate()
        assert made.returncode == code, err
        return out

    @contextmanager
    def up(self) -> Iterator[Iterable[str]]:
        """Have `sightline up` run. What it prints, line by line as it does."""
        with self._spawned("up") as process:
            assert process.stdout
            assert process.stderr
            with _ended_in_time(process):
                assert any(line.startswith("Watching") for line in process.stderr)
                yield process.stdout
                process.send_signal(signal.SIGINT)
                process.communicate()
        assert process.returncode == 130

    def _spawned(self, *args: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-c", PROGRAM, *args],
            cwd=self.root,
            env=self.environ | {"PYTHONPATH": str(REPOSITORY / "src")},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def left(self) -> list[str]:
        """Return what there is of answerers after the last has ended, for which this waits."""
        run = self.state / "run"
        for place in run.glob("*.lock"):
            with suppress(FileNotFoundError), place.open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
        notes = (protocol.TOLD, protocol.OFF)  # of an outage: whoever answers next removes them
        left = [path for path in run.glob("*") if path.name != event_lock.NAME]
        return sorted(path.name for path in left if path.suffix not in notes)

    @property
    def faults(self) -> str:
        """Return what our hooks logged of their own faults, and those that did not end well."""
        log = self.state / "hooks.log"
        ended = [hook for run in self.runs for hook in run.hooks]
        bad = [str(hook) for hook in ended if hook.get("exit_code") not in GOOD or hook["stderr"]]
        return "\n".join([log.read_text(encoding="utf-8") if log.exists() else "", *bad]).strip()

    @property
    def story(self) -> str:
        """Return what was said in all runs, line by line: messages, and what hooks answered."""
        rows = [row for run in self.runs for row in run.rows if row["type"] in TOLD]
        hooks = [{key: row.get(key) for key in HOOK} for run in self.runs for row in run.hooks]
        said = [row.get("message", row.get("result")) for row in rows]
        return "\n".join(json.dumps(each)[:STORY_MAX] for each in [*said, *hooks])

    def status(self) -> dict[str, dict[str, Body]]:
        """Return what Sightline knows: session -> path -> file."""
        told = json.loads(self.sightline("status", "--json"))
        return {
            each["id"]: {file["path"]: file for file in each["files"]} for each in told["sessions"]
        }

    def log(self, kind: str | None = None) -> list[Body]:
        """The timeline, all of it or the facts of one kind."""
        rows = [json.loads(line) for line in self.sightline("log", "--json").splitlines()]
        return [row for row in rows if kind in (None, row["kind"])]


class _Talk:
    """What is said to a client over its standard streams."""

    def __init__(
        self,
        client: subprocess.Popen[str],
        prompts: list[str | Back],
        meanwhile: Callable[[], object] | None,
    ) -> None:
        assert client.stdin
        assert client.stdout
        self._in, self._out = client.stdin, client.stdout
        self._prompts = prompts
        self._meanwhile = meanwhile
        self._said: list[str] = []
        self._back: Back | None = None

    def rows(self) -> list[Body]:
        """Say one prompt after the other; all rows of the client's stream."""
        rows: list[Body] = []
        self._go_on()
        for line in self._out:
            row = json.loads(line)
            if row["type"] == "control_request":
                self._allow(row)
            elif row["type"] == "control_response":
                self._went_back(row)
            else:
                rows.append(row)
                if row["type"] == "result":
                    self._go_on()
        return rows

    def _go_on(self) -> None:
        """Say the next prompt, or that there is none."""
        if not self._prompts:
            self._in.close()
            return
        prompt = self._prompts.pop(0)
        if isinstance(prompt, Back):
            self._back = prompt
            target, newest = self._said[-prompt.prompts], self._said[-1]
            request = {"subtype": "rewind_conversation", "target_message_uuid": target}
            request |= {"last_seen_user_message_uuid": newest}
            self._write({"type": "control_request", "request_id": target, "request": request})
            return
        self._said.append(str(uuid4()))
        message = {"role": "user", "content": prompt}
        self._write({"type": "user", "uuid": self._said[-1], "message": message})

    def _allow(self, row: Body) -> None:
        """Allow what the client asks for."""
        request = row["request"]
        assert request["subtype"] == "can_use_tool", request
        if self._meanwhile:
            self._meanwhile()
        allowed = {"behavior": "allow", "updatedInput": request["input"]}
        answer = {"subtype": "success", "request_id": row["request_id"], "response": allowed}
        self._write({"type": "control_response", "response": answer})

    def _went_back(self, row: Body) -> None:
        assert self._back, row
        assert row["response"].get("response", {}).get("rewound"), row
        del self._said[-self._back.prompts :]
        self._back.then()
        self._go_on()

    def _write(self, row: Body) -> None:
        self._in.write(json.dumps(row) + "\n")
        self._in.flush()


@contextmanager
def _ended_in_time(process: subprocess.Popen[str], within_s: int = DEADLINE_S) -> Iterator[None]:
    """A process that hangs, or that a failed test leaves behind, is ended."""
    hanging = Timer(within_s, process.kill)
    hanging.start()
    try:
        yield
    except BaseException:
        process.kill()
        raise
    finally:
        hanging.cancel()
