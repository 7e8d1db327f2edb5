"""A story as it is told in a golden file: what was done, and what Sightline answered to it."""

from __future__ import annotations

import difflib
import json
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from tests.golden.placeholders import Placeholders, without_machine
from tests.golden.running import RECORDINGS, SOURCE, Answer, Place

FOLDER = Path(__file__).parent
UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
LINE_MAX = 600
GIVEN_MAX = 2000
RENEW = "python -m pytest tests/golden --renew"


class Story:
    """Does things in a place of its own and writes down what is answered.

    json: every command that is called gets `--json`. processes: every hook is a process.
    """

    def __init__(self, place: Place, *, json: bool = False, processes: bool = False) -> None:
        self.place = place
        self.json = json
        self.processes = processes
        self.asked: list[str] = []
        self._lines: list[str] = []
        self._placeholders = Placeholders(
            {
                "<project>": str(place.root),
                "<home>": str(place.home),
                "<python>": sys.executable,
                "<source>": str(SOURCE),
                "<recordings>": str(RECORDINGS),
            }
        )

    @property
    def text(self) -> str:
        """Return what was told so far."""
        return "".join(f"{line}\n" for line in self._lines)

    def __call__(self, *args: str, stdin: str = "", process: bool = False) -> Answer:
        """Call the command. Placeholders among the arguments are what they stand for."""
        given = ["--json", *args] if self.json else [*args]
        real = [self._placeholders.take(arg) for arg in given]
        run = self.place.process if process else self.place.command
        answer = run(*real, stdin=self._placeholders.take(stdin).encode())
        if args[0] == "doctor":
            answer = answer._replace(out=without_machine(answer.out.decode()).encode())
        self._lines += ["", self._said(f"$ sightline {shlex.join(given)}")]
        self._given("< ", stdin.encode())
        self._answered(answer)
        return answer

    def put(self, path: str, content: str | bytes, who: str = "The user") -> None:
        """Save a file as another program would."""
        data = content.encode() if isinstance(content, str) else content
        self.place.save(path, data)
        self._lines += ["", f"# {who} saves {path}"]
        self._given("+ ", data)

    def remove(self, path: str) -> None:
        (self.place.root / path).unlink()
        self._lines += ["", f"# The user removes {path}"]

    def move(self, src: str, dst: str) -> None:
        (self.place.root / src).rename(self.place.root / dst)
        self._lines += ["", f"# The user renames {src} to {dst}"]

    def git(self, *args: str) -> None:
        done = self.place.git(*args)
        assert done.code == 0, done.err.decode()
        self._lines += ["", f"# The user runs git {shlex.join(args)}"]

    def remark(self, words: str) -> None:
        """Say what comes next, for whoever reads the golden file."""
        self._lines += ["", f"## {words}"]

    def stands(self, *paths: str) -> None:
        """Write down which text stands in files."""
        for path in paths:
            file = self.place.root / path
            there = file.is_file()
            self._lines += ["", f"# {path} {'holds' if there else 'is not there'}"]
            self._block("+ ", file.read_bytes() if there else b"")

    def hook(self, payload: dict[str, Any] | bytes) -> Any:
        """Call a hook of Claude Code with a payload: what it answers."""
        if isinstance(payload, bytes):
            raw = shown = payload
        else:
            shown = json.dumps(payload, ensure_ascii=False).encode()
            raw = self._placeholders.take(shown.decode()).encode()
        answer = self.place.hook_process(raw) if self.processes else self.place.hook(raw)
        before = len(self._lines)
        self._lines += [""]
        self._block("> ", shown, ends=False)
        self._answered(answer, ends=False)
        self.asked += self._lines[before:]
        try:
            return json.loads(answer.out or b"{}")
        except ValueError:
            return {}

    @contextmanager
    def watching(self) -> Iterator[Callable[[], None]]:
        """While `watch` runs. What it gives is called where a line of it is to come."""
        args = ["--json", "watch"] if self.json else ["watch"]
        with self.place.staying(*args) as child:
            self._lines += ["", f"$ sightline {shlex.join(args)} (goes on)"]
            output = child.stdout
            assert output
            yield lambda: self._block("| ", output.readline())
        self._lines += ["", f"exit code of {shlex.join(args)}, after Ctrl-C: {child.returncode}"]

    def told(self, title: str, value: object) -> None:
        """Write down what the library answered. Of a long line, the beginning and a digest."""
        self._lines += ["", f"= {title}"]
        value = "\n".join(map(_shortened, str(value).split("\n")))
        self._block("| ", f"{value}\n".encode("utf-8", "surrogateescape"))

    def _answered(self, answer: Answer, *, ends: bool = True) -> None:
        self._lines.append(f"exit code {answer.code}")
        self._block("| ", answer.out, ends=ends)
        self._block("! ", answer.err)

    def _given(self, mark: str, data: bytes) -> None:
        """What the story itself gives: where it is long, its size says enough."""
        if len(data) <= GIVEN_MAX:
            self._block(mark, data)
        else:
            self._lines.append(f"{mark}({len(data)} bytes)")

    def _said(self, text: str) -> str:
        return self._placeholders.put(text)

    def _block(self, mark: str, data: bytes, *, ends: bool = True) -> None:
        """Every line behind a mark. Where lines end with a newline, a missing one is told as git
        does, and where they do not, one that is there."""
        if not data:
            return
        text = self._said(data.decode("utf-8", "backslashreplace"))
        text = UNSEEN.sub(lambda found: f"\\x{ord(found[0]):02x}", text)
        lines = text.split("\n")
        whole = lines[-1] == ""
        self._lines += [f"{mark}{line}" for line in (lines[:-1] if whole else lines)]
        if whole != ends:
            self._lines.append("\\ no newline at the end" if ends else "\\ a newline at the end")


def _shortened(line: str) -> str:
    if len(line) <= LINE_MAX:
        return line
    digest = sha256(line.encode("utf-8", "surrogateescape")).hexdigest()
    return f"{line[: LINE_MAX // 2]} … ({len(line)} characters, sha256 {digest})"


def compare(name: str, text: str, *, renew: bool) -> None:
    """Hold a story against its golden file, or write that file anew."""
    file = FOLDER / name
    told = f"{text.strip()}\n"
    if renew:
        file.parent.mkdir(exist_ok=True)
        file.write_text(told, encoding="utf-8", newline="\n")
        return
    known = file.read_text(encoding="utf-8") if file.exists() else ""
    if told != known:
        shown = os.path.relpath(file, FOLDER.parents[1])
        lines = difflib.unified_diff(
            known.split("\n"), told.split("\n"), shown, f"{shown} as it is told now", lineterm=""
        )
        difference = "\n".join(lines)
        pytest.fail(
            f"What Sightline says is not what {shown} holds.\n"
            f"If that is meant, run `{RENEW}` and review the difference with git.\n\n{difference}",
            pytrace=False,
        )
