"""The port of runners, which carry out sub-tasks, and the runner that starts a command."""

from __future__ import annotations

import ctypes
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from hashlib import sha256
from tempfile import TemporaryFile
from threading import Thread
from time import monotonic, sleep
from typing import IO

from msgspec import Struct, structs

from sightline.changes.session_context import SessionContext
from sightline.errors import SightlineError
from sightline.filesystem.process import started_with
from sightline.guard import host_writes
from sightline.shell_parsing.secrets import HIDDEN, NAME, without_secrets
from sightline.subtasks import words
from sightline.subtasks.file_bytes import FileBytes
from sightline.subtasks.git_command import OF_A_REPOSITORY
from sightline.subtasks.subtask import Isolation, SubTask, TaskResult
from sightline.text.phrases import shortened

HEAD_BYTES, TAIL_BYTES = 4_000, 12_000
"""The beginning and the end of a command's output that are kept."""

SUMMARY = 500
"""Characters of the last paragraph of a command's output that are its summary."""

JOIN_S = 2.0
"""Seconds to wait for the end of an output that a process holds open which nobody could end."""

POLL_S = 0.2
"""Seconds between two looks at whether a command ended, or is to be stopped."""

KILLED_AFTER_S = 5.0
"""Seconds from the request to end, until a command's processes are killed."""

SECRET_NAME, SECRET_MIN = re.compile(f"(?i){NAME}"), 8
"""The names of variables that hold secrets, and the length of values that are no words."""

LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None
PR_SET_PDEATHSIG = 1
"""The kernel's library, and its word for a signal that a process gets when its parent dies."""

ATTEMPT = "SIGHTLINE_ATTEMPT"
"""The variable by which the processes of an attempt are known: the tokens of the attempt and of those
that it was started in."""


class RunnerSpec(Struct, frozen=True):
    """A runner as a job names it. kind: command, function, or one that a
    package registered, such as agent. name: of a function, "module:name"; of an agent, its model. arguments: of a command."""

    kind: str
    name: str = ""
    arguments: tuple[str, ...] = ()


class Assignment(Struct):
    """The argument of a runner. prompt: the text that the child begins with; root: the folder to work
    in; context: of the attempt's session in that folder; handed: the files that the prompt shows, with
    their texts; must_stop: returns why the work is to be ended, "" for go on; token: of the processes."""

    task: SubTask
    prompt: str
    root: str
    session: str
    isolation: Isolation
    context: SessionContext
    handed: tuple[tuple[str, str], ...]
    must_stop: Callable[[], str]
    token: str


