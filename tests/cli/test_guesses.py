"""What a newcomer would type for ten tasks: each guess works, or its error names the command that does."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

INDEX = Path(__file__).parents[2] / "docs" / "index.md"

WORKS = ""
"""What stands for a guess that works as it is typed."""

GUESSES = {
    "take back everything since lunch": {
        "rewind 12:00 --dry-run": WORKS,
        "rewind --since 12:00": "rewind TIME",
        "undo --since lunch": "rewind TIME",
        "rewind lunch --dry-run": "sightline rewind 12:00",
        "undo 2h --dry-run": "sightline rewind 2h",
        "undo --all": "rewind TIME",
    },
    "see what changed in what my agent has read": {
        "changes": WORKS,
        "diff": WORKS,
        "stale": "changes",
        "status --stale": "changes",
        "whatchanged": "changes",
    },
    "undo only this file": {
        "undo app.py --dry-run": WORKS,
        "undo --file app.py": "undo PATH",
        "rewind app.py --dry-run": "sightline undo app.py",
        "restore app.py": "undo PATH",
        "checkout app.py": "undo PATH",
        "revert app.py": "undo PATH",
    },
    "find out which agent broke the test": {
        "why test_app.py": WORKS,
        "log test_app.py": WORKS,
        "blame test_app.py": "why",
        "who test_app.py": "why",
        "log --file test_app.py": "log PATH",
    },
    "run three parts at once and see the conflict": {
        "task list": WORKS,
        "task run --parallel 3 -- make": "task run --concurrency N",
        "task run -j 3 -- make": "task run --concurrency N",
        "task conflicts": "task list",
        "task add docs 'Describe it'": "task propose",
        "parallel": "task run",
    },
    "see what the agents are doing now": {
        "status": WORKS,
        "up --once": WORKS,
        "ps": "status",
        "agents": "session list",
        "top": "up",
        "sessions": "session list",
    },
    "save a point before something risky": {
        "checkpoint before": WORKS,
        "save before": "checkpoint",
        "snapshot -m before": "checkpoint",
        "checkpoint -m before": "checkpoint LABEL",
        "checkpoint create before": "sightline checkpoint LABEL",
        "checkpoint show before": "sightline checkpoint diff ID",
        "checkpoint show": "sightline checkpoint diff ID",
        "backup": "checkpoint",
    },
    "keep other agents off a file": {
        "claim app.py --session s1": WORKS,
        "lock app.py": "claim",
        "protect app.py": "claim",
        "claim --file app.py": "claim PATH",
        "freeze app.py": "claim",
    },
    "get back a file that an agent deleted": {
        "undo gone.py --dry-run": WORKS,
        "rewind morning gone.py --dry-run": WORKS,
        "undelete gone.py": "undo PATH",
        "recover gone.py": "undo PATH",
        "checkpoint restore morning": "sightline rewind LABEL",
    },
    "remove Sightline again": {
        "forget --dry-run": WORKS,
        "uninstall": "init --remove",
        "disconnect": "init --remove",
        "remove": "init --remove",
        "init --uninstall": "init --remove",
    },
}
"""A task -> what a stranger would type -> the words of the error that name the command, "" where it works."""


@pytest.fixture
def shop(sl):
    """A workspace in which two agents read three files, and each changed some."""
    sl.put("app.py", "def price(cart):\n    return sum(cart)\n")
    sl.put("test_app.py", "assert True\n")
    sl.put("gone.py", "x = 1\n")
    sl("checkpoint", "morning")
    for path in ("app.py", "test_app.py", "gone.py"):
        sl("--session", "s1", "read", path)
    sl("--session", "s1", "edit", "app.py", "--old", "sum(cart)", "--new", "round(sum(cart))")
    for path in ("test_app.py", "gone.py"):
        sl("--session", "s2", "read", path)
    sl("--session", "s2", "edit", "test_app.py", "--old", "True", "--new", "False")
    sl("--session", "s2", "delete", "gone.py")
    sl("task", "propose", "api", "Build it")
    return sl


@pytest.mark.wide
def test_each_guess_works_or_is_answered_with_the_command_that_does(shop):
    wrong = []
    for guesses in GUESSES.values():
        for typed, named in guesses.items():
            done = shop(*shlex.split(typed))
            worked = done.code in (0, 1) and "Error:" not in done.err
            said = named in done.err and done.code in (1, 2) if named else worked
            if not said:
                wrong.append(f"{typed} [{done.code}]: {done.err}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("typed", "named"),
    [
        ("raed", "read"),
        ("unod", "undo"),
        ("warn", "warnings"),
        ("conf", "settings"),
        ("config", "settings"),
        ("export", "checkpoint export"),
        ("rew", "rewind"),
    ],
)
def test_a_slip_or_a_beginning_leads_to_its_command(sl, typed, named):
    answer = sl(typed)
    assert answer.code == 2
    assert f"Did you mean 'sightline {named}'?" in answer.err


def test_the_list_for_newcomers_has_these_tasks_with_commands_that_work():
    rows = re.findall(r"^\| (.+?) +\| `sightline (.+?)` *\|", INDEX.read_text(), re.MULTILINE)
    assert [task for task, _ in rows] == list(GUESSES)
    for task, line in rows:
        known = {
            typed.removesuffix(" --dry-run") for typed, named in GUESSES[task].items() if not named
        }
        known |= {"task run --concurrency 3 -- claude -p"}  # what the error of such a guess names
        assert line in known, f"{line}: not tried above"
