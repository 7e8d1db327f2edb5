"""Draws docs/up.svg: what `sightline up` shows of a real hour of work, for the README.

    python tools/picture.py [--check]

Two agents and a person work in a throw-away shop. The view runs on a pseudo-terminal of 80 columns
and looks after every step; only the clock is ours, so that a second run draws the same bytes.
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

import sightline
from sightline.interfaces import live
from sightline.interfaces.live.screen import Screen, wall_time
from sightline.services.history import survey
from sightline.services.overview import Watch
from sightline.services.watching import Watching
from sightline.testing import FixedClock

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from tools.terminal import Cell, Terminal

PICTURE = Path(__file__).resolve().parent.parent / "docs" / "up.svg"
COLUMNS, ROWS = 80, 24
NOON_US = 1_767_225_600_000_000 + (12 * 3600 + 4 * 60) * 1_000_000
MAIN = "7c1e9a52-3f08-4d7e-9b61-2a5d0c84e913"
HELPER = f"{MAIN}/Explore-4f0a9c21"
STATUS = "Claude Code is connected. Ctrl-C ends this view."
LOOKS_AFTER = 3

CART = """RATE = 0.2


def total(items):
    return sum(item.price for item in items)


def receipt(items):
    return f"{len(items)} items, {total(items)}"
"""
TAX = """def tax(amount):
    return amount * 0.2


def net(amount):
    return amount - tax(amount)
"""
TEST = """def test_nothing_costs_nothing():
    assert total([]) == 0


def test_one():
    assert total([pen]) == 2
"""


class Over(Exception):
    """The story is told."""


class Story:
    """What happens, a step a call."""

    def __init__(self, root: Path, clock: FixedClock) -> None:
        self.root, self.clock = root, clock
        for path, text in {"cart.py": CART, "tax.py": TAX, "items.py": "pen = 2\n"}.items():
            self.save(f"src/{path}", text)
        self.save("tests/test_cart.py", TEST)
        self.agent = self.begin(MAIN)
        steps = [
            self.reads, self.helps, self.saves, self.goes_on, self.is_refused, self.merges,
            self.helper_edits,
        ]  # fmt: skip
        self.steps = iter([*steps, *[self.rests] * LOOKS_AFTER])

    def __call__(self, _seconds: float, descriptor: int | None) -> bool:
        if descriptor is None:  # only a rest after a look
            return False
        step = next(self.steps, None)
        if step is None:
            raise Over
        step()
        self.clock.advance(seconds=47)
        return False

    def save(self, path: str, text: str) -> None:
        """A person saves a file in an editor."""
        file = self.root / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)

    def begin(self, id: str, parent: str | None = None) -> sightline.Session:
        """An agent begins to work."""
        return sightline.open_session(
            self.root, id=id, agent="claude-code", parent=parent, clock=self.clock
        )

    def reads(self) -> None:
        self.agent.turn()
        for path in ("src/cart.py", "src/tax.py", "src/items.py", "tests/test_cart.py"):
            self.agent.read(path)

    def helps(self) -> None:
        self.helper = self.begin(HELPER, MAIN)
        self.helper.read("src/items.py")
        self.helper.read("src/cart.py")

    def saves(self) -> None:
        self.save("src/cart.py", CART.replace("RATE = 0.2\n", "RATE = 0.25\n"))
        self.save("src/tax.py", TAX.replace("* 0.2", "* 0.25"))

    def goes_on(self) -> None:
        """Elsewhere in the changed file: made, with a notice."""
        result = self.agent.edit("src/cart.py", "{total(items)}", "{total(items):.2f}")
        assert result.notice is not None
        self.agent.acknowledge(result.notice)

    def is_refused(self) -> None:
        """In the very line that was changed."""
        try:
            self.agent.edit("src/tax.py", "amount * 0.2\n", "round(amount * 0.2, 2)\n")
        except sightline.EditRefused as refused:
            self.agent.acknowledge(refused)

    def merges(self) -> None:
        """A whole file over a change elsewhere in it."""
        self.save("tests/test_cart.py", TEST.replace("== 2", "== pen.price"))
        result = self.agent.write("tests/test_cart.py", TEST.replace("== 0", "== 0.0"))
        assert result.merged
        assert result.notice is not None
        self.agent.acknowledge(result.notice)

    def helper_edits(self) -> None:
        self.helper.edit("src/items.py", "pen = 2", "pen = Item(2)")

    def rests(self) -> None:
        """Nothing happens, and nothing is drawn."""


def played(home: Path) -> Terminal:
    """The screen at the end of the story."""
    root, clock = home / "shop", FixedClock(NOON_US)
    (root / ".git").mkdir(parents=True)
    story = Story(root, clock)
    ground = story.agent._ground  # noqa: SLF001 - its ports, which the view looks through, too
    watched = survey(ground.store, ground.workspace, ground.settings, clock)
    terminal = Terminal(COLUMNS, ROWS)
    terminal.feed(b"$ sightline up\r\n")
    master, side = pty.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS - 1, COLUMNS, 0, 0))
    reader = Thread(target=_read, args=(master, terminal))
    reader.start()
    with os.fdopen(side, "w", encoding="utf-8") as stream:
        screen = Screen(stream, "~/shop", STATUS, wall_time, colour=True)
        with suppress(Over), Watching(watched) as watching:
            live.run(Watch(watched, watching), watching, screen, story)
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


def svg(terminal: Terminal) -> str:
    """The screen as a picture whose letters are text, for light and for dark pages."""
    rows = terminal.styled()
    width = round(COLUMNS * CELL_WIDTH + 2 * MARGIN)
    height = len(rows) * LINE_HEIGHT + 2 * MARGIN
    lines = "\n".join(
        _row(at, row) for at, row in enumerate(rows) if any(c.letter.strip() for c in row)
    )
    said = "sightline up: two agents, their files with what went stale and why, and what happened"
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
    with tempfile.TemporaryDirectory() as home:
        os.environ |= {"HOME": home, "SIGHTLINE_HOME": f"{home}/state", "TZ": "UTC"}
        time.tzset()
        drawn = svg(played(Path(home)))
    if not check:
        PICTURE.write_text(drawn, encoding="utf-8")
        return 0
    if PICTURE.exists() and PICTURE.read_text(encoding="utf-8") == drawn:
        return 0
    print(f"{PICTURE.name} is not what is drawn now: run python tools/picture.py")
    return 1


if __name__ == "__main__":
    sys.exit(main())
