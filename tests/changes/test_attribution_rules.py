"""Rules of who made a change, over values."""

from __future__ import annotations

import pytest

from sightline.changes import attribution
from sightline.changes.attribution import by_formatter, may_touch, put_back
from sightline.model.events import Cause, Changed, CommandEnded, CommandStarted, TurnBegan
from sightline.model.timeline import of_kind
from sightline.shell_parsing.command_line import all_commands
from sightline.store.memory import MemoryStore
from sightline.store.port import Append

UGLY, NEAT, OTHER = "x=1\n", "x = 1\n", "x=2\n"


def made(kind, before, after, who="s"):
    return Changed("a.py", before, after, "content", Cause(kind, who))


def runs(*facts):
    store = MemoryStore()
    store.append(Append("s", facts, at=1))
    return [fact.run for fact in of_kind(CommandStarted, store.running())]


def test_a_command_is_under_way_from_its_beginning_to_its_end():
    assert runs(CommandStarted("make", "1")) == ["1"]
    assert runs(CommandStarted("make", "1"), CommandEnded("1", 0)) == []
    assert runs(CommandStarted("make", "1"), CommandStarted("ls", "2"), CommandEnded("1", 0)) == [
        "2"
    ]


def test_a_new_turn_ends_what_nobody_told_the_end_of():
    assert runs(CommandStarted("make", "1"), TurnBegan(2)) == []
    assert runs(TurnBegan(2), CommandStarted("make", "1")) == ["1"]


@pytest.mark.parametrize(
    ("command", "path", "may"),
    [
        ("sed -i s/a/b/ x.py", "x.py", True),
        ("sed -i s/a/b/ x.py", "y.py", False),
        ("sed -i s/a/b/ src/x.py", "src/y.py", False),
        ("sed -i s/a/b/ x.py", "src/x.py", True),
        ("sed -i s/a/b/ /home/me/ws/src/x.py", "src/x.py", True),
        ("sed -i s/a/b/ /home/me/ws/src/x.py", "src/y.py", False),
        ("rm -r src", "src/y.py", True),
        ("rm -r /home/me/ws/src", "src/y.py", True),
        ("cp -r . elsewhere", "y.py", True),
        ("cp ../x.py .", "y.py", True),
        ("echo hi > x.py", "x.py", True),
        ("echo hi > x.py", "y.py", False),
        ("sed -i s/a/b/ *.py", "y.py", True),
        ("sed -i s/a/b/ $FILE", "y.py", True),
        ("make", "y.py", True),
        ("sed -i s/a/b/ x.py && make", "y.py", True),
        ("for f in a; do sed -i s/a/b/ x.py; done", "y.py", False),
        ("for f in a; do sed -i s/a/b/ $f; done", "y.py", False),
        ("for f in $(ls); do sed -i s/a/b/ $f; done", "y.py", True),
        ("sed -i s/a/b/ x.py; echo 'unclosed", "y.py", True),
        ('sed -i s/a/b/ "$(make)"', "y.py", True),
        ("sed -i s/a/b/ x.py…", "y.py", True),
        ("npm run format (goes on in the background)", "y.py", True),
        ("sed 's", "y.py", True),
        ("", "y.py", True),
    ],
)
def test_some_programs_change_only_what_they_are_given(command, path, may):
    assert may_touch(command, path) is may


def test_bytes_from_before_an_agents_edit_are_put_back():
    edit = made("agent", "r1", "r2")
    assert put_back([edit], "r1")
    assert not put_back([edit], "r3")
    assert put_back([made("formatter", "r2", "r3", None), edit], "r1")
    assert not put_back([made("formatter", "r2", "r3", None), edit], "r2")
    assert put_back([made("agent", "r2", "r3"), edit], "r1")


def test_behind_another_change_nothing_is_put_back():
    assert not put_back([made("external", "r2", "r3", None), made("agent", "r1", "r2")], "r1")
    assert not put_back([], "r1")


def test_a_formatter_stands_behind_an_agents_edit():
    cause = by_formatter([made("agent", "r1", "r2", "s")], UGLY, NEAT)
    assert cause == Cause("formatter", None, "s", "likely", "guess")
    assert by_formatter([made("command", "r1", "r2", "t")], UGLY, NEAT) == Cause(
        "formatter", None, "t", "likely", "guess"
    )


def test_a_second_formatter_stands_behind_the_first():
    past = [made("formatter", "r2", "r3", None), made("agent", "r1", "r2")]
    cause = by_formatter(past, UGLY, NEAT)
    assert cause is not None
    assert cause.detail == "s"


@pytest.mark.parametrize(
    "past",
    [
        [],
        [made("external", "r1", "r2", None)],
        [made("git", "r1", "r2", None)],
        [made("external", "r2", "r3", None), made("agent", "r1", "r2")],
        [made("formatter", "r2", "r3", None), made("external", "r1", "r2", None)],
    ],
)
def test_layout_that_follows_no_edit_is_nobodys_formatter(past):
    assert by_formatter(past, UGLY, NEAT) is None


def test_a_change_of_more_than_layout_is_no_formatters():
    assert by_formatter([made("agent", "r1", "r2")], UGLY, OTHER) is None
    assert by_formatter([made("agent", "r1", "r2")], None, NEAT) is None
    assert by_formatter([made("agent", "r1", "r2")], UGLY, None) is None


def test_a_command_is_parsed_once_for_many_files(monkeypatch):
    parsed = []

    def noted(command, cwd):
        parsed.append(command)
        return all_commands(command, cwd)

    monkeypatch.setattr(attribution, "all_commands", noted)
    command = "rm -r everything-below-here"
    touched = [may_touch(command, f"everything-below-here/{n}") for n in range(300)]
    assert (len(parsed), all(touched)) == (1, True)
