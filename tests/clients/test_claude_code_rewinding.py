"""Work of Claude Code is taken back from another terminal while its conversation goes on.

Nobody asks for a checkpoint here: each turn that changes something has one of its own.
"""

import json

import pytest
from tests.clients.acting import TEXT, bash, changed, done, edit, read, write

pytestmark = pytest.mark.client

USERS = "line 28, says the user"
"""What the user writes between the second turn and the third."""

REWOUND = changed(l3="three", l28=USERS)
"""The work of the first turn, and the user's."""


class Terminal:
    """Another terminal, with commands in the name of the first conversation there was, whose hooks
    are answered by a process that stays."""

    def __init__(self, claude):
        self.claude = claude

    def rewind_to(self, turn):
        """Take back what was done in a turn and since."""
        [taken] = [each for each in self.checkpoints() if each["turn"] == turn]
        self.claude.sightline("--session", taken["session"], "rewind", taken["id"], "--yes")

    def at(self, turn):
        """The same, for a step to be preceded by."""

        def rewind():
            assert list((self.claude.state / "run").glob("*.fifo"))
            self.rewind_to(turn)

        return rewind

    def checkpoints(self):
        """Those that were taken for a turn of the first conversation."""
        told = json.loads(self.claude.sightline("checkpoint", "list", "--json"))["checkpoints"]
        return [
            each for each in told if each["why"] == "turn" and each["session"] == told[0]["session"]
        ]


@pytest.fixture
def terminal(guarded):
    return Terminal(guarded)


@pytest.fixture
def file(guarded, model):
    """Two turns of work, and then a save of the user's."""
    path = guarded.put("notes.txt", TEXT)
    theirs = changed(l3="three", l10="ten", l28=USERS)
    model.script("One", read(path), edit(path, "line 3\n", "three\n"), done())
    model.script(
        "Two",
        edit(path, "line 10\n", "ten\n"),
        write(str(guarded.root / "new.txt"), "mine\n"),
        done(lambda: guarded.put("notes.txt", theirs)),
    )
    return path


def test_a_rewind_between_turns_takes_its_work_and_leaves_the_users(guarded, model, terminal, file):
    model.script("Three", edit(file, "line 20\n", "twenty\n"), done(terminal.at(2)))
    model.script(
        "Go on",
        edit(file, "twenty\n", "20\n"),
        edit(file, f"{USERS}\n", "line 28, says everybody\n"),
        done(),
    )
    first = guarded.run("One", "Two", "Three")
    assert guarded.text("notes.txt") == REWOUND
    assert not (guarded.root / "new.txt").exists()
    guarded.run("Go on", args=("--resume", first.session))
    told = model.sent(0, "Go on")
    assert "-ten\n+line 10" in told
    assert "-twenty\n+line 20" in told
    assert "new.txt was deleted" in told
    assert "not in notes.txt" in model.sent(1, "Go on")
    assert guarded.text("notes.txt") == REWOUND.replace("says the user", "says everybody")


@pytest.mark.full
def test_a_rewind_to_the_first_turn_leaves_nothing_but_the_users(guarded, model, terminal, file):
    model.script("Three", edit(file, "line 20\n", "twenty\n"), done(terminal.at(1)))
    guarded.run("One", "Two", "Three")
    assert [each["turn"] for each in terminal.checkpoints()] == [1, 2, 3]
    assert guarded.text("notes.txt") == changed(l28=USERS)
    assert not (guarded.root / "new.txt").exists()


@pytest.mark.full
def test_a_rewind_in_the_middle_of_a_turn_is_told_by_the_refusal(guarded, model, terminal, file):
    model.script(
        "Three",
        edit(file, "line 20\n", "twenty\n"),
        edit(file, "twenty\n", "20\n", terminal.at(2)),
        edit(file, f"{USERS}\n", "line 28, says everybody\n"),
        done(),
    )
    run = guarded.run("One", "Two", "Three")
    refusal = model.sent(2, "Three")
    assert "-twenty\n+line 20" in refusal
    assert "rewind to" in refusal
    assert guarded.text("notes.txt") == REWOUND.replace("says the user", "says everybody")
    assert guarded.status()[run.session]["notes.txt"]["state"] == "fresh"


@pytest.mark.full
def test_what_its_shell_removed_and_made_unread_is_undone(guarded, model, terminal, file):
    guarded.put("unread.txt", "of the user\n")
    guarded.put("also.txt", "of the user, too\n")
    command = "rm unread.txt && echo made > made.txt && sed -i s/too/two/ also.txt"
    model.script("Three", bash(command), done(terminal.at(3)))
    guarded.run("One", "Two", "Three")
    assert guarded.text("unread.txt") == "of the user\n"
    assert guarded.text("also.txt") == "of the user, too\n"
    assert not (guarded.root / "made.txt").exists()
    assert guarded.text("notes.txt") == changed(l3="three", l10="ten", l28=USERS)


@pytest.mark.full
def test_a_turn_that_only_looks_has_no_checkpoint(guarded, model, terminal, file):
    model.script("Three", read(file), bash("grep ten notes.txt"), done())
    guarded.run("One", "Two", "Three")
    assert [each["turn"] for each in terminal.checkpoints()] == [1, 2]


@pytest.mark.full
def test_two_conversations_each_take_back_their_own(guarded, model, terminal, file):
    """The second begins when the first has ended; the first is rewound."""
    first = guarded.run("One", "Two")
    model.script("Three", read(file), edit(file, "line 20\n", "twenty\n"), done())
    second = guarded.run("Three")
    assert second.session != first.session
    terminal.rewind_to(2)
    assert guarded.text("notes.txt") == REWOUND.replace("line 20\n", "twenty\n")
