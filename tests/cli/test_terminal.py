"""What a person at a terminal sees and is asked."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import sightline

SOURCE = str(Path(sightline.__file__).parents[1])
PROGRAM = "import sys; from sightline.cli.entry import main; sys.exit(main())"

pty = pytest.importorskip("pty")


def at_terminal(sl, *args, answer=b"", env=None):
    """Run the command on a pseudo-terminal of 80 columns: its exit code and what it showed."""
    terminal, side = pty.openpty()
    clean = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    child = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *args],
        cwd=sl.root,
        env=clean | {"PYTHONPATH": SOURCE, "TERM": "xterm", "COLUMNS": "80"} | (env or {}),
        stdin=side,
        stdout=side,
        stderr=side,
        start_new_session=True,
    )
    os.close(side)
    os.write(terminal, answer)
    seen = b""
    try:
        while part := os.read(terminal, 65536):
            seen += part
    except OSError:  # how Linux says that the other end is closed
        pass
    os.close(terminal)
    return child.wait(), seen.decode().replace("\r\n", "\n")


@pytest.mark.wide
def test_lines_are_numbered_and_cannot_steer(sl):
    sl.put("a.txt", b"one\n\x1b[31mtwo\r\n")
    assert at_terminal(sl, "read", "a.txt", "--quiet") == (0, "1  one\n2  ␛[31mtwo\n")


@pytest.mark.wide
def test_states_have_colours_unless_nobody_wants_them(sl):
    sl.put("a.txt", "one\n")
    sl("read", "a.txt")
    assert "\x1b[32mfresh\x1b[0m" in at_terminal(sl, "check", "a.txt")[1]
    assert "\x1b" not in at_terminal(sl, "check", "a.txt", "--no-color")[1]
    assert "\x1b" not in at_terminal(sl, "check", "a.txt", env={"NO_COLOR": "1"})[1]


@pytest.mark.wide
@pytest.mark.parametrize(("answer", "code", "text"), [("y", 0, "a = 2\n"), ("n", 1, "a = 1\n")])
def test_a_protected_file_is_asked_for(sl, answer, code, text):
    file = sl.put("sightline.toml", "")
    file.write_text("# a = 1\n")
    sl("read", "sightline.toml")
    asked = ("edit", "sightline.toml", "--old", "a = 1", "--new", "a = 2")
    ended, seen = at_terminal(sl, *asked, answer=f"{answer}\n".encode())
    assert "sightline.toml is protected. Make this change?" in seen
    assert "+# a = 2" in seen
    assert (ended, file.read_text()) == (code, f"# {text}")


@pytest.mark.wide
def test_a_person_who_is_to_type_is_told_so(sl):
    ended, seen = at_terminal(sl, "create", "a.txt", answer=b"typed\n\x04")
    assert ended == 0
    assert "Type the file's content, then Ctrl-D" in seen
    assert (sl.root / "a.txt").read_text() == "typed\n"


@pytest.mark.wide
def test_a_notice_leaves_the_choice_to_go_on_or_to_reload(sl):
    sl.put("a.txt", "one\n")
    sl("read", "a.txt")
    sl.put("a.txt", "two\n")
    ended, seen = at_terminal(sl, "changes", "--for-agent")
    assert ended == 0
    assert "\x1b[32m+two\x1b[0m" in seen
    go_on, reload = seen.splitlines()[-2:]
    assert go_on.startswith("To go on, acknowledge it:  sightline ack n")
    assert reload == "To read a file first:      sightline read a.txt"
    assert sl(*go_on.split("sightline ")[1].split()).code == 0
    assert at_terminal(sl, "changes", "--for-agent") == (0, "Nothing is new.\n")


@pytest.mark.wide
def test_at_a_terminal_related_files_are_complete(sl):
    for number in range(300):
        sl.put(f"m{number}.py", "import aa\n")
    sl.put("aa.py", "x = 1\n")
    ended, seen = at_terminal(sl, "related", "aa.py")
    assert ended == 0
    assert "imports it in line 1" in seen
    assert "not known yet" not in seen
