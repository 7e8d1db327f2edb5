"""A host that calls hooks: a home and a project of its own, and the processes that it starts."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sightline
from sightline.agents.claude_code.hook_settings import command_hooks, started
from sightline.config.settings import Settings
from sightline.hooks import fault_log, hook_entry
from sightline.hooks.call import Call
from sightline.hooks.daemon_status import list_daemons
from sightline.hooks.http_endpoint import http_settings
from sightline.hooks.protocol import own_settings, run_folder, stamp
from sightline.hooks.spawn import acquire_lock, lock_path
from sightline.model.events import Seen

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from sightline.hooks.daemon_status import DaemonStatus

AGENT = "claude-code"
TEXT = "".join(f"value_{n} = compute({n})\n" for n in range(200))
STANDARD = """
import json, sqlite3, hashlib, difflib, os, sys
db = sqlite3.connect(sys.argv[1])
db.execute("CREATE TABLE IF NOT EXISTS facts (body)")
db.execute("INSERT INTO facts VALUES (1)")
db.commit()
"""
WALK = """
import os, sys
def walk(folder):
    for entry in os.scandir(folder):
        if entry.is_dir(follow_symlinks=False):
            walk(entry.path)
        else:
            os.lstat(entry.path)
walk(sys.argv[1])
"""
UP = """
import os, sys
from sightline.hooks.server import HookServer
server = HookServer(sys.argv[1], environ=os.environ, home=os.environ["HOME"])
server.start()
try:
    print("ready", flush=True)
    sys.stdin.read()
finally:
    server.stop()
