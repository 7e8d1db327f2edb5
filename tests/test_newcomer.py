"""What a newcomer types in a fresh home, at a real terminal: every command works as it is printed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from time import monotonic, sleep

import pytest

ROOT = Path(__file__).parents[1]
DEADLINE_S = 120.0
"""Seconds for one answer on a busy machine; a command that hangs is a failure."""

pytestmark = [
    pytest.mark.wide,
    pytest.mark.skipif(  # .ci/run installs tmux: there the test fails without
        shutil.which("tmux") is None and os.environ.get("CI") != "true",
        reason="tmux is not installed",
    ),
]


class Desk:
    """A shell on a terminal of tmux, with the command on its PATH, in a home that nobody used."""

    def __init__(self, home: Path, folder: Path) -> None:
        self._name = f"newcomer-{os.getpid()}-{home.parent.name}"
        path = os.pathsep.join([str(Path(sys.executable).parent), os.defpath])
        self._tmux(
            *("-f", "/dev/null", "new-session", "-d", "-s", "desk", "-x", "80", "-y", "50"),
            *("-c", str(folder), "env", "-i", f"HOME={home}", "TERM=xterm-256color"),
            *(f"PATH={path}", "PS1=$ ", "bash", "--norc", "--noprofile"),
        )
        self.until("$")

    def type(self, line: str) -> None:
        """Clear the screen and type a line."""
        self.press("C-u")
        self.press("C-l")
        self._tmux("send-keys", "-t", "desk", "-l", line)
        self.press("Enter")

    def press(self, key: str) -> None:
        self._tmux("send-keys", "-t", "desk", key)

    def until(self, words: str, key: str = "") -> str:
        """Wait until the screen has these words, and return the screen. key: is pressed meanwhile, as
        a program does not get what was typed before it reads keys."""
        deadline = monotonic() + DEADLINE_S
        while words not in (screen := self._tmux("capture-pane", "-p", "-J", "-t", "desk")):
            assert monotonic() < deadline, f"never seen: {words!r}, but:\n{screen}"
            if key:
                self.press(key)
            sleep(0.2)
        return screen

    def run(self, line: str) -> str:
        """Type a command, wait for its end, and return the screen without errors of Sightline's."""
        self.type(f"{line}; echo exit=$?")
        screen = self.until("\nexit=")
        assert "Sightline itself failed" not in screen
        assert "There is no command" not in screen
        return screen

    def close(self) -> None:
        self._tmux("kill-server")

    def _tmux(self, *words: str) -> str:
        done = subprocess.run(
            ["tmux", "-L", self._name, *words], capture_output=True, text=True, check=True
        )
        return done.stdout


@pytest.fixture(params=["with an agent's folder", "without"])
def desk(request, tmp_path):
    home, folder = tmp_path / "home", tmp_path / "home" / "app"
    folder.mkdir(parents=True)
    if request.param != "without":
        (folder / ".claude").mkdir()
    (folder / "app.py").write_text('port = 80\nhost = "a"\n')
    found = Desk(home, folder)
    yield found, folder, request.param != "without"
    found.close()


def printed(screen: str, before: str) -> str:
    """The command that stands behind some words, on their line or the next."""
    found = re.search(rf"{re.escape(before)}\s+(sightline [^\n]*)", screen)
    assert found is not None, screen
    return found[1].rstrip()


def test_every_command_works_as_it_is_printed(desk):
    at, folder, has_agent = desk
    (line, _) = re.findall(r"```sh\n(.*)\n```", (ROOT / "README.md").read_text())
    *_, tour = line.split(" && ")  # the tests run in an installation already
    at.type(tour)
    at.until("Enter goes on, q leaves:")
    at.until(" 2. ", key="Enter")
    at.until("Enter goes on, q leaves:")
    screen = at.until("\n    sightline up", key="q")

    at.type(printed(screen, f"{folder}:"))
    if has_agent:
        screen = at.until("Connect it? [Y/n]")
        at.press("Enter")
    at.until("No agent was shown a file here yet.")
    at.press("C-c")
    at.until("Ended.")

    at.run("sightline read app.py")
    (folder / "app.py").write_text('port = 8080\nhost = "a"\n')
    screen = at.run("sightline edit app.py --old 'port = 80' --new 'port = 443'")
    assert "+port = 8080" in screen
    assert "exit=1" in screen
    at.run("sightline read app.py")
    screen = at.run("sightline edit app.py --old 'port = 8080' --new 'port = 443'")
    assert "exit=0" in screen

    at.type("sightline undo")
    at.until("Do this? [y/N]")
    at.press("y")
    at.press("Enter")
    screen = at.until("To take this rewind back:")
    assert (folder / "app.py").read_text() == 'port = 8080\nhost = "a"\n'
    at.type(printed(screen, "To take this rewind back:"))
    at.until("Do this? [y/N]")
    at.press("n")
    at.press("Enter")
    at.until("Nothing was changed.")

    at.type("sightline forget")
    at.until("Delete these files? This cannot be undone. [y/N]")
    at.press("y")
    at.press("Enter")
    screen = at.until("The files of the workspace are as they were.")
    assert not [*folder.parent.glob(".local/state/sightline/workspaces/*/store.db")]
    assert (folder / "app.py").read_text() == 'port = 8080\nhost = "a"\n'
    if has_agent:
        screen = at.until("--remove")
        screen = at.run(printed(screen, "Remove them:"))
        assert "Claude Code is no longer connected." in screen
    assert "exit=0" in at.run("sightline doctor --quiet")
