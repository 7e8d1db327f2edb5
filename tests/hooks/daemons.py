"""Hosts whose hooks may leave a daemon behind: from an installation of their own, which nobody
else changes meanwhile, and which looks around more often than the real one."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from time import monotonic, sleep
from typing import Self

from tests.hooks.hooking import ENTRY, Host

from sightline.hooks import daemon_status, spawn
from sightline.hooks.protocol import (
    ASK,
    LATE,
    PROTOCOL,
    SAY,
    own_settings,
    run_folder,
    stamp,
)

PACKAGE = Path(ENTRY).parents[1]

START_S = 60.0
"""Seconds for a daemon to start on a busy machine."""

CLIENT = """
import json, subprocess, sys
for line in sys.stdin:
    command, environ, raw = json.loads(line)
    done = subprocess.run(command, input=raw.encode(), env=environ, capture_output=True)
    print(json.dumps([done.returncode, done.stdout.decode(), done.stderr.decode()]), flush=True)
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


class DaemonHost(Host):
    """A host whose hooks may leave a daemon behind."""

    def __init__(self) -> None:
        super().__init__()
        del self.environ["SIGHTLINE_ANSWERER"]
        self.package = self.home / "installed" / "sightline"
        self.package.mkdir(parents=True)
        for each in PACKAGE.iterdir():  # a whole copy takes most of a small test
            if each.is_dir() and each.name not in ("hooks", "__pycache__"):
                (self.package / each.name).symlink_to(each)
        shutil.copytree(PACKAGE / "hooks", self.package / "hooks")
        for module in PACKAGE.glob("*.*"):
            shutil.copy2(module, self.package)
        self.code("daemon.py", "LOOK_S = 5.0", "LOOK_S = 0.05")
        self.entry = str(self.package / "hooks" / "hook_entry.py")

    def code(self, name: str, old: str, new: str) -> None:
        """Have the installation hold other code."""
        file = self.package / "hooks" / name
        text = file.read_text()
        assert old in text
        file.write_text(text.replace(old, new))

    @property
    def run_folder(self) -> str:
        return run_folder(self.environ, str(self.home))

    @property
    def place(self) -> str:
        variables = own_settings(self.environ)
        installation = stamp(str(self.package))
        return spawn.lock_path(self.run_folder, str(self.root), variables, installation)

    def autos(self, kind: str = "auto") -> list[daemon_status.DaemonStatus]:
        return list(daemon_status.list_daemons(str(self.root), self.environ, str(self.home), kind))

    @contextmanager
    def up(self) -> Iterator[Callable[[], int]]:
        """While `up` answers; how many it was asked."""
        environ = self.environ | {"PYTHONPATH": str(self.package.parent)}
        with subprocess.Popen(
            [sys.executable, "-c", UP, str(self.root)],
            env=environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        ) as child:
            assert child.stdout
            assert child.stdout.readline() == b"ready\n"
            yield lambda: int(self.autos("up")[0].calls)
            child.communicate()

    def started(self) -> daemon_status.DaemonStatus:
        """Wait for the daemon that a hook started, and return it. AssertionError when it cannot
        start: the hooks' log says why."""
        deadline = monotonic() + START_S
        while not (daemons := self.autos()):
            assert monotonic() < deadline, f"no daemon after {START_S:g} s; log: {self.faults()}"
            sleep(0.01)
        (daemon,) = daemons
        return daemon

    def ended(self) -> None:
        """Wait until no process holds the lock: it goes with the daemon."""
        with suppress(FileNotFoundError), open(self.place, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)

    def begin(self) -> daemon_status.DaemonStatus:
        self.run(self.payload("SessionStart", source="startup"))
        return self.started()

    def close(self) -> None:
        while self._taken():
            for each in self.autos():
                with suppress(ProcessLookupError):
                    os.kill(int(each.pid), signal.SIGTERM)
            sleep(0.01)
        super().close()

    def _taken(self) -> bool:
        try:
            held = spawn.acquire_lock(self.place)
        except FileNotFoundError:
            return False
        if held is not None:
            os.close(held)
        return held is None


