"""Writes of Claude Code that go over a change which came after they were judged: while it asks the user,
while another session writes, and by what another hook puts in their place."""

import copy
import json
import sys
from threading import Thread

import pytest
from tests.clients.acting import TEXT, TWO_AT_ONCE, bash, changed, done, edit, read, saves, write
from tests.clients.terminal import terminal
from tests.support.examples import fully

pytestmark = pytest.mark.client

MINE = changed(l28="line 28, says the agent")
THEIRS = changed(l3="line 3, says the user")
BOTH = changed(l3="line 3, says the user", l28="line 28, says the agent")


@pytest.fixture
def file(guarded):
    guarded.put("other.txt", "other\n")
    return guarded.put("notes.txt", TEXT)


def while_asked(guarded, model, attempt, theirs):
    """Have the user save a file while the client asks whether an attempt may be made. The file was printed:
    of a file that its own tool read the client looks at the time once more."""
    model.script("Fix it", bash(TWO_AT_ONCE), attempt, done())
    with terminal(guarded, asks=True) as screen:
        screen.permit("Fix it", saves(guarded, "notes.txt", theirs))
        screen.see("Sightline")  # what the person is told
    return model.sent(2)


@pytest.mark.full
def test_a_save_while_the_client_asks_is_merged_and_told_to_both(guarded, model, file):
    told = while_asked(guarded, model, write(file, MINE), THEIRS)
    assert guarded.text("notes.txt") == BOTH
    assert "+line 3, says the user" in told
    assert "merged" in told
    assert [row["path"] for row in guarded.log("merged")] == ["notes.txt"]


def test_a_save_of_the_same_line_while_the_client_asks_comes_back_by_a_command(
    guarded, model, file
):
    theirs = changed(l28="line 28, says the user")
    told = while_asked(guarded, model, write(file, MINE), theirs)
    assert guarded.text("notes.txt") == MINE
    assert "-line 28\n+line 28, says the user" in told
    [save] = [row for row in guarded.log("changed") if row["cause"]["kind"] == "external"]
    guarded.sightline("rewind", str(save["position"]), "--force-path", "notes.txt", "--yes")
    assert guarded.text("notes.txt") == theirs


@pytest.mark.full
def test_an_edit_within_a_line_that_was_saved_while_the_client_asks_is_told(guarded, model, file):
    attempt = edit(file, "e 28", "e twenty-eight")
    told = while_asked(guarded, model, attempt, changed(l28="line 282"))
    assert "-line 28\n+line 282" in told


BARRIER = """
import sqlite3, sys, time
while True:
    with sqlite3.connect("file:" + sys.argv[1] + "?mode=ro", uri=True) as store:
        if store.execute("SELECT count(*) FROM intents").fetchone()[0] >= 2:
            break
    time.sleep(0.01)
"""
"""A hook of the user's that lets no session write before both are judged."""


@pytest.mark.parametrize("line", [28, *fully(3)])
def test_two_sessions_that_write_at_once_are_told_the_truth(guarded, model, file, line):
    """line 28: the changes join; line 3: both change the same line. Whose hook ended before the other
    client wrote is told with its next call; the other one is told at once."""
    hers = changed(**{f"l{line}": "line of b"})
    for name, text in (("a", THEIRS), ("b", hers)):
        model.script(f"Task of {name}", bash(TWO_AT_ONCE), write(file, text), done())
    model.script("Look", read(file), done())
    guarded.run("Look")
    [store] = guarded.state.rglob("store.db")
    barrier = guarded.home / "barrier.py"
    barrier.write_text(BARRIER)
    command = {"type": "command", "command": f"{sys.executable} -I -S {barrier} {store}"}
    hooks = {"PreToolUse": [{"matcher": "Write", "hooks": [command]}]}
    guarded.put(".claude/settings.json", json.dumps({"hooks": hooks}))
    clients = [copy.copy(guarded), copy.copy(guarded)]
    threads = [
        Thread(target=client.run, args=(f"Task of {name}",))
        for client, name in zip(clients, "ab", strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    told = {name: model.sent(2, f"Task of {name}") for name in "ab"}
    if line == 28:
        both = changed(l3="line 3, says the user", l28="line of b")
        assert guarded.text("notes.txt") == both
        assert "+line of b" in told["a"] or "+line 3, says the user" in told["b"]
        for name, own in (("a", "line 3, says the user"), ("b", "line of b")):
            assert f"-{own}" not in told[name]
    else:
        stands = guarded.text("notes.txt")
        assert stands in (hers, THEIRS)
        lines = {"a": "line 3, says the user", "b": "line of b"}
        loser, winner = ("a", "b") if stands == hers else ("b", "a")
        assert f"+{lines[winner]}" in told[loser] or f"+{lines[loser]}" in told[winner]
        assert "Your edit is in the file" not in told[loser]
        assert f"-{lines[winner]}" not in told[winner]
