"""The interactive client in a pseudo-terminal: keys in, what its screen was given out."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import termios
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Timer

from tests.clients.claude import DEADLINE_S, Claude

ROWS, COLUMNS = 60, 160

SEQUENCE = re.compile(
    r"\x1b\[([0-9;?>=<]*)([A-Za-z])|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[^\[\]]|.", re.DOTALL
)
"""A control sequence with its numbers and its letter, or a character."""

UNFINISHED = re.compile(r"\x1b(?:\[[0-9;?>=<]*|\][^\x07\x1b]*)?\Z")

UP, ENTER, CLEAR_LINE = "\x1b[A", "\r", "\x15"

ANSWERED = "\N{BLACK CIRCLE} Done."
"""The last words of each script."""

ASKING, YES = "Do you want to", "1"
"""How the client asks before an edit, and the key for the first choice."""

CHOICES = (
    *("Restore code and conversation", "Restore conversation", "Restore code"),
    *("Summarize from here", "Summarize up to here"),
)
"""What `/rewind` offers; without changed files it leaves out those about code."""


class Screen:
    """What stands on a screen: the client draws only the cells that change."""

    def __init__(self) -> None:
        self._lines = [[" "] * COLUMNS for _ in range(ROWS)]
        self._row = self._column = 0
        self._rest = ""

    @property
    def text(self) -> str:
        """The lines from top to bottom."""
        return "\n".join("".join(line).rstrip() for line in self._lines)

    def draw(self, output: str) -> None:
        """Follow what the client writes."""
        output = self._rest + output
        cut = UNFINISHED.search(output)
        end = cut.start() if cut else len(output)
        self._rest = output[end:]
        for match in SEQUENCE.finditer(output, 0, end):
            if match[2]:
                self._move(match[1], match[2])
            elif match[0] == "\r":
                self._column = 0
            elif match[0] == "\n":
                self._down()
            elif match[0] >= " ":
                self._lines[self._row][min(self._column, COLUMNS - 1)] = match[0]
                self._column += 1

    def _down(self) -> None:
        if self._row == ROWS - 1:
            self._lines = [*self._lines[1:], [" "] * COLUMNS]
        else:
            self._row += 1

    def _move(self, given: str, letter: str) -> None:
        numbers = [int(each) if each.isdecimal() else 0 for each in given.split(";")]
        count = max(numbers[0], 1)
        if letter in "AB":
            self._row = min(max(self._row + (count if letter == "B" else -count), 0), ROWS - 1)
        elif letter in "CD":
            self._column = max(self._column + (count if letter == "C" else -count), 0)
        elif letter == "G":
            self._column = count - 1
        elif letter == "H":
            self._row = min(count, ROWS) - 1
            self._column = max(numbers[1] if len(numbers) > 1 else 1, 1) - 1
        elif letter == "K":
            first = 0 if numbers[0] else self._column
            self._lines[self._row][first:] = [" "] * (COLUMNS - min(first, COLUMNS))
        elif letter == "J":
            first = 0 if numbers[0] else self._row + 1
            for row in range(first, ROWS):
                self._lines[row] = [" "] * COLUMNS
            if not numbers[0]:
                self._lines[self._row][self._column :] = [" "] * (COLUMNS - self._column)


class Terminal:
    """A client on a screen. All waits end with the client, which a timer kills."""

    def __init__(self, client: int) -> None:
        self._client = client
        self._screen = Screen()

    def press(self, keys: str) -> None:
        """Press keys."""
        os.write(self._client, keys.encode())

    def see(self, text: str, times: int = 1) -> None:
        """Wait until a text stands on the screen, so many times; 0 until it is gone."""
        while (count := self._screen.text.count(text)) < times or (not times and count):
            try:
                part = os.read(self._client, 1 << 16)
            except OSError:
                part = b""
            assert part, f"never seen: {text}; but: {self._screen.text}"
            self._screen.draw(part.decode(errors="replace"))

    def say(self, prompt: str, until: str | None = None) -> None:
        """Type a prompt or a command, and wait for a text; without one for the model's answer."""
        answers = self._screen.text.count(ANSWERED)
        self.press(prompt)
        self.see(
            f"\N{HEAVY RIGHT-POINTING ANGLE QUOTATION MARK ORNAMENT}\N{NO-BREAK SPACE}{prompt}"
        )
        self.press(ENTER)
        if until is None:
            self.see(ANSWERED, answers + 1)
        else:
            self.see(until)

    def permit(self, prompt: str, meanwhile: Callable[[], object]) -> None:
        """Type a prompt, and let one edit pass that the client asks about; see the model's answer.
        meanwhile: what happens while the client asks."""
        answers = self._screen.text.count(ANSWERED)
        self.say(prompt, ASKING)
        meanwhile()
        self.press(YES)
        self.see(ANSWERED, answers + 1)

    def rewind(self, choice: str, *, back: int = 1, code: bool = True) -> None:
        """Go back to before a prompt, counted from the newest. code: files changed since."""
        self.say("/rewind", "(current)")
        for _ in range(back):
            self.press(UP)
        self.press(ENTER)
        self.see("Never mind")
        offered = [each for each in CHOICES if code or "code" not in each]
        self.press(str(offered.index(choice) + 1))
        self.see("Never mind", 0)


@contextmanager
def terminal(
    claude: Claude, *args: str, trusts: str = "", asks: bool = False
) -> Iterator[Terminal]:
    """The client, past its questions of a first start, ready for a prompt. trusts: another folder
    that the user trusted earlier. asks: the client asks the user before each edit."""
    trusted = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
    known = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "customApiKeyResponses": {"approved": ["none"], "rejected": []},
        "projects": {path: trusted for path in (str(claude.root), trusts) if path},
    }
    (claude.home / ".claude.json").write_text(json.dumps(known))
    mode, ready = ("default", "for shortcuts") if asks else ("acceptEdits", "accept edits on")
    keys, client_side = pty.openpty()
    fcntl.ioctl(client_side, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    client = subprocess.Popen(
        [claude.binary, "--permission-mode", mode, "--allowedTools", "Bash", *args],
        cwd=claude.root,
        env=claude.environ | {"TERM": "xterm-256color"},
        stdin=client_side,
        stdout=client_side,
        stderr=client_side,
        start_new_session=True,
    )
    os.close(client_side)
    hanging = Timer(DEADLINE_S, client.kill)
    hanging.start()
    try:
        shown = Terminal(keys)
        shown.see(ready)
        yield shown
        shown.press("/exit")
        shown.see("/exit")
        shown.press(ENTER)
        with suppress(AssertionError):
            shown.see("no such text: the client ends")
    finally:
        client.kill()
        client.wait()
        hanging.cancel()
        claude.left()  # waits for the answerer; the client kills its last hook in the middle
        for request in (claude.state / "run").glob("*.ask"):
            request.unlink()
        os.close(keys)
