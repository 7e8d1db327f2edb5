"""Work of Claude Code is taken back from another terminal while its conversation goes on."""

import pytest
from tests.clients.acting import TEXT, changed, done, edit, read, write

pytestmark = pytest.mark.client

USERS = "line 28, says the user"
"""What the user writes between the second turn and the third."""

REWOUND = changed(l3="three", l28=USERS)
"""The work of the first turn, and the user's."""


class Terminal:
    """Another terminal, with commands in the name of the one conversation there is, whose hooks are
    answered by a process that stays."""

    def __init__(self, claude):
        self.claude = claude

    def __call__(self, *args):
        def run():
            (session,) = self.claude.status()
            assert list((self.claude.state / "run").glob("*.sock"))
            self.claude.sightline("--session", session, *args)

        return run


@pytest.fixture
def terminal(guarded):
    return Terminal(guarded)


@pytest.fixture
def file(guarded, model, terminal):
    """One turn of work, then a checkpoint, another turn, and a save of the user's."""
    path = guarded.put("notes.txt", TEXT)
    theirs = changed(l3="three", l10="ten", l28=USERS)
    model.script("One", read(path), edit(path, "line 3\n", "three\n"), done())
    model.script(
        "Two",
        edit(path, "line 10\n", "ten\n", terminal("checkpoint", "turn 2")),
        write(str(guarded.root / "new.txt"), "mine\n"),
        done(lambda: guarded.put("notes.txt", theirs)),
    )
    return path


def test_a_rewind_between_turns_takes_its_work_and_leaves_the_users(guarded, model, terminal, file):
    model.script(
        "Three", edit(file, "line 20\n", "twenty\n"), done(terminal("rewind", "turn 2", "--yes"))
    )
    stood = []
    model.script(
        "Go on",
        edit(file, "twenty\n", "20\n", lambda: stood.append(guarded.text("notes.txt"))),
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


def test_a_rewind_in_the_middle_of_a_turn_is_told_by_the_refusal(guarded, model, terminal, file):
    model.script(
        "Three",
        edit(file, "line 20\n", "twenty\n"),
        edit(file, "twenty\n", "20\n", terminal("rewind", "turn 2", "--yes")),
        edit(file, f"{USERS}\n", "line 28, says everybody\n"),
        done(),
    )
    run = guarded.run("One", "Two", "Three")
    refusal = model.sent(2, "Three")
    assert "-twenty\n+line 20" in refusal
    assert "rewind to" in refusal
    assert guarded.text("notes.txt") == REWOUND.replace("says the user", "says everybody")
    assert guarded.status()[run.session]["notes.txt"]["state"] == "fresh"


def test_two_conversations_each_take_back_their_own(guarded, model, terminal, file):
    """The second begins when the first has ended; the first is rewound."""
    first = guarded.run("One", "Two")
    model.script("Three", read(file), edit(file, "line 20\n", "twenty\n"), done())
    second = guarded.run("Three")
    assert second.session != first.session
    guarded.sightline("--session", first.session, "rewind", "turn 2", "--yes")
    assert guarded.text("notes.txt") == REWOUND.replace("line 20\n", "twenty\n")