class RunnerFailed(Exception):
    """The runner could not reach the goal. result: what there is of a result."""

    def __init__(self, reason: str, result: TaskResult | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.result = result or TaskResult()


class Outcome(Struct, frozen=True):
    """The end of a run. changes: made in another tree than the workspace: of each file its path from
    the top of that tree, its content at the beginning, and now; prefix: of the workspace's paths
    there; failed: the reason why the runner failed, "" where it did not; is_lost: it failed through
    no fault of its own."""

    result: TaskResult = TaskResult()
    changes: tuple[tuple[str, FileBytes, FileBytes], ...] = ()
    prefix: str = ""
    failed: str = ""
    is_lost: bool = False


Runner = Callable[[Assignment], TaskResult | Outcome]
"""Carries out an assignment. It returns the result, without its files; or the outcome of a run in a
tree that only the runner knows. RunnerFailed; any other exception fails the attempt, too."""


def run(given: Assignment, runner: Runner) -> Outcome:
    """Run an assignment. Whatever the runner raises is the outcome, whose words have no secrets."""
    try:
        done = runner(given)
    except RunnerFailed as error:
        outcome = Outcome(error.result, failed=error.reason)
    except SightlineError as error:
        outcome = Outcome(failed=error.message)
    except Exception as error:  # noqa: BLE001 - it fails its attempt alone
        outcome = Outcome(failed=f"{type(error).__name__}: {error}")
    else:
        outcome = done if isinstance(done, Outcome) else Outcome(done)
    return without_secrets_in(outcome)


def command_runner(arguments: Sequence[str]) -> Runner:
    """Return a runner that starts a program in the assignment's folder, with the prompt on its standard
    input. The program is found on PATH; no shell reads its arguments. Exit code 0 is success."""

    def run(assignment: Assignment) -> TaskResult:
        if assignment.isolation == "worktree":
            return _run(assignment, arguments)
        line = " ".join(arguments)
        recorded = host_writes.Run(assignment.context, line)
        try:
            result = _run(assignment, arguments)
            recorded.exit_code = result.exit_code
        except RunnerFailed as error:
            recorded.exit_code = error.result.exit_code
            raise
        finally:
            recorded.end()
        return result

    return run


def _run(assignment: Assignment, arguments: Sequence[str]) -> TaskResult:
    environ = {name: text for name, text in os.environ.items() if name not in OF_A_REPOSITORY} | {
        ATTEMPT: f"{os.environ.get(ATTEMPT, '')} {assignment.token}".strip(),
        "SIGHTLINE_SESSION": assignment.session,
        "SIGHTLINE_SUBTASK": assignment.task.id,
    }
    with TemporaryFile() as prompt:
        prompt.write(assignment.prompt.encode("utf-8", "surrogateescape"))
        prompt.seek(0)
        try:
            child = subprocess.Popen(
                list(arguments),
                cwd=assignment.root,
                env=environ,
                stdin=prompt,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=_end_with(os.getpid()),  # noqa: PLW1509 - one system call
            )
        except OSError as error:
            raise RunnerFailed(f"{arguments[0]} cannot be started: {error.strerror}") from error
        assert child.stdout is not None
        output = Output(child.stdout)
        try:
            why = _wait(child, assignment.must_stop)
        finally:
            end_group(child.pid, child.poll)
            _end_processes(assignment.token, getattr(signal, "SIGKILL", signal.SIGTERM))
    said = cleaned(output.text())
    summary = shortened(said.strip().rpartition("\n\n")[2], SUMMARY)
    result = TaskResult(summary, exit_code=child.returncode, output=said)
    if why:
        raise RunnerFailed(why, result)
    if child.returncode:
        raise RunnerFailed(f"{arguments[0]} ended with exit code {child.returncode}", result)
    return result


class Output:
    """Reads a command's output to the end, and holds the beginning and the end of the output: however
    much the command prints, neither the disk nor the memory fills. file: the pipe, which is closed at
    the end."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._head = bytearray()
        self._tail = bytearray()
        self._left_out = 0
        self._reader = Thread(target=self._read, name="subtask output", daemon=True)
        self._reader.start()

    def text(self) -> str:
        """Wait for the end of the output. Return the kept text, with a line in place of a left-out part."""
        self._reader.join(JOIN_S)
        head, tail = (bytes(part).decode("utf-8", "replace") for part in (self._head, self._tail))
        if not self._left_out:
            return head + tail
        head = head[: head.rfind("\n") + 1] or head  # half of a secret would not be known as one
        tail = tail[tail.find("\n") + 1 :] or tail
        return f"{head}\n{words.output_left_out(self._left_out)}\n{tail}"

    def _read(self) -> None:
        with self._file, suppress(OSError, ValueError):
            while data := os.read(self._file.fileno(), 65_536):
                room = HEAD_BYTES - len(self._head)
                self._head += data[:room]
                self._tail += data[room:] if room > 0 else data
                more = len(self._tail) - TAIL_BYTES
                if more > 0:
                    del self._tail[:more]
                    self._left_out += more


def cleaned(text: str) -> str:
    """Return what a child said without secrets: those of a known form, and the values of variables of our
    environment that have the name of a secret and are no paths."""
    for name, value in os.environ.items():
        if len(value) >= SECRET_MIN and value[0] != os.sep and SECRET_NAME.fullmatch(name):
            text = text.replace(value, HIDDEN)
    return without_secrets(text)


def without_secrets_in(outcome: Outcome) -> Outcome:
    """Return an outcome whose words have no secrets: they go into other prompts, and stay."""
    result = outcome.result
    todos = tuple(
        structs.replace(each, text=cleaned(each.text), detail=cleaned(each.detail))
        for each in result.todos
    )
    result = structs.replace(
        result, summary=cleaned(result.summary), output=cleaned(result.output), todos=todos
    )
    return structs.replace(outcome, result=result, failed=cleaned(outcome.failed))


def _end_with(runner: int) -> Callable[[], None] | None:
    """Return what a new process does to end when its runner dies, also when that is killed; None where the
    system has no such thing. runner: our process. The processes that it starts end when they print."""
    if LIBC is None:
        return None
    prctl, kill = LIBC.prctl, getattr(signal, "SIGKILL", signal.SIGTERM)

    def ask() -> None:
        prctl(PR_SET_PDEATHSIG, kill)
        if os.getppid() != runner:  # it died just before
            os._exit(1)

    return ask


def _wait(child: subprocess.Popen[bytes], must_stop: Callable[[], str]) -> str:
    """Wait for the end of a process; return why it is to be ended before, "" where it ended."""
    while True:
        try:
            child.wait(POLL_S)
            return ""
        except subprocess.TimeoutExpired:
            if why := must_stop():
                return why


def end_group(pid: int, poll: Callable[[], object]) -> None:
    """End the processes of a group: ask, and kill those that stay. poll: returns None while the first
    of them runs."""
    if sys.platform == "win32":
        if poll() is None:
            with suppress(OSError):
                os.kill(pid, signal.SIGTERM)
        return
    with suppress(ProcessLookupError, PermissionError):
        if poll() is None:
            os.killpg(pid, signal.SIGTERM)
            until = monotonic() + KILLED_AFTER_S
            while poll() is None and monotonic() < until:
                sleep(0.02)
        os.killpg(pid, signal.SIGKILL)
        poll()


def token_of(folder: str) -> str:
    """Return a name for the processes of an attempt. folder: of the attempt, which no other has."""
    return sha256(os.fsencode(folder)).hexdigest()[:32]


def end_left(folder: str) -> None:
    """End the processes that are left of an attempt, whose own process was killed. folder: of the
    attempt."""
    token = token_of(folder)
    _end_processes(token, signal.SIGTERM)
    _end_processes(token, getattr(signal, "SIGKILL", signal.SIGTERM))


def _end_processes(token: str, number: int) -> None:
    """Send a signal to the processes of an attempt until they ended, for a few seconds: some may have
    left its group, and some may start others meanwhile. One that starts another while it is looked for,
    and ends, hides the other from that look: so two looks in a row must find none."""
    until, asked, empty = monotonic() + KILLED_AFTER_S, set[int](), 0
    while monotonic() < until:
        pids = started_with(ATTEMPT, token)
        empty = 0 if pids else empty + 1
        if empty == 2:
            return
        for pid in set(pids) - asked:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)
        asked.update(pids)
        sleep(0.02)
