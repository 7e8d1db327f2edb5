"""The page that `sightline` alone prints fits a small terminal, and says only what a command shows."""

from __future__ import annotations

import re


def test_the_page_fits_a_small_terminal_and_names_the_two_commands(sl):
    lines = sl().out.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 60
    assert [line.split()[1] for line in lines if line.startswith("  sightline ")] == ["tour", "up"]


def test_the_commands_of_the_page_print_what_it_shows(sl):
    sl.put("app.py", "port = 80\nhost = 1\n")
    sl("read", "app.py")
    sl.put("app.py", "port = 8080\nhost = 1\n")
    page = sl().out
    blocks = re.findall(r"^  \$ sightline (.+)\n((?:  .*\n)+)", page, re.MULTILINE)
    status, edit = [(line, " ".join(shown.split())) for line, shown in blocks]
    assert status[0] == "status"
    assert status[1] in " ".join(sl("status").out.split())
    assert edit[0] == "edit app.py --old 'port = 80' --new 'port = 9'"
    refused = sl("edit", "app.py", "--old", "port = 80", "--new", "port = 9")
    assert edit[1] in " ".join(refused.err.split())
