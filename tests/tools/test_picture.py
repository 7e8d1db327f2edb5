"""The picture of `up` and the small terminal that reads it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tools.terminal import Terminal

ROOT = Path(__file__).parents[2]


@pytest.mark.wide
def test_the_picture_is_what_is_drawn_now():
    """Else run: python tools/picture.py"""
    tool = ROOT / "tools" / "picture.py"
    done = subprocess.run([sys.executable, tool, "--check"], capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def shown(*parts, columns=10, rows=4):
    terminal = Terminal(columns, rows)
    for part in parts:
        terminal.feed(part)
    return terminal.lines()


def test_a_terminal_breaks_long_lines_and_scrolls():
    assert shown(b"abcdefghijklm") == ["abcdefghij", "klm"]
    terminal = Terminal(10, 2)
    terminal.feed(b"a\r\nb\r\nc")
    assert terminal.lines() == ["b", "c"]
    assert len(terminal.scrolled) == 1


def test_a_terminal_goes_up_and_clears():
    assert shown(b"one\r\ntwo\r\n", b"\x1b[2A\rONE\x1b[K\r\n\x1b[J") == ["ONE"]
    assert shown(b"one\r\n", b"\x1b[H\x1b[J") == []


def test_a_letter_may_come_in_two_reads_and_be_wide():
    data = "日x".encode()
    assert shown(data[:2], data[2:]) == ["日x"]


@pytest.mark.parametrize("data", [b"\x1b[5;5H", b"\x1b]0;title\x07", b"\x07"])
def test_what_nobody_expects_is_an_error(data):
    with pytest.raises(ValueError, match="nobody expects"):
        shown(data)
