"""Sightline through its command: every verb a process of its own, as an agent's shell starts it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.baselines import Answer
from bench.subjects import UNCHANGED, killed_batch
from bench.trial import Guard

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.world import World

SOURCE = Path(__file__).resolve().parents[1] / "src"
START = "from sightline.cli.entry import main; raise SystemExit(main())"

NOT_ITS = {19, 23, 24, 34, 35}
"""S19: nobody is at a terminal here to be asked. S23, S24: no command tells of them. S34, S35: as
another user, and against a disk put in by hand: a process of its own has neither."""


UNVERIFIABLE = 3
"""The exit status of a verb that the disk, or a program that holds the file, does not allow; also that of a
store that fails, and of a fault of the command itself."""

KINDS = ("Unverifiable", "unverifiable", "")
"""Kinds of an error that is an answer. A refused edit has none: its answer is its own."""


class CommandAgent:
    """A session that only its store knows, between one command and the next."""

    def __init__(self, world: World, state: Path) -> None:
        self.world = world
        self.state = state
        self.session = "bench"
        world.colleague = self._colleague
        world.command = self._command
        world.running = self._running
        world.batch = self._cut_off
        world.verbs = self._verbs
        world.rival = self._rival

    def read(self, path: str, lines: tuple[int, int] | None = None) -> str:
        span = [] if lines is None else ["--lines", f"{lines[0]}-{lines[1]}"]
        view = self._run("read", path, *span)
        return UNCHANGED if view["unchanged"] else str(view["text"])

    def edit(self, path: str, old: str, new: str) -> Answer:
        return _answer(self._run("edit", path, "--old", old, "--new", new))

    def edit_lines(self, path: str, start: int, end: int, new: str) -> Answer:
        return _answer(self._run("edit", path, "--lines", f"{start}-{end}", given=new))

    def write(self, path: str, content: str) -> Answer:
        return _answer(self._run("write", path, given=content))

    def news(self) -> str | None:
        told = [self._run("changes", "--for-agent")["notice"] for _ in range(2)]
        assert told[0] == told[1]
        return str(told[0]["text"]) if told[0] else ""

    def informed(self, *, by_prompt: bool) -> str:
        raise NotImplementedError  # who calls it asks for its news

    def together(self) -> None:
        """Nothing of an answer counts before it is acknowledged, which is never here."""

    def forked(self) -> CommandAgent:
        self._run("session", "fork", self.session, "--as", "fork")
        self.session = "fork"
        return self

    def warned(self, path: str) -> bool:
        """Nothing is pushed at an agent that did not ask."""
        return False

    def forget(self, path: str) -> None:
        """There is no command for it: a shell cannot know what a window holds."""

    def rewind(self, path: str) -> None:
        """Nor for this."""

    def mark(self) -> None:
        self._mark = str(self._run("checkpoint")["checkpoint"]["id"])

    def take_back(self, path: str) -> Answer:
        said = self._run("rewind", self._mark, "--yes")
        alone = [each["reason"] for each in said["left_alone"] if each["path"] == path]
        if path not in (*said["restored"], *said["merged"]):
            return Answer(accepted=False, reason="left alone", text="".join(alone))
        return Answer(accepted=True, told="".join(alone), merged=path in said["merged"])

    def resumed(self) -> CommandAgent:
        self._run("status")
        return self

    def close(self) -> None:
        """Do nothing: a command keeps nothing open."""

    def _colleague(self, name: str, path: str, data: bytes) -> None:
        """Another agent of the same user, or one that this one started, writes."""
        mine, self.session = self.session, "bench" if name == "parent" else name
        self._run("read", path)
        self._run("write", path, given=data.decode())
        self.session = mine

    def _rival(self, name: str, path: str, data: bytes) -> Callable[[], bool]:
        """Another agent, which knows the file, writes at once with this one."""
        mine, self.session = self.session, name
        self._run("read", path)
        words, self.session = self._words("write", path), mine
        child = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=self._environ()
        )
        assert child.stdin is not None
        child.stdin.write(data.decode())
        child.stdin.close()
        child.stdin = None
        return lambda: bool(json.loads(child.communicate()[0])["applied"])

    def _verbs(self, gone: str, path: str, data: bytes) -> None:
        self._run("delete", gone)
        self._run("create", path, given=data.decode())

    def _cut_off(self, paths: tuple[str, ...]) -> None:
        (store,) = self.state.glob("**/store.db")
        killed_batch(self.world, self.state, f"sqlite://{store}", paths)

    def _command(self, command: str, path: str, data: bytes) -> None:
        self._run("run", "--", "sh", "-c", f"cat > '{self.world.root}/{path}'", given=data.decode())
        self.world.touch(path)

    def _running(self, command: str, deed: Callable[[], None]) -> None:
        """Somebody does something while a command of its own runs, which says that it began and
        ends with its input. It bears the other one's name."""
        words = ["sh", "-c", "echo begun; cat", command]
        with subprocess.Popen(
            self._words("run", "--", *words),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env=self._environ(),
        ) as child:
            assert child.stderr is not None
            assert child.stderr.readline() == "begun\n"
            deed()
            child.communicate("")

    def _words(self, verb: str, *arguments: str) -> list[str]:
        where = ["--workspace", str(self.world.root), "--session", self.session, "--json"]
        return [sys.executable, "-c", START, *where, verb, *arguments]

    def _environ(self) -> dict[str, str]:
        home = str(self.state)
        return {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(SOURCE),
            "HOME": home,
            "SIGHTLINE_HOME": home,
            "XDG_CONFIG_HOME": home,
        }

    def _run(self, verb: str, *arguments: str, given: str = "") -> dict[str, Any]:
        done = subprocess.run(
            self._words(verb, *arguments),
            input=given,
            capture_output=True,
            text=True,
            check=False,
            env=self._environ(),
        )
        answer: dict[str, Any] = json.loads(done.stdout or "{}")
        kind = answer.get("error", {}).get("kind", "") if done.returncode else ""
        if done.returncode == UNVERIFIABLE and kind in KINDS and verb != "changes":
            return {"applied": False, "reason": "unverifiable", "diff": "", "hint": done.stderr}
        if (
            done.returncode not in (0, 1) or kind or not answer
        ):  # a store that failed, our own fault
            raise RuntimeError(f"sightline {verb}: exit {done.returncode}\n{done.stderr}")
        return answer


def _answer(said: dict[str, Any]) -> Answer:
    if said["applied"]:
        return Answer(accepted=True, told=str(said["notice"] or ""), merged=said["merged"])
    return Answer(
        accepted=False,
        reason=said["reason"],
        carries=bool(said["diff"] or said.get("text")),
        text=said["hint"],
    )


COMMAND = Guard(
    "sightline-cli",
    "the same, a process for every verb",
    CommandAgent,
    frozenset(f"S{number}" for number in {*range(1, 49), 50, 51} - NOT_ITS),
    rewinds=True,
)
