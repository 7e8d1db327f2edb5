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
from itertools import pairwise
from pathlib import Path
from tempfile import mkdtemp
from time import monotonic, sleep

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

SCENES: dict[str, list[str]] = {
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
}
"""Name -> the lines that are typed, behind those of BEGIN."""


class Desk:
    """A shell in a terminal of tmux, in a home that nobody used."""

    def __init__(self, folder: Path, width: int) -> None:
        self._name = f"sightline-{os.getpid()}-{width}"
        home, work = folder / "home", folder / "shop"
        home.mkdir()
        work.mkdir()
        (work / "shop.py").write_text(
            "def price(cart):\n    return sum(cart)\n\n\ndef tax(total):\n    return total * 0.2\n"
        )
        (work / "work.sh").write_text(WORK)
        (work / "work.sh").chmod(0o755)
        git = ["git", "-C", str(work), "-c", "user.name=a", "-c", "user.email=a@b"]
        for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "start"]):
            subprocess.run([*git, *words], check=True)
        path = os.pathsep.join([str(Path(sys.executable).parent), os.defpath])
        self._tmux(
            *("-f", "/dev/null", "new-session", "-d", "-s", "desk", "-x", str(width), "-y", "200"),
            *("-c", str(work), "env", "-i", f"HOME={home}", "TERM=xterm-256color", f"PATH={path}"),
            *("PS1=$ ", "bash", "--norc", "--noprofile"),
        )

    def type(self, line: str) -> str:
        """Type a line into an empty screen, wait until it ended, and return the screen."""
        self._tmux("send-keys", "-t", "desk", "C-l")
        self._tmux("send-keys", "-t", "desk", "-l", f'{line}; echo "exit code $? ."')
        self._tmux("send-keys", "-t", "desk", "Enter")
        deadline = monotonic() + LONGEST_S
        while not re.search(r"^exit code \d+ \.$", screen := self._screen(), re.MULTILINE):
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
            desk = Desk(place, width)
            try:
                for line in BEGIN:
                    desk.type(line)
                screens = [(line, desk.type(line)) for line in SCENES[scene]]
            finally:
                desk.close()
                shutil.rmtree(place, ignore_errors=True)
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
