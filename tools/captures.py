"""Play what a person types in real terminals of tmux, 60 and 120 columns wide, and keep what they showed.

python tools/captures.py FOLDER          writes FOLDER/060-sub-tasks.txt and so on, and counts lines that are too long
python tools/captures.py FOLDER --only sub-tasks

Look at the captures: a machine finds a line that breaks within a word, and no line that reads badly.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from tempfile import mkdtemp
from time import monotonic, sleep
from typing import Any

if not __package__:  # started as a script, where only this folder is on the path
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.reference_agent.providers import Script, serving

WIDTHS = (60, 120)
LONGEST_S = 90.0
"""Seconds until a command has ended, on a busy machine."""

WORK = """#!/bin/sh
cat > /dev/null
sleep 0.5
case $SIGHTLINE_SUBTASK in
rounding) sed -i 's/return sum(cart)/return round(sum(cart), 2)/' shop.py; echo 'Rounded the price.';;
discount) sed -i 's/return sum(cart)/return sum(cart) * 0.9/' shop.py; sleep 2; echo 'Discount given.';;
deploy) echo 'ssh: connect to host staging port 22: Connection refused'; exit 255;;
*) echo "# Shop" > README.md; echo 'Wrote README.md.';;
esac
"""

GOAL = (
    "Give ten percent on every cart above one hundred, and say so in the docstring of the function"
)

SESSION = "5f0c2a8e-1b7d-4c35-9a51-0d8f3b6e7c21"
"""An id as an agent product makes it."""

BEGIN = [
    "sightline checkpoint morning",
    f"sightline --session {SESSION} read shop.py > /dev/null",
    f"sightline --session {SESSION} edit shop.py --old 0.2 --new 0.19 > /dev/null",
    "sed -i 's/def tax/def vat/' shop.py",
]

LIBRARY = """\
import asyncio
import sightline

async def read():
    async with sightline.open_session(id="async").aio as session:
        return (await session.read("shop.py")).text.splitlines()[0]

with sightline.open_session(id="program") as session:
    session.read("shop.py")
    print(session.edit("shop.py", "total", "amount", count="all").diff)
    try:
        session.edit("shop.py", "nowhere", "somewhere")
    except sightline.EditRefused as refused:
        print(refused.reason, refused, refused.hint, sep="\\n")
