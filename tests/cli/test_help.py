"""log, why, session, up, completion and help."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from itertools import takewhile
from pathlib import Path

import click
import pytest

import sightline
from sightline.cli.group import COMMANDS, MORE, SECTIONS, SUMMARY, cli
from sightline.cli.guesses import OPTIONS, OTHER_NAMES

ENTRY = [
    "schema",
    "position",
    "at",
    "session",
    "agent",
    "kind",
    "path",
    "lines",
    "before",
    "after",
    "cause",
]


@pytest.fixture
def story(sl):
    """Shown, changed outside, refused, moved."""
    sl.put("app.py", "a\nb\n")
    sl("read", "app.py")
    sl.put("app.py", "a\nB\n")
    sl("edit", "app.py", "--old", "b", "--new", "c")
    sl("read", "app.py")
    sl("move", "app.py", "new.py")
    return sl


def entries(done):
    return [json.loads(line) for line in done.out.splitlines()]


def test_the_log_has_one_object_a_line_with_exactly_the_documented_keys(story):
    told = entries(story("log", "--json"))
    assert [entry["kind"] for entry in told] == (
        ["session", "environment", "seen", "changed", "refused", "seen", "moved"]
    )
    for entry in told[:-1]:
        assert list(entry) == ENTRY
        assert list(entry["cause"]) == ["kind", "who", "detail", "confidence"]
    assert list(told[-1]) == [*ENTRY, "from"]
    assert (told[-1]["from"], told[-1]["path"]) == ("app.py", "new.py")
    assert [entry["position"] for entry in told] == sorted(entry["position"] for entry in told)


def test_an_entry_says_what_changed_and_who_did_it(story):
    (change,) = entries(story("log", "--json", "--kind", "changed"))
    assert change["before"] != change["after"]
    assert change["cause"]["kind"] == "external"
    assert (change["session"], change["agent"]) == ("cli", "cli")


def test_the_log_of_a_path_follows_its_names(story):
    assert entries(story("log", "new.py", "--json"))[-1]["kind"] == "moved"
    assert entries(story("log", "app.py", "--json"))[-1]["kind"] == "moved"
    assert entries(story("log", "other.py", "--json")) == []


def test_the_log_can_be_cut_and_narrowed(story):
    with sightline.open_session(story.root, id="s1") as session:
        session.read("new.py")
    told = entries(story("log", "-n", "2", "--json"))
    assert [entry["kind"] for entry in told] == ["environment", "seen"]
    assert {e["session"] for e in entries(story("log", "--session", "s1", "--json"))} == {"s1"}


def test_the_log_in_words(story):
    out = story("log").out
    assert "app.py: lines 1-2 shown (read)" in out
    assert "app.py was changed by the user or another program" in out
    assert "an attempt on app.py was refused: stale" in out
    assert "app.py was renamed to new.py by this session" in out


def test_sessions_are_listed_and_shown(story):
    said = story("session", "list", "--json").json
    assert [(s["id"], s["files"]) for s in said["sessions"]] == [("cli", 1)]
    assert story("session", "list").out.startswith("ID ")
    one = story("session", "show", "cli", "--json").json["session"]
    assert [file["path"] for file in one["files"]] == ["new.py"]
    missing = story("session", "show", "nobody")
    assert (missing.code, missing.out) == (1, "")


HEADINGS = ["Start", "Look", "Go back", "Find", "For agents and scripts"]


def test_the_help_has_five_sections_of_thirty_names_at_most_and_fits_a_terminal(sl, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = sl("--help").out.splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80
    assert [line[:-1] for line in lines if line.endswith(":")] == HEADINGS
    names = [line.split()[0] for line in lines if line.startswith("  ")]
    shown = [rows for heading, rows in SECTIONS.items() if not heading.startswith(MORE)]
    assert names == [name for rows in shown for name in rows if " " not in name and name != "hook"]
    assert len(names) == len(set(names)) <= 30
    assert set(names) < set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_no_summary_of_a_command_is_cut(sl, name):
    made = cli.get_command(click.Context(cli), name)
    assert made is not None
    said = {name: words for rows in SECTIONS.values() for name, (_, words) in rows.items()}[name]
    assert name == "hook" or made.get_short_help_str(SUMMARY) == said.removeprefix("Lab: ") != ""
    assert not said.endswith("...")


def test_every_command_is_in_the_help_of_all(sl, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    listed = [line for line in sl("help", "--all").out.splitlines() if line[:2] == "  "]
    names = [line[2:].partition("  ")[0] for line in listed if line[2] != " "]
    assert sorted(names) == sorted(set(COMMANDS) - {"hook"})
    headings = [*filter(None, SECTIONS)]
    assert [
        line[:-1] for line in sl("help", "--all").out.splitlines() if line[:1] != " "
    ] == headings


def test_help_shows_the_help_of_the_group_or_of_a_command(sl):
    assert sl("help").out == sl("--help").out
    assert sl("help", "rewind").out == sl("rewind", "--help").out
    assert sl("help", "task", "list").out == sl("task", "list", "--help").out
    assert "There is no command 'nonsense'." in sl("help", "nonsense").err


def test_the_help_of_a_command_names_those_below_it_and_the_options_of_all(sl):
    out = sl("checkpoint", "--help").out
    below = out.partition("Commands:\n")[2].partition("\n\n")[0].splitlines()
    assert [line.split()[0] for line in below] == ["list", "diff", "export", "delete"]
    assert "Options of every command:" in out
    assert "Usage: sightline checkpoint diff [OPTIONS] A [B]" in sl("checkpoint", "diff", "-h").out


@pytest.mark.parametrize(
    "words",
    [
        ("checkpoint", "--json", "list"),
        ("checkpoint", "--session", "diff", "--json", "list"),
        ("--json", "checkpoint", "list"),
    ],
)
def test_options_of_every_command_may_stand_before_the_second_word(sl, words):
    sl("turn", "--session", "diff")
    assert sl(*words).json["checkpoints"] == []


def test_after_two_dashes_a_word_is_no_command(sl):
    sl.put("list", "a file\n")
    assert sl("claim", "--json", "--", "list").json["claim"]["paths"] == ["list"]
    assert sl("session", "--", "list").code == 2
    assert sl("session").code == sl("session", "shwo").code == 2


def test_a_misspelt_command_is_corrected(sl):
    done = sl("chekpoint")
    assert (done.code, done.err.splitlines()[0]) == (
        2,
        "Error: There is no command 'chekpoint'. Did you mean 'sightline checkpoint'?",
    )


@pytest.mark.parametrize(
    ("tried", "meant"),
    [
        ("restore", "undo PATH' or 'sightline rewind ID"),
        ("rollback", "rewind"),
        ("history", "log"),
        ("snapshot", "checkpoint"),
        ("checkpoints", "checkpoint list"),
        ("checkpoint-diff", "checkpoint diff"),
        ("lock", "claim"),
        ("claims", "claim list"),
        ("release", "claim release"),
        ("hand-over", "claim hand-over"),
        ("blame", "why"),
        ("notice", "changes --for-agent"),
        ("edited-since", "changes --since"),
        ("edit-lines", "edit --lines"),
        ("sessions", "session list"),
        ("version", "--version"),
        ("rewnd", "rewind"),
        ("staus", "status"),
        ("statsu", "status"),
    ],
)
def test_another_name_of_a_command_gets_the_command(sl, tried, meant):
    assert f"Did you mean 'sightline {meant}'?" in sl(tried).err


@pytest.mark.parametrize("tried", ["commit", "push", "merge", "foo", "x", "test"])
def test_what_names_no_command_gets_no_far_fetched_guess(sl, tried):
    done = sl(tried)
    assert (done.code, "Did you mean" in done.err) == (2, False)


def test_every_other_name_leads_to_a_command():
    assert not OTHER_NAMES.keys() & COMMANDS.keys()
    led = {command_of(meant) for meant in [*OTHER_NAMES.values(), *OPTIONS.values()]}
    assert led - COMMANDS.keys() == {"--version"}
    assert {name.rpartition(" -")[0].rstrip(" -") for name in OPTIONS} <= COMMANDS.keys()


def command_of(meant):
    """The command of a line that is meant, without its options and arguments."""
    words = [word for word in meant.partition("'")[0].split() if not word.isupper()]
    return " ".join([*takewhile(lambda word: not word.startswith("--"), words)]) or words[0]


LIBRARY = re.compile(
    r"\bNone\b|\bReturns?\b|\bTrue\b|\bFalse\b|\b(?:session|workspace)\.\w|\(\)|\b(?:dict|tuple|str)\b|exception"
)
"""Words of the library, which nobody at a shell knows."""


def test_no_help_speaks_the_language_of_the_library():
    said = []
    for name in COMMANDS:
        made = cli.get_command(click.Context(cli), name)
        assert made is not None
        texts = [made.help or "", *(getattr(each, "help", "") or "" for each in made.params)]
        said += [f"{name}: {text}" for text in texts if LIBRARY.search(text)]
    assert not said, "\n".join(said)


def test_text_cannot_steer_a_terminal():
    from sightline.text.printable import printable

    assert printable("a\x1b[31m\x9b\r\udcff\tb") == "a␛[31m\ufffd␍\ufffd\tb"


@pytest.mark.wide
def test_the_reference_is_what_the_command_says():
    """Else run: python tools/reference.py"""
    tool = Path(__file__).parents[2] / "tools" / "reference.py"
    source = str(Path(sightline.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, tool, "--check"], env=os.environ | {"PYTHONPATH": source}, check=False
    )
    assert done.returncode == 0


def test_turns_are_counted_or_numbered(sl):
    assert sl("turn").out == "Turn 1 began.\n"
    assert sl("turn", "7", "--json").json == {"schema": 1, "session": "cli", "turn": 7}
    assert sl("turn", "-1").code == 2
