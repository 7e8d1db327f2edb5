"""Streams that were closed, that are full, and a folder that went away: as scripts leave them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.examples import widely

FULL = Path("/dev/full")
PROGRAM = "import sys; from sightline.cli.entry import main; sys.exit(main())"
SOURCE = str(Path(__file__).parents[2] / "src")

needs_full = pytest.mark.skipif(not FULL.exists(), reason="no device that is always full here")
needs_shell = pytest.mark.skipif(os.name != "posix", reason="a shell closes the streams")


def _buffered():
    """The environment of a user, whose Python buffers what it prints."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}


def shell(sl, redirected, *args):
    """Run the command by a POSIX shell, which redirects or closes streams: code, stdout, stderr."""
    script = f'exec "$0" -c "$1" {" ".join(args)} {redirected}'
    made = subprocess.run(
        ["sh", "-c", script, sys.executable, PROGRAM],
        cwd=sl.root,
        env={**_buffered(), "PYTHONPATH": SOURCE},
        capture_output=True,
        check=False,
    )
    return made.returncode, made.stdout.decode(), made.stderr.decode()


@pytest.mark.wide
@needs_shell
@pytest.mark.parametrize(
    "closed",
    [
        ">&-",
        "<&- >&- 2>&-",
        *(pytest.param(one, marks=pytest.mark.wide) for one in ("<&-", "2>&-")),
    ],
)
def test_a_closed_stream_is_no_fault(sl, closed):
    sl.put("a.txt", "one\n")
    assert shell(sl, closed, "read", "a.txt")[0] == 0
    code, _, err = shell(sl, closed, "status")
    assert (code, err) == (0, "")


@pytest.mark.wide
@needs_shell
def test_a_closed_stdin_is_no_empty_text(sl):
    file = sl.put("a.txt", "one\n")
    sl("read", "a.txt")
    code, _, err = shell(sl, "<&-", "write", "a.txt")
    assert (code, file.read_text()) == (2, "one\n")
    assert "stdin is closed" in err


@pytest.mark.wide
@needs_full
@needs_shell
@pytest.mark.parametrize("args", [["check", "a.txt", "--json"], *widely(["status"], ["edit", "a.txt", "--old", "one", "--new", "1"])])  # fmt: skip
def test_an_answer_that_cannot_be_printed_is_an_error_of_its_own(sl, args):
    sl.put("a.txt", "one\n")
    sl("read", "a.txt")
    code, _, err = shell(sl, ">/dev/full", *args)
    assert code == 3
    assert err.startswith("Error: The answer cannot be printed: No space left on device.\nHint: ")
    assert "Traceback" not in err


@pytest.mark.wide
@needs_full
@needs_shell
def test_an_error_that_cannot_be_told_keeps_its_exit_code(sl):
    assert shell(sl, "2>/dev/full", "nonsense")[0] == 2
    assert shell(sl, "2>/dev/full", "read", "no-such-file")[0] == 1


@pytest.mark.wide
@needs_shell
def test_a_current_folder_that_was_removed_is_told(sl):
    gone = sl.root / "gone"
    gone.mkdir()
    made = subprocess.run(
        ["sh", "-c", 'rmdir "$PWD"; exec "$0" -c "$1" status', sys.executable, PROGRAM],
        cwd=gone,
        env={**_buffered(), "PYTHONPATH": SOURCE},
        capture_output=True,
        check=False,
    )
    assert made.returncode == 2
    assert made.stderr.startswith(b"Error: The current folder was removed.\nHint: ")


def test_a_session_that_was_shown_nothing_is_named(sl):
    sl.put("a.txt", "one\n")
    sl("read", "a.txt")
    sl("turn", "--session", "other")
    answer = sl("status", "--session", "other")
    assert answer.code == 0
    assert "Session other was shown no file here." in answer.out