"""


class Host:
    """Its project holds shown.py, which its agent was shown, and unseen.py, which it was not."""

    def __init__(self, folder: str) -> None:
        self.home = os.path.realpath(folder)
        self.root = os.path.join(self.home, "project")
        os.makedirs(os.path.join(self.root, ".git"))
        self.environ = {"HOME": self.home, "PATH": os.environ["PATH"]}
        self.environ |= {"CLAUDE_PROJECT_DIR": self.root, "SIGHTLINE_ANSWERER": "off"}
        self.state = os.path.join(self.home, ".local/state/sightline")
        self.put("unseen.py")
        self.answer(self.payload("SessionStart", source="startup"))
        self.answer(self.shown("shown.py"))

    def script(self) -> list[str]:
        """The hook as `sightline init` installs it."""
        entry = os.path.abspath(hook_entry.__file__)
        return started(command_hooks(sys.executable, entry, "")["PreToolUse"])

    def command(self) -> list[str]:
        """The hook as a person calls it: the installed command."""
        return [
            os.path.join(os.path.dirname(sys.executable), "sightline"),
            "hook",
            AGENT,
            f"project={self.root}",
        ]

    def bare(self) -> list[str]:
        """An interpreter that does nothing."""
        return [sys.executable, "-I", "-S", "-c", "pass"]

    def standard(self) -> list[str]:
        """An interpreter that imports what every such tool needs, and commits once."""
        return [sys.executable, "-c", STANDARD, os.path.join(self.home, "floor.db")]

    def walking(self) -> list[str]:
        """An interpreter that looks at every file's times, and does nothing else."""
        return [*self.bare()[:3], "-c", WALK, self.root]

    def fill(self, files: int) -> None:
        """Put so many files into the project, thirty to a folder."""
        for n in range(files):
            folder = os.path.join(self.root, f"d{n // 30:03}")
            os.makedirs(folder, exist_ok=True)
            Path(folder, f"f{n:05}.py").write_text(f"x = {n}\n{TEXT[:1300]}")

    def command_hooks(self, command: str) -> tuple[bytes, bytes]:
        """Return what hooks are given before and after a shell command."""
        before = json.loads(self._tool("Bash", command=command))
        told = {"stdout": "", "stderr": "", "interrupted": False}
        after = before | {"hook_event_name": "PostToolUse", "tool_response": told}
        return json.dumps(before).encode(), json.dumps(after).encode()

    def turn(self) -> None:
        """Begin a turn: the next edit is its first."""
        self.settle()
        self.answer(self.payload("UserPromptSubmit", prompt="go on"))

    def call(self, command: list[str], raw: bytes) -> bytes:
        """Return what a process prints that is given this payload."""
        done = subprocess.run(
            command, input=raw, capture_output=True, env=self.environ, cwd=self.root, check=True
        )
        return done.stdout

    def answer(self, raw: bytes) -> bytes:
        """The same in this process."""
        return Call(AGENT, self.environ, self.home, given={"project": self.root}).answered(raw)

    def write(self) -> bytes:
        """A write that has to be refused."""
        return self._tool("Write", file_path=self._at("unseen.py"), content="x = 1\n")

    def edit(self) -> bytes:
        """An edit that may go on."""
        old, new = "value_100 = compute(100)", "value_100 = 0"
        return self._tool("Edit", file_path=self._at("shown.py"), old_string=old, new_string=new)

    def settle(self) -> None:
        """Say that the edit was not carried out after all, so that each begins alike."""
        payload = json.loads(self.edit()) | {"hook_event_name": "PostToolUseFailure"}
        self.answer(json.dumps(payload | {"error": "no"}).encode())

    def shown(self, name: str, session: str = "s") -> bytes:
        """Write a file, and show it to the agent."""
        lines = TEXT.count("\n") + 1
        file = {"filePath": self.put(name), "content": TEXT, "startLine": 1}
        told = {"type": "text", "file": file | {"numLines": lines, "totalLines": lines}}
        asked = {"file_path": self._at(name)}
        return self.payload(
            "PostToolUse",
            session,
            tool_name="Read",
            tool_use_id="t",
            tool_input=asked,
            tool_response=told,
        )

    def put(self, name: str) -> str:
        """Save a file; its path."""
        Path(self._at(name)).write_text(TEXT)
        return self._at(name)

    def payload(self, event: str, session: str = "s", **fields: Any) -> bytes:
        """Return what a hook is given on stdin."""
        common = {"session_id": session, "cwd": self.root, "hook_event_name": event}
        transcript = {"transcript_path": os.path.join(self.home, f"{session}.jsonl")}
        return json.dumps(common | transcript | fields).encode()

    def up(self) -> AbstractContextManager[None]:
        """While this holds, another process answers for the workspace."""
        return _up(self)

    def alone(self) -> AbstractContextManager[None]:
        """While this holds, none does."""
        return nullcontext()

    def started(self) -> AbstractContextManager[None]:
        """While this holds, the process answers that a first hook has left behind."""
        return _started(self)

    def begin(self) -> None:
        """Let nobody answer, and the next hook be the first that leaves somebody behind."""
        self.environ.pop("SIGHTLINE_ANSWERER", None)
        while self._taken():
            for each in self._daemons():
                with suppress(ProcessLookupError):
                    os.kill(int(each.pid), signal.SIGTERM)
            os.sched_yield()

    def answers(self) -> int:
        """Return how many calls were answered by the process that a hook left behind, once it answers."""
        while not (told := self._daemons()):
            os.sched_yield()
        return int(told[0].calls)

    def _taken(self) -> bool:
        folder = run_folder(self.environ, self.home)
        path = lock_path(folder, self.root, own_settings(self.environ), stamp())
        try:
            held = acquire_lock(path)
        except FileNotFoundError:
            return False
        if held is not None:
            os.close(held)
            os.unlink(path)
        return held is None

    def _daemons(self) -> list[DaemonStatus]:
        return list(list_daemons(self.root, self.environ, self.home, "auto"))

    def http(self) -> tuple[str, str, str]:
        """Host and port, path, and token of the workspace's http kind of hook."""
        url, token = http_settings(self.state, self.root, "claude-code")
        place, _, path = url.removeprefix("http://").partition("/")
        return place, f"/{path}", token

    def faults(self) -> list[fault_log.Fault]:
        """Return what went wrong so far."""
        return fault_log.faults(self.state)

    def seen(self) -> int:
        """Return how many files of the crowd were recorded as shown."""
        with self._session() as session:
            facts = session._context.store.timeline(kinds=[Seen])  # noqa: SLF001
            return len(
                {each.fact.path for each in facts if isinstance(each.fact, Seen)} - {"shown.py"}
            )

    def checkpoints(self) -> int:
        """Return the number of checkpoints that were taken."""
        with self._session() as session:
            return len(session.checkpoints())

    def _session(self) -> sightline.Session:
        settings = Settings(state_home=self.state)
        return sightline.open_session(self.root, id="count", settings=settings)

    def _tool(self, name: str, **given: str) -> bytes:
        return self.payload("PreToolUse", tool_name=name, tool_use_id="t", tool_input=given)

    def _at(self, name: str) -> str:
        return os.path.join(self.root, name)


@contextmanager
def _started(host: Host) -> Iterator[None]:
    host.begin()
    host.call(host.script(), host.payload("SessionStart", source="startup"))
    host.answers()
    yield
    assert host.answers(), "the hooks did the work themselves"
    host.begin()


@contextmanager
def _up(host: Host) -> Iterator[None]:
    source = str(Path(sightline.__file__).parents[1])
    with subprocess.Popen(
        [sys.executable, "-c", UP, host.root],
        env=host.environ | {"PYTHONPATH": source},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as child:
        assert child.stdout
        assert child.stdout.readline() == b"ready\n"
        yield
        child.communicate()
