"""Draws the pictures of `sightline up`: docs/up.svg for the README, docs/causes.svg.

    python tools/picture.py [--check]

Agents and people work in a throw-away shop (tools/stories.py). The view runs on a pseudo-terminal
of 80 columns and looks after every step; only the clock is ours, so that a second run draws the
same bytes.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import pty
import struct
import sys
import tempfile
import termios
import time
from contextlib import suppress
from html import escape
from itertools import groupby
from pathlib import Path
from threading import Thread

from sightline.api.live import Live
from sightline.cli.live import loop
from sightline.cli.live.screen import Screen, wall_time
from sightline.cli.live.view import Head
from sightline.history.session_history import survey
from sightline.testing import FixedClock

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from tools.stories import Causes, Hour, Over, Story
from tools.terminal import Cell, Terminal

DOCS = Path(__file__).resolve().parent.parent / "docs"
COLUMNS, ROWS = 80, 24
STATUS = "Claude Code is connected."
KEYS = "? keys, q ends"
NOON_US = 1_767_225_600_000_000 + (12 * 3600 + 4 * 60) * 1_000_000
PICTURES: dict[str, type[Story]] = {"up.svg": Hour, "causes.svg": Causes}


def played(home: Path, made: type[Story]) -> Terminal:
    """The screen at the end of a story."""
    root, clock = home / "shop", FixedClock(NOON_US)
    root.mkdir()
    story = made(root, clock)
    ground = story.agent._context  # noqa: SLF001 - its ports, which the view looks through, too
    watched = survey(ground.store, ground.workspace, ground.settings, clock)
    terminal = Terminal(COLUMNS, ROWS)
    terminal.feed(b"$ sightline up\r\n")
    master, side = pty.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS - 1, COLUMNS, 0, 0))
    reader = Thread(target=_read, args=(master, terminal))
    reader.start()
    with os.fdopen(side, "w", encoding="utf-8") as stream:
        head = Head("~/shop", STATUS, KEYS)
        screen = Screen(stream, lambda: head, wall_time, colour=True)
        with suppress(Over), Live(watched) as live:
            loop.run(live, screen, story)
    reader.join()
    return terminal


def _read(master: int, terminal: Terminal) -> None:
    try:
        while data := os.read(master, 65536):
            terminal.feed(data)
    except OSError:  # how Linux says that the other end is closed
        os.close(master)


CELL_WIDTH, LINE_HEIGHT, MARGIN, SIZE = 8.4, 19, 16, 14
STYLES = {1: "b", 2: "d", 31: "r", 32: "g", 33: "y"}
"""A terminal's codes -> classes of the picture."""

CSS = """text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#1f2328}
.bg{fill:#f6f8fa;stroke:#d1d9e0}.b{font-weight:600}.d{fill:#59636e}.r{fill:#c4121f}.g{fill:#116329}.y{fill:#8a5a00}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.bg{fill:#0d1117;stroke:#30363d}
.d{fill:#9198a1}.r{fill:#ff8a80}.g{fill:#56d364}.y{fill:#e3b341}}"""


def svg(terminal: Terminal, said: str) -> str:
    """The screen as a picture whose letters are text, for light and for dark pages."""
    rows = terminal.styled()
    width = round(COLUMNS * CELL_WIDTH + 2 * MARGIN)
    height = len(rows) * LINE_HEIGHT + 2 * MARGIN
    lines = "\n".join(
        _row(at, row) for at, row in enumerate(rows) if any(c.letter.strip() for c in row)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" role="img"><title>{said}</title>\n<style>{CSS}</style>\n'
        f'<rect class="bg" x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="8"/>\n'
        f"{lines}\n</svg>\n"
    )


def _row(at: int, row: list[Cell]) -> str:
    y = MARGIN + at * LINE_HEIGHT + SIZE
    parts = []
    for style, run in groupby(enumerate(row), key=lambda each: each[1].style):
        cells = list(run)
        text = "".join(cell.letter for _, cell in cells)
        bare = text.strip()
        if not bare:
            continue
        first = cells[0][0] + len(text) - len(text.lstrip())
        names = " ".join(STYLES[code] for code in sorted(style))
        x = MARGIN + first * CELL_WIDTH
        parts.append(
            f'<tspan x="{x:.1f}" textLength="{len(bare) * CELL_WIDTH:.1f}"'
            f"{f' class={chr(34)}{names}{chr(34)}' if names else ''}>{escape(bare)}</tspan>"
        )
    return f'<text y="{y}" xml:space="preserve">{"".join(parts)}</text>'


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true", help="Only say whether it is current.")
    check = parser.parse_args().check
    os.environ["TZ"] = "UTC"
    time.tzset()
    old = [name for name, story in PICTURES.items() if not drawn(name, story, check=check)]
    for name in old:
        print(f"{name} is not what is drawn now: run python tools/picture.py")
    return 1 if old else 0


def drawn(name: str, story: type[Story], *, check: bool) -> bool:
    """Draw a picture; with check, only whether it is the one that is there."""
    with tempfile.TemporaryDirectory() as home:
        os.environ |= {"HOME": home, "SIGHTLINE_HOME": f"{home}/state"}
        made = svg(played(Path(home), story), story.said)
    file = DOCS / name
    if check:
        return file.exists() and file.read_text(encoding="utf-8") == made
    file.write_text(made, encoding="utf-8")
    return True


if __name__ == "__main__":
    sys.exit(main())
