"""Words for people have no ids that a program made up, and no times finer than a second."""

from __future__ import annotations

import io
import re
import shlex

import pytest

from sightline.cli import output
from sightline.text.terminal_cells import columns_of

SESSION, OTHER = "5f0c2a8e-1b7d-4c35-9a51-0d8f3b6e7c21", "019a0000-aaaa-7abc-9def-0123456789ab"
"""Ids as agent products make them."""

NOISE = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-|\d:\d\d\.\d{3}|\d\dT\d\d:|ended other")

LOOKS = """
log; log shop.py; log -n 3; session list; session show 5f0c; status; status --session 5f0c; checkpoint list;
undo --dry-run; rewind morning --dry-run; rewind nothing --yes; task; task show api; task diff api; why shop.py; why other.py;
claim list; doctor; up --once; changes; changes --since 2h; diff; check; registry; models; warnings; forget --dry-run;
status --session nobody; gc --dry-run; session fork 5f0c; briefing --session 5f0c
"""


@pytest.mark.wide
def test_no_command_shows_people_what_only_programs_need(sl):
    sl.put("shop.py", "def price(cart):\n    return sum(cart)\n")
    sl.put("other.py", "x = 1\n")
    sl("checkpoint", "morning")
    for session in (SESSION, OTHER):
        sl("--session", session, "read", "shop.py")
        sl("--session", session, "turn", "--model", "m")
    sl("--session", SESSION, "edit", "shop.py", "--old", "sum(cart)", "--new", "max(cart)")
    sl("--session", SESSION, "claim", "shop.py")
    sl("--session", OTHER, "read", "other.py")
    sl("task", "propose", "api", "Build it")
    sl("session", "delete", OTHER)
    sl.put("shop.py", "def price(cart):\n    return min(cart)\n")
    noisy = []
    for typed in LOOKS.replace("\n", " ").split("; "):
        done = sl(*shlex.split(typed))
        noisy += [
            f"{typed}: {line}" for line in (done.out + done.err).splitlines() if NOISE.search(line)
        ]
    assert not noisy, "\n".join(noisy)


def test_the_beginning_that_is_shown_names_the_session(sl):
    sl.put("a.py", "x = 1\n")
    sl("--session", SESSION, "read", "a.py")
    shown = re.search(r"its id: (\S+)", sl("status").out)
    assert shown is not None
    assert SESSION.startswith(shown[1])
    assert sl("status", "--session", shown[1], "--json").json["sessions"][0]["id"] == SESSION


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("width", [40, 60, 120])
def test_a_table_without_room_becomes_a_list_that_breaks_between_words(width, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    rows = [("ID", "AGENT", "NAME"), ("5f0c2a8e-1b7d", "claude-code", f'"{"Mend it. " * 6}"')]
    assert output.tabled(rows).count("\n") == 1  # a program gets the table
    monkeypatch.setattr("sys.stdout", Terminal())
    lines = output.tabled(rows).split("\n")
    assert max(map(columns_of, lines)) <= width
    if width < 120:
        assert lines[0] == "5f0c2a8e-1b7d"
        assert " ".join(" ".join(lines[1:]).split()).startswith(
            'agent: claude-code; name: "Mend it.'
        )