class Client:
    """An agent's process of its own, which can go away."""

    def __init__(self, host: DaemonHost) -> None:
        self._host = host
        self.process = subprocess.Popen(
            [sys.executable, "-c", CLIENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def run(self, raw: bytes) -> str:
        command = [sys.executable, "-I", "-S", self._host.entry, "claude-code"]
        assert self.process.stdin
        assert self.process.stdout
        request = json.dumps([command, self._host.environ, raw.decode()])
        self.process.stdin.write(f"{request}\n")
        self.process.stdin.flush()
        code, out, err = json.loads(self.process.stdout.readline())
        assert (code, err) == (0, "")
        return str(out)

    def die(self) -> None:
        self.process.kill()
        self.process.communicate()


class Impostor:
    """A pipe in the run folder whose reader behaves in a way of its own.

    behave: is called with the path of each request, which has no ending yet.
    """

    def __init__(self, host: Host, name: str, behave: Callable[[str], object]) -> None:
        self._folder = run_folder(host.environ, str(host.home))
        os.makedirs(self._folder, exist_ok=True)
        os.chmod(self._folder, 0o700)
        self.path = os.path.join(self._folder, name)
        os.mkfifo(self.path, 0o600)
        self._reader = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK)
        self._writer = os.open(self.path, os.O_WRONLY)
        os.set_blocking(self._reader, True)
        self._behave = behave
        self._thread = Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        while (names := os.read(self._reader, 1 << 16)) != b"\n":
            for name in names.decode().split():
                self._behave(os.path.join(self._folder, name))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.write(self._writer, b"\n")
        self._thread.join()
        os.close(self._reader)
        os.close(self._writer)


class Asked(Impostor):
    """A pipe of the workspace where nobody says anything. What came is in `seen`."""

    def __init__(self, host: Host, name: str, seen: list[str]) -> None:
        super().__init__(host, name, seen.append)

    def __exit__(self, *_: object) -> None:
        super().__exit__()
        for path in (self.path, self.path + LATE):
            with suppress(FileNotFoundError):
                os.unlink(path)


class Asking:
    """A client that is played by hand: a request in the run folder, named to one daemon.

    request: the header and the payload; None when the client has taken the request back.
    """

    def __init__(self, pipe: str, request: bytes | None) -> None:
        self.path = os.path.join(os.path.dirname(pipe), os.urandom(8).hex())
        if request is not None:
            Path(self.path + ASK).write_bytes(request)
        os.mkfifo(self.path + SAY, 0o600)
        self.reader = os.open(self.path + SAY, os.O_RDONLY | os.O_NONBLOCK)
        self._writer = os.open(self.path + SAY, os.O_WRONLY)
        os.set_blocking(self.reader, True)
        with open(pipe, "wb") as daemon:
            daemon.write(os.path.basename(self.path).encode() + b"\n")

    def answer(self) -> bytes:
        """Return all that the daemon says."""
        answer = os.read(self.reader, 1)
        os.close(self._writer)
        self._writer = -1
        while piece := os.read(self.reader, 1 << 16):
            answer += piece
        return answer

    def close(self) -> None:
        """End as a client does that was killed."""
        os.close(self.reader)
        if self._writer >= 0:
            os.close(self._writer)


def header(
    host: Host,
    raw: bytes,
    *,
    protocol: str = PROTOCOL,
    size: int | str | None = None,
    installation: str | None = None,
) -> bytes:
    """Return what a client writes before its payload."""
    fields = (protocol, "claude-code", "", str(len(raw) if size is None else size), "1")
    settings = own_settings(host.environ)
    given = f"project={host.root}"
    return "\0".join((*fields, given, settings, installation or stamp())).encode() + b"\n"