print(asyncio.run(read()))
"""

NO_EXTRA = (
    "import sys; sys.modules['pydantic_ai'] = None; from sightline.cli.entry import main;"
    " sys.exit(main(['agent', '--model', 'openai:gpt-5', 'Round it']))"
)
"""A program that starts the command where the extra `agent` is not installed."""

MODEL = "--model anthropic:claude-haiku-4-5"
PLAN = '{"fileRequests": [{"name": "the shop", "patterns": ["shop.py"], "required": true}]}'


def answer(summary: str, old: str, new: str, **more: Any) -> dict[str, Any]:
    """Return an answer of the model that replaces a text in shop.py."""
    edit = {"path": "shop.py", "todoIndex": 0, "edits": [{"old": old, "new": new}]}
    return {"summary": summary, "fileChanges": [edit], **more}


ANSWERS = [
    answer(
        "Rounded the price to two decimals, so that no customer sees a fraction of a cent.",
        "sum(cart)",
        "round(sum(cart), 2)",
        todos=["Round the price"],
    ),
    answer(
        "Named the rate of the tax.",
        "total * 0.19",
        "total * RATE",
        todos=["Name the rate", "Say in README.md what the rate is and since when it holds"],
        nextSteps=[{"html": "Shall I write README.md?", "inputText": "continue"}],
    ),
    answer(
        "Put the rate above.", "def price", "RATE = 0.19\n\n\ndef price", todos=["Name the rate"]
    ),
    answer("Nothing to replace here.", "nowhere", "somewhere", todos=["Replace it"]),
    {
        "summary": "The text is not in any file, so I leave the files as they are.",
        "todos": [{"text": "Replace it", "status": "dropped"}],
    },
]
"""The answers of the local server that stands for a provider. It says that each request has 1,234 tokens, which
is too few."""

SCENES: dict[str, list[str | tuple[str, ...]]] = {
    "going-back": [
        "sightline rewind morning --dry-run",
        "sightline undo --dry-run",
        "sightline rewind lunch --yes",
        "sightline checkpoint list",
    ],
    "names": [
        "sightline status --session 5f0c",
        "sightline status --session nobody",
        "sightline statsu",
        "sightline undo --since 12:00",
        "sightline help --all",
    ],
    "asking": [
        "sightline changes",
        "sightline check",
        "sightline diff",
        "sightline why shop.py",
        "sightline changes --since 2h",
    ],
    "looking": [
        "sightline status",
        "sightline session list",
        "sightline log",
        "timeout --preserve-status -s INT 2 sightline log --follow",
        "sightline claim shop.py",
        "sightline claim list",
        "sightline registry",
        "sightline session show 5f0c",
    ],
    "health": [
        "sightline doctor",
        "sightline up --once",
        "(cd && sightline up --once)",
        "sightline forget --dry-run",
    ],
    "sub-tasks": [
        'sightline task propose rounding "Round the price to two decimals"',
        f'sightline task propose discount "{GOAL}"',
        'sightline task propose docs "Describe the price" --after rounding --after discount',
        'sightline task propose deploy "Deploy it to staging"',
        "sightline task approve",
        "sightline task",
        "timeout --preserve-status -s INT 4 sightline task run -- sleep 30",
        "sightline task run -- ./work.sh",
        "sightline task show discount",
        "sightline task diff discount",
        "sightline task merge discount",
        "sightline task merge discount --keep shop.py",
        "sightline task retry deploy",
        "sightline task run --detach -- ./work.sh",
        "sightline worker --until-idle",
        "sightline task",
    ],
    "tour": ["sightline tour --no-pause"],
    "library": ["cat library.py", "python library.py"],
    "agent": [
        f'python -c "{NO_EXTRA}"',
        f'sightline agent {MODEL} --yes "Round the price to two decimals"',
        (f"sightline chat {MODEL}", "Name the rate of the tax", "y", "continue", "y", "C-d"),
        f'sightline agent {MODEL} --yes "Replace what is not there"',
        "sightline status",
    ],
}
"""Name -> the lines that are typed, behind those of BEGIN. What is typed into a command follows it, each when the
command asks; C-d is the key."""


EMPTY = re.compile(r"\A\$?\Z")
ENDED = re.compile(r"^exit code \d+ \.$", re.MULTILINE)
ASKS = re.compile(r"(?:^you>|\[[yY]/[nN]\]:?)$", re.MULTILINE)
"""An empty screen, and the last line of a command that ended, and of one that asks."""


class Desk:
    """A shell in a terminal of tmux, in a home that nobody used."""

    def __init__(self, folder: Path, width: int, environ: Mapping[str, str]) -> None:
        self._name = f"sightline-{os.getpid()}-{width}"
        home, work = folder / "home", folder / "shop"
        home.mkdir()
        work.mkdir()
        (work / "shop.py").write_text(
            "def price(cart):\n    return sum(cart)\n\n\ndef tax(total):\n    return total * 0.2\n"
        )
        (work / "work.sh").write_text(WORK)
        (work / "work.sh").chmod(0o755)
        (work / "library.py").write_text(LIBRARY)
        git = ["git", "-C", str(work), "-c", "user.name=a", "-c", "user.email=a@b"]
        for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "start"]):
            subprocess.run([*git, *words], check=True)
        path = os.pathsep.join([str(Path(sys.executable).parent), os.defpath])
        self._tmux(
            *("-f", "/dev/null", "new-session", "-d", "-s", "desk", "-x", str(width), "-y", "200"),
            *("-c", str(work), "env", "-i", f"HOME={home}", "TERM=xterm-256color", f"PATH={path}"),
            *(f"{name}={value}" for name, value in environ.items()),
            *("PS1=$ ", "bash", "--norc", "--noprofile"),
        )

    def type(self, line: str, more: Sequence[str] = ()) -> str:
        """Type a line into an empty screen, wait until it ended, and return the screen. more: what is typed
        into the command, each when it asks."""
        self._tmux("send-keys", "-t", "desk", "C-l")
        self._wait(EMPTY)
        self._send(f'{line}; echo "exit code $? ."')
        for each in more:
            self._wait(ASKS)
            if each == "C-d":
                self._tmux("send-keys", "-t", "desk", "C-d")
            else:
                self._send(each)
        return self._wait(ENDED)

    def _send(self, line: str) -> None:
        self._tmux("send-keys", "-t", "desk", "-l", line)
        self._tmux("send-keys", "-t", "desk", "Enter")

    def _wait(self, until: re.Pattern[str]) -> str:
        """Wait until the screen has a text, and return the screen."""
        deadline = monotonic() + LONGEST_S
        while not until.search(screen := self._screen()):
            if monotonic() > deadline:
                return f"{screen}\n(did not end)\n"
            sleep(0.1)
        return screen

    def close(self) -> None:
        """End the terminal."""
        self._tmux("kill-server")

    def _screen(self) -> str:
        shown = self._tmux("capture-pane", "-p", "-t", "desk").rstrip()
        return re.sub(r"\n\$ *$", "", shown).strip("\n")

    def _tmux(self, *words: str) -> str:
        done = subprocess.run(
            ["tmux", "-L", self._name, *words], capture_output=True, text=True, check=False
        )
        return done.stdout


def full_lines(screen: str, width: int) -> list[str]:
    """Return lines that a terminal broke within a word: they fill it, and the next begins with a letter. Code,
    what was typed, and paths, which are longer than a line, do not count."""
    lines = screen.split("\n")[2:]
    return [
        line
        for line, following in pairwise(lines)
        if len(line) == width
        and following[:1].isalnum()
        and not following.startswith("exit code ")
        and line[:1] not in "+-$"
        and "/" not in line
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", action="append", choices=SCENES)
    asked = parser.parse_args()
    if shutil.which("tmux") is None:
        print("tmux is not installed.", file=sys.stderr)
        return 2
    asked.folder.mkdir(parents=True, exist_ok=True)
    broken = 0
    for width in WIDTHS:
        for scene in asked.only or SCENES:
            place = Path(mkdtemp(prefix="sightline-terminal-"))
            with ExitStack() as stack:
                stack.callback(shutil.rmtree, place, ignore_errors=True)
                url = stack.enter_context(serving(Script(*ANSWERS, plan=PLAN), reported=1_234))
                environ = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": url}
                desk = Desk(place, width, environ)
                stack.callback(desk.close)
                for line in BEGIN:
                    desk.type(line)
                scenes = [(each,) if isinstance(each, str) else each for each in SCENES[scene]]
                screens = [(line, desk.type(line, more)) for line, *more in scenes]
            text = "\n\n".join(f"{'=' * width}\n{screen}" for _, screen in screens)
            (asked.folder / f"{width:03}-{scene}.txt").write_text(f"{text}\n")
            for line, screen in screens:
                for full in full_lines(screen, width):
                    broken += 1
                    print(f"{width} columns, {line}: breaks within a word:\n  {full}")
    print(f"{broken} lines break within a word. Look at {asked.folder}.")
    return int(broken > 0)


if __name__ == "__main__":
    sys.exit(main())
